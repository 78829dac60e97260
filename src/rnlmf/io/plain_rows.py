"""Rows of delimited text in which every line is one, read by Arrow, some columns at a time.

The cells of a large file are not kept: its bytes are, and cells that are asked for are read again.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from rnlmf.io.table_file import pyarrow
from rnlmf.io.text_body import UTF8
from rnlmf.typing import Array

# Of a file that is larger, the columns are read in several turns.
BYTES_AT_ONCE = 1 << 23
MOST_TURNS = 24
BLOCK = 1 << 22


class TextTable:
    """The cells of a text as an Arrow table has them, without holding them all.

    Parameters
    ----------
    body : bytes
        The text in UTF-8.
    starts : array
        Where its rows begin.
    delimiter : str
        Between cells.
    n_columns : int
        Cells of a row.
    """

    def __init__(self, body: bytes, starts: Array, delimiter: str, n_columns: int) -> None:
        self.column_names = [str(position) for position in range(n_columns)]
        self.num_rows = len(starts)
        self._skipped = 0
        self._text = pyarrow().py_buffer(body)[int(starts[0]) :]
        self._delimiter = delimiter
        longest = int(np.diff(starts, append=len(body)).max())
        self._block = max(BLOCK, 2 * longest)
        turns = min(MOST_TURNS, n_columns, 1 + len(body) // BYTES_AT_ONCE)
        self._groups = np.array_split(np.arange(n_columns), turns)
        self._last: dict[int, Any] = {}
        self._kept: dict[int, Any] = {}

    def named(self, names: list[str], skipped: int) -> TextTable:
        """With names of the columns, and without the first rows; it is the table itself."""
        self.column_names = names
        self.num_rows -= skipped
        self._skipped = skipped
        self._last = {position: cells.slice(skipped) for position, cells in self._last.items()}
        return self

    @property
    def num_columns(self) -> int:
        """How many columns there are."""
        return len(self.column_names)

    @property
    def columns(self) -> Iterator[Any]:
        """All columns, in their order."""
        return (self.column(position) for position in range(self.num_columns))

    def column(self, position: int) -> Any:
        """The cells of a column; those beside it are ready then, too."""
        if position in self._kept:
            return self._kept[position]
        if position not in self._last:
            group = next(group for group in self._groups if group[0] <= position <= group[-1])
            # First, so that two groups are never held.
            self._last = {}
            self._last = self._read(group.tolist())
        return self._last[position]

    def keep(self, positions: list[int]) -> None:
        """Hold these columns: they are asked for often."""
        self._kept = self._read(positions) if positions else {}
        if len(self._groups) > 1:
            self._last = {}

    def whole(self) -> Any:
        """The Arrow table."""
        cells = self._read(list(range(self.num_columns)))
        return pyarrow().Table.from_arrays(list(cells.values()), names=self.column_names)

    def _read(self, positions: list[int]) -> dict[int, Any]:
        arrow, reader = pyarrow(), pyarrow("pyarrow.csv")
        wanted = [str(position) for position in positions]
        table = reader.read_csv(
            arrow.BufferReader(self._text),
            read_options=reader.ReadOptions(
                use_threads=False,
                block_size=self._block,
                column_names=[str(position) for position in range(self.num_columns)],
            ),
            parse_options=reader.ParseOptions(delimiter=self._delimiter, double_quote=False),
            convert_options=reader.ConvertOptions(
                column_types=dict.fromkeys(wanted, arrow.string()),
                include_columns=wanted,
                strings_can_be_null=False,
            ),
        )
        # What was freed before is free for others, too.
        arrow.default_memory_pool().release_unused()
        return {p: c.slice(self._skipped) for p, c in zip(positions, table.columns, strict=True)}


class PlainRows:
    """Rows that are lines.

    Parameters
    ----------
    body : bytes
        The text in UTF-8.
    starts : array
        Where they begin.
    delimiter : str
        Between cells.
    """

    def __init__(self, body: bytes, starts: Array, delimiter: str) -> None:
        self.starts = starts
        end = starts[1] if len(starts) > 1 else len(body)
        line = body[starts[0] : end].decode(UTF8)
        self.first: list[str] = next(csv.reader([line.strip("\r\n")], delimiter=delimiter, strict=True))
        self._table = TextTable(body, starts, delimiter, len(self.first))

    @classmethod
    def of(cls, body: bytes, start: int, delimiter: str) -> PlainRows | None:
        """The rows from `start` on; None if one may have several lines, or other columns."""
        if not delimiter.isascii() or delimiter in '"\r\n' or not _is_plain(body, start, delimiter):
            return None
        starts = _line_starts(body, start)
        if len(starts) == 0:
            return None
        rows = cls(body, starts, delimiter)
        try:
            complete = len(rows._table.column(0)) == len(starts)
        except pyarrow().ArrowException:
            # The other reader says what is wrong, and where.
            return None
        return rows if complete else None

    def table(self, names: list[str], skipped: int) -> TextTable:
        """The cells, without the first rows."""
        return self._table.named(names, skipped)


def _is_plain(body: bytes, start: int, delimiter: str) -> bool:
    if body.count(b"\r", start) != body.count(b"\r\n", start):
        return False
    quotes = body.count(b'"', start)
    if quotes == 0:
        return True
    mark = re.escape(delimiter.encode())
    cell = re.compile(rb'(?<![^\n%b])"[^"\r\n]*"(?![^\r\n%b])' % (mark, mark))
    return 2 * sum(1 for _ in cell.finditer(body, start)) == quotes


def _line_starts(body: bytes, start: int) -> Array:
    """Where lines begin in which something stands."""
    letters = np.frombuffer(body, np.uint8)
    starts = np.empty(1 + body.count(b"\n", start), dtype=np.int64)
    starts[0], filled = start, 1
    for place in range(start, len(body), BLOCK):
        ends = np.flatnonzero(letters[place : place + BLOCK] == ord("\n"))
        starts[filled : filled + len(ends)] = ends + (place + 1)
        filled += len(ends)
    starts = starts[starts < len(body)]
    first = letters[starts]
    second = letters[np.minimum(starts + 1, len(body) - 1)]
    empty = (first == ord("\n")) | ((first == ord("\r")) & (second == ord("\n")))
    return starts[~empty]
