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

# With a page that is asked for Linux maps those around it that it has, up to this limit.
AROUND = 2 << 20


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
    """Let all pages go that mapped arrays have a part of, and those around them.

    Arrays in memory stay as they are, and what others have on these pages is in the file too. Not
    those of a map that is copied on writing, whose changes would be lost.
    """
    if not hasattr(mmap, "MADV_DONTNEED"):
        return
    for array in arrays:
        memory = _memory_of(array)
        if memory is None or array.nbytes == 0:
            continue
        origin = np.frombuffer(memory, np.uint8, count=1).ctypes.data
        first, last = array.ctypes.data, array.ctypes.data + array.nbytes
        first = max(first // AROUND * AROUND - origin, 0)
        last = -(-last // AROUND) * AROUND - origin
        memory.madvise(mmap.MADV_DONTNEED, first, last - first)


def _memory_of(array: Any) -> mmap.mmap | None:
    while isinstance(array, np.ndarray | memoryview):
        if isinstance(array, np.memmap) and array.mode == "c":
            return None
        array = array.base if isinstance(array, np.ndarray) else array.obj
    return array if isinstance(array, mmap.mmap) else None
