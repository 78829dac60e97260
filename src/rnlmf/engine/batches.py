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
    left = np.empty((0, X.shape[1]), X.dtype)
    waiting: list[Array] = [left]
    for position in rng.permutation(len(runs)):
        waiting.append(X.read(runs[position]))
        if sum(map(len, waiting)) >= most:
            buffer = _shuffled(waiting, rng)
            whole = len(buffer) // size * size
            for start in range(0, whole, size):
                yield buffer[start : start + size]
            waiting = [buffer[whole:].copy()]
    buffer = _shuffled(waiting, rng)
    for start in range(0, len(buffer), size):
        batch = buffer[start : start + size]
        if len(batch) >= min(size, len(X)) / 2:
            yield batch


def _shuffled(waiting: list[Array], rng: np.random.RandomState) -> Array:
    """Rows in random order; each is moved once, which is far faster than swaps of rows."""
    lengths = [len(some) for some in waiting]
    places = np.split(np.argsort(rng.permutation(sum(lengths))), np.cumsum(lengths)[:-1])
    buffer = np.empty((sum(lengths), waiting[0].shape[1]), waiting[0].dtype)
    for some, where in zip(waiting, places, strict=True):
        buffer[where] = some
    return buffer


def _cut(piece: slice, rows: int) -> list[slice]:
    edges = [*range(piece.start, piece.stop, rows), piece.stop]
    return [slice(a, b) for a, b in pairwise(edges)]
