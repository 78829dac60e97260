"""Units in which the columns of a table can be compared, whatever is wrong in some of their cells."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import norm

from rnlmf.typing import Array

# A spread comes from the outer quantiles: a column that mostly rests (a gyroscope) has quartiles that
# say nothing of its movements. It is bounded by the quartiles, should a tenth of the cells be absurd.
OUTER, QUARTILE, LAST = 0.05, 0.25, 0.01
MOST_OVER_QUARTILES = 100.0
# So many spreads away no value has a say in anything; what it is itself is judged later.
WILD = 50.0
# A column with more such values than this has a shape of its own, and none of them is absurd. Nor are
# those of a long tail: the nearest absurd value is so many times as far out as the last plausible one,
# and farther than chance would put it, but for once in so many columns. The tail's exponent is that of
# the last plausible values.
MOST_WILD, LEAST_GAP, CHANCE_GAP, TAIL_SHARE, TAIL_CELLS = 0.05, 3.0, 1e-3, 0.05, 10
# Sizes of one order of magnitude.
WIDEST_GROUP = 10.0
# Beyond this nothing more is to be learned from a number, and squares must not overflow.
LARGEST = 1e6
# A value that returns to the letter in this share of the cells, ten times as often as its neighbours
# on the scale, is a state of the sensor or a code (saturation, "nobody there"), not a random error.
COMMON_SHARE, FEWEST_COMMON = 0.01, 5.0
COMMON_FACTOR = 10.0
COMMON_NEIGHBOURS = 5
# A value that is common in more than this share of the columns is one of the device, hence of all.
SHARED = 1.0 / 3.0


def _spread(X: Array, q: float) -> Array:
    """Standard deviation by the distance of two quantiles, as the normal distribution has it."""
    low, high = np.nanquantile(X, (q, 1.0 - q), axis=0)
    width: Array = (high / 2.0 - low / 2.0) / norm.ppf(1.0 - q)
    return width


def _resolution(values: Array) -> float:
    """Step of a quantised column: the usual gap between values that occur more than once, else 0."""
    distinct, counts = np.unique(values, return_counts=True)
    repeated = counts > 1
    if counts[repeated].sum() <= 0.5 * counts.sum() or repeated.sum() < 2:
        return 0.0
    gaps, counts = np.diff(distinct[repeated]), counts[repeated]
    weights = np.minimum(counts[1:], counts[:-1])
    order = np.argsort(gaps)
    middle = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2.0)
    return float(gaps[order][middle])


def _common_values(values: Array) -> Array:
    distinct, counts = np.unique(values, return_counts=True)
    # Between whole numbers, errors may lie; a column of whole numbers has them all often.
    repeated = counts > 1
    distinct, counts = distinct[repeated], counts[repeated]
    often = np.flatnonzero(counts >= max(COMMON_SHARE * len(values), FEWEST_COMMON))
    found = []
    for i in often:
        around = np.r_[
            counts[max(i - COMMON_NEIGHBOURS, 0) : i], counts[i + 1 : i + 1 + COMMON_NEIGHBOURS]
        ]
        if not len(around) or counts[i] >= COMMON_FACTOR * np.median(around):
            found.append(distinct[i])
    return np.array(found, dtype=float)


def _returning(column: Array, values: Array) -> Array:
    """Those of the values that are common even without the longest stretch of each."""
    least = max(COMMON_SHARE * len(column), FEWEST_COMMON)
    found = []
    for value in values:
        edges = np.flatnonzero(np.diff(column == value, prepend=False, append=False))
        lengths = edges[1::2] - edges[::2]
        if lengths.sum() - lengths.max(initial=0) >= least:
            found.append(value)
    return np.array(found, dtype=float)


def _shared(common: tuple[Array, ...]) -> Array:
    """Values that are common in many columns: the end of a device's range, or its code for nothing."""
    values, counts = np.unique(np.concatenate(common), return_counts=True)
    shared: Array = values[(counts > 1) & (counts > SHARED * len(common))]
    return shared


