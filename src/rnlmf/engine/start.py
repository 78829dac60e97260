"""Where the iteration starts: what must be known of the data, their units, and the first dictionary.

Everything here is a mean over values that were clipped to their feature's median and ten times the
largest spread of a feature, spreads being those between quantiles. On ordinary data, with ordinary
corruptions, nothing is clipped; a value of 1e30, or a code such as -9999 for "unknown", does not set
the scale for all others. (With a feature's own spread, corruptions that are of one size in all features
would be clipped in some of them: on motion capture the choice of parameters suffers.)
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import NamedTuple

import numpy as np

from rnlmf.engine.batches import drawn
from rnlmf.engine.samples import Units, has_missing
from rnlmf.engine.source import Rows, RowSource
from rnlmf.kernels import Kernel, mean_distance
from rnlmf.typing import Array

# More samples than this do not change the mean distance by a per cent.
DISTANCE_SAMPLES = 2000
# Nor do they move a quantile by more than a small part of the spread.
QUANTILE_SAMPLES = 5000
CHUNK_ROWS = 4096
# Values are clipped at so many spreads: far beyond what a heavy tail has, or a corruption that a scale
# can be told by (the paper's are of two to five).
CLIPPED_SPREADS = 10.0
# Pairs of quantiles, and how far apart they are in a normal distribution, in standard deviations. The
# quartiles withstand most; where they coincide, as in a column that is mostly zero, the next are taken.
QUANTILES = ((0.25, 0.75, 1.349), (0.05, 0.95, 3.290))


class Bounds(NamedTuple):
    """Median of every feature, and how far a value may be from it."""

    center: Array
    reach: float

    def clip(self, X: Array) -> Array:
        """`X` within the bounds; NaN stays."""
        clipped: Array = np.minimum(np.maximum(X, self.center - self.reach), self.center + self.reach)
        return clipped


def robust_bounds(X: Rows) -> Bounds:
    """Bounds beyond which a value says nothing of its feature's scale, from some of the rows."""
    some = X[:: -(-len(X) // QUANTILE_SAMPLES)].astype(np.float64)
    if has_missing(some):
        # A feature may have no value in these rows; a column of all does.
        empty = np.flatnonzero(np.isnan(some).all(axis=0))
        for j in empty:
            known = known_values(X, int(j), len(some))
            some[: len(known), j] = known
    quantile = np.nanquantile if has_missing(some) else np.quantile
    levels = sorted({0.5, *(level for pair in QUANTILES for level in pair[:2])})
    found = dict(zip(levels, quantile(some, levels, axis=0), strict=True))
    center = found[0.5]
    spread = 0.0
    for low, high, normal in QUANTILES:
        spread = spread or float(np.max(found[high] - found[low])) / normal
    sizes = np.abs(some - center)
    if spread == 0.0 and np.any(sizes > 0.0):
        # Hardly any value differs from its feature's median: those that do are the scale.
        spread = float(np.median(sizes[sizes > 0.0]))
    return Bounds(center, CLIPPED_SPREADS * spread)


def known_values(X: Rows, feature: int, count: int) -> Array:
    """The first values of a feature, at most `count`."""
    found = np.empty(0)
    for rows in chunks(len(X)):
        column = X[rows][:, feature]
        found = np.concatenate([found, column[~np.isnan(column)]])[:count]
        if len(found) == count:
            break
    return found


def chunks(n_samples: int) -> list[slice]:
    """Rows that are looked at together."""
    return [slice(start, start + CHUNK_ROWS) for start in range(0, n_samples, CHUNK_ROWS)]


@dataclass(frozen=True)
class DataSummary:
    """What defaults need to know of the data; it is the same for all parameters that may be tried.

    Attributes
    ----------
    means, spreads : (m,) array
        Mean and standard deviation of every feature.
    mean_distance : float
        Between samples.
    magnitude : float
        Root mean square distance of samples from the origin.
    """

    means: Array
    spreads: Array
    mean_distance: float
    magnitude: float

    @classmethod
    def of(cls, X: Rows, rng: np.random.RandomState) -> DataSummary:
        """Of samples; the mean distance of many is that of some of them."""
        return cls.of_rows(X, distance_rows(len(X), rng))

    @classmethod
    def of_rows(cls, X: Rows, rows: slice | Array) -> DataSummary:
        """The same, with the samples to take the mean distance of."""
        bounds = robust_bounds(X)
        means, spreads = means_and_spreads(X, bounds)
        some = bounds.clip(X[rows].astype(np.float64))
        if has_missing(some):
            # A feature without a value among these says nothing of distances.
            some = np.where(np.isnan(some).all(axis=0), means, some)
        largest = float(np.nanmax(np.abs(some))) or 1.0
        square = float(np.nanmean((some / largest) ** 2, axis=0).sum())
        return cls(means, spreads, mean_distance(some), largest * square**0.5)

    def towards(self, other: DataSummary, share: float) -> DataSummary:
        """Part of the way to another summary."""
        values = (
            (1.0 - share) * getattr(self, item.name) + share * getattr(other, item.name)
            for item in fields(self)
        )
        return DataSummary(*values)

    @property
    def spread(self) -> float:
        """Root mean square of the features' standard deviations."""
        return root_mean_square(self.spreads)

    def length_scale(self, kernel: Kernel, scale: float) -> float:
        """``sigma``: the kernel's own, or `scale` times the mean distance between samples.

        A kernel that is not stationary also sees how far the samples are from its origin.
        """
        if kernel.sigma is not None:
            return float(kernel.sigma)
        size = self.mean_distance
        if not kernel.stationary:
            size = max(size, self.magnitude)
        # Without any distance (all samples equal) every scale says the same.
        return scale * size or 1.0

    def units(self, kernel: Kernel, scale: float, dtype: np.dtype[np.float64]) -> Units:
        """Centre and width; a kernel that is not stationary has its own origin.

        Missing values start from the mean.
        """
        width = self.length_scale(kernel, scale)
        center = self.means if kernel.stationary else np.zeros(len(self.means))
        center = center.astype(dtype)
        return Units(center, width, fill=((self.means - center) / width).astype(dtype))


def distance_rows(n_samples: int, rng: np.random.RandomState) -> slice | Array:
    """Samples to take the mean distance of."""
    if n_samples <= DISTANCE_SAMPLES:
        return slice(None)
    return drawn(n_samples, DISTANCE_SAMPLES, rng)


def means_and_spreads(X: Rows, bounds: Bounds) -> tuple[Array, Array]:
    """Mean and standard deviation of every feature within bounds, without a copy of the data."""
    moments = partial(block_moments, bounds=bounds)
    counts, sums, squares = X.total(moments) if isinstance(X, RowSource) else moments(X)
    shift = sums / counts
    unit = bounds.reach or 1.0
    spreads = unit * np.sqrt(np.maximum(squares / counts - shift**2, 0.0))
    return bounds.center + unit * shift, spreads


def block_moments(X: Array, bounds: Bounds) -> Array:
    """For every feature: number of values, and sums of them and of their squares, from the median."""
    unit = bounds.reach or 1.0
    moments = np.zeros((3, X.shape[1]))
    for rows in chunks(len(X)):
        chunk = bounds.clip(X[rows].astype(np.float64))
        # From the median, so that the difference of moments loses nothing to an offset.
        chunk -= bounds.center
        chunk /= unit
        known = ~np.isnan(chunk)
        chunk[~known] = 0.0
        moments += known.sum(axis=0), chunk.sum(axis=0), np.einsum("ij,ij->j", chunk, chunk)
    return moments


def spread_of(X: Rows) -> float:
    """Root mean square of the features' standard deviations; NaN is a missing value."""
    return root_mean_square(means_and_spreads(X, robust_bounds(X))[1])


def root_mean_square(values: Array) -> float:
    """Of numbers of any magnitude."""
    largest = float(np.max(values, initial=0.0)) or 1.0
    return largest * float(np.sqrt(np.mean((values / largest) ** 2)))


def random_dictionary(
    summary: DataSummary, units: Units, n_atoms: int, rng: np.random.RandomState
) -> Array:
    """Atoms ``N(mean, std)`` per feature.

    ``N(0, 1)``, as in the paper, is far off data of another scale; samples as atoms are often
    corrupted ones, and stay so.
    """
    means = (summary.means - units.center) / units.width
    noise = rng.standard_normal((n_atoms, len(summary.means)))
    atoms: Array = means + summary.spreads / units.width * noise
    return atoms
