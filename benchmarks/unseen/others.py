"""What people use instead; what has a parameter is tuned on the truth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.ndimage import median_filter

from rnlmf import RobustPCA
from rnlmf.typing import Array


def clipped(N: Array) -> Iterator[Array]:
    """Medians beyond four robust deviations."""
    middle = np.median(N, axis=0)
    deviation = 1.4826 * np.median(np.abs(N - middle), axis=0)
    deviation = np.where(deviation > 0, deviation, N.std(axis=0))
    yield np.where(np.abs(N - middle) > 4 * deviation, middle, N)


def _units(N: Array) -> tuple[Array, Array]:
    quartiles = np.subtract(*np.quantile(N, (0.75, 0.25), axis=0)) / 1.349
    return np.median(N, axis=0), np.where(quartiles > 0, quartiles, N.std(axis=0))


def robust_pca(N: Array) -> Iterator[Array]:
    """Of scaled columns, at five weights."""
    center, scale = _units(N)
    for factor in (0.7, 1.0, 1.5, 2.0, 3.0):
        model = RobustPCA(weight=factor / np.sqrt(max(N.shape)))
        yield model.fit_denoise((N - center) / scale) * scale + center


def robust_pca_of_images(N: Array) -> Iterator[Array]:
    """Pixels have one unit."""
    for factor in (0.5, 0.7, 1.0, 1.5, 2.0, 3.0):
        yield RobustPCA(weight=factor / np.sqrt(max(N.shape)), tol=1e-4).fit_denoise(N)


def filters(N: Array) -> Iterator[Array]:
    """Rolling medians and Hampel filters of five widths."""
    for width in (3, 5, 9, 15, 25):
        median = median_filter(N, size=(width, 1), mode="nearest")
        distance = np.abs(N - median)
        usual = 1.4826 * median_filter(distance, size=(max(width, 7), 1), mode="nearest")
        yield median
        yield np.where(distance > 3 * usual + 1e-12, median, N)


METHODS = {
    "table": {"clipped": clipped, "robust PCA, tuned": robust_pca},
    "sequence": {"clipped": clipped, "robust PCA, tuned": robust_pca, "filter, tuned": filters},
    "motion": {"robust PCA, tuned": robust_pca, "filter, tuned": filters},
    "image": {"robust PCA, tuned": robust_pca_of_images},
    "synthetic": {"robust PCA, tuned": robust_pca_of_images},
}
