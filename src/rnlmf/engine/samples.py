"""Where samples live and in which units the engine sees them.

The engine's samples are ``(x - center) / width``, with ``width`` the kernel's length scale. They are
made block by block, so that nothing of the data's size is copied.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from rnlmf.engine.source import Rows, RowSource, part_of
from rnlmf.typing import Array

Item = TypeVar("Item")
Result = TypeVar("Result")

# Rows of a block times the floats that one row needs: what fits in a core's share of the cache.
BLOCK_BYTES = 3 << 19
# Samples of a shard, about: enough for its sums to cost little, few enough to share among threads.
GROUP_ROWS = 512
# The square of a value must be a number in single precision.
LARGEST_SINGLE = 1e15


def has_missing(X: Rows) -> bool:
    """Whether any value is NaN, without an array of the data's size."""
    if isinstance(X, RowSource):
        return bool(X.flaws()[0].any())
    return bool(np.isnan(np.min(X, initial=0.0)))


@dataclass(frozen=True)
class Units:
    """The map between the caller's units and the engine's; a missing value starts from `fill`."""

    center: Array
    width: float
    fill: Array | float = 0.0

    def load(self, X: Array, out: Array) -> Array:
        """``(X - center) / width`` into `out`."""
        np.subtract(X, self.center, out=out)
        out *= 1.0 / self.width
        return out

    def to_engine(self, X: Array) -> Array:
        """Engine's units, as a new array."""
        return self.load(X, np.empty(X.shape, dtype=X.dtype))

    def to_data(self, Y: Array) -> Array:
        """Caller's units, as a new array."""
        data: Array = Y * Y.dtype.type(self.width) + self.center.astype(Y.dtype)
        return data


@dataclass(frozen=True)
class Samples:
    """Rows of a matrix, as the engine sees them."""

    X: Rows
    units: Units
    missing: bool = False

    @classmethod
    def of(cls, X: Rows, units: Units) -> Samples:
        """Samples in which NaN is a missing value."""
        return cls(X, units, missing=has_missing(X))

    def __getitem__(self, rows: slice) -> Samples:
        return Samples(part_of(self.X, rows), self.units, self.missing)

    def in_single_precision(self) -> Samples:
        """A copy in float32 that is in the engine's units already: no offset or unit is lost."""
        Z = self.units.to_engine(self.X[:])
        np.clip(Z, -LARGEST_SINGLE, LARGEST_SINGLE, out=Z)
        center = np.zeros(Z.shape[1], np.float32)
        fill = np.asarray(self.units.fill, np.float32)
        return Samples(Z.astype(np.float32), Units(center, 1.0, fill), self.missing)

    @property
    def shape(self) -> tuple[int, int]:
        n, m = self.X.shape
        return n, m

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.X.dtype

    def load(self, rows: slice, out: Array) -> Array:
        """The rows in the engine's units, into `out`; NaN where a value is missing."""
        return self.units.load(self.X[rows], out)

    def load_filled(self, rows: slice, out: Array) -> Array:
        """The rows in the engine's units, into `out`, with a start for missing values."""
        self.load(rows, out)
        if self.missing:
            np.copyto(out, self.units.fill, where=np.isnan(out))
        return out

    def observed(self, rows: slice) -> Array:
        """Number of values that every sample has."""
        n, m = len(range(*rows.indices(self.shape[0]))), self.shape[1]
        return np.full(n, m) - (np.isnan(self.X[rows]).sum(axis=1) if self.missing else 0)


def block_rows(n_features: int, n_atoms: int, itemsize: int) -> int:
    """Rows in a block: buffers of some multiples of (m + d) numbers a row stay in the cache."""
    rows = BLOCK_BYTES // (itemsize * (4 * n_features + 2 * n_atoms))
    return int(np.clip(rows, 256, 1024))


def number_of_groups(n_samples: int) -> int:
    """One up to `GROUP_ROWS` samples, then an even number, so that two threads share them alike."""
    return 1 if n_samples <= GROUP_ROWS else 2 * -(-n_samples // (8 * GROUP_ROWS))


def spans(n_samples: int) -> list[slice]:
    """Rows of the shards of samples, the unit of work of a thread.

    The partition does not depend on the number of threads, and sums are taken in its order, so that
    neither do results.
    """
    bounds = np.linspace(0, n_samples, number_of_groups(n_samples) + 1).astype(int)
    return [slice(start, stop) for start, stop in itertools.pairwise(bounds.tolist())]


def blocks(span: slice, rows: int) -> list[slice]:
    """Blocks of at most `rows` samples, of equal size."""
    count = -(-(span.stop - span.start) // rows)
    edges = np.linspace(span.start, span.stop, count + 1).astype(int).tolist()
    return [slice(first, last) for first, last in itertools.pairwise(edges)]


@cache
def _thread_controller() -> ThreadpoolController:
    return ThreadpoolController()


def default_threads() -> int:
    """As many threads as BLAS would use: limits set by the user hold for us too."""
    blas = _thread_controller().select(user_api="blas").info()
    return max((library["num_threads"] for library in blas), default=1)


def bounded_map(
    pool: Executor, function: Callable[[Item], Result], items: Iterable[Item], window: int
) -> Iterator[Result]:
    """``pool.map`` with at most `window` results under way: what is not yet summed takes memory."""
    pending: deque[Future[Result]] = deque()
    for item in items:
        pending.append(pool.submit(function, item))
        if len(pending) == window:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


Mapper = Callable[[Callable[[Item], Result], Iterable[Item]], Iterable[Result]]


@contextmanager
def threads(n_threads: int, n_samples: int) -> Iterator[Mapper[Any, Any]]:
    """An ordered ``map`` over up to `n_threads` threads, with one BLAS thread in each.

    There are no more threads than groups of samples.
    """
    n_threads = min(n_threads, number_of_groups(n_samples))
    with _thread_controller().limit(limits=1, user_api="blas"):
        if n_threads == 1:
            yield map
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                yield lambda function, items: bounded_map(pool, function, items, 4 * n_threads)
