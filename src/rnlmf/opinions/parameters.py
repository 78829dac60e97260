"""The probability that cells are wrong, of all columns at once.

What :mod:`rnlmf.opinions.column_verdict` says of one column, with the parameters of every column and
side of the predictions in arrays: a row takes as many operations as a column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rnlmf.opinions.densities import FARTHEST, Values, log_constant, stretch
from rnlmf.typing import Array

if TYPE_CHECKING:
    from rnlmf.opinions.column_verdict import ColumnVerdict

# So many cells at a time stay in the cache.
CHUNK_CELLS = 1 << 14


@lru_cache
def _of_tail(freedom: float) -> tuple[float, float, float, float]:
    """What densities need of a tail: itself, its constant, its scale, and from where on it is flat."""
    # From there on Student's density falls more slowly than the normal one of errors, and who is
    # farther off would be less suspicious.
    farthest = min(FARTHEST, float(np.sqrt(freedom + 1.0)))
    return freedom, log_constant(freedom), stretch(freedom), farthest


@dataclass(frozen=True)
class Parameters:
    """Of the columns that have any wrong cells; of either side (below, above): `tails` and `sizes`."""

    places: Array
    tails: Array
    sizes: Array
    shares: Array
    credibility: Array
    dealt: tuple[tuple[int, float, Values], ...]

    @classmethod
    def of(cls, columns: tuple[ColumnVerdict, ...]) -> Parameters:
        """From the verdicts on columns."""
        told = [(j, c) for j, c in enumerate(columns) if c.credibility is not None]
        tails = [[_of_tail(float(nu)) for nu in c.tails or (c.freedom,) * 2] for _, c in told]
        sizes = [c.sizes or (c.size,) * 2 for _, c in told]
        return cls(
            np.array([j for j, _ in told], dtype=np.intp),
            np.array(tails, dtype=float).reshape(-1, 2, 4).transpose(2, 1, 0),
            np.array(sizes, dtype=float).reshape(-1, 2).T,
            np.array([c.share for _, c in told]),
            np.array([c.credibility for _, c in told], dtype=float).T,
            tuple((k, c.dealt, c.values) for k, (_, c) in enumerate(told) if c.values is not None),
        )

    def probability(self, Z: Array, p: Array, s: Array) -> Array:
        """That cells (n, m) are wrong, by what witnesses (K, n, m) predict, and with which scales."""
        out = np.zeros(Z.shape)
        if not len(self.places):
            return out
        step = max(1, CHUNK_CELLS // len(self.places))
        # Nothing is asked for where a cell is missing.
        with np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, len(Z), step):
                rows = slice(first, first + step)
                some = Z[rows, self.places], p[:, rows, self.places], s[:, rows, self.places]
                out[rows, self.places] = self._probability(*some)
        return out

    def _probability(self, z: Array, p: Array, s: Array) -> Array:
        off = z - p[0]
        above = off > 0.0
        freedom, constant, calibrated, farthest = np.where(above, self.tails[:, 1:], self.tails[:, :1])
        told = np.isfinite(s)
        scale = np.where(told, s, 1.0) / calibrated
        relative = (z - p) / scale
        tail = constant - (freedom + 1.0) / 2.0 * np.log1p(relative * relative / freedom)
        density = np.where(told, np.exp(tail) / scale, 0.0) + 1e-300
        right = (1.0 - self.shares) * np.einsum("km,knm->nm", self.credibility, density)
        size = np.where(above, self.sizes[1], self.sizes[0])
        deviation = np.sqrt(np.where(told[0], s[0], 0.0) ** 2 + size**2)
        relative = np.minimum(np.abs(off / deviation), farthest)
        wrong = np.exp(-0.5 * relative**2) / (deviation * np.sqrt(2.0 * np.pi))
        for k, dealt, values in self.dealt:
            wrong[:, k] = (1.0 - dealt) * wrong[:, k] + dealt * values.density(z[:, k])
        wrong *= self.shares
        probability: Array = wrong / (wrong + right)
        return probability
