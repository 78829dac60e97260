"""Functions of the eigenvalues of a kernel matrix, and their minimisation over sparse noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from rnlmf.kernels import RBF
from rnlmf.penalties import Penalty
from rnlmf.typing import Array

# Added to the eigenvalues of the kernel matrix, so that their powers have a derivative at zero.
EIGENVALUE_SHIFT = 1e-5
# How far the first step may move an entry, in units of sigma; factors for the next steps.
FIRST_STEP = 10.0
STEP_GROWTH = 1.5
STEP_CUT = 0.4
# Part of the expected decrease that a step must bring, or it is taken back.
SUFFICIENT_DECREASE = 1e-4
SMALLEST_STEP = 1e-12


class SpectralFunction:
    """``Tr f(K(Z))`` of the Gaussian kernel, in units of its ``sigma``: a subclass gives ``f``.

    With a `sketch`, random combinations of columns, it is that of the projected matrix.
    """

    sketch: Array | None

    def f(self, values: Array) -> Array:
        """``f`` of eigenvalues."""
        raise NotImplementedError

    def slope(self, values: Array) -> Array:
        """``f'`` of eigenvalues."""
        raise NotImplementedError

    def value_and_gradient(self, Z: Array) -> tuple[float, Array]:
        """Value, and its derivative with respect to ``Z``."""
        K = RBF()(Z, Z)
        K = 0.5 * (K + K.T)
        if self.sketch is None:
            values, vectors = scipy.linalg.eigh(K)
        else:
            basis, _ = scipy.linalg.qr(K @ self.sketch, mode="economic")
            basis, _ = scipy.linalg.qr(K @ basis, mode="economic")
            values, vectors = scipy.linalg.eigh(basis.T @ (K @ basis))
            vectors = basis @ vectors
        # Rounding makes small eigenvalues negative.
        values = np.maximum(values, 0.0)
        dropped = len(Z) - len(values)
        value = float(np.sum(self.f(values))) + dropped * float(self.f(np.zeros(1))[0])
        # d Tr f(K) = <f'(K), dK>, and dK_ij = -K_ij (z_i - z_j).(dz_i - dz_j).
        T = ((vectors * self.slope(values)) @ vectors.T) * K
        gradient: Array = 2.0 * (T @ Z - T.sum(axis=1, keepdims=True) * Z)
        return value, gradient


@dataclass(frozen=True)
class SchattenNorm(SpectralFunction):
    """``Tr (K(Z) + shift)^power``."""

    power: float
    sketch: Array | None = None

    def f(self, values: Array) -> Array:
        powers: Array = (values + EIGENVALUE_SHIFT) ** self.power
        return powers

    def slope(self, values: Array) -> Array:
        slopes: Array = self.power * (values + EIGENVALUE_SHIFT) ** (self.power - 1.0)
        return slopes


@dataclass(frozen=True)
class RidgeRepresentation(SpectralFunction):
    """``min_C |phi(Z) - C phi(Z)|^2 / (2 w) + |C|^2 / 2 = Tr K (K + w I)^-1 / 2``, ``w`` the weight.

    The minimum is at ``C = K (K + w I)^-1``.
    """

    weight: float
    sketch: Array | None = None

    def f(self, values: Array) -> Array:
        halves: Array = 0.5 * values / (values + self.weight)
        return halves

    def slope(self, values: Array) -> Array:
        slopes: Array = 0.5 * self.weight / (values + self.weight) ** 2
        return slopes


def remove_noise(
    X: Array,
    E: Array,
    smooth: SpectralFunction,
    penalty: Penalty,
    weight: float,
    *,
    tol: float,
    max_iter: int,
) -> tuple[Array, list[float], bool]:
    """Minimise ``smooth(X - E) + weight R(E)`` over ``E`` by proximal gradient steps.

    A step that does not lower the objective enough is taken back and shortened, so that it always
    falls.

    Parameters
    ----------
    X, E : array of shape (n, m)
        Samples in units of sigma, and the start.
    smooth : SpectralFunction
        The first part.
    penalty : Penalty
        ``R``.
    weight : float
        Of the penalty.
    tol : float
        It ends when a step changes ``E`` by less, relative to ``X``.
    max_iter : int
        Most steps.

    Returns
    -------
    E : array of shape (n, m)
    objective : list of float
        At every iteration.
    converged : bool
    """
    value, gradient = smooth.value_and_gradient(X - E)
    value += weight * penalty.value(E)
    size = float(np.linalg.norm(X)) or 1.0
    step = FIRST_STEP / max(float(np.abs(gradient).max()), np.finfo(float).tiny)
    objective: list[float] = []
    for _ in range(max_iter):
        while True:
            # The derivative with respect to E is minus that with respect to X - E.
            new = penalty.prox(E + step * gradient, step * weight)
            change = float(np.linalg.norm(new - E))
            new_value, new_gradient = smooth.value_and_gradient(X - new)
            new_value += weight * penalty.value(new)
            if new_value <= value - SUFFICIENT_DECREASE * change**2 / (2.0 * step):
                break
            step *= STEP_CUT
            if change <= SMALLEST_STEP * size:
                objective.append(value)
                return E, objective, True
        E, value, gradient = new, new_value, new_gradient
        objective.append(value)
        step *= STEP_GROWTH
        if change <= tol * size:
            return E, objective, True
    return E, objective, False
