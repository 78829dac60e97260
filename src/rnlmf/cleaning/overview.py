"""A look at a table before anything is done to it: what its columns are, and which may change."""

from __future__ import annotations

import datetime
import itertools
import re
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from rnlmf.cleaning.cells import Words, empty_rows, marks_of, told_codes, total_rows
from rnlmf.cleaning.kinds import (
    TIMES,
    Numbers,
    heavy_tails,
    kind_of,
    scale_of,
    stuck_run,
)
from rnlmf.io.dataset import MOTION, TABLE, Dataset, FileError
from rnlmf.io.table_file import Traits, sample_names
from rnlmf.typing import Array

DATES = "dates"
# Days, with a time or without, or times alone, in other orders than that of ISO 8601.
_DAY = r"\d{1,4}[./-](?:\d{1,2}|[A-Za-z]{3,9})[./-]\d{1,4}"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?"
DATE = re.compile(rf"{_DAY}(?:[ T]+{_TIME})?(?:Z|[+-]\d{{2}}:?\d{{2}})?|{_TIME}")
# A share of cells far outside that is worth a remark.
HEAVY = 0.01


@dataclass(frozen=True)
class ColumnChoice:
    """What the user says of the columns.

    Attributes
    ----------
    include, skip : tuple of str
        Columns to clean or to leave alone whatever they look like; ``*`` stands for any letters.
    missing : tuple of str
        Codes for missing values, ``-200`` in all columns or ``column=-200`` in one.
    guess : bool
        Take values for such codes that look like it.
    limits : dict
        Least and largest possible value by column.
    sequence : {"auto", "yes", "no"}
        Whether the rows follow one another in time.
    """

    include: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    guess: bool = False
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    sequence: str = "auto"


@dataclass(frozen=True)
class Column:
    """What was seen in a column.

    Attributes
    ----------
    name, kind : str
        For example ``measurement``, ``identifier`` or ``text``.
    kept : str or None
        Why it is left alone.
    low, high : float or None
        Range of its numbers.
    missing : float
        Share of its cells without a value.
    remarks : tuple of str
        Words among the numbers, suspected codes, heavy tails, stuck stretches.
    """

    name: str
    kind: str
    kept: str | None
    low: float | None = None
    high: float | None = None
    missing: float = 0.0
    remarks: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "column": self.name,
            "kind": self.kind,
            "left_alone": self.kept,
            "least": self.low,
            "largest": self.high,
            "share_missing": self.missing,
            "remarks": list(self.remarks),
        }


@dataclass(frozen=True)
class Overview:
    """What is done with a dataset.

    Attributes
    ----------
    dataset : Dataset
        Its features are the columns that are cleaned.
    columns : list of Column
        All columns, in the order of the table; empty if it is none.
    working : array
        The values to learn from: without codes and what is outside of limits.
    codes, outside, held : array of bool
        Cells that are codes for missing values, impossible, or stay as they are without a say.
    scales : list
        Levels of every feature that has few, or None.
    questions : tuple of str
        What the user should decide.
    timed : bool
        Whether rising times, or the format, say that the rows follow one another.
    sequence : {"auto"} or bool
        What the model is told of that.
    limits : dict
        Least and largest possible value by column.
    """

    dataset: Dataset
    columns: list[Column]
    working: Array
    codes: Array
    outside: Array
    held: Array
    scales: list[Array | None]
    questions: tuple[str, ...]
    timed: bool
    sequence: bool | str
    limits: dict[str, tuple[float, float]]

    @property
    def traits(self) -> list[Traits] | None:
        """How the features are written, if they are columns of a table."""
        return getattr(self.dataset.source, "traits", None) or None


def overview_of(dataset: Dataset, choice: ColumnChoice, *, chosen_already: bool = False) -> Overview:
    """See what the columns of a dataset are, and choose those that are cleaned."""
    _check_names(dataset, choice)
    if dataset.kind != TABLE or not getattr(dataset.source, "traits", None):
        return _marked(dataset, choice, [], timed=dataset.kind == MOTION)
    dates = _dates(dataset)
    dataset = replace(dataset, untouched=dataset.untouched | dict.fromkeys(dates, DATES))
    if chosen_already:
        return _marked(dataset, choice, [], timed=any(dates.values()))
    columns, kept, rising = {}, {}, any(dates.values())
    for i, (name, traits) in enumerate(zip(dataset.names, dataset.source.traits, strict=True)):
        numbers = Numbers(name, dataset.values[:, i], traits)
        kind, reason = kind_of(numbers)
        rising |= kind in TIMES and numbers.rising
        if _matches(name, choice.skip):
            reason = "as asked"
        elif _matches(name, choice.include) and kind not in ("empty", "constant"):
            reason = None
        columns[dataset.source.columns[i]] = _seen(numbers, kind, reason)
        if reason is not None:
            kept[i] = reason
    all_columns = _in_order(dataset, columns)
    chosen = [i for i in range(len(dataset.names)) if i not in kept]
    if not chosen:
        shown = ", ".join(f"{dataset.names[i]!r} ({why})" for i, why in list(kept.items())[:8])
        raise FileError(
            dataset.path, f"has no column to clean: {shown}. Pass --include NAME for those that are."
        )
    dataset = dataset.at(chosen, kept)
    dataset = replace(dataset, sample_names=sample_names(dataset.source))
    return _marked(dataset, choice, all_columns, timed=rising)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


