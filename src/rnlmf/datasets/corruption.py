"""Noise as in the paper's experiments. Every function returns a new array."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state

from rnlmf.typing import Array


def _data(X: Any) -> Array:
    """A copy whose rows lie one after the other: only of such an array is a reshaped one a view."""
    return check_array(X, dtype=[np.float64, np.float32], order="C", copy=True)


def _fraction(value: float, name: str) -> float:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name}={value!r} must lie between 0 and 1.")
    return value


def _some_samples(X: Array, fraction: float, rng: np.random.RandomState) -> Array:
    count = round(_fraction(fraction, "fraction") * len(X))
    return rng.choice(len(X), count, replace=False)


def corrupt_entries(
    X: Any, density: float, *, magnitude: float = 1.0, random_state: Any = None
) -> Array:
    """Add Gaussian noise to exactly ``density`` of the entries.

    Its standard deviation is `magnitude` times that of the entries of `X`.
    """
    noisy = _data(X)
    rng = check_random_state(random_state)
    count = round(_fraction(density, "density") * noisy.size)
    chosen = rng.choice(noisy.size, count, replace=False)
    noisy.reshape(-1)[chosen] += magnitude * noisy.std() * rng.standard_normal(count)
    return noisy


def corrupt_samples(
    X: Any, fraction: float, *, magnitude: float = 1.0, random_state: Any = None
) -> Array:
    """Add Gaussian noise to all entries of a `fraction` of the samples."""
    noisy = _data(X)
    rng = check_random_state(random_state)
    chosen = _some_samples(noisy, fraction, rng)
    noisy[chosen] += magnitude * noisy.std() * rng.standard_normal((len(chosen), noisy.shape[1]))
    return noisy


def salt_and_pepper(
    X: Any, *, fraction: float = 0.3, density: float = 0.25, random_state: Any = None
) -> Array:
    """Set entries of a `fraction` of the images to the data's least or largest value.

    In a chosen image every pixel is hit with probability `density`, half of them each way.
    """
    noisy = _data(X)
    rng = check_random_state(random_state)
    low, high = noisy.min(), noisy.max()
    for sample in _some_samples(noisy, fraction, rng):
        hit = rng.random_sample(noisy.shape[1]) < _fraction(density, "density")
        noisy[sample, hit] = np.where(rng.random_sample(int(hit.sum())) < 0.5, low, high)
    return noisy


def occlude(
    X: Any,
    image_shape: tuple[int, int],
    *,
    fraction: float = 0.3,
    side: float = 0.25,
    random_state: Any = None,
) -> Array:
    """Blacken a block, at a random place, in a `fraction` of the images.

    The block has ``round(side h) + 1`` by ``round(side w) + 1`` pixels of the data's least value,
    as in the authors' program.
    """
    noisy = _data(X)
    rng = check_random_state(random_state)
    height, width = image_shape
    if height * width != noisy.shape[1]:
        raise ValueError(f"image_shape={image_shape} does not fit {noisy.shape[1]} features.")
    block_height = min(round(_fraction(side, "side") * height) + 1, height)
    block_width = min(round(side * width) + 1, width)
    low = noisy.min()
    for sample in _some_samples(noisy, fraction, rng):
        top = rng.randint(height - block_height + 1)
        left = rng.randint(width - block_width + 1)
        image = noisy[sample].reshape(height, width)
        image[top : top + block_height, left : left + block_width] = low
    return noisy
