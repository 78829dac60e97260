"""The probability that cells of a table are wrong: column by column, and in the light of the others.

Where most columns have wrong cells, one more is no surprise: the criterion of
:mod:`~rnlmf.opinions.column_verdict` as it is will do, columns that fail it have the errors that others
usually have, and none has far more of them than usual.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np

from rnlmf.opinions.column_verdict import FREEDOMS, SURPRISE, ColumnVerdict
from rnlmf.opinions.columns import LARGEST
from rnlmf.opinions.densities import ColumnCells, Witness
from rnlmf.opinions.parameters import Parameters
from rnlmf.opinions.together import FAR_MORE, dealt_together
from rnlmf.typing import Array

# More in one column, and none in most others, are a state of its own.
MOST_ALONE = 0.25
# What errors must gain, in logarithms of the number of cells: their two parameters, twice; and in
# company, where more columns than this share have wrong cells.
PRICE, PRICE_IN_COMPANY, COMPANY, FEWEST_COLUMNS = 2.0, 1.0, 0.5, 3
# With fewer errors a column has a single one. A row of which everything is wrong has one in each.
FEWEST_ERRORS = 2.0
# The share of right cells that may be repaired, where nothing is asked for.
FALSE_REPAIRS = 0.01
# So many times as many right cells are repaired as the probabilities say, in the middle of the tables
# and sequences that benchmarks/unseen was developed with.
OVERSURE = 2.0
# Values are dealt if more than this share of the errors are, in the middle of the columns.
MOSTLY = 0.5
# Errors are plain where in most columns right cells have no heavier tail than this.
LIGHT = 4.0
# Where most columns have errors, none has so many times as many as usual: the rest are surprises.
MOST_OVER_USUAL = 2.0


class Dealing(IntEnum):
    """Whether values that belong elsewhere are allowed for, or were told, and by whom."""

    NOT = 0
    BY_COLUMN = 1
    TOGETHER = 2


def _typical_of(found: list[ColumnVerdict]) -> ColumnVerdict:
    """What most columns say of errors: in the middle of each parameter."""
    freedom, share, size = np.median([(c.freedom, c.share, c.size) for c in found], axis=0)
    credibility = np.mean([c.credibility for c in found if c.credibility is not None], axis=0)
    return ColumnVerdict(float(freedom), credibility, float(share), float(size))


def _told(
    found: list[tuple[ColumnVerdict, float, bool]],
    by_column: list[ColumnCells],
    judged: Array,
    price: float,
) -> list[bool]:
    """Columns that tell errors; of those with a single one none that it shares its row with others."""
    told = np.array([gross and gain > min(price, PRICE_IN_COMPANY) for _, gain, gross in found])
    rows = np.full(len(found), -1)
    for j in np.flatnonzero(told):
        verdict, gain, _ = found[j]
        if verdict.share * len(by_column[j]) < FEWEST_ERRORS and gain <= PRICE:
            rows[j] = np.flatnonzero(judged[:, j])[by_column[j].farthest]
    single = rows >= 0
    together = np.array([np.sum(rows == row) > 1 for row in rows])
    return list(told & ~(single & together))


def _in_company(told: list[bool]) -> bool:
    return sum(told) > max(COMPANY * len(told), FEWEST_COLUMNS - 1)


def _plain(found: list[tuple[ColumnVerdict, float, bool]]) -> bool:
    """Whether most columns tell errors at the full price, and most have light tails."""
    gains = [gain if gross else 0.0 for _, gain, gross in found]
    tails = [verdict.freedom for verdict, *_ in found]
    return bool(np.median(gains) > PRICE and np.median(tails) >= LIGHT)


def _most_dealt(found: list[tuple[ColumnVerdict, float, bool]], told: list[bool]) -> float:
    """The largest share of a column that is dealt out: none unless most errors of most columns are.

    One column may have two branches (an echo), and surprises may be values of the column, too. But
    these are few beside errors of other kinds; and a column with far more than the others has them.
    """
    some = [f[0] for f, yes in zip(found, told, strict=True) if yes]
    if not _in_company(told) or float(np.median([c.dealt for c in some])) <= MOSTLY:
        return 0.0
    return FAR_MORE * float(np.median([c.share for c in some]))


def _by_column(Z: Array, judged: Array, witnesses: list[Witness]) -> list[ColumnCells]:
    """The judged cells of every column, and what witnesses predict of them, with which scale."""

    def columns(cells: Array) -> Array:
        # Far faster to choose from than cells that lie a row apart.
        return np.ascontiguousarray(cells.T)

    z, rows = columns(Z), columns(judged)
    p = np.stack([columns(w.prediction) for w in witnesses], axis=1)
    s = np.stack([columns(w.scale) for w in witnesses], axis=1)
    return [ColumnCells(z[j, some], p[j][:, some], s[j][:, some]) for j, some in enumerate(rows)]


def _by_themselves(
    found: list[tuple[ColumnVerdict, float, bool]],
    told: list[bool],
    by_column: list[ColumnCells],
    price: float,
) -> list[ColumnVerdict]:
    """What every column tells; in company also what it has like the others, and not far more."""
    none = ColumnVerdict()
    if not _in_company(told):
        # Where predictions have no scale (rain, gusts), errors are believed in company only.
        alone = [
            gain > price and gross and v.share < MOST_ALONE and v.freedom > min(FREEDOMS)
            for v, gain, gross in found
        ]
        return [f[0] if yes else none for f, yes in zip(found, alone, strict=True)]
    usual = _typical_of([f[0] for f, yes in zip(found, told, strict=True) if yes])
    most, least = MOST_OVER_USUAL * usual.share, usual.size / usual.surprising(SURPRISE)

    def verdict(own: ColumnVerdict, yes: bool, cells: ColumnCells) -> ColumnVerdict:
        if yes:
            return own.with_at_most(most, cells) if own.share > most else own
        if not len(cells) or cells.usual_scale >= least or not usual.likely(cells):
            return none
        # A column in which far more looks so has an odd shape: mostly zero, say.
        return usual if np.mean(usual.probability(cells) > 0.5) <= most else none

    return [verdict(f[0], yes, cells) for f, yes, cells in zip(found, told, by_column, strict=True)]


@dataclass(frozen=True)
class Verdict:
    """Of all columns; values that belong elsewhere are told by every column, or by all together.

    Errors are `plain` if most columns tell them at the full price, beside right cells without tails.
    """

    columns: tuple[ColumnVerdict, ...]
    together: bool = False
    plain: bool = False

    @classmethod
    def learn(
        cls,
        Z: Array,
        judged: Array,
        witnesses: list[Witness],
        price: float = PRICE,
        *,
        dealing: Dealing = Dealing.NOT,
        gross: bool = True,
    ) -> Verdict:
        """From the cells that may be `judged`; `dealing` allows for values that belong elsewhere.

        Errors are `gross`: larger than predictions of right cells seldom are off; or need not be.
        """
        by_column = _by_column(Z, judged, witnesses)
        values = [column[np.abs(column) <= LARGEST] for column in Z.T]

        def learned(cells: ColumnCells, j: int, *, dealt: bool) -> tuple[ColumnVerdict, float, bool]:
            found = ColumnVerdict.learn(cells, values[j] if dealt else None)
            return found if gross else (*found[:2], True)

        found = [learned(cells, j, dealt=bool(dealing)) for j, cells in enumerate(by_column)]
        if not _in_company(_told(found, by_column, judged, price)):
            # Peaks may be taken for tails that account for errors in most columns.
            level = [cells.without_peaks() for cells in by_column]
            again = [
                found[j] if cells is by_column[j] else learned(cells, j, dealt=bool(dealing))
                for j, cells in enumerate(level)
            ]
            if _in_company(_told(again, level, judged, price)):
                by_column, found = level, again
        told = _told(found, by_column, judged, price)
        most = 0.0
        if dealing:
            most = _most_dealt(found, told)
            found = [
                learned(by_column[j], j, dealt=False) if f[0].dealt and f[0].share > most else f
                for j, f in enumerate(found)
            ]
            told = _told(found, by_column, judged, price)
        if dealing and not (dealing is Dealing.BY_COLUMN and most):
            # No column need tell what is dealt out to all of them.
            known = dealing is Dealing.BY_COLUMN and _in_company(told)
            gains = np.array([f[1] if yes else 0.0 for f, yes in zip(found, told, strict=True)])
            shared = dealt_together(by_column, values, gains if known else None)
            if shared is not None:
                own = _by_themselves(found, told, by_column, price)
                return cls(tuple(s or v for s, v in zip(shared, own, strict=True)), together=True)
        errors = _by_themselves(found, told, by_column, price)
        if len(witnesses) > 1 and _in_company(told):
            # One of them accounts for a right cell: no tail of theirs is as heavy.
            errors = [v.with_a_mean() for v in errors]
        return cls(tuple(errors), plain=_plain(found))

    def probability(self, Z: Array, judged: Array, witnesses: list[Witness]) -> Array:
        """That cells are wrong; zero where they cannot be judged."""
        p = np.stack([w.prediction for w in witnesses])
        s = np.stack([w.scale for w in witnesses])
        return np.where(judged, self._parameters.probability(Z, p, s), 0.0)

    def likelihood(self, Z: Array, judged: Array, witnesses: list[Witness]) -> float:
        """Logarithm of that of the cells, right and wrong ones."""
        by_column = _by_column(Z, judged, witnesses)
        return sum(v.likelihood(c) for v, c in zip(self.columns, by_column, strict=True) if len(c))

    def evidence_of_rows(self, probability: Array, judged: Array) -> Array:
        """Logarithm of how much likelier rows are if all of their cells are wrong.

        Columns in which no errors are told say nothing.
        """
        shares = np.array([c.share for c in self.columns])
        told = judged & (shares > 0.0)
        times = probability / np.where(shares > 0.0, shares, 1.0)
        return np.where(told, np.log(np.maximum(times, 1e-300)), 0.0).sum(axis=1)

    @cached_property
    def _parameters(self) -> Parameters:
        """Once for all rows that come one by one."""
        return Parameters.of(self.columns)

    @property
    def tells(self) -> bool:
        """Whether any column has wrong cells."""
        return any(column.share > 0.0 for column in self.columns)

    @property
    def in_company(self) -> bool:
        """Whether most columns have."""
        return _in_company([column.share > 0.0 for column in self.columns])

    @property
    def dealing(self) -> Dealing:
        """Whether some values belong elsewhere, and who tells."""
        if self.together:
            return Dealing.TOGETHER
        return Dealing.BY_COLUMN if any(c.dealt > 0.0 for c in self.columns) else Dealing.NOT

    def seldom(self, chance: float) -> Array:
        """Scales by which predictions of right cells of every column are off with this chance."""
        return np.array([c.surprising(chance) for c in self.columns])

    def unseen(self, trusted: Array, scale: Array) -> Array:
        """Mean square of the errors, in spreads, of columns in which none are told.

        Where most columns have errors, others will have as many, as large: usually. So will columns
        that are predicted with a `scale` too large to tell errors of the usual size.
        """
        told = np.array([c.share > 0.0 for c in self.columns]) & trusted
        if not told.any():
            return np.zeros(len(told))
        share, size = np.median(
            [(c.share, c.size) for c, t in zip(self.columns, told, strict=True) if t], axis=0
        )
        blind = (size <= self.seldom(SURPRISE) * scale) | (np.mean(told) > COMPANY)
        return np.where(told | ~blind, 0.0, share * size**2)


def least_probability(probability: Array, false_repairs: float, oversure: float = 1.0) -> float:
    """Above which probability cells are repaired: one half, or more if too many would be right.

    Of the cells that are repaired, ``sum (1 - P)`` are right, as far as the probabilities are, or
    `oversure` times as many. That is at most the share `false_repairs` of all cells, the surest being
    repaired first.
    """
    known = probability[~np.isnan(probability)]
    sure = np.sort(known[known > 0.5])[::-1]
    expected = oversure * np.cumsum(1.0 - sure)
    allowed = int(np.searchsorted(expected, false_repairs * len(known), side="right"))
    return 0.5 if allowed == len(sure) else float(sure[allowed])