def _is_group(sizes: Array) -> bool:
    """Whether several sizes, ordered, are of one order of magnitude but not equal to the letter."""
    many = len(sizes) >= FEWEST_COMMON and sizes[-1] <= WIDEST_GROUP * sizes[0]
    return bool(many) and len(np.unique(sizes)) > len(sizes) / 2


def _last_plausible(sizes: Array) -> float:
    """Size of a column's largest value before the gap beyond which all are absurd; at least `WILD`.

    Beyond the last of values whose tail falls as ``size^-a``, the next is ``g`` times as far out with
    probability ``g^-a``, and so are ``k`` of them with ``g^(-a k)``; the exponent is Hill's (1975).
    Only equal ones count, a code. Others of one order of magnitude are a group of their own, a state or
    an event, of which it must be found out whether it is right.
    """
    ordered = np.sort(sizes)
    far = int(np.searchsorted(ordered, WILD, side="right"))
    n = len(ordered)
    if far == n or n - far > MOST_WILD * n:
        return LARGEST
    begin = 0
    for i in range(max(far, 1), n):
        last = max(float(ordered[i - 1]), 1.0)
        if ordered[i] <= LEAST_GAP * last:
            continue
        tail = ordered[max(i - max(int(TAIL_SHARE * i), TAIL_CELLS), begin) : i]
        tail = tail[tail > 0.0]
        inverse = float(np.mean(np.log(last / tail))) if len(tail) and last > 1.0 else 0.0
        beyond = ordered[i:]
        next_gap = np.flatnonzero(beyond[1:] > LEAST_GAP * beyond[:-1])
        if _is_group(beyond[: next_gap[0] + 1] if len(next_gap) else beyond):
            begin = i
            continue
        same = len(beyond) if beyond[0] == beyond[-1] else 1
        if inverse == 0.0 or (ordered[i] / last) ** (-same / inverse) < CHANCE_GAP:
            return max(last, WILD)
    return LARGEST


