"""Errors fall anywhere: what comes in certain rows only is something else.

Where most columns have wrong cells, one more is no surprise. A single column in which suspects are
found may have a sensor of its own that fails; more often it is one that nobody can predict now and
then: gusts turn the wind where it is weak, the wages of a few counties are high. Such suspects are
not spread like errors. In rows drawn at random the mean rank of anything has a known distribution:
let ``r`` be the ranks of what another column should be, or of the column itself, and of their
distance from the middle one. With ``k`` suspects,

    (mean of r over suspects - mean of r) / (deviation of r) * sqrt(k)

is nearly normal. And of a table's errors some are too high and some too low, or there is a gap
between right cells and them, while a long tail is on one side and begins where the others end.
Values that return to the letter (zeros) are no tail; where they are has been looked at before
(:mod:`~rnlmf.opinions.returning`).
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binomtest, norm, rankdata

from rnlmf.opinions.columns import LEAST_GAP
from rnlmf.opinions.densities import Witness
from rnlmf.opinions.temporal import Sequence
from rnlmf.typing import Array

# So seldom errors would look as if they were not spread at random.
CHANCE = 1e-3
# Fewer suspects than this are anywhere.
FEWEST = 5


def not_anywhere(Z: Array, suspects: Array, witness: Witness, sequence: Sequence | None) -> Array:
    """Columns whose suspects are in certain rows or, in a table, on one side of what they should be."""
    m = Z.shape[1]
    found = np.zeros(m, dtype=bool)
    filled = np.where(suspects | np.isnan(Z), witness.prediction, Z)
    for j in np.flatnonzero(suspects.sum(axis=0) >= FEWEST):
        rows = np.flatnonzero(_first_of_each_run(suspects[:, j], sequence))
        _, counts = np.unique(Z[rows, j], return_counts=True)
        if len(rows) < FEWEST or counts.max() > len(rows) / 2:
            continue
        expected = filled.copy()
        expected[:, j] = witness.prediction[:, j]
        ranks = rankdata(expected, axis=0) / len(Z)
        ranks = np.hstack([ranks, np.abs(ranks - 0.5)])
        deviation = ranks.std(axis=0)
        apart = np.abs(ranks[rows].mean(axis=0) - ranks.mean(axis=0)) * np.sqrt(len(rows))
        found[j] = np.any(apart > norm.isf(CHANCE / (4 * m)) * deviation)
        if sequence is None:
            off = (Z[:, j] - witness.prediction[:, j]) / witness.scale[:, j]
            found[j] |= _is_tail(off[rows], off[~suspects[:, j]])
    return found


def _is_tail(suspects: Array, others: Array) -> bool:
    """Whether suspects are on one side, and go on where the others end."""
    above = int(np.sum(suspects > 0.0))
    if binomtest(above, len(suspects)).pvalue >= CHANCE:
        return False
    side = 1.0 if 2 * above > len(suspects) else -1.0
    farthest = np.nanmax(side * others, initial=0.0)
    outside = side * suspects
    return bool(outside[outside > 0.0].min() < LEAST_GAP * farthest)


def _first_of_each_run(suspects: Array, sequence: Sequence | None) -> Array:
    """Of errors that come one after the other only the first is where it is by chance."""
    if sequence is None:
        return suspects
    return suspects & ~np.r_[False, suspects[:-1]]
