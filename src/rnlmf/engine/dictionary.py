"""The dictionary step: relaxed Newton with momentum, from sums over samples.

With the kernel's argument ``u`` (see :mod:`rnlmf.kernels`), ``V = C * f'(u(Y, D))`` and
``M = (C^T C + lambda_D dR) * f'(u(D, D))``, the loss has

    gradient   -V^T Y + M D + s (diag(V^T 1) - diag(M 1)) D,
    curvature  H = M + s (diag(V^T 1) - diag(M 1))    with V and M held fixed,

which for the RBF kernel (``s = 1``) are the gradient and ``H`` above Eq. (D_sol_1) of the paper,
and for the polynomial kernel (``s = 0``) the same of ``(y.d + c)^q``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from rnlmf.engine.problem import Problem
from rnlmf.typing import Array

# Above this many atoms the factorization of H costs more than the passes that it saves.
LARGE_DICTIONARY = 2048


@dataclass
class Statistics:
    """Sums over samples: all that the dictionary and the objective need of them.

    Attributes
    ----------
    weighted_samples : (d, m) array
        ``V^T Y``: for every atom the sum of the samples, weighted by how much it explains of them.
    weight : (d,) array
        ``V^T 1``.
    code_gram : (d, d) array
        ``C^T C``.
    loss : float
        Loss, without its term in ``C^T C``.
    noise : float
        ``R(E)``, without its weight.
    """

    weighted_samples: Array
    weight: Array
    code_gram: Array
    loss: float = 0.0
    noise: float = 0.0

    @classmethod
    def none(cls, n_atoms: int, n_features: int) -> Statistics:
        """Of no samples, in double precision."""
        return cls(np.zeros((n_atoms, n_features)), np.zeros(n_atoms), np.zeros((n_atoms, n_atoms)))

    def plus(self, other: Statistics) -> Statistics:
        """The sums over both, in place of these."""
        self.weighted_samples += other.weighted_samples
        self.weight += other.weight
        self.code_gram += other.code_gram
        self.loss += other.loss
        self.noise += other.noise
        return self

    def forget(self, share: float) -> None:
        """Let a share of all sums go, in place."""
        for sums in (self.weighted_samples, self.weight, self.code_gram):
            sums *= 1.0 - share
        self.loss *= 1.0 - share
        self.noise *= 1.0 - share


def gradient_and_curvature(
    problem: Problem, D: Array, K_D: Array, statistics: Statistics
) -> tuple[Array, Array]:
    """Gradient (d, m) and frozen curvature (d, d) of the objective in ``D``."""
    gram = statistics.code_gram
    if problem.dictionary_penalty is not None and problem.dictionary_weight > 0.0:
        gram = gram + problem.dictionary_weight * problem.dictionary_penalty.gram(K_D)
    if problem.kernel.stationary:
        H = gram * problem.kernel.slope_of_value(K_D)
        H[np.diag_indices_from(H)] += statistics.weight - H.sum(axis=1)
    else:
        H = gram * problem.kernel.slope(problem.kernel.argument(D, D))
    return H @ D - statistics.weighted_samples, H


def newton_direction(gradient: Array, H: Array, shift: float = 0.0) -> Array:
    """``(H + mu I)^-1 gradient``, ``mu`` raised from `shift` until the Cholesky factor exists."""
    scale = float(np.abs(np.diag(H)).mean()) or 1.0
    while True:
        try:
            damped = H + np.diag(np.full(len(H), shift)) if shift > 0.0 else H
            factor = scipy.linalg.cho_factor(damped, lower=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            shift = max(10.0 * shift, 1e-8 * scale)
        else:
            direction: Array = scipy.linalg.cho_solve(factor, gradient, check_finite=False)
            return direction


def spectral_direction(gradient: Array, H: Array) -> Array:
    """``gradient / |H|_2``, Eq. (D_sol_3): no factorization, for large dictionaries."""
    if len(H) < 3 or not H.any():
        norm = float(np.linalg.norm(H, 2))
    else:
        start = np.random.default_rng(0).standard_normal(len(H))
        top = scipy.sparse.linalg.eigsh(H, k=1, v0=start, tol=1e-2, return_eigenvectors=False)
        norm = 1.01 * abs(float(top[0]))
    return gradient / (norm or 1.0)


def direction(gradient: Array, H: Array, method: str = "auto", shift: float = 0.0) -> Array:
    """Descent direction (to be subtracted), by the `method` "newton", "spectral" or "auto"."""
    if method == "auto":
        method = "newton" if len(H) <= LARGE_DICTIONARY else "spectral"
    return (
        newton_direction(gradient, H, shift) if method == "newton" else spectral_direction(gradient, H)
    )


def relative_change(delta: Array, D: Array, momentum: float) -> float:
    """``(1 - eta) |Delta|_F / |D|_F``: what a step adds, net of what it repeats."""
    size = max(float(np.linalg.norm(D)), np.finfo(float).tiny)
    return (1.0 - momentum) * float(np.linalg.norm(delta)) / size
