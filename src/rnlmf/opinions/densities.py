"""How likely a value is: of a right cell, by what witnesses say, and of a wrong one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import gammaln
from scipy.stats import t as student

from rnlmf.opinions.mixing import NORMAL_QUANTILE, QUANTILE
from rnlmf.typing import Array

# Beyond so many deviations all errors are as likely: an absurd value is not less wrong for that.
FARTHEST = 4.0
# Predictions are all but exact that are off by so few scales; so many deviations more than the
# heaviest tail has there are not by chance.
ALL_BUT_EXACT, HEAVIEST, BY_CHANCE = 0.1, 1.0, 4.0
# Quantiles that stand for the values of a column, how many of them tell a density, and over how many
# scales of the predictions: it must not tell the shape of their errors.
KNOTS, TOGETHER, BLUNT = 100, 5, 6.0


@dataclass(frozen=True)
class Witness:
    """A prediction of every cell, and its scale; an infinite scale is no testimony."""

    prediction: Array
    scale: Array

    def of(self, rows: Array | slice) -> Witness:
        """What it says of some rows."""
        return Witness(self.prediction[rows], self.scale[rows])


def distance_in_scales(Z: Array, witness: Witness) -> Array:
    """From the prediction, in scales."""
    distance: Array = np.abs(Z - witness.prediction) / witness.scale
    return distance


@lru_cache
def log_constant(freedom: float) -> float:
    """Logarithm of Student's density where it is largest."""
    return float(gammaln((freedom + 1) / 2) - gammaln(freedom / 2) - 0.5 * np.log(freedom * np.pi))


def student_density(relative: Array, freedom: float) -> Array:
    """Of Student's distribution."""
    tail = (freedom + 1) / 2 * np.log1p(relative * relative / freedom)
    density: Array = np.exp(log_constant(freedom) - tail)
    return density


@lru_cache
def stretch(freedom: float) -> float:
    """What Student's scale is multiplied by to have the quantile at which scales are calibrated."""
    return float(student.ppf((1.0 + QUANTILE) / 2.0, freedom)) / NORMAL_QUANTILE


@lru_cache
def surprising(freedom: float, chance: float) -> float:
    """Scales by which predictions with such a tail are off with this chance."""
    return float(student.isf(chance / 2.0, freedom)) / stretch(freedom)


class ColumnCells:
    """Some cells of a column, and what the witnesses say of them.

    Parameters are found by asking for the same densities again and again: what does not change is
    computed once.

    Parameters
    ----------
    z : array of shape (n,)
        The cells.
    p, s : arrays of shape (K, n)
        What every witness predicts, and its scale.
    level : array of bool of shape (K, 1), optional
        Witnesses whose right cells are equally likely wherever they are nearer than the quantile at
        which scales are calibrated; none, if it is not given.
    """

    def __init__(self, z: Array, p: Array, s: Array, level: Array | None = None) -> None:
        self.z, self.p, self.s = z, p, s
        self._level: Array = np.zeros((len(p), 1), dtype=bool) if level is None else level
        self.off = z - p[0]
        self._size = np.abs(self.off)
        self._variance = np.where(np.isfinite(s[0]), s[0], 0.0) ** 2
        self._right: dict[float, Array] = {}

    def __len__(self) -> int:
        return len(self.z)

    def __getitem__(self, rows: Array | slice) -> ColumnCells:
        return ColumnCells(self.z[rows], self.p[:, rows], self.s[:, rows], self._level)

    @cached_property
    def usual_scale(self) -> float:
        """The first witness's, in the middle."""
        return float(np.median(self.s[0]))

    @property
    def farthest(self) -> int:
        """Which cell is farthest off for the first witness, in scales."""
        return int(np.argmax(self._size / self.s[0]))

    def right(self, freedom: float) -> Array:
        """Density of right cells by every witness, (K, n); scales are calibrated at a quantile."""
        if freedom not in self._right:
            told = np.isfinite(self.s)
            s = np.where(told, self.s, 1.0)
            with np.errstate(over="ignore"):
                distance = np.abs(self.z - self.p) / s
                density = student_density(distance * stretch(freedom), freedom) * stretch(freedom)
                body = self._level & (distance < NORMAL_QUANTILE)
                density = np.where(body, QUANTILE / (2.0 * NORMAL_QUANTILE), density) / s
                self._right[freedom] = np.where(told, density, 0.0) + 1e-300
        return self._right[freedom]

    def without_peaks(self) -> ColumnCells:
        """The same, level by witnesses with more exact predictions than the heaviest tail has.

        Where a sensor repeats its values many are; such a peak would be taken for the tail's.
        """
        told = np.isfinite(self.s)
        near = np.abs(self.z - self.p) < ALL_BUT_EXACT * self.s
        count = np.maximum(told.sum(axis=1, keepdims=True), 1)
        most = 2.0 * float(student.cdf(ALL_BUT_EXACT * stretch(HEAVIEST), HEAVIEST)) - 1.0
        share = np.sum(near & told, axis=1, keepdims=True) / count
        peaked = share > most + BY_CHANCE * np.sqrt(most / count)
        return ColumnCells(self.z, self.p, self.s, peaked) if peaked.any() else self

    def wrong(self, size: float, farthest: float = FARTHEST) -> Array:
        """Density of errors of a `size` about predictions: normal, and no less beyond the farthest."""
        deviation = np.sqrt(self._variance + size**2)
        relative = self._size / deviation
        np.minimum(relative, farthest, out=relative)
        np.multiply(relative, -0.5 * relative, out=relative)
        density: Array = np.exp(relative, out=relative)
        deviation *= np.sqrt(2.0 * np.pi)
        density /= deviation
        return density


@dataclass(frozen=True)
class Values:
    """How densely the values of a column lie: by the distance to the nearest of its quantiles.

    Of `flat` ones all values in the column's range are as likely.
    """

    knots: Array
    least: float
    flat: bool = False

    @classmethod
    def of(cls, z: Array, scale: float) -> Values:
        """From cells, and the usual scale of their predictions."""
        return cls(np.quantile(z, (np.arange(KNOTS) + 0.5) / KNOTS), BLUNT * scale)

    @classmethod
    def anywhere(cls, z: Array) -> Values:
        """In the range of cells."""
        return cls(np.linspace(z.min(), z.max(), KNOTS), 0.0, flat=True)

    def density(self, z: Array) -> Array:
        """Of values at `z`, by the `TOGETHER` quantiles to either side; none beyond the last."""
        place = np.searchsorted(self.knots, z)
        below = self.knots[np.maximum(place - TOGETHER, 0)]
        above = self.knots[np.minimum(place + TOGETHER, KNOTS - 1)]
        reach = np.maximum(above - below, self.least) / 2.0
        first = np.searchsorted(self.knots, z - reach)
        last = np.searchsorted(self.knots, z + reach, side="right")
        density: Array = (last - first) / KNOTS / (2.0 * reach)
        return density
