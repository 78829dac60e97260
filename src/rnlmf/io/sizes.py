"""How much a file may grow when it is unpacked: checked before the memory is taken."""

from __future__ import annotations

from pathlib import Path

from rnlmf.io.dataset import FileError

# Beyond both, a file is taken for a trap: real data rarely shrink to a twentieth.
MOST_GROWTH = 100
SMALL = 1 << 28


def too_large(stored: int, unpacked: int) -> bool:
    """Whether a file of `stored` bytes may not take `unpacked` bytes of memory."""
    return unpacked > max(SMALL, MOST_GROWTH * stored)


def check_growth(path: Path, stored: int, unpacked: int) -> None:
    """Refuse a file that would take far more memory than it has bytes."""
    if too_large(stored, unpacked):
        raise FileError(
            path,
            f"takes {stored:,} bytes, but {unpacked / 1e9:.1f} GB in memory, which looks like a trap: "
            "unpack it first, or save it in another format, if it is right.",
        )
