"""Errors that no column tells by itself, but all of them together.

Where predictions are not sharp, a cell with a value of another row, or with any value in the column's
range, is off by a few scales only, and in one column a heavy tail accounts for it as well. But whoever
deals out values does so in all columns alike. With one share ``pi`` for all of them, and ``g_j`` the
density of the values of column ``j``, or that of any value in its range,

    G(pi) = sum_j max_nu sum_i log(pi g_j(z_ij) + (1 - pi) f_nu(z_ij))
          - sum_j max_nu sum_i log f_nu(z_ij),

with ``f_nu`` the density of right cells (:mod:`~rnlmf.opinions.column_verdict`). Columns whose right
cells have an odd shape would have a share of their own; those that are predicted well and have no
errors lose by every share. A few odd ones decide nothing: the best quarter of the columns is not
counted. Any value in the range must pay in every column, for that is also the shape of cells that are
rounded, bounded or in groups.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rnlmf.opinions.column_verdict import FEWEST_CELLS, FREEDOMS, MOST_CELLS, MOST_DEALT, ColumnVerdict
from rnlmf.opinions.densities import BLUNT, ColumnCells, Values
from rnlmf.typing import Array

# Shares that are tried.
SHARES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4)
# In fewer columns a few odd ones are most of them.
FEWEST_COLUMNS = 6
# The part of the columns, the best ones, that does not count, and what the others must gain, together
# or each, in logarithms of the number of cells of a column.
NOT_COUNTED, LEAST_GAIN = 0.25, 2.0
# Of errors that have no value of the column: they are about what is predicted.
SIZE = 3.0
# What is dealt out is the tail of right cells, too: they keep one, for no scale is known exactly.
FREEDOM = 4.0
# Values are dealt to all columns alike: more than so many times their share are something else.
FAR_MORE = 1.5
# The first witness is believed that much, before others have shown that they know better.
FIRST = 0.9


def dealt_together(
    columns: list[ColumnCells], values: list[Array], gains: Array | None = None
) -> list[ColumnVerdict | None] | None:
    """Verdicts with one share of `values` that are dealt out; None if there are none.

    None also for a column that has nothing to do with it: one that is not predicted sharply, or in
    which far more looks so.

    Where columns have errors of their own, and gain `gains` by them, they would tell values of other
    rows themselves, and so would neighbours in time; those in the range must gain more.
    """
    sharp = [
        j
        for j, cells in enumerate(columns)
        if len(cells) >= FEWEST_CELLS and np.ptp(cells.z) > BLUNT * cells.usual_scale
    ]
    if len(sharp) < FEWEST_COLUMNS:
        return None
    some = {j: columns[j][:: -(-len(columns[j]) // MOST_CELLS)] for j in sharp}
    options = [
        {j: Values.of(values[j], columns[j].usual_scale) for j in sharp},
        {j: Values.anywhere(columns[j].z) for j in sharp},
    ]
    found = [_shared(some, option) for option in options]
    counted = _counted(len(sharp))
    prices = [LEAST_GAIN, LEAST_GAIN * counted]
    if gains is not None or len(columns[0].p) > 1:
        prices[0] = np.inf
    if gains is not None:
        prices[1] += float(np.sort(gains[sharp])[:counted].sum())
    rests = [gain - price for (gain, _), price in zip(found, prices, strict=True)]
    best = int(np.argmax(rests))
    if rests[best] < 0.0:
        return None
    share, dealt = found[best][1], options[best]
    return [_verdict(some[j], share, dealt[j]) if j in dealt else None for j in range(len(columns))]


def _credibility(count: int) -> Array:
    credibility = np.full(count, (1.0 - FIRST) / max(count - 1, 1))
    credibility[0] = 1.0 - credibility[1:].sum()
    return credibility


def _densities(cells: ColumnCells, values: Values) -> tuple[Array, Array]:
    """Of right cells, for every freedom, and of wrong ones."""
    credibility = _credibility(len(cells.p))
    right = np.stack([credibility @ cells.right(freedom) for freedom in FREEDOMS])
    return right, (1.0 - MOST_DEALT) * cells.wrong(SIZE) + MOST_DEALT * values.density(cells.z)


def _shared(columns: dict[int, ColumnCells], values: dict[int, Values]) -> tuple[float, float]:
    """What columns gain by the best share, the best of them not counted, and that share."""
    gains = []
    for j, cells in columns.items():
        right, wrong = _densities(cells, values[j])
        alone = np.log(right).sum(axis=1).max()
        together = [np.log(q * wrong + (1.0 - q) * right).sum(axis=1).max() for q in SHARES]
        gains.append((np.array(together) - alone) / np.log(len(cells)))
    counted = np.sort(gains, axis=0)[: _counted(len(gains))].sum(axis=0)
    best = int(counted.argmax())
    return float(counted[best]), SHARES[best]


def _counted(columns: int) -> int:
    """All but the best."""
    return columns - int(np.ceil(NOT_COUNTED * columns))


def _verdict(cells: ColumnCells, share: float, values: Values) -> ColumnVerdict | None:
    right, wrong = _densities(cells, values)
    best = int(np.log(share * wrong + (1.0 - share) * right).sum(axis=1).argmax())
    posterior = share * wrong / (share * wrong + (1.0 - share) * right[best])
    size = float(posterior @ cells.off**2 / max(float(posterior.sum()), 1e-9)) ** 0.5
    freedom, credibility = min(FREEDOMS[best], FREEDOM), _credibility(len(cells.p))
    verdict = ColumnVerdict(freedom, credibility, share, size, dealt=MOST_DEALT, values=values)
    verdict = verdict.with_tails_of(cells)
    # Heavier tails are made of what is dealt out.
    verdict = replace(verdict, tails=tuple(max(tail, FREEDOM) for tail in verdict.tails))
    # A column in which far more looks so has an odd shape.
    suspects = verdict.probability(cells) > 0.5
    return None if suspects.mean() > FAR_MORE * share else verdict
