"""The losses of robust dictionary learning: how each updates codes and dictionary.

Rows are samples: ``X ~ C D`` with atoms, the rows of ``D``, in the unit ball. A loss has a
``sweep``, which never raises its objective, and an ``encode`` of samples with ``D`` fixed. Data come
in units of their spread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from rnlmf.compared.base import minimise_rows
from rnlmf.penalties import Penalty, row_norms, soft_threshold
from rnlmf.typing import Array

# Proximal gradient steps of the codes in a sweep; they share one Gram matrix.
CODE_STEPS = 10
# Over the largest curvature, for the proof of convergence.
STEP_MARGIN = 1.01
# Below this, in deviations of the data, an absolute value counts as squared.
SMOOTHING = 1e-3
# Samples whose systems of equations are in memory at the same time.
BLOCK = 64


def project(D: Array) -> Array:
    """Atoms outside of the unit ball on its surface."""
    projected: Array = D / np.maximum(row_norms(D), 1.0)
    return projected


def largest_eigenvalue(gram: Array) -> float:
    """Of a symmetric matrix."""
    last = len(gram) - 1
    return float(scipy.linalg.eigvalsh(gram, subset_by_index=[last, last])[0])


def lasso_values(gram: Array, product: Array, C: Array, threshold: Array | float) -> Array:
    """``|target - C D|^2 / 2 + threshold |C|_1`` of every row, but for a constant."""
    fit = np.einsum("ij,ij->i", C, 0.5 * (C @ gram) - product)
    values: Array = fit[:, None] + threshold * np.abs(C).sum(axis=1, keepdims=True)
    return values


def proximal_codes(target: Array, C: Array, D: Array, threshold: Array | float) -> Array:
    """Some accelerated proximal gradient steps of ``|target - C D|^2 / 2 + threshold |C|_1``.

    A row that momentum has carried uphill gets a plain step instead, so that none ever rises.
    """
    gram, product = D @ D.T, target @ D.T
    curvature = STEP_MARGIN * max(largest_eigenvalue(gram), np.finfo(float).tiny)

    def plain(rows: Array, C: Array) -> Array:
        limit = threshold[rows] if isinstance(threshold, np.ndarray) else threshold
        return soft_threshold(C - (C @ gram - product[rows]) / curvature, limit / curvature)

    new = minimise_rows(plain, C, 0.0, CODE_STEPS)
    before = lasso_values(gram, product, C, threshold)
    worse = np.flatnonzero(lasso_values(gram, product, new, threshold) > before)
    new[worse] = plain(worse, C[worse])
    return new


def best_atoms(target: Array, C: Array, D: Array, weights: Array | float = 1.0) -> Array:
    """Exact minimisation of ``sum_j weights_j |target_j - (C D)_j|^2`` over one atom after another."""
    weighted = weights * C
    gram, product = weighted.T @ C, weighted.T @ target
    D = D.copy()
    used = np.diag(gram) > np.finfo(float).eps * max(float(np.diag(gram).max()), np.finfo(float).tiny)
    for atom in np.flatnonzero(used):
        move = (product[atom] - gram[atom] @ D) / gram[atom, atom]
        D[atom] = project(D[atom : atom + 1] + move)[0]
    return D


@dataclass(frozen=True)
class SquaredLoss:
    """``|X - C D - E|^2 / 2 + code_weight |C|_1 + noise_weight R(E)``: alternating minimisation."""

    code_weight: float
    penalty: Penalty
    noise_weight: float

    def noise(self, X: Array, C: Array, D: Array) -> Array:
        return self.penalty.prox(X - C @ D, self.noise_weight)

    def value(self, X: Array, C: Array, D: Array) -> float:
        residual = X - C @ D
        E = self.penalty.prox(residual, self.noise_weight)
        noise = self.noise_weight * self.penalty.value(E)
        return (
            0.5 * float(np.sum((residual - E) ** 2)) + self.code_weight * float(np.abs(C).sum()) + noise
        )

    def sweep(self, X: Array, C: Array, D: Array) -> tuple[Array, Array]:
        target = X - self.noise(X, C, D)
        C = proximal_codes(target, C, D, self.code_weight)
        return C, best_atoms(target, C, D)

    def encode(self, X: Array, D: Array, tol: float, max_iter: int) -> Array:
        curvature = max(largest_eigenvalue(D @ D.T), np.finfo(float).tiny)

        def step(rows: Array, C: Array) -> Array:
            # The noise is eliminated: what is left is as smooth as the squares.
            residual = X[rows] - C @ D
            residual -= self.penalty.prox(residual, self.noise_weight)
            return soft_threshold(C + residual @ D.T / curvature, self.code_weight / curvature)

        return minimise_rows(step, np.zeros((len(X), len(D))), tol, max_iter)


@dataclass(frozen=True)
class CappedLoss:
    """``sum_j min(|x_j - c_j D|, cap) + code_weight |C|_1``: reweighted least squares.

    A sample beyond the cap has no weight and no codes.
    """

    code_weight: float
    cap: float

    def distance(self, X: Array, C: Array, D: Array) -> Array:
        distance: Array = np.hypot(row_norms(X - C @ D), SMOOTHING)
        return distance

    def value(self, X: Array, C: Array, D: Array) -> float:
        capped = np.minimum(self.distance(X, C, D), self.cap)
        return float(capped.sum()) + self.code_weight * float(np.abs(C).sum())

    def sweep(self, X: Array, C: Array, D: Array) -> tuple[Array, Array]:
        distance = self.distance(X, C, D)
        used = distance <= self.cap
        C = np.where(used, proximal_codes(X, C, D, self.code_weight * distance), 0.0)
        distance = self.distance(X, C, D)
        return C, best_atoms(X, C, D, np.where(distance <= self.cap, 1.0 / distance, 0.0))

    def encode(self, X: Array, D: Array, tol: float, max_iter: int) -> Array:
        """Codes of all samples as if there was no cap: it is there to protect the dictionary."""
        curvature = STEP_MARGIN * max(largest_eigenvalue(D @ D.T), np.finfo(float).tiny)

        def step(rows: Array, C: Array) -> Array:
            threshold = self.code_weight * self.distance(X[rows], C, D) / curvature
            return soft_threshold(C + (X[rows] - C @ D) @ D.T / curvature, threshold)

        start = np.zeros((len(X), len(D)))
        return minimise_rows(step, start, tol, max_iter, accelerated=False)


@dataclass(frozen=True)
class AbsoluteLoss:
    """``|X - C D|_1 + code_weight |C|_1``, smoothed at zero: reweighted least squares.

    The codes of a sample solve a system of their own; each atom is minimised over exactly.
    """

    code_weight: float

    def value(self, X: Array, C: Array, D: Array) -> float:
        codes = self.code_weight * float(np.hypot(C, SMOOTHING).sum())
        return float(np.hypot(X - C @ D, SMOOTHING).sum()) + codes

    def codes(self, X: Array, C: Array, D: Array) -> Array:
        new = np.empty_like(C)
        diagonal = np.arange(len(D))
        for start in range(0, len(X), BLOCK):
            block = slice(start, start + BLOCK)
            weighted = D / np.hypot(X[block] - C[block] @ D, SMOOTHING)[:, None, :]
            system = weighted @ D.T
            system[:, diagonal, diagonal] += self.code_weight / np.hypot(C[block], SMOOTHING)
            new[block] = np.linalg.solve(system, weighted @ X[block, :, None])[:, :, 0]
        return new

    def sweep(self, X: Array, C: Array, D: Array) -> tuple[Array, Array]:
        C = self.codes(X, C, D)
        D = D.copy()
        residual = X - C @ D
        weights = 1.0 / np.hypot(residual, SMOOTHING)
        for atom, codes in zip(D, C.T, strict=True):
            curvature = codes**2 @ weights
            if curvature.max() <= np.finfo(float).tiny:
                continue
            slope = codes @ (weights * residual)
            new = nearest_in_ball(curvature * atom + slope, curvature)
            residual -= np.outer(codes, new - atom)
            atom[:] = new
        return C, D

    def encode(self, X: Array, D: Array, tol: float, max_iter: int) -> Array:
        def step(rows: Array, C: Array) -> Array:
            return self.codes(X[rows], C, D)

        start = proximal_codes(X, np.zeros((len(X), len(D))), D, self.code_weight)
        return minimise_rows(step, start, tol, max_iter, accelerated=False)


def nearest_in_ball(pull: Array, curvature: Array) -> Array:
    """Minimiser of ``sum_i curvature_i d_i^2 / 2 - pull_i d_i`` over the unit ball.

    It is ``pull / (curvature + nu)``, with ``nu`` zero or such that the norm is one; ``1 / norm`` is
    concave and nearly linear in ``nu``, so that Newton's method on it converges from the left.
    """
    floor = np.finfo(float).eps * float(curvature.max())
    curvature = np.maximum(curvature, floor)
    nu = 0.0
    for _ in range(50):
        point = pull / (curvature + nu)
        norm = float(np.linalg.norm(point))
        if norm <= 1.0 + 1e-12:
            break
        slope = float(np.sum(point**2 / (curvature + nu))) / norm**3
        nu += (1.0 - 1.0 / norm) / slope
    nearest: Array = point / max(norm, 1.0)
    return nearest
