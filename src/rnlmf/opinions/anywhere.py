"""Errors fall anywhere: what comes in certain rows only is something else.

Where most columns have wrong cells, one more is no surprise. A single column in which suspects are
found may have a sensor of its own that fails; more often it is one that nobody can predict now and
then: gusts turn the wind where it is weak, the wages of a few counties are high. Such suspects are
not spread like errors. In rows drawn at random the mean rank of anything has a known distribution:
let ``r`` be the ranks of what another column should be, or of the column itself, and of their
distance from the middle one. With ``k`` suspects,

    (mean of r over suspects - mean of r) / (deviation of r) * sqrt(k)

is nearly normal. And of errors some are too high and some too low, or there is a gap
between right cells and them, while a long tail is on one side and begins where the others end.
Values that return to the letter (zeros) are no tail; where they are has been looked at before
(:mod:`~rnlmf.opinions.returning`).
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binomtest, norm, poisson, rankdata

from rnlmf.opinions.columns import LEAST_GAP
from rnlmf.opinions.densities import Witness
from rnlmf.opinions.temporal import Sequence
from rnlmf.typing import Array

# So seldom errors would look as if they were not spread at random.
CHANCE = 0.02
# Nothing can be said of the places of fewer suspects: they are errors if there is a gap.
FEWEST = 5
# A stretch of suspects is smooth if its steps are usually below this share of how far they are off; a
# column lives elsewhere, too, if more than this share of it is in such stretches, so many or more.
SMOOTH, LIVES, OFTEN = 0.25, 0.1, 2
# Columns that are off now and then are so about equally often: less than so many times the others.
MOST_OVER_OTHERS = 3.0


def not_anywhere(Z: Array, suspects: Array, witness: Witness, sequence: Sequence | None) -> Array:
    """Columns whose suspects are in certain rows, or the tail of right cells."""
    found = np.zeros(Z.shape[1], dtype=bool)
    filled = np.where(suspects | np.isnan(Z), witness.prediction, Z)
    for j in np.flatnonzero(suspects.any(axis=0)):
        cells = suspects[:, j]
        off = (Z[:, j] - witness.prediction[:, j]) / witness.scale[:, j]
        rows = np.flatnonzero(_first_of_each_run(cells, sequence))
        if cells.sum() < FEWEST:
            found[j] = not _is_apart(off[rows], off[~cells])
        elif len(rows) >= FEWEST and not _is_one_value(Z[rows, j]):
            expected = filled.copy()
            expected[:, j] = witness.prediction[:, j]
            found[j] = _in_certain_rows(expected, rows) or _is_tail(off[rows], off[~cells])
    return found


def lives_elsewhere(Z: Array, suspects: Array, witness: Witness, sequence: Sequence | None) -> Array:
    """Columns that are elsewhere again and again, and move there as they do at home: two states.

    Sensors that are off by a constant are so now and then; a lamp is on for half of the day. Errors of
    a burst differ from row to row. Where all columns are off now and then, one is so twice by chance.
    """
    found = np.zeros(Z.shape[1], dtype=bool)
    if sequence is None:
        return found
    off, often = np.abs(Z - witness.prediction), np.zeros(Z.shape[1])
    share = np.zeros(Z.shape[1])
    for j in np.flatnonzero(suspects.any(axis=0)):
        for first, last in sequence.runs(suspects[:, j]):
            steps = np.abs(np.diff(Z[first:last, j]))
            if len(steps) and np.median(steps) < SMOOTH * np.median(off[first:last, j]):
                often[j] += 1
                share[j] += (last - first) / len(Z)
    # Stretches of the usual length, and as many as the other columns have.
    stretches = share * often.sum() / max(share.sum(), 1e-12)
    usual = (stretches.sum() - stretches) / max(len(found) - 1, 1)
    by_chance = poisson.sf(np.ceil(stretches) - 1, usual) > CHANCE / len(found)
    by_chance |= stretches <= MOST_OVER_OTHERS * usual
    by_chance &= share.mean() <= LIVES
    found = (often >= OFTEN) & (share > LIVES) & ~by_chance
    # Where most suspects are states, so are the others.
    return found | (2 * suspects[:, found].sum() > suspects.sum())


def _is_one_value(values: Array) -> bool:
    """Whether most are the same to the letter."""
    _, counts = np.unique(values, return_counts=True)
    return bool(counts.max() > len(values) / 2)


def _in_certain_rows(expected: Array, rows: Array) -> bool:
    """Whether what cells should be is not in these rows as in others."""
    ranks = rankdata(expected, axis=0) / len(expected)
    ranks = np.hstack([ranks, np.abs(ranks - 0.5)])
    apart = np.abs(ranks[rows].mean(axis=0) - ranks.mean(axis=0)) * np.sqrt(len(rows))
    return bool(np.any(apart > norm.isf(CHANCE / (2 * ranks.shape[1])) * ranks.std(axis=0)))


def _is_tail(suspects: Array, others: Array) -> bool:
    """Whether suspects are on one side, and go on where the others end."""
    side = 1.0 if np.mean(suspects > 0.0) > 0.5 else -1.0
    outside = suspects[side * suspects > 0.0]
    one_side = binomtest(len(outside), len(suspects)).pvalue < CHANCE
    return bool(one_side) and not _is_apart(outside, others)


def _is_apart(suspects: Array, others: Array) -> bool:
    """Whether there is a gap between suspects and the others on their sides, as they are off."""
    for side in (-1.0, 1.0):
        outside = side * suspects[side * suspects > 0.0]
        if len(outside) and outside.min() < LEAST_GAP * np.nanmax(side * others, initial=0.0):
            return False
    return True


def _first_of_each_run(suspects: Array, sequence: Sequence | None) -> Array:
    """Of errors that come one after the other only the first is where it is by chance."""
    if sequence is None:
        return suspects
    return suspects & ~np.r_[False, suspects[:-1]]
