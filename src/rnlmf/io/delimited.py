"""Delimited text: .csv and .tsv.

It is kept as text. A cell that is not repaired is written back letter by letter, its quotes included,
and a repaired one with as many decimals as its column has.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.io.dataset import Dataset, FileError, numbered
from rnlmf.io.table_file import (
    Style,
    TableFile,
    check_finite,
    check_skip,
    numbers_the_rows,
    pyarrow,
    table_dataset,
)
from rnlmf.typing import Array

MISSING = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?", "-"})
CHUNK_ROWS = 20_000
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
# A column with fewer numbers than this is text that now and then looks like one.
LEAST_NUMBERS = 0.5


class _Records:
    """The rows of a file, of equal length, and which of their cells stand in quotes."""

    def __init__(self, path: Path, file: Iterable[str], delimiter: str) -> None:
        self.path = path
        self._lines: list[str] = []
        self._cell = re.compile(rf'"(?:[^"]|"")*"|[^{re.escape(delimiter)}]*')
        self.reader = csv.reader(self._remembered(file), delimiter=delimiter, strict=True)

    def _remembered(self, file: Iterable[str]) -> Iterator[str]:
        for line in file:
            self._lines.append(line)
            yield line

    def __iter__(self) -> Iterator[tuple[list[str], list[str] | None]]:
        """Cells without quotes, and as they stand in the file if that is not the same."""
        length = None
        for row in self.reader:
            text = "".join(self._lines)
            self._lines.clear()
            if not row:
                continue
            length = length or len(row)
            if len(row) != length:
                hint = "is the file cut off?" if len(row) < length else "is a delimiter not quoted?"
                raise FileError(
                    self.path,
                    f"line {self.reader.line_num} has {len(row)} fields, the first {length}: {hint}",
                )
            yield row, self._as_they_stand(text.rstrip("\r\n")) if '"' in text else None

    def _as_they_stand(self, text: str) -> list[str]:
        cells, place = [], 0
        while place <= len(text):
            match = self._cell.match(text, place)
            assert match is not None
            cells.append(match[0])
            place = match.end() + 1
        return cells


def read_text(
    path: Path, *, delimiter: str | None = None, decimal: str = ".", skip: tuple[str, ...] = ()
) -> Dataset:
    """A table in delimited text; `skip` names columns to leave alone."""
    arrow = pyarrow()
    expected = delimiter or ("\t" if path.suffix.lower() == ".tsv" else ",")
    style = replace(_style(path), delimiter=expected, decimal=decimal)
    chunks: list[list[Any]] = []
    quoted: dict[int, list[int]] = {}
    try:
        with open(path, encoding=style.encoding, newline="") as file:
            records = _Records(path, file, expected)
            rows = iter(records)
            first, standing = next(rows, (None, None))
            if first is None:
                raise FileError(path, "the file is empty.")
            _check_delimiter(path, first, expected, delimiter)
            if all(_is_number(cell, decimal) or cell.strip() in MISSING for cell in first):
                names = numbered(len(first))
                rows = itertools.chain([(first, standing)], rows)
            else:
                names = [cell.strip() for cell in first]
                style = replace(style, header=tuple(standing or first))
            for start in itertools.count(0, CHUNK_ROWS):
                chunk = list(itertools.islice(rows, CHUNK_ROWS))
                if not chunk:
                    break
                for number, (_, standing) in enumerate(chunk, start):
                    for column, cell in enumerate(standing or ()):
                        if cell.startswith('"'):
                            quoted.setdefault(column, []).append(number)
                cells = zip(*(row for row, _ in chunk), strict=True)
                chunks.append([arrow.array(column, arrow.string()) for column in cells])
    except UnicodeDecodeError as error:
        raise FileError(path, f"is not text in UTF-8 (byte {error.start}).") from error
    except csv.Error as error:
        line = records.reader.line_num
        raise FileError(path, f"line {line}: {error}; is the file cut off?") from error
    if not chunks:
        raise FileError(path, "has a header and no rows.")
    columns = [arrow.chunked_array(parts) for parts in zip(*chunks, strict=True)]
    texts = arrow.Table.from_arrays(columns, names=names)
    style = replace(style, quoted={c: _marked(texts.num_rows, r) for c, r in quoted.items()})
    return _dataset(path, texts, style, skip)


def _marked(count: int, rows: list[int]) -> Array:
    marks = np.zeros(count, dtype=bool)
    marks[rows] = True
    return marks


def _style(path: Path) -> Style:
    with open(path, "rb") as file:
        beginning = file.read(1 << 16)
    encoding = "utf-8-sig" if beginning.startswith(b"\xef\xbb\xbf") else "utf-8"
    return Style(newline="\r\n" if b"\r\n" in beginning else "\n", encoding=encoding)


def _check_delimiter(path: Path, first: list[str], expected: str, given: str | None) -> None:
    if len(first) > 1 or given is not None:
        return
    for name, other in DELIMITERS.items():
        if other != expected and other in first[0]:
            shown = "'\\t'" if other == "\t" else f"'{other}'"
            raise FileError(
                path, f"line 1 has a single column, separated by {name}s? Pass --delimiter {shown}."
            )


def _is_number(cell: str, decimal: str) -> bool:
    """As Arrow sees it: Python also takes underscores and the digits of other scripts."""
    try:
        float(cell.strip().replace(decimal, "."))
    except ValueError:
        return False
    return cell.isascii() and "_" not in cell


def _dataset(path: Path, texts: Any, style: Style, skip: tuple[str, ...]) -> Dataset:
    check_skip(path, texts.column_names, skip)
    columns, values, untouched = [], [], {}
    for position, (name, cells) in enumerate(zip(texts.column_names, texts.columns, strict=True)):
        if name in skip:
            untouched[name] = "as asked"
            continue
        numbers = _numbers(path, name, cells, style)
        if numbers is None:
            untouched[name] = "text"
        elif (position == 0 and name == "") or numbers_the_rows(numbers):
            untouched[name] = "row numbers"
        else:
            columns.append(position)
            values.append(numbers)
    return table_dataset(path, TableFile(texts, columns, style), values, untouched)


def _numbers(path: Path, name: str, cells: Any, style: Style) -> Array | None:
    """The numbers of a column, or None if it is text; a mixture is refused."""
    arrow, compute = pyarrow(), pyarrow("pyarrow.compute")
    first_line = 2 if style.header else 1
    texts = trimmed(cells, style.decimal)
    if texts.null_count == len(texts):
        return None
    try:
        numbers = compute.cast(texts, arrow.float64())
    except arrow.ArrowInvalid:
        plain = [cell is None or _is_number(cell, ".") for cell in texts.to_pylist()]
        n_numbers = sum(plain) - texts.null_count
        if all(plain) or n_numbers < LEAST_NUMBERS * (len(plain) - texts.null_count):
            return None
        row = plain.index(False)
        raise FileError(
            path,
            f"column {name!r} mixes numbers and text: {cells[row].as_py()!r} in line "
            f"{row + first_line}. Mend it, or pass --skip {name!r} to leave the column alone.",
        ) from None
    result: Array = numbers.to_numpy(zero_copy_only=False).astype(np.float64)
    check_finite(path, name, result, first_line)
    return result


def trimmed(cells: Any, decimal: str) -> Any:
    """Cells without blanks around them, with decimal points, and null where one is missing."""
    compute = pyarrow("pyarrow.compute")
    texts = compute.utf8_trim_whitespace(cells)
    missing = compute.is_in(texts, value_set=pyarrow().array(sorted(MISSING)))
    texts = compute.if_else(missing, None, texts)
    return texts if decimal == "." else compute.replace_substring(texts, decimal, ".")


def decimals(numbers: Any) -> int | None:
    """The most decimals of a column of text; None if it is written with exponents."""
    compute = pyarrow("pyarrow.compute")
    if compute.any(compute.match_substring(numbers, "e", ignore_case=True)).as_py():
        return None
    point = compute.find_substring(numbers, ".")
    after = compute.subtract(compute.utf8_length(numbers), compute.add(point, 1))
    most = compute.max(compute.if_else(compute.less(point, 0), 0, after)).as_py()
    return int(most)


def repaired(cells: Any, values: Array, changed: Array, style: Style, full_precision: bool) -> Any:
    """The column with its repaired cells in the column's number of decimals."""
    texts = np.array(cells.to_pylist(), dtype=object)
    digits = None if full_precision else decimals(trimmed(cells, style.decimal))
    for row in np.flatnonzero(changed):
        value = float(values[row])
        text = repr(value) if digits is None else f"{value:.{digits}f}"
        texts[row] = text.replace(".", style.decimal)
    return pyarrow().array(texts, pyarrow().string())


