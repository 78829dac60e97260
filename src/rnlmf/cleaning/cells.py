"""Cells that are no measurements: codes for missing values, words, numbers with a mark, totals.

What is not surely wrong is held: it stays as it is, and has no say in the fit.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from rnlmf.cleaning.kinds import FEWEST_CODES, Numbers, suspected_codes
from rnlmf.io.dataset import Dataset, FileError
from rnlmf.io.table_file import TableFile
from rnlmf.report.findings import count
from rnlmf.typing import Array

_NUMBER = r"[0-9]+(?:[.,' ][0-9]+)*(?:[eE][+-]?[0-9]+)?"
# Less than, about, in brackets, with a minus at its end, a unit or a footnote, or from one to another.
MARKED = re.compile(
    rf"(?:[<>≤≥=~≈±+\-\u2212(\[$€£¥]|ca\.?|<=|>=)?\s*[+\-\u2212$€£¥]?\s*{_NUMBER}"
    rf"(?:\s*(?:-|\u2013|\.\.\.?|±|\+/-|/)\s*{_NUMBER})?"
    r"\s*(?:[%‰°$€£¥]|[A-Za-zµ°][A-Za-z/²³]{0,4})?\s*[\-\u2212)\]*†‡?!]{0,3}"
)
# What stands in a last row that sums up the others.
TOTALS = frozenset(
    """total totals sum sums subtotal average mean median min max minimum maximum std count
    summe gesamt gesamtsumme mittelwert durchschnitt somme moyenne suma media promedio""".split()  # noqa: SIM905
) | {"grand total", "standard deviation"}
LAST_ROWS = 3


@dataclass(frozen=True)
class Words:
    """Cells of a column of numbers in which something else stands, by row.

    Attributes
    ----------
    wrong : dict
        Surely no values; they get one.
    marked : dict
        Numbers with a mark, such as ``<0.05`` or ``12.50-``, which say something.
    repeated : dict
        Words that come again, which may be a state or a code.
    """

    wrong: dict[int, str]
    marked: dict[int, str]
    repeated: dict[int, str]

    @classmethod
    def of(cls, words: dict[int, str]) -> Words:
        """What the words of a column are."""
        marked = {row: word for row, word in words.items() if _is_marked(word)}
        times = Counter(word for row, word in words.items() if row not in marked)
        often = {word for word, number in times.items() if number >= FEWEST_CODES}
        repeated = {row: word for row, word in words.items() if word in often}
        held = marked.keys() | repeated.keys()
        return cls({row: w for row, w in words.items() if row not in held}, marked, repeated)

    def remarks(self) -> list[str]:
        """What to say of them."""
        said = []
        if self.wrong:
            cells = count(len(self.wrong), "cell is no number", "cells are no numbers")
            said.append(f"{cells}: {_shown(self.wrong)}")
        if self.marked:
            cells = count(len(self.marked), "number has a mark", "numbers have a mark")
            said.append(f"{cells} and {_is(self.marked)} kept: {_shown(self.marked)}")
        if self.repeated:
            cells = count(len(self.repeated), "cell is a word that comes again", "cells are words")
            said.append(f"{cells}, kept: {_shown(self.repeated)}")
        return said


def _is_marked(word: str) -> bool:
    if word.startswith("="):
        # A formula is computed elsewhere.
        return True
    try:
        # 1e999, which is a number, though none that there is.
        return not math.isinf(float(word)) and MARKED.fullmatch(word) is not None
    except ValueError:
        return MARKED.fullmatch(word) is not None


def _is(cells: dict[int, str]) -> str:
    return "is" if len(cells) == 1 else "are"


def _shown(cells: dict[int, str]) -> str:
    return ", ".join(repr(word) for word in list(dict.fromkeys(cells.values()))[:3])


@dataclass(frozen=True)
class Marks:
    """Cells of a column that are codes, impossible, or held, and what should be decided of them."""

    codes: Array
    outside: Array
    held: Array
    questions: tuple[str, ...] = ()


def marks_of(
    column: Numbers,
    told: Array,
    *,
    guess: bool = False,
    limits: tuple[float, float] | None = None,
) -> Marks:
    """Look for cells that are no measurements.

    Parameters
    ----------
    column : Numbers
        The column.
    told : array of bool
        Cells that the user says are codes for missing values.
    guess : bool
        Take for codes what looks like it.
    limits : tuple of float or None
        Least and largest possible value.

    Returns
    -------
    Marks
        Cell by cell.
    """
    values = column.values
    codes, held, outside = told.copy(), np.zeros_like(told), np.zeros_like(told)
    if limits is not None:
        outside = ((values < limits[0]) | (values > limits[1])) & ~told
    known = told | outside
    numbers = suspected_codes(replace(column, values=np.where(known, np.nan, values)))
    words = Words.of({row: w for row, w in column.traits.words.items() if not told[row]})
    found: dict[str, Array] = {f"{n:g}": (values == n) & ~known for n in numbers}
    for word in dict.fromkeys(words.repeated.values()):
        found[word] = _at((row for row, w in words.repeated.items() if w == word), len(values))
    held |= _at(words.marked, len(values))
    for cells in found.values():
        codes |= cells & guess
        held |= cells & (not guess)
    questions = () if guess or not found else (_question(column.name, found),)
    return Marks(codes, outside, held, questions)


def _at(rows: Iterable[int], length: int) -> Array:
    marks = np.zeros(length, dtype=bool)
    marks[list(rows)] = True
    return marks


def _question(name: str, found: dict[str, Array]) -> str:
    times = int(sum(cells.sum() for cells in found.values()))
    first = next(iter(found))
    return (
        f"column {name!r}: {' and '.join(found)} ({times} times) may stand for missing values; kept as "
        f"it is. Pass --missing {first} if it does, or --guess."
    )


def told_codes(dataset: Dataset, column: Numbers, given: tuple[str, ...]) -> Array:
    """Cells that hold what the user says stands for a missing value, ``-200`` or ``column=-200``."""
    told = np.zeros(len(column.values), dtype=bool)
    for word in given:
        name, equals, code = word.rpartition("=")
        if equals and name != column.name:
            if name not in (*dataset.names, *dataset.untouched):
                raise FileError(dataset.path, f"has no column {name!r} for --missing {word}; drop it.")
            continue
        told[[row for row, text in column.traits.words.items() if text == code]] = True
        try:
            told |= column.values == float(code)
        except ValueError:
            continue
    return told


def empty_rows(dataset: Dataset) -> Array:
    """Rows of a table in which nothing stands in any column."""
    table = dataset.source
    if not isinstance(table, TableFile):
        return np.empty(0, dtype=int)
    empty: Array = np.asarray(np.isnan(dataset.values).all(axis=1))
    for traits in table.traits:
        empty[list(traits.words)] = False
    features = set(table.columns)
    rows = np.flatnonzero(empty)
    for position in range(table.arrow.num_columns):
        if len(rows) == 0:
            break
        if position not in features:
            cells = table.arrow.column(position)
            rows = np.array([row for row in rows if cells[int(row)].as_py() in (None, "")], dtype=int)
    return rows


def total_rows(dataset: Dataset) -> list[int]:
    """Rows at the end of a table that sum up the others, by what stands there."""
    table = dataset.source
    if not isinstance(table, TableFile):
        return []
    length = len(dataset.values)
    last = range(max(0, length - LAST_ROWS), length)
    features = set(table.columns)
    found = {
        row
        for traits in table.traits
        for row in last
        if traits.words.get(row, "").strip(" :").lower() in TOTALS
    }
    for position in range(table.arrow.num_columns):
        if position in features:
            continue
        cells = table.arrow.column(position)
        for row, cell in zip(last, cells.slice(last.start).to_pylist(), strict=True):
            is_total = isinstance(cell, str) and cell.strip(" :").lower() in TOTALS
            # Where it stands above, too, it is a kind of row like others.
            if is_total and cell not in cells.slice(0, last.start).to_pylist():
                found.add(row)
    return sorted(found)
