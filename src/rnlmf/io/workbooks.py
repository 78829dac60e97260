"""Workbooks (.xlsx), by openpyxl: one sheet is the table, and all else stays as it is."""

from __future__ import annotations

import datetime
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rnlmf.io.dataset import Dataset, FileError, need, numbered, readable
from rnlmf.io.heads import head_of_table
from rnlmf.io.sizes import check_growth
from rnlmf.io.sniff import SAMPLE_ROWS
from rnlmf.io.table_file import Style, TableFile, pyarrow
from rnlmf.io.text_columns import text_dataset, typed

# Cells of a sheet that may be looked at though most of them are empty.
MOST_EMPTY = 1_000_000
CELL_GROWTH = 10
BOOL = {True: "TRUE", False: "FALSE"}


@dataclass(frozen=True)
class Sheet:
    """Where a table stands in a workbook: file content, name of the sheet, first row of data."""

    content: bytes
    name: str
    first_row: int


def _open(path: Path, content: bytes, **options: Any) -> Any:
    import io

    openpyxl = need("openpyxl", "xlsx", "A workbook")
    with readable(path, "a workbook"), warnings.catch_warnings():
        # Of what it does not keep, such as validation of cells.
        warnings.simplefilter("ignore")
        return openpyxl.load_workbook(io.BytesIO(content), **options)


def read_workbook(path: Path, *, key: str | None = None) -> Dataset:
    """The first sheet, or the one of that name; columns with formulas are left alone."""
    content = path.read_bytes()
    with readable(path, "a workbook"), zipfile.ZipFile(path) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
        # A cell of ten letters becomes an object of hundreds of bytes.
        check_growth(path, len(content), CELL_GROWTH * unpacked)
    book = _open(path, content, data_only=True)
    if key is not None and key not in book.sheetnames:
        raise FileError(path, f"has no sheet {key!r}; pass --key with {', '.join(book.sheetnames)}.")
    with_cells = [sheet.title for sheet in book.worksheets]
    name = key or next(iter(with_cells), "")
    if name not in with_cells:
        raise FileError(
            path,
            f"has no sheet with cells{f' by the name {name!r}' if name else ''}; pass --key with one, "
            "or another file.",
        )
    if book[name].max_row * book[name].max_column > max(MOST_EMPTY, unpacked):
        # Every cell that is there takes more than a byte.
        raise FileError(path, f"sheet {name!r} has cells far apart; drop those that are not the table.")
    rows = [list(row) for row in book[name].iter_rows(values_only=True)]
    while rows and not any(cell is not None for cell in rows[-1]):
        rows.pop()
    if not rows:
        raise FileError(path, f"sheet {name!r} is empty; pass another with --key.")
    sample = [[_as_text(cell) for cell in row] for row in rows[:SAMPLE_ROWS]]
    head, named = head_of_table(sample, Style())
    names = numbered(len(sample[0])) if named is None else sample[named]
    rows = rows[head:]
    if not rows:
        raise FileError(path, f"sheet {name!r} has a header and no rows; pass another with --key.")
    arrow = pyarrow()
    columns = [
        arrow.array([_as_text(row[position]) for row in rows], arrow.string())
        for position in range(len(names))
    ]
    table = TableFile(
        arrow.Table.from_arrays(columns, names=names),
        [],
        style=Style(has_header=named is not None),
        origin=Sheet(content, name, head + 1),
    )
    notes = [f"sheet {name!r} of {len(book.sheetnames)}"] if len(book.sheetnames) > 1 else []
    if head > 1:
        notes.append(f"{head} rows of header")
    return _without_formulas(text_dataset(path, table, tuple(notes)), path)


def _without_formulas(dataset: Dataset, path: Path) -> Dataset:
    """What is computed in the workbook is left to it."""
    sheet = dataset.source.origin
    cells = _open(path, sheet.content)[sheet.name]
    formulas = {cell.column - 1 for row in cells.iter_rows() for cell in row if cell.data_type == "f"}
    columns = dataset.source.columns
    kept = [i for i, column in enumerate(columns) if column not in formulas]
    if not kept:
        raise FileError(
            path, f"sheet {sheet.name!r} has no column of numbers besides formulas; save the values."
        )
    return dataset.at(kept, {i: "formulas" for i in range(len(columns)) if i not in kept})


def _as_text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return BOOL[cell]
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    return str(cell)


def write_workbook(table: TableFile, path: Path) -> None:
    """The workbook it came from with new cells, or a new one."""
    if isinstance(table.origin, Sheet):
        sheet = table.origin
        book = _open(path, sheet.content)
        for column, cells in table.edits.items():
            for row, text in cells.items():
                number = float(text)
                cell = book[sheet.name].cell(row + sheet.first_row, column + 1)
                cell.value = int(number) if "." not in text and "e" not in text else number
    else:
        book = need("openpyxl", "xlsx", "A workbook").Workbook()
        columns = typed(table.applied()).arrow
        book.active.append(columns.column_names)
        for cells_of_row in zip(*(c.to_pylist() for c in columns.columns), strict=True):
            book.active.append(list(cells_of_row))
    book.save(path)
