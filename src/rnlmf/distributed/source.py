"""Rows of Dask arrays and data frames."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cached_property
from itertools import pairwise
from typing import Any

import dask
import numpy as np

from rnlmf.distributed.parts import Behind
from rnlmf.distributed.waiting import awaited, persevere
from rnlmf.engine import Options, Problem, Samples, Solver
from rnlmf.engine.source import RowSource
from rnlmf.sources.arrays import float_type
from rnlmf.typing import Array

# Sums are added up so many at a time.
FAN_IN = 8


class DaskSource(RowSource):
    """Rows of a Dask array, in chunks of whole rows.

    What is asked of all rows is asked on the workers. For a fit the chunks are kept there
    (``persist``), and computed again by Dask if their worker is lost.
    """

    def __init__(self, array: Any, names: list[str] | None = None) -> None:
        if array.ndim != 2:
            raise ValueError(f"X has {array.ndim} dimensions: rows and columns are needed.")
        if array.numblocks[1] > 1:
            array = array.rechunk({1: -1})
        if np.isnan(array.shape[0]):
            array = array.compute_chunk_sizes()
        dtype = float_type(array.dtype)
        self.array = array if array.dtype == dtype else array.astype(dtype)
        self.shape, self.dtype, self.names = tuple(map(int, array.shape)), dtype, names  # type: ignore[assignment]

    @cached_property
    def client(self) -> Any:
        """The active client."""
        from distributed import get_client

        try:
            return get_client()
        except ValueError as error:
            raise ValueError(
                "A fit to a Dask collection runs on a cluster: start one first, for example "
                "dask.distributed.Client()."
            ) from error

    @cached_property
    def chunks(self) -> list[Any]:
        """Futures of the chunks, kept on their workers, in the order of rows."""
        from distributed import futures_of

        kept = self.client.persist(self.array)
        by_key = {future.key: future for future in futures_of(kept)}
        return [by_key[keys[0]] for keys in kept.__dask_keys__()]

    def renew(self) -> None:
        """Have chunks made again if there are some that Dask has given up."""
        if any(chunk.status not in ("pending", "finished") for chunk in self.chunks):
            del self.chunks

    def pieces(self) -> list[slice]:
        edges = np.concatenate([[0], np.cumsum(self.array.chunks[0])]).tolist()
        return [slice(a, b) for a, b in pairwise(edges) if b > a]

    def read(self, rows: slice) -> Array:
        return self._fetched(self.array[rows])

    def take(self, rows: Array) -> Array:
        return self._fetched(self.array[rows])

    def _fetched(self, some: Any) -> Array:
        from distributed import default_client

        try:
            client = default_client()
        except ValueError:
            # Without a cluster, by threads: what is treated by block needs none.
            return np.asarray(some.compute())
        found: Array = persevere(client, lambda: awaited(client, client.compute(some)))
        return found

    def mapped(self, function: Callable[[Array], Array]) -> RowSource:
        array = self.array.map_blocks(function, dtype=self.dtype, meta=np.empty((0, 0), self.dtype))
        return DaskSource(array, self.names)

    def total(self, function: Callable[[Array], Array]) -> Array:
        found: Array = self._asked(
            lambda chunks: summed(self.client, self.client.map(function, chunks, pure=False))
        )
        return found

    def each(self, function: Callable[[Array], Any]) -> list[Any]:
        found: list[Any] = self._asked(
            lambda chunks: self.client.submit(
                list, self.client.map(function, chunks, pure=False), pure=False
            )
        )
        return found

    def _asked(self, asked: Callable[[list[Any]], Any]) -> Any:
        """The result of a future of chunks that have rows."""

        def attempt() -> Any:
            rows = self.array.chunks[0]
            chunks = [chunk for chunk, n in zip(self.chunks, rows, strict=True) if n > 0]
            return awaited(self.client, asked(chunks))

        return persevere(self.client, attempt, self.renew)

    def treated(self, treat: Callable[[Array], Array], width: int) -> Any:
        """``treat(rows)`` of all rows, as a lazy array."""
        return self.array.map_blocks(
            treated_block,
            treat,
            chunks=(self.array.chunks[0], (width,)),
            dtype=self.dtype,
            meta=np.empty((0, 0), self.dtype),
        )

    def solver(self, samples: Samples, problem: Problem, options: Options) -> Solver:
        """How to iterate on a cluster."""
        from rnlmf.distributed.solver import ClusterPass

        return ClusterPass(self, samples, problem, options)


def treated_block(block: Array, treat: Callable[[Array], Array]) -> Array:
    """Rows of a chunk, which may have none."""
    return treat(block) if len(block) else block


def plus(parts: list[Any]) -> Any:
    """The sum of sums, which are arrays, lists or None, or have ``plus``."""
    # Without all of them there is no sum.
    parts = [part for part in parts if isinstance(part, Behind)] or parts
    # What a task was given belongs to others too, and it may run twice.
    total = deepcopy(parts[0])
    for part in parts[1:] if total is not None else ():
        total = total.plus(part) if hasattr(total, "plus") else total + part
    return total


def summed(client: Any, futures: list[Any]) -> Any:
    """A future of the sum, by a tree: no machine adds more than a few."""
    while len(futures) > 1:
        groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
        futures = [client.submit(plus, group, pure=False) for group in groups]
    return futures[0]


def spread(source: RowSource) -> DaskSource:
    """Rows of files that all workers can read, a chunk for every piece."""
    import dask.array as da

    read = dask.delayed(type(source).read, pure=False)
    there = dask.delayed(source)
    chunks = [
        da.from_delayed(
            read(there, piece), (piece.stop - piece.start, source.shape[1]), dtype=source.dtype
        )
        for piece in source.pieces()
    ]
    return DaskSource(da.concatenate(chunks), source.names)


def dask_source(X: Any) -> DaskSource:
    """Of an array, or of the columns of a data frame, all of which must be numbers."""
    if not dask.is_dask_collection(X):
        raise ValueError(f"{type(X).__name__} is no Dask collection of rows.")
    if hasattr(X, "to_dask_array"):
        names = [str(name) for name in X.columns]
        kinds = set(X.dtypes)
        if any(kind.kind not in "fiu" for kind in kinds):
            raise ValueError("A data frame must have numbers only: select its columns.")
        return DaskSource(X.to_dask_array(lengths=True), names)
    return DaskSource(X)