def write_text(table: TableFile, path: Path) -> None:
    """Write an Arrow table as delimited text."""
    names = table.arrow.column_names
    style = table.style or Style(header=tuple(names))
    delimiter = "\t" if path.suffix.lower() == ".tsv" else style.delimiter
    if path.suffix.lower() == ".csv" and delimiter == "\t":
        delimiter = ","
    special = re.compile(rf'[{re.escape(delimiter)}\r\n]|^"')
    alone = len(names) == 1
    # What stood without quotes in the same style needs none now.
    same_style = table.style is not None and delimiter == style.delimiter != style.decimal

    def as_written(cell: Any, in_quotes: bool) -> str:
        text = "" if cell is None else str(cell)
        # A line that is empty is no row.
        if in_quotes or special.search(text) or (alone and not text):
            return '"' + text.replace('"', '""') + '"'
        return text

    with open(path, "w", encoding=style.encoding, newline="") as file:
        if style.header is not None:
            kept = [cell if cell.startswith('"') else as_written(cell, False) for cell in style.header]
            added = [as_written(name, False) for name in names[len(kept) :]]
            file.write(delimiter.join([*kept, *added]) + style.newline)
        start = 0
        for batch in table.arrow.to_batches(max_chunksize=CHUNK_ROWS):
            columns = []
            for position, column in enumerate(batch.columns):
                cells, marks = column.to_pylist(), style.quoted.get(position)
                if marks is None and same_style and not alone:
                    columns.append(cells)
                    continue
                in_quotes = itertools.repeat(False) if marks is None else marks[start:]
                columns.append(list(map(as_written, cells, in_quotes)))
            lines = (delimiter.join(row) + style.newline for row in zip(*columns, strict=True))
            file.writelines(lines)
            start += len(batch)
