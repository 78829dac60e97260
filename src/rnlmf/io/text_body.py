"""The text of a file as bytes of UTF-8, which take the least memory, and its rows by their places."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import overload

from rnlmf.io.dataset import FileError
from rnlmf.io.sniff import SAMPLE_CHARACTERS, encoding_of
from rnlmf.typing import Array

BLOCK = 1 << 20
UTF8 = "utf-8"


def as_utf8(path: Path, content: bytes, encoding: str | None) -> tuple[bytes, str]:
    """The content in UTF-8, and the encoding it has; a byte order mark stays."""
    found = encoding_of(path, content, encoding)
    if codecs.lookup(found).name == UTF8:
        return content, found
    decoder = codecs.getincrementaldecoder(found)()
    pieces = [content[start : start + BLOCK] for start in range(0, len(content), BLOCK)]
    try:
        parts = [decoder.decode(piece).encode(UTF8) for piece in pieces]
        parts.append(decoder.decode(b"", final=True).encode(UTF8))
    except UnicodeEncodeError as error:
        raise FileError(path, f"has letters in {found} that are none: pass --encoding.") from error
    return b"".join(parts), found


def head_of(body: bytes, size: int = 2 * SAMPLE_CHARACTERS) -> str:
    """The beginning of a text, without a letter that is cut in two."""
    return body[:size].decode(UTF8, "ignore" if size < len(body) else "strict")


class Records(Sequence[str]):
    """Rows of a text, each from its place to that of the next one; made when they are asked for."""

    def __init__(self, body: bytes, starts: Array) -> None:
        self._body = body
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Records: ...
    def __getitem__(self, row: int | slice) -> str | Records:
        if isinstance(row, slice):
            raise TypeError("rows are taken one by one.")
        row = range(len(self))[row]
        end = self._starts[row + 1] if row + 1 < len(self) else len(self._body)
        return self._body[self._starts[row] : end].decode(UTF8)

    def __iter__(self) -> Iterator[str]:
        return (self[row] for row in range(len(self)))
