"""Rows that are not an array: read when they are needed, a block at a time.

To the engine a source is a matrix of which slices can be taken. Where the rows are (a file, a memory
map, a cluster) is the business of whoever derives from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from rnlmf.typing import Array

# Bytes that are read at once where nothing else is natural.
PIECE_BYTES = 8 << 20


class RowSource(ABC):
    """Rows of numbers somewhere.

    Attributes
    ----------
    shape : (int, int)
    dtype : dtype
        float32 or float64, that of the rows that are read.
    names : list of str or None
        Of the features.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    names: list[str] | None = None
    _flaws: Array | None = None

    @abstractmethod
    def read(self, rows: slice) -> Array:
        """Rows that follow each other, as an array of the source's type."""

    def pieces(self) -> list[slice]:
        """All rows, in parts that are cheap to read as a whole."""
        n, m = self.shape
        step = max(1, PIECE_BYTES // (m * self.dtype.itemsize))
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | Array) -> Array:
        """A slice, or rows by their numbers, as an array."""
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            if step == 1:
                return self.read(slice(start, stop))
            rows = np.arange(start, stop, step)
        order = np.argsort(rows, kind="stable")
        found = np.empty((len(rows), self.shape[1]), self.dtype)
        found[order] = self.take(np.asarray(rows)[order])
        return found

    def take(self, rows: Array) -> Array:
        """Rows by their ascending numbers; no piece is read twice."""
        found = np.empty((len(rows), self.shape[1]), self.dtype)
        for piece in self.pieces():
            first, last = np.searchsorted(rows, [piece.start, piece.stop])
            if last > first:
                found[first:last] = self.read(piece)[rows[first:last] - piece.start]
        return found

    def part(self, rows: slice) -> RowSource:
        """Some rows that follow each other, not yet read."""
        return _Part(self, rows)

    def mapped(self, function: Callable[[Array], Array]) -> RowSource:
        """The source of rows that `function` has changed one by one."""
        return _Mapped(self, function)

    def total(self, function: Callable[[Array], Array]) -> Array:
        """The sum of a function of pieces."""
        sums = (function(block) for block in self.blocks())
        total = next(sums)
        for more in sums:
            total = total + more
        return total

    def each(self, function: Callable[[Array], Any]) -> list[Any]:
        """What a function gives of all pieces, in their order."""
        return [function(block) for block in self.blocks()]

    def flaws(self) -> Array:
        """For every feature how many values are missing, and how many infinite; counted once."""
        if self._flaws is None:
            self._flaws = self.total(_flaws)
        return self._flaws

    def blocks(self) -> Iterator[Array]:
        """The pieces, read one after the other."""
        return (self.read(piece) for piece in self.pieces())


def _flaws(block: Array) -> Array:
    return np.stack([np.isnan(block).sum(axis=0), np.isinf(block).sum(axis=0)])


class _Part(RowSource):
    def __init__(self, source: RowSource, rows: slice) -> None:
        self.source, self.start = source, rows.start
        self.shape, self.dtype, self.names = (
            (rows.stop - rows.start, source.shape[1]),
            source.dtype,
            source.names,
        )

    def read(self, rows: slice) -> Array:
        return self.source.read(slice(self.start + rows.start, self.start + rows.stop))


class _Mapped(RowSource):
    def __init__(self, source: RowSource, function: Callable[[Array], Array]) -> None:
        self.source, self.function = source, function
        self.shape, self.dtype, self.names = source.shape, source.dtype, source.names

    def read(self, rows: slice) -> Array:
        return self.function(self.source.read(rows))

    def pieces(self) -> list[slice]:
        return self.source.pieces()


Rows: TypeAlias = Array | RowSource


def part_of(X: Rows, rows: slice) -> Rows:
    """Rows that follow each other, not copied or read."""
    return X.part(rows) if isinstance(X, RowSource) else X[rows]
