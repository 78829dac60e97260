"""A table as it lies in its file, and what all formats of tables share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.io.dataset import TABLE, Dataset, FileError, need
from rnlmf.typing import Array

Span = tuple[int, int]
# New cells: by column and row, as they shall stand in a text file.
Edits = dict[int, dict[int, str]]


@dataclass(frozen=True)
class Rows:
    """A text file as it stands: what comes before the first row, the rows, and where their cells are.

    Attributes
    ----------
    format : str
        ``"json"``, or the delimiter.
    preamble : str
        Byte order mark, remarks and header, with their line ends.
    records : sequence of str
        The rows, with their line ends and the empty lines after them.
    spans : callable
        Beginning and end of the cells of a record, in the order of the columns; None: not there.
    placed : callable
        ``placed(record, column, span, text)``: what to write there for a new cell.
    """

    format: str
    preamble: str
    records: Sequence[str]
    spans: Callable[[str], list[Span | None]]
    placed: Callable[[str, int, Span | None, str], tuple[Span, str]]

    def standing(self, row: int, column: int) -> str:
        """What stands in a cell, to the letter; nothing where there is none."""
        record = self.records[row]
        span = self.spans(record)[column]
        return "" if span is None else record[slice(*span)]

    def edited(self, edits: Edits) -> Iterator[str]:
        """The file piece by piece with new cells; all else is letter by letter what it was."""
        by_row: dict[int, list[tuple[int, str]]] = {}
        for column, cells in edits.items():
            for row, text in cells.items():
                by_row.setdefault(row, []).append((column, text))
        yield self.preamble
        for row, record in enumerate(self.records):
            yield self._edited(record, by_row[row]) if row in by_row else record

    def _edited(self, record: str, cells: list[tuple[int, str]]) -> str:
        spans = self.spans(record)
        pieces = [self.placed(record, column, spans[column], text) for column, text in cells]
        # From the end, so that the places before stay where they are.
        for (start, end), text in sorted(pieces, reverse=True):
            record = record[:start] + text + record[end:]
        return record


@dataclass(frozen=True)
class Style:
    """How numbers and lines of a text file are written."""

    delimiter: str = ","
    decimal: str = "."
    thousands: str = ""
    newline: str = "\n"
    encoding: str = "utf-8"
    has_header: bool = True
    suffix: str = ".csv"


@dataclass(frozen=True)
class Traits:
    """How a column of numbers is written: what tells a measurement from a code.

    Attributes
    ----------
    whole : bool
        All its numbers are whole; those that are always so, being large floats, do not tell.
    decimals : int or None
        The most of its numbers in text; None: as many as there are.
    scientific : str or None
        The format of numbers in text that all have an exponent, such as ``.3e``.
    grouped : bool
        Thousands are marked.
    code_like : bool
        Numbers have leading zeros, or begin with a plus.
    words : dict
        Cells that are no numbers though something stands there, by row.
    """

    whole: bool
    decimals: int | None = None
    grouped: bool = False
    code_like: bool = False
    words: dict[int, str] = field(default_factory=dict)
    scientific: str | None = None


@dataclass(frozen=True)
class TableFile:
    """A table, which of its columns are the features, and how it stands in its file.

    Attributes
    ----------
    arrow : Arrow table
        Typed columns, or the cells of a text file without quotes; of a large one, something that
        reads them when asked (:class:`rnlmf.io.plain_rows.TextTable`).
    columns : list of int
        Where the features are.
    traits : list of Traits
        Of the features.
    style : Style or None
        Of a text file.
    rows : Rows or None
        A text file as it stands.
    origin : object
        What else a format needs, such as a workbook.
    edits : dict
        New cells of a text file.
    """

    arrow: Any
    columns: list[int]
    traits: list[Traits] = field(default_factory=list)
    style: Style | None = None
    rows: Rows | None = None
    origin: Any = None
    edits: Edits = field(default_factory=dict)

    def selected(self, positions: list[int]) -> TableFile:
        """With some of the features only; the other columns are passed through."""
        traits = [self.traits[position] for position in positions] if self.traits else []
        return replace(self, columns=[self.columns[p] for p in positions], traits=traits)

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

    def applied(self) -> TableFile:
        """With the edits in the table itself, for formats that are written anew."""
        whole = getattr(self.arrow, "whole", None)
        table = self if whole is None else replace(self, arrow=whole())
        new = {}
        for column, cells in self.edits.items():
            texts = table.arrow.column(column).to_pylist()
            for row, text in cells.items():
                texts[row] = text
            new[column] = pyarrow().array(texts, pyarrow().string())
        return replace(table.with_columns(new), edits={}, rows=None)


def pyarrow(module: str = "pyarrow") -> Any:
    """Arrow, or one of its modules."""
    return need(module, "cli", "Reading and writing tables")


def table_dataset(
    path: Path,
    table: TableFile,
    values: Array | list[Array],
    untouched: dict[str, str],
    notes: tuple[str, ...] = (),
) -> Dataset:
    """The features of a table as samples."""
    if not table.columns:
        kinds = ", ".join(f"{name!r} is {why}" for name, why in list(untouched.items())[:5])
        text = " (with --delimiter or --decimal, if it is not read rightly)" if table.style else ""
        raise FileError(path, f"has no numeric column: {kinds}. Pass data with numbers{text}.")
    all_names = table.arrow.column_names
    names = [all_names[column] for column in table.columns]
    return Dataset(
        values=values if isinstance(values, np.ndarray) else np.column_stack(values),
        kind=TABLE,
        names=names,
        sample_names=sample_names(table),
        sample_shape=(len(names),),
        source=table,
        path=path,
        untouched=untouched,
        notes=notes,
    )


def sample_names(table: TableFile) -> list[str] | None:
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
