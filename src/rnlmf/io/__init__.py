"""Read samples from files and write them back with everything else kept.

What reads and writes all formats is loaded when it is first asked for: who only needs to write a file
whole, as a fit with a checkpoint does, need not know of images and workbooks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rnlmf.io.atomic import Outputs, outputs
from rnlmf.io.dataset import Dataset, FileError

if TYPE_CHECKING:
    from rnlmf.io.files import check_new, check_target, read, write

__all__ = ["Dataset", "FileError", "Outputs", "check_new", "check_target", "outputs", "read", "write"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'rnlmf.io' has no attribute {name!r}")
    from rnlmf.io import files

    return getattr(files, name)
