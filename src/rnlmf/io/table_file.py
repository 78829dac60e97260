"""A table as it lies in its file, and what delimited text and parquet share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.io.dataset import TABLE, Dataset, FileError, need
from rnlmf.typing import Array


@dataclass(frozen=True)
class Style:
    """How a delimited file is written; `header` has its cells as they stand there, quotes included."""

    delimiter: str = ","
    decimal: str = "."
    header: tuple[str, ...] | None = None
    newline: str = "\n"
    encoding: str = "utf-8"
    quoted: dict[int, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class TableFile:
    """An Arrow table, which of its columns are the features, and its style as text."""

    arrow: Any
    columns: list[int]
    style: Style | None = None

    def selected(self, positions: list[int]) -> TableFile:
        """With some of the features only; the other columns are passed through."""
        return replace(self, columns=[self.columns[position] for position in positions])

    def with_columns(self, new: dict[int, Any]) -> TableFile:
        """With other cells in some columns, of types of their own."""
        if not new:
            return self
        schema = self.arrow.schema
        fields = [schema.field(i) for i in range(self.arrow.num_columns)]
        columns = list(self.arrow.columns)
        for position, cells in new.items():
            fields[position] = fields[position].with_type(cells.type)
            columns[position] = cells
        schema = pyarrow().schema(fields, metadata=schema.metadata)
        return replace(self, arrow=pyarrow().Table.from_arrays(columns, schema=schema))


def pyarrow(module: str = "pyarrow") -> Any:
    """Arrow, or one of its modules."""
    return need(module, "cli", "Reading and writing tables")


def check_skip(path: Path, names: list[str], skip: tuple[str, ...]) -> None:
    """Refuse to leave a column alone that is not there."""
    unknown = [name for name in skip if name not in names]
    if unknown:
        raise FileError(path, f"has no column {unknown[0]!r}; there are {', '.join(names[:20])}.")


def check_finite(path: Path, name: str, numbers: Array, first_line: int) -> None:
    """Refuse infinity, and say where it is."""
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise FileError(path, f"column {name!r} is infinite in line {infinite[0] + first_line}.")


def numbers_the_rows(numbers: Array) -> bool:
    """Whether a column only numbers the rows."""
    return len(numbers) > 2 and bool(np.all(np.diff(numbers) == 1.0))


def table_dataset(
    path: Path, table: TableFile, values: list[Array], untouched: dict[str, str]
) -> Dataset:
    """The features of a table as samples."""
    if not values:
        raise FileError(path, "has no numeric column.")
    all_names = table.arrow.column_names
    names = [all_names[column] for column in table.columns]
    return Dataset(
        values=np.column_stack(values),
        kind=TABLE,
        names=names,
        sample_names=_sample_names(table),
        sample_shape=(len(names),),
        source=table,
        path=path,
        untouched=untouched,
    )


def _sample_names(table: TableFile) -> list[str] | None:
    """The first column that is passed through, if its entries tell the rows apart."""
    features = set(table.columns)
    others = [i for i in range(table.arrow.num_columns) if i not in features]
    if not others:
        return None
    try:
        names = [str(cell) for cell in table.arrow.column(others[0]).to_pylist()]
    except (ValueError, OverflowError):
        # Dates that Python does not have, or text that is none.
        return None
    return names if len(set(names)) == len(names) else None
