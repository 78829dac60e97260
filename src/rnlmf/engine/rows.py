"""The codes and the noise of single rows: the steps that every kernel and penalty has.

A sample's noise takes proximal gradient steps with a length of its own, so that its result never
depends on the other samples; the paper takes the largest curvature over all (Table 2 with xi = 1). With
the curvature ``w`` of a row and ``V = C * f'``, the step goes to

    y = x - prox_{lambda_E kappa / w}(x - P),     P = (V D) / w,

where ``P`` is the model's prediction. That is :func:`row_target`, for all ways of iterating.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rnlmf.engine.problem import Problem
from rnlmf.typing import Array

# A sample that the atoms hardly see has almost no curvature; its step is bounded by this.
LEAST_WEIGHT = 1e-2
# Half the step so often is no step.
MAX_HALVINGS = 30


class RowTarget(NamedTuple):
    """The prediction of every row, and above which size a residual to it is noise (a column)."""

    prediction: Array
    threshold: Array


def bounded_weight(weight: Array) -> Array:
    """``w`` as a column, at least `LEAST_WEIGHT`."""
    bounded: Array = np.maximum(weight, LEAST_WEIGHT)[:, None]
    return bounded


def row_target(
    weighted_atoms: Array, weight: Array, penalty_weight: Array, out: Array | None = None
) -> RowTarget:
    """``P = (V D) / w`` and ``lambda_E kappa / w``, from ``V D``, ``w`` and ``lambda_E kappa``."""
    bounded = bounded_weight(weight)
    prediction: Array = np.divide(weighted_atoms, bounded, out=out)
    return RowTarget(
        prediction, (penalty_weight[:, None] / bounded).astype(prediction.dtype, copy=False)
    )


def known_difference(X: Array, Y: Array) -> Array:
    """``X - Y``, zero where ``X`` has no value."""
    difference: Array = X - Y
    difference[np.isnan(difference)] = 0.0
    return difference


def row_objectives(
    problem: Problem, X: Array, Y: Array, C: Array, D: Array, threshold_scale: Array | float = 1.0
) -> Array:
    """The part of the objective that depends on ``y_i``, for every row."""
    kernel = problem.kernel
    own = kernel.f(kernel.self_argument(Y))
    fit = np.einsum("ij,ij->i", C, kernel(Y, D))
    noise = threshold_scale * problem.noise_penalty.row_values(known_difference(X, Y))
    objectives: Array = 0.5 * own - fit + problem.noise_weight * noise
    return objectives


def noise_gradient(problem: Problem, Y: Array, C: Array, D: Array) -> tuple[Array, Array]:
    """Gradient of the loss in ``Y``, minus Eq. (gradE), and the frozen curvature of every row."""
    kernel = problem.kernel
    V = C * kernel.slope(kernel.argument(Y, D))
    curvature = V.sum(axis=1) if kernel.stationary else kernel.slope(kernel.self_argument(Y))
    return curvature[:, None] * Y - V @ D, curvature


def noise_target(
    problem: Problem, Y: Array, gradient: Array, steepness: Array, threshold_scale: Array
) -> RowTarget:
    """:func:`row_target` under any kernel, with the steepness (a column) in place of the curvature."""
    penalty_weight = problem.noise_weight * threshold_scale
    return row_target(steepness * Y - gradient, steepness[:, 0], penalty_weight)


def noise_step(
    problem: Problem, X: Array, Y: Array, C: Array, D: Array, threshold_scale: Array | None = None
) -> Array:
    """One proximal gradient step of every row that does not raise its objective.

    The steepness is found by backtracking, because the curvature with frozen weights is a bound only
    where no code is negative (RBF), and not at all for the polynomial kernel. Where ``X`` has no value,
    nothing is penalised and the step is the gradient's.
    """
    penalty = problem.noise_penalty
    scale = np.ones(len(X)) if threshold_scale is None else threshold_scale
    missing = np.isnan(X)
    gradient, curvature = noise_gradient(problem, Y, C, D)
    steepness = bounded_weight(curvature)
    before = row_objectives(problem, X, Y, C, D, scale)
    result = Y.copy()
    pending = np.arange(len(Y))
    slack = 4.0 * np.finfo(Y.dtype).eps
    for _ in range(MAX_HALVINGS):
        some = pending
        ahead, threshold = noise_target(problem, Y[some], gradient[some], steepness[some], scale[some])
        E = penalty.prox(known_difference(X[some], ahead), threshold)
        trial = np.where(missing[some], ahead, X[some] - E.astype(Y.dtype))
        # A step too far may overflow; it is then refused like any other that does not descend.
        with np.errstate(over="ignore", invalid="ignore"):
            after = row_objectives(problem, X[some], trial, C[some], D, scale[some])
        accepted = after <= before[some] + slack * (1.0 + np.abs(before[some]))
        result[some[accepted]] = trial[accepted]
        pending = some[~accepted]
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