def _check_names(dataset: Dataset, choice: ColumnChoice) -> None:
    """Refuse to be told something of a column that is not there."""
    names = [*dataset.names, *dataset.untouched]
    columns = {"--skip": choice.skip, "--include": choice.include, "--limits": tuple(choice.limits)}
    for option, patterns in columns.items():
        for pattern in patterns:
            if not any(_matches(name, (pattern,)) for name in names):
                shown = ", ".join(names[:20])
                raise FileError(
                    dataset.path, f"has no column {pattern!r} for {option}; pass one of {shown}."
                )
    for name in choice.include:
        if name in dataset.untouched:
            reason = dataset.untouched[name]
            raise FileError(
                dataset.path, f"column {name!r} cannot be cleaned ({reason}): drop --include {name!r}."
            )


def _seen(numbers: Numbers, kind: str, reason: str | None) -> Column:
    present = numbers.present
    if len(present) == 0:
        return Column(numbers.name, kind, reason, missing=1.0)
    remarks = Words.of(numbers.traits.words).remarks()
    if reason is None:
        heavy, stuck = heavy_tails(numbers), stuck_run(numbers)
        if heavy > HEAVY:
            remarks.append(f"heavy tails: {heavy:.0%} far outside")
        if stuck:
            start, length = stuck
            remarks.append(f"always {numbers.values[start]:g} in rows {start + 1} to {start + length}")
    return Column(
        numbers.name,
        kind,
        reason,
        float(present.min()),
        float(present.max()),
        1.0 - len(present) / len(numbers.values),
        tuple(remarks),
    )


def _in_order(dataset: Dataset, features: dict[int, Column]) -> list[Column]:
    names = dataset.source.arrow.column_names
    return [
        features.get(position) or Column(name, dataset.untouched[name], dataset.untouched[name])
        for position, name in enumerate(names)
    ]


def _dates(dataset: Dataset) -> dict[str, bool]:
    """Columns of dates that are left alone anyway, and whether they rise."""
    found = {}
    table = dataset.source.arrow
    for position, name in enumerate(table.column_names):
        if dataset.untouched.get(name) is None or position in dataset.source.columns:
            continue
        cells = [cell for cell in table.column(position).slice(0, 1000).to_pylist() if cell]
        try:
            moments = [
                datetime.datetime.fromisoformat(c.strip()) if isinstance(c, str) else c for c in cells
            ]
            if moments and all(isinstance(moment, datetime.date) for moment in moments):
                found[name] = all(a < b for a, b in itertools.pairwise(moments))
        except (ValueError, TypeError):
            if all(isinstance(c, str) and DATE.fullmatch(c.strip()) for c in cells):
                # Which of the numbers is the month is not known, nor whether they rise.
                found[name] = False
    return found


def _marked(dataset: Dataset, choice: ColumnChoice, columns: list[Column], *, timed: bool) -> Overview:
    """With the cells marked that are codes, impossible, or held."""
    values = dataset.values
    traits = getattr(dataset.source, "traits", None) or []
    codes, outside, held = (np.zeros(values.shape, dtype=bool) for _ in range(3))
    questions: list[str] = []
    scales = []
    totals = total_rows(dataset)
    sums = tuple(f"row {row + 1} sums up the others and is kept" for row in totals)
    dataset = replace(dataset, notes=dataset.notes + sums)
    for i, name in enumerate(dataset.names):
        if dataset.kind != TABLE:
            break
        column = Numbers(name, values[:, i], traits[i] if traits else Traits(False))
        told = told_codes(dataset, column, choice.missing)
        marks = marks_of(column, told, guess=choice.guess, limits=choice.limits.get(name))
        codes[:, i], outside[:, i], held[:, i] = marks.codes, marks.outside, marks.held
        questions += marks.questions
        good = np.where(codes[:, i] | held[:, i], np.nan, values[:, i])
        scales.append(scale_of(replace(column, values=good)))
    for marked in (codes, outside):
        marked[totals] = False
    held[totals] = True
    held[empty_rows(dataset)] = True
    working = values
    hidden = codes | outside | held
    if hidden.any():
        working = np.where(hidden, np.nan, values).astype(values.dtype)
        empty = [dataset.names[int(i)] for i in np.flatnonzero(np.isnan(working).all(axis=0))]
        if empty:
            raise FileError(
                dataset.path, f"column {empty[0]!r} has no values left: pass --skip {empty[0]!r}."
            )
    return Overview(
        dataset=dataset,
        columns=columns,
        working=working,
        codes=codes,
        outside=outside,
        held=held,
        scales=scales,
        questions=tuple(questions),
        timed=timed,
        # Even where there are times the order need not help: the model finds out.
        sequence={"yes": True, "no": False}.get(choice.sequence, "auto"),
        limits=choice.limits,
    )
