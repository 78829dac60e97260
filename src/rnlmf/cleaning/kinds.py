"""What a column of numbers is: a measurement, or an identifier, a date, a code that must not change."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rnlmf.io.table_file import Traits
from rnlmf.typing import Array

MEASUREMENT, WHOLE = "measurement", "whole numbers"
# A share of cells that may be wrong without the column being taken for something else.
TOLERATED = 0.02
# More words than this, and it is not a column of numbers with a few bad cells.
MOST_WORDS = 0.1
# When a column is a scale of grades, nearly constant, too short to judge, stuck, or has a code for
# missing values (choices).
MOST_LEVELS = 12
MOSTLY_ONE = 0.9
FEWEST_TO_JUDGE = 5
FEWEST_STUCK = 10
FEWEST_CODES = 3
# Words in the names of columns that number things, and of those that tell when.
# One thing has a number; several are counted.
_THING = (
    "account|article|artikel|auftrag|client|customer|device|employee|item|konto|kunde|member|order|patient|"
    "person|product|record|sample|session|station|supplier|user|vendor"
)
IDENTIFIER_NAME = re.compile(
    r"\b(ids?|nr|\w*nummer|key|codes?|uuid|guid|zip|zipcode|plz|post(code|al|leitzahl)|(tele)?phone|tel|"
    rf"telefon|mobile|handy|fax|sku|ean|upc|isbn|iban|barcode|ssn|matricule|({_THING}|sensor|node)(id|nr|no))\b|"
    rf"\w (number|num|no) ?$|^ ?(index|{_THING}) ?$"
)
TIME_NAME = re.compile(
    r"\b(t|ms|(date)?time|timestamp|date|day|month|year|hour|minute|sec(onds?)?|epoch|zeit|datum|tag|jahr|"
    r"monat|stunde|frame|tick)\b"
)
# Seconds since 1970 of the years 1980 to 2100, and finer units.
EPOCHS = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
FIRST_EPOCH, LAST_EPOCH = 3.155e8, 4.102e9
# What is counted or measured has fewer digits (a choice).
LONGEST_COUNT = 1e15
FIRST_YEAR, LAST_YEAR = 1800, 2100


@dataclass(frozen=True)
class Numbers:
    """A column to be judged: its name, its numbers with NaN where there is none, its traits."""

    name: str
    values: Array
    traits: Traits

    @cached_property
    def present(self) -> Array:
        """The numbers that are there."""
        return self.values[~np.isnan(self.values)]

    @cached_property
    def levels(self) -> tuple[Array, Array]:
        """Different values and how often each occurs, the most frequent first."""
        values, counts = np.unique(self.present, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return values[order], counts[order]

    def is_named(self, pattern: re.Pattern[str]) -> bool:
        """Whether the name has a word: that of ``customerId`` and ``customer_id`` is ``id``."""
        words = re.sub(r"([a-z])([A-Z])", r"\1 \2", self.name).lower()
        return pattern.search(re.sub(r"[\W\d_]+", " ", words)) is not None

    @cached_property
    def rising(self) -> bool:
        """Whether every value is above the one before, or every one below."""
        if len(self.present) < FEWEST_TO_JUDGE:
            return False
        steps = np.diff(self.present)
        return bool(np.all(steps > 0) or np.all(steps < 0))

    def mostly(self, condition: Array) -> bool:
        """Whether something holds but for a few cells."""
        return bool(np.mean(condition) >= 1.0 - TOLERATED)

    def digits(self) -> int | None:
        """How many digits all numbers have, if that is the same and they are positive."""
        low, high = self.present.min(), self.present.max()
        if low < 1:
            return None
        counts = {len(f"{low:.0f}"), len(f"{high:.0f}")}
        return counts.pop() if len(counts) == 1 else None


def _mixed(column: Numbers) -> str | None:
    words = len(column.traits.words)
    share = words / (words + len(column.present))
    return f"{share:.0%} of the cells are no numbers" if share > MOST_WORDS else None


def _leading_zeros(column: Numbers) -> str | None:
    return "numbers with leading zeros or a plus" if column.traits.code_like else None


def _constant(column: Numbers) -> str | None:
    return "one value everywhere" if len(column.levels[0]) == 1 else None


def _row_numbers(column: Numbers) -> str | None:
    counts = column.traits.whole and len(column.present) > 2 and np.all(np.diff(column.present) == 1)
    unnamed = column.name == "" and column.traits.whole
    return "numbers the rows" if counts or unnamed else None


def _epoch(column: Numbers) -> str | None:
    for unit, scale in EPOCHS.items():
        seconds = column.present / scale
        inside = column.mostly((seconds >= FIRST_EPOCH) & (seconds <= LAST_EPOCH))
        told = column.traits.whole or column.rising or column.is_named(TIME_NAME)
        if inside and told and not column.is_named(IDENTIFIER_NAME):
            return f"{unit} since 1970"
    return None


def _valid_dates(year: Array, month: Array, day: Array) -> Array:
    known = (year >= FIRST_YEAR) & (year <= LAST_YEAR)
    return known & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)


def _date(column: Numbers) -> str | None:
    digits = column.digits() if column.traits.whole else None
    # Hours, minutes and seconds may follow.
    if digits in (8, 10, 12, 14):
        day = column.present // 10 ** (digits - 8)
        if column.mostly(_valid_dates(day // 10000, day // 100 % 100, day % 100)):
            return "dates as whole numbers, such as 20240131"
    if digits == 6:
        whole = column.present
        if column.mostly(_valid_dates(whole // 100, whole % 100, np.ones_like(whole))):
            return "months as whole numbers, such as 202401"
        short = _valid_dates(2000 + whole // 10000, whole // 100 % 100, whole % 100)
        if len(whole) >= 20 and column.mostly(short):
            return "dates as whole numbers, such as 240131"
    return None


def _year(column: Numbers) -> str | None:
    if column.traits.whole and column.mostly(
        (column.present >= FIRST_YEAR) & (column.present <= LAST_YEAR)
    ):
        return "years"
    return None


def _time(column: Numbers) -> str | None:
    if not column.rising:
        return None
    if column.is_named(TIME_NAME):
        return "rises from row to row: time"
    steps = np.abs(np.diff(column.present))
    even = np.abs(steps - np.median(steps)) <= 1e-3 * np.median(steps)
    return "rises evenly from row to row" if column.mostly(even) else None


def _identifier(column: Numbers) -> str | None:
    if not column.traits.whole:
        return None
    if column.is_named(IDENTIFIER_NAME):
        return "numbers things, by its name"
    if column.rising:
        return "whole numbers that rise or fall in every row"
    digits = column.digits() or 0
    if column.mostly(np.abs(column.present) >= LONGEST_COUNT):
        return "whole numbers too long for a count"
    distinct = len(column.levels[0]) / len(column.present)
    if digits >= 5 and distinct > 0.99 and len(column.present) > 2 * FEWEST_TO_JUDGE:
        return f"all different, of {digits} digits"
    return f"whole numbers of {digits} digits" if digits >= 9 else None


def _few_levels(column: Numbers) -> Array | None:
    """The levels that nearly all cells have, if they are few and each has many cells."""
    values, counts = column.levels
    needed = int(np.searchsorted(np.cumsum(counts), 0.95 * len(column.present))) + 1
    each = 3 if column.traits.whole else 10
    if needed > MOST_LEVELS or len(column.present) < each * needed or counts[needed - 1] < 2:
        return None
    return np.sort(values[:needed])


def _rating(column: Numbers) -> str | None:
    levels = _few_levels(column)
    if levels is None or not column.traits.whole:
        return None
    if np.array_equal(levels, [0.0, 1.0]):
        return "0 or 1"
    if len(levels) > 1 and levels[0] >= 0 and np.all(np.diff(levels) == 1):
        return f"a scale from {levels[0]:.0f} to {levels[-1]:.0f}"
    return None


def _code(column: Numbers) -> str | None:
    levels = _few_levels(column)
    values, counts = column.levels
    if counts[0] >= MOSTLY_ONE * len(column.present):
        return f"{counts[0] / len(column.present):.0%} of the cells are {values[0]:g}"
    return None if levels is None else f"only {len(levels)} different values, each many times"


# In this order: the first that applies names the column.
CHECKS: dict[str, Callable[[Numbers], str | None]] = {
    "mixed": _mixed,
    "code": _leading_zeros,
    "constant": _constant,
    "row numbers": _row_numbers,
    "date": _date,
    "epoch": _epoch,
    "year": _year,
    "time": _time,
    "identifier": _identifier,
    "rating": _rating,
    "category": _code,
}
# Of these, one that rises says that the rows follow one another in time.
TIMES = ("date", "epoch", "year", "time")


def kind_of(column: Numbers) -> tuple[str, str | None]:
    """What a column is, and why it must not change; None: it is a measurement."""
    if len(column.present) == 0:
        return "empty", "no values"
    for kind, check in CHECKS.items():
        reason = check(column)
        if reason is not None:
            return kind, reason
    return (WHOLE if column.traits.whole else MEASUREMENT), None


def scale_of(column: Numbers) -> Array | None:
    """The levels of a rating or category, which repaired cells keep; None where there is no scale."""
    return _few_levels(column) if len(column.present) else None


def suspected_codes(column: Numbers) -> list[float]:
    """Values that look like a code for a missing one: repeated, at an end, and far from the rest."""
    values, counts = np.unique(column.present, return_counts=True)
    found = []
    while len(values) > 3:
        ends = [_far(values, counts, 0), _far(values, counts, -1)]
        if not any(ends):
            break
        end = 0 if ends[0] else -1
        found.append(float(values[end]))
        values, counts = (values[1:], counts[1:]) if ends[0] else (values[:-1], counts[:-1])
    return found


def _far(values: Array, counts: Array, end: int) -> bool:
    value, times = values[end], counts[end]
    if times < FEWEST_CODES:
        return False
    rest, weights = np.delete(values, end), np.delete(counts, end)
    order = np.repeat(rest, np.minimum(weights, 1000))
    low, high = np.quantile(order, (0.25, 0.75))
    gap = float(np.min(np.abs(rest - value)))
    unit = high - low or float(np.ptp(rest)) or 1.0
    # -200 among values that are never negative.
    odd_sign = value < 0 <= rest[0] and times >= 5 and times > weights.max() / 2
    return bool(gap > 5 * unit or (odd_sign and gap > 0.5 * unit))


def stuck_run(column: Numbers) -> tuple[int, int] | None:
    """First row and length of the longest run of one value, if chance does not explain it."""
    values = column.values
    changes = np.flatnonzero(np.diff(values) != 0) + 1
    edges = np.concatenate([[0], changes, [len(values)]])
    lengths = np.diff(edges)
    longest = int(np.argmax(lengths))
    start, length = int(edges[longest]), int(lengths[longest])
    if length < FEWEST_STUCK or np.isnan(values[start]):
        return None
    # Rounded numbers stay the same for a while where they turn.
    if length < 5 * np.quantile(lengths, 0.95):
        return None
    share = (np.sum(column.present == values[start]) - length + 1) / len(column.present)
    return (start, length) if len(values) * share ** (length - 1) < 1e-3 else None


def heavy_tails(column: Numbers) -> float:
    """Share of cells farther than 20 quartile spreads from the median."""
    low, middle, high = np.quantile(column.present, (0.25, 0.5, 0.75))
    return float(np.mean(np.abs(column.present - middle) > 20 * (high - low))) if high > low else 0.0
