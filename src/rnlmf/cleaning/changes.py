"""What was changed, cell by cell."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.cleaning.overview import Overview
from rnlmf.cleaning.repair import CODE, REPAIRED, Repaired
from rnlmf.io.dataset import Dataset, differing
from rnlmf.io.table_file import Style, TableFile
from rnlmf.io.text_columns import as_text
from rnlmf.typing import Array

HEADER = ("row", "column", "before", "after", "probability", "kind")


@dataclass(frozen=True)
class Changes:
    """Cells that were changed, row by row.

    Attributes
    ----------
    rows, features : array of int
        Where they are; rows count from 0.
    names : list of str
        Of the columns of the table.
    before, after : list of str
        As they stand in a text file; an empty text where there was no value.
    probability : array
        That the value was wrong; NaN where there was none.
    kinds : list of str
        ``repaired``, ``filled``, ``code``, ``stuck`` or ``bad row``.
    """

    rows: Array
    features: Array
    names: Sequence[str]
    before: list[str]
    after: list[str]
    probability: Array
    kinds: list[str]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[int, str, str, str, float, str]]:
        """Row, column, before, after, probability and kind of every change."""
        columns = [self.names[i] for i in self.features]
        return zip(
            self.rows.tolist(),
            columns,
            self.before,
            self.after,
            self.probability.tolist(),
            self.kinds,
            strict=True,
        )

    def counts(self) -> dict[str, int]:
        """How many of every kind."""
        kinds, counts = np.unique(self.kinds, return_counts=True)
        return {str(kind): int(count) for kind, count in zip(kinds, counts, strict=True)}

    def write(self, path: Path) -> None:
        """As a table in delimited text; its rows count from 1."""
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEADER)
            for row, column, before, after, probability, kind in self:
                writer.writerow([row + 1, column, before, after, _shown(probability), kind])


def _shown(probability: float) -> str:
    return "" if np.isnan(probability) else f"{probability:.3f}"


def changes_of(
    overview: Overview, clean: Array, repaired: Repaired, *, full_precision: bool = False
) -> Changes:
    """What is different between a dataset and its clean values."""
    dataset = overview.dataset
    rows, features = np.nonzero(differing(clean, dataset.values))
    kinds = cell_kinds(overview, repaired)[rows, features]
    cells = [Cells(dataset, i, full_precision) for i in range(len(dataset.names))]
    pairs = list(zip(rows.tolist(), features.tolist(), strict=True))
    return Changes(
        rows=rows,
        features=features,
        names=distinct_names(dataset),
        before=[cells[i].before(row) for row, i in pairs],
        after=[cells[i].text(clean[row, i]) for row, i in pairs],
        probability=cell_probability(overview, repaired)[rows, features],
        kinds=[str(kind) for kind in kinds],
    )


def cell_kinds(overview: Overview, repaired: Repaired) -> Array:
    """What a change of every cell is called."""
    kinds = repaired.kinds.copy()
    kinds[overview.codes] = CODE
    kinds[overview.outside | words(overview)] = REPAIRED
    kinds[words(overview) & overview.codes] = CODE
    return kinds


def cell_probability(overview: Overview, repaired: Repaired) -> Array:
    """That cells are wrong: what is no number or impossible surely is."""
    probability = np.array(repaired.probability)
    probability[overview.codes] = np.nan
    probability[(overview.outside | words(overview)) & ~overview.codes] = 1.0
    return probability


def words(overview: Overview) -> Array:
    """Cells in which something stands that is no number, and does not stay."""
    marks = np.zeros(overview.dataset.values.shape, dtype=bool)
    for feature, traits in enumerate(overview.traits or []):
        marks[list(traits.words), feature] = True
    return marks & ~overview.held


def distinct_names(dataset: Dataset) -> list[str]:
    """Names of the features, with their place in the file where it has two columns of one name."""
    table = dataset.source
    of_table = isinstance(table, TableFile)
    names = table.arrow.column_names if of_table else dataset.names
    places = table.columns if of_table else range(len(names))
    times = Counter(names)
    return [f"{names[i]} (column {i + 1})" if times[names[i]] > 1 else names[i] for i in places]


class Cells:
    """A column of a dataset as text."""

    def __init__(self, dataset: Any, feature: int, full_precision: bool) -> None:
        self._values = dataset.values[:, feature]
        self._table = dataset.source if isinstance(dataset.source, TableFile) else None
        self._full = full_precision
        if self._table is not None:
            self._traits = self._table.traits[feature]
            self._place = self._table.columns[feature]
            self._texts = self._table.arrow.column(self._place)

    def before(self, row: int) -> str:
        """What stood there, without quotes and blanks."""
        if self._table is not None and self._table.style is not None:
            text, rows = str(self._texts[row].as_py()).strip(), self._table.rows
            # Such as null, which has no text.
            return text or ("" if rows is None else rows.standing(row, self._place).strip(' "'))
        if self._table is not None and row in self._traits.words:
            return self._traits.words[row]
        return "" if np.isnan(self._values[row]) else self.text(self._values[row])

    def text(self, value: float) -> str:
        """A number as it is written."""
        if self._table is not None and (self._table.style or self._traits.decimals is not None):
            return as_text(value, self._traits, self._table.style or Style(), self._full)
        whole = self._table is not None and self._traits.whole and not self._full
        return str(int(value)) if whole else repr(float(value))
