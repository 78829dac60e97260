"""What the methods that RNLMF is compared with share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from rnlmf.conventions import like
from rnlmf.typing import Array

# Residual balancing of the alternating direction methods (Boyd et al. 2011, section 3.4.1).
BALANCE = 5.0
BALANCE_EVERY = 10
BALANCE_UNTIL = 300


class Denoiser(BaseEstimator):
    """Base class: a fit that splits its training data into a clean part and noise.

    A subclass's :meth:`fit` sets ``noise_``, ``objective_``, ``n_iter_`` and ``converged_``.
    Everything is computed in double precision and returned in the precision of the data.
    """

    def fit_denoise(self, X, y=None):
        """Fit, and return the training data without their noise, in the container of `X`."""
        self.fit(X)
        data = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return like(X, data - self.noise_)

    def _start(self, name: str, *shapes: tuple[int, ...]) -> Any:
        """The last solution, if warm starts are wanted and its arrays have the `shapes`."""
        last = getattr(self, name, None) if self.warm_start else None
        if last is None or tuple(array.shape for array in last) != shapes:
            return None
        return last


def balanced(iteration: int, primal: float, dual: float) -> float:
    """Factor for the penalty parameter that brings the two residuals together.

    Only every tenth of the first 300 iterations may change it: a parameter that stays fixed in the
    end keeps the proof of convergence.
    """
    if iteration % BALANCE_EVERY or iteration > BALANCE_UNTIL:
        return 1.0
    if primal > BALANCE * dual:
        return 2.0
    return 0.5 if dual > BALANCE * primal else 1.0


def minimise_rows(
    step: Callable[[Array, Array], Array],
    Z: Array,
    tol: float,
    max_iter: int,
    *,
    accelerated: bool = True,
) -> Array:
    """Minimise a convex function of every row by descent steps.

    ``step(rows, Z)`` takes one step from ``Z``, the current values of the ``rows``. Every row has its
    own momentum, restart (O'Donoghue and Candes 2015) and end, so that it does not depend on the
    others.

    Parameters
    ----------
    step : callable
    Z : array of shape (n_samples, n_variables)
        Start.
    tol : float
        A row ends when a step changes no entry by more than this.
    max_iter : int
    accelerated : bool
        Whether the steps are proximal gradient steps, to which momentum can be added.

    Returns
    -------
    array of the shape of `Z`
    """
    result = Z.copy()
    rows = np.arange(len(Z))
    current, ahead, t = Z, Z, np.ones((len(Z), 1))
    for _ in range(max_iter):
        if not len(rows):
            break
        new = step(rows, ahead)
        result[rows] = new
        moved = np.abs(new - ahead).max(axis=1, initial=0.0) > tol
        forward = np.einsum("ij,ij->i", ahead - new, new - current) <= 0.0
        t = np.where(forward[:, None] & accelerated, t, 1.0)
        t_next = 0.5 + np.sqrt(0.25 + t * t)
        ahead = new + (t - 1.0) / t_next * (new - current)
        rows, current, ahead, t = rows[moved], new[moved], ahead[moved], t_next[moved]
    return result
