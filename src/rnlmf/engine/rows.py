"""The codes and the noise of single rows: the safe steps that every kernel and penalty has.

The noise step is proximal gradient descent with a step length of its own for every sample, so that
the result of a sample never depends on the others; the paper takes the largest curvature over all
samples (Table 2 with xi = 1). Lengths are found by backtracking, because the curvature with frozen
weights is a bound only where no code is negative (RBF), and not at all for the polynomial kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rnlmf.engine.problem import Problem

Array = npt.NDArray[Any]

# A sample that the atoms hardly see has almost no curvature; its step is bounded by this.
LEAST_WEIGHT = 1e-2
MAX_HALVINGS = 30


def known_difference(X: Array, Y: Array) -> Array:
    """``X - Y``, zero where ``X`` has no value."""
    difference: Array = X - Y
    difference[np.isnan(difference)] = 0.0
    return difference


def row_objectives(
    problem: Problem, X: Array, Y: Array, C: Array, D: Array, release: Array | float = 1.0
) -> Array:
    """The part of the objective that depends on ``y_i``, for every row.

    `release` weighs the penalty of every row (see :mod:`rnlmf.engine.corruption`).
    """
    kernel = problem.kernel
    own = kernel.f(kernel.self_argument(Y))
    fit = np.einsum("ij,ij->i", C, kernel(Y, D))
    noise = release * problem.noise_penalty.row_values(known_difference(X, Y))
    objectives: Array = 0.5 * own - fit + problem.noise_weight * noise
    return objectives


def noise_gradient(problem: Problem, Y: Array, C: Array, D: Array) -> tuple[Array, Array]:
    """Gradient of the loss in ``Y``, minus Eq. (gradE), and the frozen curvature of every row."""
    kernel = problem.kernel
    V = C * kernel.slope(kernel.argument(Y, D))
    curvature = V.sum(axis=1) if kernel.stationary else kernel.slope(kernel.self_argument(Y))
    return curvature[:, None] * Y - V @ D, curvature


def noise_step(
    problem: Problem, X: Array, Y: Array, C: Array, D: Array, release: Array | None = None
) -> Array:
    """One proximal gradient step of every row that does not raise its objective.

    Where ``X`` has no value, nothing is penalised and the step is the gradient's.
    """
    penalty = problem.noise_penalty
    release = np.ones(len(X)) if release is None else release
    missing = np.isnan(X)
    gradient, curvature = noise_gradient(problem, Y, C, D)
    steepness = np.maximum(curvature, LEAST_WEIGHT)[:, None]
    before = row_objectives(problem, X, Y, C, D, release)
    result = Y.copy()
    pending = np.arange(len(Y))
    slack = 4.0 * np.finfo(Y.dtype).eps
    for _ in range(MAX_HALVINGS):
        tau = steepness[pending]
        ahead = Y[pending] - gradient[pending] / tau
        threshold = problem.noise_weight * release[pending, None] / tau
        E = penalty.prox(known_difference(X[pending], ahead), threshold)
        trial = np.where(missing[pending], ahead, X[pending] - E.astype(Y.dtype))
        # A step too far may overflow; it is then refused like any other that does not descend.
        with np.errstate(over="ignore", invalid="ignore"):
            after = row_objectives(problem, X[pending], trial, C[pending], D, release[pending])
        accepted = after <= before[pending] + slack * (1.0 + np.abs(before[pending]))
        result[pending[accepted]] = trial[accepted]
        pending = pending[~accepted]
        if len(pending) == 0:
            break
        steepness[pending] *= 2.0
    return result


def code_step(problem: Problem, C: Array, K: Array, K_D: Array) -> Array:
    """One proximal gradient step on the codes (Table 1), with tau_C just above ``|K_D|_2``."""
    tau = 1.01 * float(np.linalg.norm(K_D, 2)) or 1.0
    gradient = C @ K_D.astype(C.dtype) - K
    return problem.code_penalty.prox(C - gradient / C.dtype.type(tau), problem.code_weight / tau)


def code_value(problem: Problem, C: Array) -> float:
    """``lambda_C R(C)``."""
    return problem.code_weight * problem.code_penalty.value(C)
