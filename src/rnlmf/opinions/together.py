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

from typing import NamedTuple

import numpy as np

from rnlmf.opinions.column_verdict import (
    FEWEST_CELLS,
    FREEDOMS,
    MOST_CELLS,
    MOST_DEALT,
    ColumnVerdict,
)
from rnlmf.opinions.densities import BLUNT, Values, right_cells, wrong_cells
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


class Cells(NamedTuple):
    """Of a column: values, what witnesses say, and their scales (K, n)."""

    z: Array
    p: Array
    s: Array

    @property
    def usual(self) -> float:
        """Scale of the first witness."""
        return float(np.median(self.s[0]))

    def some(self) -> Cells:
        """As many as decide."""
        step = -(-len(self.z) // MOST_CELLS)
        return Cells(self.z[::step], self.p[:, ::step], self.s[:, ::step])


def dealt_together(
    columns: list[Cells], whole: list[Array], gains: Array
) -> list[ColumnVerdict] | None:
    """Verdicts with one share of values that are dealt out; None if others account better for them.

    `whole` are all values of the columns, and `gains` what those gain that have errors of their own.
    """
    sharp = [
        j
        for j, cells in enumerate(columns)
        if len(cells.z) >= FEWEST_CELLS and np.ptp(cells.z) > BLUNT * cells.usual
    ]
    if len(sharp) < FEWEST_COLUMNS:
        return None
    options = [
        {j: Values.of(whole[j], columns[j].usual) for j in sharp},
        {j: Values.anywhere(columns[j].z) for j in sharp},
    ]
    found = [_shared(columns, values) for values in options]
    own = _counted(gains[sharp])
    prices = LEAST_GAIN, LEAST_GAIN * len(own)
    rests = [gain - price for (gain, _), price in zip(found, prices, strict=True)]
    best = int(np.argmax(rests))
    (gain, share), values = found[best], options[best]
    if rests[best] < 0.0 or gain < own.sum():
        return None
    return [
        _verdict(cells, share, values[j]) if j in values else ColumnVerdict()
        for j, cells in enumerate(columns)
    ]


def _begin(count: int) -> Array:
    """Credibility of the witnesses: mostly the first one's."""
    credibility = np.full(count, 0.1 / max(count - 1, 1))
    credibility[0] = 1.0 - credibility[1:].sum()
    return credibility


def _densities(cells: Cells, values: Values) -> tuple[Array, Array]:
    """Of right cells, for every freedom, and of wrong ones."""
    credibility = _begin(len(cells.p))
    right = np.stack([credibility @ right_cells(*cells, freedom) for freedom in FREEDOMS])
    about = wrong_cells(cells.z, cells.p[0], cells.s[0], SIZE)
    return right, (1.0 - MOST_DEALT) * about + MOST_DEALT * values.density(cells.z)


def _shared(columns: list[Cells], values: dict[int, Values]) -> tuple[float, float]:
    """What columns gain by the best share, the best of them not counted, and that share."""
    gains = []
    for j, density in values.items():
        cells = columns[j].some()
        right, wrong = _densities(cells, density)
        alone = np.log(right).sum(axis=1).max()
        together = [np.log(q * wrong + (1.0 - q) * right).sum(axis=1).max() for q in SHARES]
        gains.append((np.array(together) - alone) / np.log(len(cells.z)))
    counted = _counted(np.array(gains)).sum(axis=0)
    best = int(counted.argmax())
    return float(counted[best]), SHARES[best]


def _counted(gains: Array) -> Array:
    """All but the best."""
    return np.sort(gains, axis=0)[: len(gains) - int(np.ceil(NOT_COUNTED * len(gains)))]


def _verdict(cells: Cells, share: float, values: Values) -> ColumnVerdict:
    some = cells.some()
    right, wrong = _densities(some, values)
    likelihoods = np.log(share * wrong + (1.0 - share) * right).sum(axis=1)
    best = int(likelihoods.argmax())
    posterior = share * wrong / (share * wrong + (1.0 - share) * right[best])
    size = float(posterior @ (some.z - some.p[0]) ** 2 / max(float(posterior.sum()), 1e-9)) ** 0.5
    verdict = ColumnVerdict(
        min(FREEDOMS[best], FREEDOM), _begin(len(cells.p)), share, size, dealt=MOST_DEALT, values=values
    )
    return verdict.with_tails_of(*some)
