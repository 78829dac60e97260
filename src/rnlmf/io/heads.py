"""What stands above the rows of a table: titles, names of columns, their units."""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import islice

from rnlmf.io.sniff import MISSING, SAMPLE_CHARACTERS, SAMPLE_ROWS, is_header, is_number
from rnlmf.io.table_file import Style

# Rows that may stand above the data, and rows below them that tell what the columns hold (choices).
MOST_HEAD = 12
FEWEST_BODY = 3
# Rows of the table that have its length.
OF_ONE_LENGTH = 0.9


def title_length(text: str, delimiter: str) -> int:
    """How many letters stand before the header: lines that have fewer fields than the table.

    Where no line with words has the fields of the rows, there is no saying what belongs to the table.
    """
    lines = list(io.StringIO(text[:SAMPLE_CHARACTERS], newline=""))
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        rows = [(reader.line_num, row) for row in islice(reader, SAMPLE_ROWS)]
    except csv.Error:
        return 0
    # A row ends where the reader is; it begins where the one before ended.
    ends = [0, *(end for end, _ in rows)]
    lengths = [len(row) for _, row in rows]
    common = Counter(length for length in lengths if length).most_common(1)
    length = common[0][0] if common else 0
    first = lengths.index(length) if length > 1 else 0
    if first == 0 or any(shorter >= length for shorter in lengths[:first]):
        return 0
    table = [row for _, row in rows[first:] if row]
    if sum(len(row) == length for row in table) < OF_ONE_LENGTH * len(table):
        return 0
    if not is_header(table[0], Style(delimiter)):
        return 0
    return sum(map(len, lines[: ends[first]]))


def head_of_table(rows: list[list[str]], style: Style) -> tuple[int, int | None]:
    """How many of the first rows are above the data, and which of them has the names, if one does.

    Where most of a column is numbers, words above the first of them are a title, a name or a unit. The
    names are the fullest of these rows, and of those the first.
    """
    usual = (1, 0) if is_header(rows[0], style) else (0, None)
    body = rows[min(MOST_HEAD, len(rows) // 2) :]
    numeric = [
        column
        for column in range(len(rows[0]))
        if len(body) >= FEWEST_BODY and _holds_numbers([row[column] for row in body], style)
    ]
    last, fullest = None, None
    for place, row in enumerate(rows[:MOST_HEAD]):
        cells = [row[column] for column in numeric]
        if any(_is_number(cell, style) for cell in cells):
            break
        if any(cell.strip() not in MISSING for cell in cells):
            last = place
            fullest = place if fullest is None or _filled(row) > _filled(rows[fullest]) else fullest
    return usual if last is None else (last + 1, fullest)


def _is_number(cell: str, style: Style) -> bool:
    return is_number(cell, style.decimal, style.thousands)


def _holds_numbers(cells: list[str], style: Style) -> bool:
    present = [cell for cell in cells if cell.strip() not in MISSING]
    return bool(present) and 2 * sum(_is_number(cell, style) for cell in present) > len(present)


def _filled(row: list[str]) -> int:
    return sum(cell.strip() not in MISSING for cell in row)
