"""Where the iteration starts: the units of the data and the first dictionary."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rnlmf.engine.samples import Units
from rnlmf.kernels import Kernel, mean_distance

Array = npt.NDArray[Any]

# More samples than this do not change the mean distance by a per cent.
DISTANCE_SAMPLES = 2000
CHUNK_ROWS = 4096


def length_scale(X: Array, kernel: Kernel, scale: float, rng: np.random.RandomState) -> float:
    """``sigma``: the kernel's own, or `scale` times the mean distance between samples.

    A kernel that is not stationary also sees how far the samples are from its origin.
    """
    if kernel.sigma is not None:
        return float(kernel.sigma)
    if len(X) > DISTANCE_SAMPLES:
        X = X[np.sort(rng.choice(len(X), DISTANCE_SAMPLES, replace=False))]
    size = mean_distance(X)
    if not kernel.stationary:
        magnitude = float(np.nanmax(np.abs(X))) or 1.0
        squares = np.nanmean((X.astype(np.float64) / magnitude) ** 2, axis=0).sum()
        size = max(size, magnitude * float(np.sqrt(squares)))
    # Without any distance (all samples equal) every scale says the same.
    return scale * size or 1.0


def feature_means(X: Array) -> Array:
    """Mean of the values that every feature has, chunk by chunk: ``nanmean`` would copy the data."""
    sums, counts = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for start in range(0, len(X), CHUNK_ROWS):
        chunk = X[start : start + CHUNK_ROWS]
        counts += np.sum(~np.isnan(chunk), axis=0)
        sums += np.nansum(chunk, axis=0, dtype=np.float64)
    means: Array = sums / counts
    return means


def data_units(X: Array, kernel: Kernel, width: float) -> Units:
    """Centre and width; a kernel that is not stationary has its own origin.

    Missing values start from the mean.
    """
    means = feature_means(X)
    center = means if kernel.stationary else np.zeros(X.shape[1])
    center = center.astype(X.dtype)
    return Units(center, width, fill=((means - center) / width).astype(X.dtype))


def spread(X: Array, units: Units) -> Array:
    """Standard deviation of every feature about its mean, in the engine's units."""
    means = feature_means(X)
    squares, counts = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for start in range(0, len(X), CHUNK_ROWS):
        deviations = (X[start : start + CHUNK_ROWS] - means) / units.width
        counts += np.sum(~np.isnan(deviations), axis=0)
        squares += np.nansum(deviations**2, axis=0)
    spreads: Array = np.sqrt(squares / counts)
    return spreads


def random_dictionary(
    X: Array, units: Units, spreads: Array, n_atoms: int, rng: np.random.RandomState
) -> Array:
    """Atoms ``N(mean, std)`` per feature.

    ``N(0, 1)``, as in the paper, is far off data of another scale; samples as atoms are often
    corrupted ones, and stay so.
    """
    means = (feature_means(X) - units.center) / units.width
    atoms: Array = means + spreads * rng.standard_normal((n_atoms, X.shape[1]))
    return atoms
