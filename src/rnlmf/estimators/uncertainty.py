"""How sure a result is, without ground truth: scores of entries, and the error that is left."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rnlmf.typing import Array

# The denoised data lie nearer to the model than the true ones, and are recovered better. On images,
# motion capture and synthetic data (benchmarks/automatic.py) by about this factor.
CALIBRATION = 2.0
# The share of all rows by which errors are moved: far from any simple fraction, like periods in data.
MOVED = 0.381966


def scores_of(residual: Array, threshold: Array, missing: Array) -> Array:
    """``s^2 / (1 + s^2)`` of the residuals in thresholds, without overflow; NaN where missing."""
    smallest = np.finfo(residual.dtype)
    with np.errstate(over="ignore"):
        excess = np.abs(residual) / np.maximum(threshold, smallest.tiny)
    inverse = 1.0 / np.maximum(excess, smallest.eps)
    scores: Array = 1.0 / (1.0 + inverse * inverse)
    scores[missing] = np.nan
    return scores


def remaining_error(
    X: Array, denoised: Array, denoise: Callable[[Array], Array], rng: np.random.RandomState
) -> float:
    """Relative error of `denoised`, see :meth:`rnlmf.RNLMF.estimate_error`."""
    size = float(np.linalg.norm(denoised.astype(np.float64)))
    if size == 0.0:
        return 0.0
    # The noise of one sample on another; what was missing there is missing here.
    again = denoised + (X - denoised)[rng.permutation(len(X))]
    difference = denoise(again).astype(np.float64) - denoised
    return CALIBRATION * float(np.linalg.norm(difference)) / size


def error_when_repeated(
    X: Array, denoised: Array, denoise: Callable[[Array], Array], codes: Array
) -> float:
    """Relative error when the errors that were found are put into `denoised` rows farther down.

    All rows move by the same number, so that what came together, or one after the other, still does.
    What is wrong by its value, `codes`, keeps it.
    """
    size = float(np.linalg.norm(denoised.astype(np.float64)))
    found, rows = np.where(np.isnan(X), np.nan, X - denoised), int(MOVED * len(X))
    again = denoised + np.roll(found, rows, axis=0)
    again = np.where(np.roll(codes, rows, axis=0), np.roll(X, rows, axis=0), again)
    difference = denoise(again).astype(np.float64) - denoised
    return float(np.linalg.norm(difference)) / size if size else 0.0