@dataclass(frozen=True)
class Columns:
    """Centre, spread and resolution of every column, the values that return again and again, and how
    far from the centre, in spreads, a value is plausible. Of those that return, some are `brief`,
    states only where they stay for more than a row, and some steps of a `fine` scale, no states.
    Those of `nothing` are codes: where they are, nothing was measured; those `alone` are codes where
    no other column of them has the same. A column with `levels` has no other values.
    `optimism` is how many times too sure the fellows of a column are."""

    center: Array
    spread: Array
    resolution: Array
    common: tuple[Array, ...]
    farthest: Array
    brief: tuple[Array, ...] = ()
    fine: tuple[Array, ...] = ()
    optimism: Array | None = None
    nothing: tuple[Array, ...] = ()
    alone: tuple[Array, ...] = ()
    levels: tuple[Array, ...] = ()

    @classmethod
    def of(cls, X: Array) -> Columns:
        """From data with NaN for missing values; every column has some value."""
        X = X.astype(np.float64)
        center = np.nanmedian(X, axis=0)
        quartile, outer = _spread(X, QUARTILE), _spread(X, OUTER)
        spread = np.where(quartile > 0.0, np.minimum(outer, MOST_OVER_QUARTILES * quartile), outer)
        spread = np.where(spread > 0.0, spread, _spread(X, LAST))
        rare = ~(spread > 0.0)
        with np.errstate(over="ignore"):
            deviation = np.nanmean(np.abs(X - center), axis=0)
        spread = np.where(spread > 0.0, spread, deviation)
        spread = np.where((spread > 0.0) & np.isfinite(spread), spread, 1.0)
        known = [column[~np.isnan(column)] for column in X.T]
        resolution = np.array([_resolution(values) for values in known]) / spread
        common = tuple(_common_values(values) for values in known)
        common = tuple(np.union1d(own, _shared(common)) for own in common)
        columns = cls(center, spread, resolution, common, np.full(X.shape[1], LARGEST))
        with np.errstate(over="ignore"):
            sizes = np.abs(X / 2.0 - center / 2.0) / spread * 2.0
        farthest = np.array([_last_plausible(column[~np.isnan(column)]) for column in sizes.T])
        # Of what is nearly always the same nobody knows how far it goes when it is not: nothing tells
        # the size of rare events but the usual value itself.
        with np.errstate(over="ignore"):
            usual = np.where(center != 0.0, WILD * np.abs(center) / spread, LARGEST)
        farthest = np.where(rare, np.minimum(np.maximum(farthest, usual), LARGEST), farthest)
        return replace(columns, farthest=farthest)

    def with_exceptions(self, X: Array) -> Columns:
        """The same for rows in order, where a value that fills most of a column is its rule.

        Where other values come one by one, scattered by chance, they are exceptions to the rule, and
        it counts; where they come in stretches (daylight), the value is one state of several. What
        many columns have in common is no column's rule. And what is there often, but in one stretch,
        does not return: a sensor may be stuck.
        """
        shared = _shared(self.common)
        common = [
            np.union1d(shared, _returning(column, values))
            for column, values in zip(X.T, self.common, strict=True)
        ]
        for j, values in enumerate(common):
            if len(values) == len(shared):
                continue
            other = ~np.isin(X[:, j], values) & ~np.isnan(X[:, j])
            share = float(other.mean())
            together = float(other[1:][other[:-1]].mean()) if other[:-1].any() else 0.0
            if share < 0.5 and together < (1.0 + share) / 2.0:
                common[j] = shared
        return replace(self, common=tuple(common))

    def scaled(self, X: Array) -> Array:
        """Deviations from the centre in spreads; NaN where no value is, absurd where it is a code."""
        with np.errstate(over="ignore"):
            Z: Array = (X.astype(np.float64) - self.center) / self.spread
        return np.where(self.codes(X), 2.0 * LARGEST, np.clip(Z, -LARGEST, LARGEST))

    def codes(self, X: Array) -> Array:
        """Cells in which nothing was measured, or what the column never is."""
        found = np.zeros(X.shape, dtype=bool)
        for j, values in enumerate(self.nothing):
            if len(values):
                found[:, j] = np.isin(X[:, j], values)
        for code in np.unique(np.concatenate(self.alone or ((),))):
            there = (code == X) & np.array([code in values for values in self.alone])
            found |= there & (there.sum(axis=1, keepdims=True) == 1)
        for j, values in enumerate(self.levels):
            if len(values):
                found[:, j] |= ~np.isin(X[:, j], values) & ~np.isnan(X[:, j])
        return found

    def to_data(self, Z: Array) -> Array:
        """Values from deviations."""
        X: Array = Z * self.spread + self.center
        return X

    def of_device(self, Z: Array) -> Array:
        """Cells with a value to which all columns return: an end of the scale of all sensors."""
        found = np.zeros(Z.shape, dtype=bool)
        for value in set(self.common[0]).intersection(*self.common[1:]) if self.common else ():
            found |= (value - self.center) / self.spread == Z
        return found

    def absurd(self, Z: Array) -> Array:
        """Cells beyond any plausible range."""
        far: Array = np.abs(Z) > self.farthest
        return far

    def recurring(self, X: Array, Z: Array, *, ordered: bool = False, fine: bool = False) -> Array:
        """Cells with a value that returns again and again, within the plausible range.

        Of rows that are `ordered`, those of brief values only beside another one. With `fine`, steps
        of a fine scale are left out.
        """
        found = np.zeros(X.shape, dtype=bool)
        for j, values in enumerate(self.common):
            if len(values):
                found[:, j] = np.isin(X[:, j], values)
        for j, values in enumerate(self.brief if ordered else ()):
            for value in values:
                there = X[:, j] == value
                beside = np.r_[False, there[:-1]] | np.r_[there[1:], False]
                found[there & ~beside, j] = False
        for j, values in enumerate(self.fine if fine else ()):
            found[np.isin(X[:, j], values), j] = False
        return found & ~self.absurd(Z)
