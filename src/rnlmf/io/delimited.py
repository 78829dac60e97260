"""Delimited text: .csv and .tsv.

It is kept as text. A cell that is not repaired is written back letter by letter, its quotes included,
and a repaired one with as many decimals as its column has.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.io.dataset import Dataset, FileError, numbered
from rnlmf.io.heads import head_of_table, title_length
from rnlmf.io.plain_rows import PlainRows
from rnlmf.io.sniff import DELIMITERS, SAMPLE_CHARACTERS, first_rows, sniffed, usual_delimiter
from rnlmf.io.table_file import Rows, Span, Style, TableFile, pyarrow
from rnlmf.io.text_body import UTF8, Records, as_utf8, head_of
from rnlmf.io.text_columns import text_dataset
from rnlmf.typing import Array

CHUNK_ROWS = 20_000
BYTE_ORDER_MARK = "\ufeff"
# Lines before the table: remarks, and what spreadsheets say of the delimiter.
REMARKS = re.compile(r"(?:(?:#[^\r\n]*|[ \t]*)(?:\r\n|\n|\r))+")
SEPARATOR_LINE = re.compile(r"sep=(.)(?:\r\n|\n|\r)")
# Quotes and blanks around what stands in a cell.
AROUND = re.compile(r'(\s*"?\s*)(.*?)(\s*"?\s*)', re.S)


class _QuotedRows:
    """Rows of which some may have several lines, of equal length, and where they stand.

    Words below an empty line are `noted`: what follows belongs to the last row.
    """

    def __init__(self, path: Path, body: bytes, start: int, delimiter: str) -> None:
        self._path = path
        self.noted = False
        self._lines_above = len(body[:start].splitlines())
        self._starts: list[int] = []
        self._lines: list[str] = []
        self._body, self._place = body, start
        self._reader = csv.reader(self._remembered(), delimiter=delimiter, strict=True)
        try:
            rows = iter(self._rows())
            self.first = next(rows, [])
            self._columns = _columns(rows)
        except csv.Error as error:
            raise FileError(
                path, f"line {self._line}: {error}; is the file cut off? Copy it again."
            ) from error

    @property
    def starts(self) -> Array:
        return np.array(self._starts, dtype=np.int64)

    @property
    def _line(self) -> int:
        """Of the file, where the reader is."""
        return self._lines_above + self._reader.line_num

    def _remembered(self) -> Iterator[str]:
        file = io.BytesIO(self._body)
        file.seek(self._place)
        for line in io.TextIOWrapper(file, encoding=UTF8, newline=""):
            self._lines.append(line)
            yield line

    def _rows(self) -> Iterator[list[str]]:
        length, below_empty = None, False
        for row in self._reader:
            start = self._place
            self._place += sum(len(line.encode()) for line in self._lines)
            self._lines.clear()
            if not row:
                # An empty line belongs to the row before.
                below_empty = True
                continue
            length = length or len(row)
            words = len(row) == 1 < length and any(letter.isalpha() for letter in row[0])
            self.noted |= below_empty and words
            below_empty = False
            if self.noted and len(row) == length:
                raise FileError(
                    self._path,
                    f"line {self._line}: below a note there are rows again: move them to another file.",
                )
            if self.noted:
                continue
            if len(row) != length:
                hint = "is the file cut off?" if len(row) < length else "is a delimiter not quoted?"
                raise FileError(
                    self._path,
                    f"line {self._line} has {len(row)} fields, the first {length}: {hint} "
                    "Mend the line, or pass --delimiter.",
                )
            self._starts.append(start)
            yield row

    def table(self, names: list[str], skipped: int) -> Any:
        """The cells, without the first rows."""
        arrow = pyarrow()
        columns = [
            [arrow.array([cell], arrow.string()), *chunks]
            for cell, chunks in zip(self.first, self._columns or [[]] * len(self.first), strict=True)
        ]
        columns = [arrow.chunked_array(chunks, arrow.string()).slice(skipped) for chunks in columns]
        return arrow.Table.from_arrays(columns, names=names)


def read_text(
    path: Path,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Dataset:
    """A table in delimited text; what is not given is found out."""
    body, found = as_utf8(path, path.read_bytes(), encoding)
    before, text, said = _split_off_preamble(_head(body))
    delimiter = delimiter or said
    style = sniffed(text, path.suffix.lower(), delimiter, decimal)
    style = replace(style, encoding=found)
    titles = title_length(text, style.delimiter)
    above = _without_marked_header(before + text[:titles], text[titles:], style.delimiter)
    start = len(above.encode())
    rows = PlainRows.of(body, start, style.delimiter) or _QuotedRows(path, body, start, style.delimiter)
    first = rows.first
    if not first:
        raise FileError(path, "the file is empty; pass another.")
    sample = [first, *first_rows((before + text)[len(above) :], style.delimiter)[1:]]
    sample = [row for row in sample if len(row) == len(first)]
    skipped, named = head_of_table(sample, style)
    style = replace(style, has_header=named is not None)
    names = numbered(len(first)) if named is None else [cell.strip() for cell in sample[named]]
    if named == 0:
        names[0] = names[0].removeprefix("#").strip()
    starts = rows.starts[skipped:]
    if len(starts) == 0:
        raise FileError(path, "has a header and no rows; pass a file with rows.")
    standing = Rows(
        style.delimiter,
        body[: starts[0]].decode(UTF8),
        Records(body, starts),
        _spans(style.delimiter, len(names)),
        _placed(style.delimiter),
    )
    table = TableFile(rows.table(names, skipped), [], style=style, rows=standing)
    notes = _notes(path, style, said, titles, skipped)
    if isinstance(rows, _QuotedRows) and rows.noted:
        notes += ("a note below the table",)
    return text_dataset(path, table, notes)


def _head(body: bytes) -> str:
    """The beginning, with all remarks and a line more."""
    for factor in itertools.count(1):
        head = head_of(body, factor * factor * 2 * SAMPLE_CHARACTERS)
        _, text, _ = _split_off_preamble(head)
        if "\n" in text or "\r" in text or len(head.encode()) >= len(body):
            return head
    raise AssertionError


def _columns(rows: Iterator[list[str]]) -> list[list[Any]]:
    """The chunks of every column."""
    arrow = pyarrow()
    chunks = []
    while chunk := list(itertools.islice(rows, CHUNK_ROWS)):
        chunks.append([arrow.array(cells, arrow.string()) for cells in zip(*chunk, strict=True)])
    return [list(parts) for parts in zip(*chunks, strict=True)]


def _split_off_preamble(text: str) -> tuple[str, str, str | None]:
    """What stands before the table, the table, and the delimiter if that is said there."""
    start = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    said = SEPARATOR_LINE.match(text, start)
    if said:
        return text[: said.end()], text[said.end() :], said[1]
    remarks = REMARKS.match(text, start)
    start = remarks.end() if remarks else start
    return text[:start], text[start:], None


def _without_marked_header(before: str, text: str, delimiter: str) -> str:
    """What stands before the table: a last remark with as many fields as the rows is their header."""
    lines = before.splitlines(keepends=True)
    first = text.partition("\n")[0]
    if not lines or not lines[-1].startswith("#") or delimiter not in first:
        return before
    if lines[-1].count(delimiter) != first.count(delimiter) or re.search("[A-Za-z]", first):
        return before
    return "".join(lines[:-1])


def _notes(path: Path, style: Style, said: str | None, titles: int, head: int) -> tuple[str, ...]:
    notes = []
    if said or style.delimiter != usual_delimiter(path.suffix.lower()):
        name = next((n for n, d in DELIMITERS.items() if d == style.delimiter), repr(style.delimiter))
        notes.append(f"delimiter {name}")
    if style.decimal == ",":
        notes.append("decimal comma")
    if style.thousands:
        notes.append(f"thousands marked by {style.thousands!r}")
    if style.encoding != "utf-8":
        notes.append(f"encoding {style.encoding}")
    if titles:
        notes.append("a title before the table")
    if head > 1:
        notes.append(f"{head} rows of header")
    if not style.has_header:
        notes.append("no header")
    return tuple(notes)


def _spans(delimiter: str, count: int) -> Callable[[str], list[Span | None]]:
    cell = re.compile(rf'"(?:[^"]|"")*"|[^{re.escape(delimiter)}\r\n]*')

    def spans(record: str) -> list[Span | None]:
        found: list[Span | None] = []
        place = 0
        for _ in range(count):
            match = cell.match(record, place)
            assert match is not None
            found.append(match.span())
            place = match.end() + 1
        return found

    return spans


def _placed(delimiter: str) -> Callable[[str, int, Span | None, str], tuple[Span, str]]:
    def placed(record: str, column: int, span: Span | None, text: str) -> tuple[Span, str]:
        """Between the quotes and blanks that are there."""
        assert span is not None
        start, end = span
        match = AROUND.fullmatch(record, start, end)
        assert match is not None
        lead, _, trail = match.groups()
        if delimiter in text and '"' not in lead and not text.startswith('"'):
            text = f'"{text}"'
        return (start + len(lead), end - len(trail)), text

    return placed


def write_text(table: TableFile, path: Path, added: tuple[str, Array] | None = None) -> None:
    """Write a table as delimited text, `added` being the name and the cells of a column more.

    Rows that stand in a text file of the same style are copied letter by letter.
    """
    style = table.style or Style()
    suffix = path.suffix.lower()
    delimiter = style.delimiter
    if suffix != style.suffix and (suffix == ".tsv" or delimiter == "\t"):
        delimiter = usual_delimiter(suffix)
    with open(path, "w", encoding=style.encoding, newline="") as file:
        if table.rows is not None and table.rows.format == delimiter and added is None:
            file.writelines(table.rows.edited(table.edits))
        else:
            file.writelines(_anew(table.applied(), replace(style, delimiter=delimiter), added))


def _anew(table: TableFile, style: Style, added: tuple[str, Array] | None) -> Iterator[str]:
    """Lines of a table that did not stand in this style before."""
    names = table.arrow.column_names
    special = re.compile(rf'[{re.escape(style.delimiter)}\r\n]|^"')
    # A line that is empty is no row.
    alone = len(names) == 1 and added is None

    def as_written(cell: Any) -> str:
        text = "" if cell is None else str(cell)
        if special.search(text) or (alone and not text):
            return '"' + text.replace('"', '""') + '"'
        return text

    def line(cells: Any) -> str:
        return style.delimiter.join(map(as_written, cells)) + style.newline

    if style.has_header:
        yield line([*names, *([added[0]] if added else [])])
    start = 0
    for batch in table.arrow.to_batches(max_chunksize=CHUNK_ROWS):
        columns = [column.to_pylist() for column in batch.columns]
        if added:
            columns.append(added[1][start : start + len(batch)].tolist())
        yield from map(line, zip(*columns, strict=True))
        start += len(batch)
