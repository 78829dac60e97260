"""Rows of arrays that are not in memory: memory maps, ``.npy`` files, zarr."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.engine.maps import let_go
from rnlmf.engine.source import RowSource
from rnlmf.io.dataset import readable
from rnlmf.typing import Array

# Rows of a memory map that are taken before their pages are let go: each can bring 2 MB around it.
TAKEN_ROWS = 64


def float_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Single precision for what fits in it, else double."""
    if dtype.kind not in "fiub":
        raise ValueError(f"Rows of {dtype} are no numbers.")
    small = dtype.kind == "f" and dtype.itemsize <= 4
    return np.dtype(np.float32 if small else np.float64)


class ArraySource(RowSource):
    """Rows of anything that has a shape, a type, and slices.

    Parameters
    ----------
    array : array-like
        Of two dimensions. Pages of a memory map are let go once they are read.
    """

    def __init__(self, array: Any) -> None:
        if len(array.shape) != 2:
            raise ValueError(f"X has {len(array.shape)} dimensions: rows and columns are needed.")
        self.array = array
        self.shape = int(array.shape[0]), int(array.shape[1])
        self.dtype = float_type(np.dtype(array.dtype))

    def read(self, rows: slice) -> Array:
        some = self.array[rows]
        found = np.array(some, self.dtype, order="C")
        if isinstance(some, np.ndarray):
            let_go(some)
        return found

    def take(self, rows: Array) -> Array:
        if not isinstance(self.array, np.ndarray):
            return super().take(rows)
        found = np.empty((len(rows), self.shape[1]), self.dtype)
        for start in range(0, len(rows), TAKEN_ROWS):
            some = rows[start : start + TAKEN_ROWS]
            found[start : start + TAKEN_ROWS] = self.array[some]
            let_go(self.array[some[0] : some[-1] + 1])
        return found

    def pieces(self) -> list[slice]:
        """Chunks of rows, if the array has them and they are not tiny."""
        step, least = int(getattr(self.array, "chunks", (0,))[0] or 0), super().pieces()
        if not least or step < least[0].stop:
            return least
        n = self.shape[0]
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def open_npy(path: Path) -> ArraySource:
    """A memory map of a ``.npy`` file."""
    with readable(path, "a NumPy file"):
        array = np.load(path, mmap_mode="r")
        if not isinstance(array, np.ndarray):
            raise ValueError("an archive of several arrays")
    return ArraySource(array)


def open_zarr(path: Path) -> ArraySource:
    """A zarr array in a folder."""
    import zarr

    with readable(path, "a zarr array"):
        array = zarr.open_array(str(path), mode="r")
    return ArraySource(array)
