"""Orders of samples, and batches in random order, from memory or from a source."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from rnlmf.engine.source import Rows, RowSource
from rnlmf.typing import Array

# Rows of a source are shuffled in a buffer of this size, filled with pieces from anywhere.
BUFFER_BYTES = 64 << 20
# Pieces of a source are cut into runs of at most so many rows, so that a buffer has many of them.
RUN_BYTES = 1 << 20
# A permutation of more numbers than this takes memory that is worth to be saved.
MANY = 1 << 20
# Rows that are looked at together.
CHUNK_ROWS = 8192


def canonical_order(X: Array) -> Array:
    """An order of the samples that depends on their values alone, not on their places.

    Whatever is drawn at random by place is, in this order, drawn by sample: results then do not depend
    on the order in which samples are given.
    """
    direction = np.random.RandomState(0).standard_normal(X.shape[1])
    keys = np.empty(len(X))
    for first in range(0, len(X), CHUNK_ROWS):
        rows = slice(first, first + CHUNK_ROWS)
        keys[rows] = np.nansum(X[rows] * direction, axis=1)
    return np.argsort(keys, kind="stable")


def evenly_drawn(X: Array, count: int) -> Array:
    """At most `count` rows, evenly spread over the canonical order, in their own order."""
    step = -(-len(X) // count)
    return X if step <= 1 else X[np.sort(canonical_order(X)[::step])]


def some_rows(X: Rows, count: int, rng: np.random.RandomState) -> Array:
    """At most `count` rows drawn at random, in their order."""
    return X[:] if len(X) <= count else X[drawn(len(X), count, rng)]


def drawn(n: int, count: int, rng: np.random.RandomState) -> Array:
    """`count` different numbers below `n`, in order; of many in memory that does not depend on `n`."""
    if n <= max(MANY, 64 * count):
        return np.sort(rng.choice(n, count, replace=False))
    # Hardly any comes twice.
    some = np.unique(rng.randint(n, size=2 * count, dtype=np.int64))
    return some[drawn(len(some), count, rng)]


def shuffled_batches(X: Rows, size: int, rng: np.random.RandomState) -> Iterator[Array]:
    """All rows in batches of `size`, once; a last one of less than half the size is left out.

    Rows of a source are read in long runs: the order of runs is random, and rows are shuffled in a
    buffer of many runs. That is as good as any order unless the rows are sorted on a scale of many
    buffers.
    """
    if isinstance(X, RowSource):
        yield from _from_source(X, size, rng)
        return
    order = rng.permutation(len(X))
    for start in range(0, len(X), size):
        rows = order[start : start + size]
        if len(rows) >= min(size, len(X)) / 2:
            yield X[rows]


def _from_source(X: RowSource, size: int, rng: np.random.RandomState) -> Iterator[Array]:
    row_bytes = X.shape[1] * X.dtype.itemsize
    runs = [run for piece in X.pieces() for run in _cut(piece, max(1, RUN_BYTES // row_bytes))]
    most = max(size, BUFFER_BYTES // row_bytes)
    left, waiting = np.empty((0, X.shape[1]), X.dtype), list[slice]()
    for position in rng.permutation(len(runs)):
        waiting.append(runs[position])
        if len(left) + sum(map(_length, waiting)) >= most:
            buffer = _shuffled(left, X, waiting, rng)
            whole = len(buffer) // size * size
            for start in range(0, whole, size):
                yield buffer[start : start + size]
            left, waiting = buffer[whole:].copy(), []
    buffer = _shuffled(left, X, waiting, rng)
    for start in range(0, len(buffer), size):
        batch = buffer[start : start + size]
        if len(batch) >= min(size, len(X)) / 2:
            yield batch


def _shuffled(left: Array, X: RowSource, runs: list[slice], rng: np.random.RandomState) -> Array:
    """Rows that are left and those of some runs in random order.

    Each is moved once, and at once: what is read may be part of something larger.
    """
    lengths = [len(left), *map(_length, runs)]
    places = np.split(np.argsort(rng.permutation(sum(lengths))), np.cumsum(lengths)[:-1])
    buffer = np.empty((sum(lengths), X.shape[1]), X.dtype)
    buffer[places[0]] = left
    for run, where in zip(runs, places[1:], strict=True):
        buffer[where] = X.read(run)
    return buffer


def _length(rows: slice) -> int:
    return int(rows.stop - rows.start)


def _cut(piece: slice, rows: int) -> list[slice]:
    edges = [*range(piece.start, piece.stop, rows), piece.stop]
    return [slice(a, b) for a, b in pairwise(edges)]
