"""By which damage of files with arrays is told."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from rnlmf.typing import Array


def digest(header: str, tensors: Mapping[str, Array]) -> str:
    """SHA-256 of everything in a file: what its header says, and its arrays."""
    sums = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        sums.update(f"{name} {tensor.dtype.str} {tensor.shape}".encode())
        sums.update(np.ascontiguousarray(tensor).tobytes())
    return sums.hexdigest()
