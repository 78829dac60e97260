"""Data frames of pandas, polars and others, as datasets, and back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from rnlmf.io.dataset import Dataset, FileError, differing
from rnlmf.io.table_file import Style, TableFile, Traits, pyarrow, table_dataset
from rnlmf.io.text_columns import as_text, numbers_of, numbers_with_traits
from rnlmf.typing import Array

FRAME = Path("the data frame")


def read_frame(frame: Any) -> Dataset:
    """The numbers of a frame; text, dates, categories and yes or no are left alone."""
    try:
        native = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise TypeError(
            f"frame must be a data frame in memory, such as one of pandas or polars, not a "
            f"{type(frame).__name__}."
        ) from error
    if len(native) == 0:
        raise FileError(FRAME, "has no rows; pass one with rows.")
    cells, columns, traits, values, untouched = [], [], [], [], {}
    # Not by their names, which need not be text.
    for position, (name, column) in enumerate(zip(native.columns, native.iter_columns(), strict=True)):
        cells.append(_cells(column))
        found = _numbers(column, cells[-1])
        if isinstance(found, str):
            untouched[str(name)] = found
            continue
        columns.append(position)
        values.append(found[0])
        traits.append(found[1])
    names = [str(name) for name in native.columns]
    arrow = pyarrow().Table.from_arrays(cells, names=names)
    return table_dataset(FRAME, TableFile(arrow, columns, traits, origin=native), values, untouched)


def _cells(column: Any) -> Any:
    """The column in Arrow; what Arrow does not have is not looked at."""
    arrow = pyarrow()
    if column.dtype in (nw.String, nw.Object):
        texts = ["" if _is_missing(cell) else str(cell) for cell in column.to_list()]
        return arrow.array(texts, arrow.string())
    if column.dtype in (nw.Date, nw.Datetime) or column.dtype.is_numeric():
        return column.to_arrow()
    return arrow.nulls(len(column))


def _is_missing(cell: Any) -> bool:
    # Nothing else is different from itself, and pandas has a missing value that cannot be compared.
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or cell != cell


def _numbers(column: Any, cells: Any) -> tuple[Array, Traits] | str:
    kind = column.dtype
    if kind in (nw.String, nw.Object):
        return numbers_of(cells, Style())
    if column.null_count() == len(column):
        return "no values"
    if not kind.is_numeric() or kind.is_decimal():
        # Of what narwhals does not know, the frame does.
        name = str(column.to_native().dtype if kind == nw.Unknown else kind)
        name = re.split(r"[(\[]", name)[0].lower()
        return {"boolean": "yes or no", "categorical": "category", "enum": "category"}.get(name, name)
    numbers = np.array(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return numbers_with_traits(numbers, integers=kind.is_integer()) or "no values"


def write_frame(dataset: Dataset, values: Array) -> Any:
    """The frame of a dataset with new values, in its types and with its index."""
    table = dataset.source
    frame, columns = table.origin, list(table.origin.iter_columns())
    changed = differing(values, dataset.values)
    new = []
    for feature in np.flatnonzero(changed.any(axis=0)):
        column = columns[table.columns[feature]]
        rows = np.flatnonzero(changed[:, feature])
        cells = values[rows, feature]
        written: list[Any]
        if column.dtype in (nw.String, nw.Object):
            written = [as_text(value, table.traits[feature], Style()) for value in cells]
        elif column.dtype.is_integer():
            written = [int(value) for value in cells]
        else:
            written = cells.tolist()
        new.append(column.scatter(rows.tolist(), written))
    return (frame.with_columns(*new) if new else frame).to_native()
