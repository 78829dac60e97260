"""Arrays in a file that nobody sees: for state that is larger than memory.

Pages of a mapped file count as a process's memory until they are let go (:func:`let_go`); what was
written stays in the file.
"""

from __future__ import annotations

import math
import mmap
import os
import tempfile
from typing import Any

import numpy as np

from rnlmf.typing import Array


def mapped_array(shape: tuple[int, ...], dtype: Any) -> Array:
    """Zeros in a file of the temporary folder (``TMPDIR``) that goes away with the array.

    Raises
    ------
    OSError
        If there is no room: the space is taken at once, not when it is written to.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size == 0:
        return np.zeros(shape, dtype)
    with tempfile.TemporaryFile(prefix="rnlmf-") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
        memory = mmap.mmap(file.fileno(), size)
    return np.frombuffer(memory, dtype).reshape(shape)


def let_go(*arrays: Array) -> None:
    """Let the pages of mapped arrays go, as far as they are theirs alone; others stay as they are.

    Not those of a map that is copied on writing, whose changes would be lost.
    """
    if not hasattr(mmap, "MADV_DONTNEED"):
        return
    for array in arrays:
        memory = _memory_of(array)
        if memory is None or array.nbytes == 0:
            continue
        origin = np.frombuffer(memory, np.uint8, count=1).ctypes.data
        first = array.ctypes.data - origin
        last = first + array.nbytes
        first, last = -(-first // mmap.PAGESIZE) * mmap.PAGESIZE, last // mmap.PAGESIZE * mmap.PAGESIZE
        if last > first:
            memory.madvise(mmap.MADV_DONTNEED, first, last - first)


def _memory_of(array: Any) -> mmap.mmap | None:
    while isinstance(array, np.ndarray | memoryview):
        if isinstance(array, np.memmap) and array.mode == "c":
            return None
        array = array.base if isinstance(array, np.ndarray) else array.obj
    return array if isinstance(array, mmap.mmap) else None
