"""How many pages a .tiff file says it has: Pillow ends quietly where the chain of pages is broken."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import BinaryIO

# Version: format of an offset, of the number of entries of a page, and bytes of an entry.
LAYOUTS = {42: ("L", "H", 12), 43: ("Q", "Q", 20)}
BIG = 43


def count_pages(path: Path) -> int:
    """Follow the pages from one to the next; raises ValueError where one is not there."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        order = {b"II": "<", b"MM": ">"}.get(file.read(2))
        if order is None:
            raise ValueError("no byte order")
        (version,) = _unpacked(file, order + "H")
        if version not in LAYOUTS:
            raise ValueError(f"version {version}")
        offset_format, count_format, entry = LAYOUTS[version]
        if version == BIG:
            file.seek(8)
        (place,) = _unpacked(file, order + offset_format)
        seen: set[int] = set()
        while place:
            if place in seen or place >= size:
                raise ValueError(f"page {len(seen) + 1} is not there")
            seen.add(place)
            file.seek(place)
            (count,) = _unpacked(file, order + count_format)
            if count * entry > size:
                raise ValueError(f"page {len(seen)} has {count} entries")
            file.seek(count * entry, os.SEEK_CUR)
            (place,) = _unpacked(file, order + offset_format)
        return len(seen)


def _unpacked(file: BinaryIO, form: str) -> tuple[int, ...]:
    content = file.read(struct.calcsize(form))
    if len(content) < struct.calcsize(form):
        raise ValueError("cut off")
    return struct.unpack(form, content)
