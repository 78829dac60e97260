"""Workbooks (.xlsx), by openpyxl: one sheet is the table, and all else stays as it is."""

from __future__ import annotations

import datetime
import warnings
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rnlmf.io.dataset import Dataset, FileError, need, numbered, readable
from rnlmf.io.heads import head_of_table
from rnlmf.io.sizes import check_growth
from rnlmf.io.sniff import SAMPLE_ROWS, is_number
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
    formulas = _formulas(_open(path, content)[name])
    rows = [list(row) for row in book[name].iter_rows(values_only=True)]
    for (row, column), formula in formulas.items():
        rows[row][column] = formula
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
    dataset = text_dataset(path, table, tuple(notes))
    computed = dict.fromkeys({names[column] for _, column in formulas}, "formulas")
    untouched = {n: computed.get(n, why) for n, why in dataset.untouched.items()}
    return replace(dataset, untouched=untouched)


def _formulas(sheet: Any) -> dict[tuple[int, int], str]:
    """Cells that are computed in the workbook, and are left to it, by row and column."""
    return {
        (cell.row - 1, cell.column - 1): str(getattr(cell.value, "text", cell.value))
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f"
    }


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
                if isinstance(cell.value, str) and is_number(cell.value):
                    # A number that is kept as text stays one.
                    cell.value = text
                    continue
                cell.value = int(number) if "." not in text and "e" not in text.lower() else number
    else:
        book = need("openpyxl", "xlsx", "A workbook").Workbook()
        columns = typed(table.applied()).arrow
        book.active.append(columns.column_names)
        for cells_of_row in zip(*(c.to_pylist() for c in columns.columns), strict=True):
            book.active.append(list(cells_of_row))
    book.save(path)
