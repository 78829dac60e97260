"""Sparse subspace representation: every sample as a combination of a few others."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from rnlmf.cluster.affinity import representation_graph
from rnlmf.cluster.labels import LABEL_CONSTRAINTS, SpectralClusters, check_n_clusters
from rnlmf.compared.active_set import largest_products, represent_sparsely
from rnlmf.compared.base import Denoiser, balanced, check_memory
from rnlmf.penalties import NOISE_PENALTIES, Penalty, soft_threshold
from rnlmf.typing import Array
from rnlmf.validation import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE, Interval, StrOptions

# First penalty parameter, and how much more the constraint on the residual counts than that on the
# coefficients, with data of unit mean squared singular value: fastest on small and middling problems.
FIRST_PENALTY = 10.0
STIFFNESS = 10.0
# Matrices of n x n that are in memory at the same time.
MATRICES = 8


class SparseSubspaceClustering(SpectralClusters, Denoiser):
    """Sparse representation of samples by each other, which denoises and clusters them.

    Finds a sparse matrix ``C`` with zero diagonal, one row per sample, and noise ``E`` by minimising

        |C|_1 + lambda_E R(E) + lambda_fit |X - C X - E|^2 / 2

    as in [1]_, by alternating directions. With the singular vectors of ``X`` at hand an iteration
    costs ``O(n^2 min(n, m))`` and there is no n x n inverse. Without noise and constraint the samples
    are independent of each other, and the problem is solved by active sets, which needs no n x n
    matrix. The largest coefficients of every sample, over the largest of all, are the affinities of a
    graph that spectral clustering cuts.

    Parameters
    ----------
    n_clusters : int or None
        None: denoise only.
    fit_weight : float
        ``lambda_fit`` over the weight below which ``C = 0`` for some sample, ``1 / min_i max_j
        |x_i . x_j|``. It must exceed 1 to be of use.
    noise_weight : float
        ``lambda_E`` over ``1 / min_i max_j |x_j|``, the maximum over ``j != i``, with the norm of
        `noise_penalty`. No effect without one.
    noise_penalty : {"l1", "l21"} or None
        ``R``: wrong entries, wrong samples, or no noise term.
    affine : bool
        Whether the rows of ``C`` must sum to one, for affine subspaces.
    max_iter : int
        Most iterations; of active sets, rounds of changes.
    tol : float
        Active sets are exact. Else the fit stops when the two copies of ``C`` differ, and an
        iteration changes ``C``, by less in every entry; the same for row sums, and for the noise in
        units of the largest entry of `X`.
    warm_start : bool
        Start from the last solution if the data have the same shape: faster along a path of weights.
        Active sets have no need of it.
    affinity_mass : float
        The share of a sample's coefficients, by absolute sum and largest first, that makes affinities.
        The authors of [1]_ take 1 for faces and 0.7 for motion.
    assign_labels : {"kmeans", "weighted", "cluster_qr"}
        How the spectral embedding is cut; see :class:`RNLMFClustering`.
    n_init : int
        Starts of k-means.
    random_state : int, RandomState or None
        For the spectral embedding and k-means.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Clusters from 0, the largest first; with `n_clusters` only.
    affinity_matrix_ : sparse array of shape (n_samples, n_samples)
        The graph; with `n_clusters` only.
    eigenvalues_ : array of shape (n_clusters,)
        Of the normalised graph; with `n_clusters` only.
    representation_ : sparse array of shape (n_samples, n_samples)
        ``C``.
    noise_ : array of shape (n_samples, n_features)
        ``E``; without a noise penalty the residual ``X - C X``.
    fit_weight_, noise_weight_ : float
        ``lambda_fit`` and ``lambda_E``.
    objective_ : array
        Objective at each iteration.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether it stopped before `max_iter`.

    References
    ----------
    .. [1] E. Elhamifar and R. Vidal, "Sparse subspace clustering: algorithm, theory, and
       applications", IEEE Transactions on Pattern Analysis and Machine Intelligence, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import SparseSubspaceClustering
    >>> rng = np.random.default_rng(0)
    >>> clean = rng.standard_normal((100, 3)) @ rng.standard_normal((3, 20))
    >>> noisy = np.where(rng.random(clean.shape) < 0.05, 10.0, clean)
    >>> denoised = SparseSubspaceClustering().fit_denoise(noisy)
    >>> bool(np.linalg.norm(denoised - clean) < 0.5 * np.linalg.norm(noisy - clean))
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "fit_weight": [POSITIVE],
        "noise_weight": [POSITIVE],
        "noise_penalty": [StrOptions({"l1", "l21"}), None],
        "affine": ["boolean"],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "warm_start": ["boolean"],
        "affinity_mass": [Interval(Real, 0, 1, closed="right")],
        **LABEL_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters=None,
        *,
        fit_weight=100.0,
        noise_weight=4.0,
        noise_penalty="l1",
        affine=False,
        max_iter=1000,
        tol=2e-4,
        warm_start=False,
        affinity_mass=0.7,
        assign_labels="kmeans",
        n_init=20,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.fit_weight = fit_weight
        self.noise_weight = noise_weight
        self.noise_penalty = noise_penalty
        self.affine = affine
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.affinity_mass = affinity_mass
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.random_state = random_state

    def _split(self, X: Array) -> tuple[list[float], bool]:
        check_n_clusters(self.n_clusters, len(X))
        data = X.astype(np.float64)
        # In units of the largest entry neither the steps nor rounding depend on the data's scale.
        scale = float(np.abs(data).max(initial=0.0)) or 1.0
        data /= scale
        penalty = None if self.noise_penalty is None else NOISE_PENALTIES[self.noise_penalty]()
        fit_weight, noise_weight = self._weights(data)
        self.fit_weight_, self.noise_weight_ = fit_weight / scale**2, noise_weight / scale
        E = np.zeros_like(data)
        if penalty is None and not self.affine:
            self.representation_, objective, converged = represent_sparsely(
                data, np.full(len(X), fit_weight), max_iter=self.max_iter
            )
        else:
            check_memory(len(X), MATRICES)
            C, E, objective, converged = self._alternate(data, penalty, fit_weight, noise_weight)
            self.representation_ = scipy.sparse.csr_array(C)
        noise = data - self.representation_ @ data if penalty is None else E
        self.noise_ = (noise * scale).astype(X.dtype)
        if self.n_clusters is not None:
            graph = representation_graph(self.representation_, mass=self.affinity_mass)
            self._set_labels(graph, X - self.noise_)
        return objective, converged

    def _weights(self, X: Array) -> tuple[float, float]:
        """The weights of the model, from those relative to the smallest of use."""
        fit_scale = float(largest_products(X).min()) or 1.0
        norms = np.abs(X).sum(axis=1) if self.noise_penalty == "l1" else np.linalg.norm(X, axis=1)
        # max over j != i is the largest norm, but for the largest itself the second: the minimum.
        noise_scale = float(np.sort(norms)[-2]) or 1.0
        return self.fit_weight / fit_scale, self.noise_weight / noise_scale

    def _alternate(
        self, X: Array, penalty: Penalty | None, fit_weight: float, noise_weight: float
    ) -> tuple[Array, Array, list[float], bool]:
        """Two-block alternating directions: the copy ``A`` of ``C``; then ``C``, ``E`` and ``F``.

        ``F = X - A X`` is split off as well, so that ``E`` is not held back by the last ``A``: taken in
        turns with a stiff fit they hardly move.
        """
        n = len(X)
        left, values, right = scipy.linalg.svd(X, full_matrices=False)
        stiffness = STIFFNESS * len(values) / max(float(np.sum(values**2)), np.finfo(float).tiny)
        curvature = stiffness * values**2
        scores = right.T * (stiffness * values)
        rho = FIRST_PENALTY

        start = self._start("_last", (n, n), X.shape, X.shape, (n, n), X.shape, (n, 1))
        if start is None:
            C, D, d = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, 1))
            E, F, G = np.zeros_like(X), np.zeros_like(X), np.zeros_like(X)
        else:
            C, E, F, D, G, d = start
            D, G, d = D / rho, G / rho, d / rho
        ones = np.ones((n, 1))
        # The term 1 1^T of an affine system, by the formula of Sherman and Morrison.
        h = ones - left @ ((curvature / (1.0 + curvature))[:, None] * (left.T @ ones))
        h /= 1.0 + float(h.sum())
        objective: list[float] = []
        converged = False
        for iteration in range(1, self.max_iter + 1):
            target = C - D
            if self.affine:
                target += 1.0 - d
            # (M + stiffness (X - F + G) X^T) (I + stiffness X X^T)^-1 in the singular vectors.
            factor = (X - F + G) @ scores - curvature * (target @ left)
            A = target + (factor / (1.0 + curvature)) @ left.T
            if self.affine:
                A -= A.sum(axis=1, keepdims=True) @ h.T
            C_before, F_before = C, F
            C = soft_threshold(A + D, 1.0 / rho)
            np.fill_diagonal(C, 0.0)
            residual = X - A @ X
            pull = rho * stiffness
            if penalty is not None:
                E = penalty.prox(residual + G, noise_weight * (1.0 / fit_weight + 1.0 / pull))
            F = (fit_weight * E + pull * (residual + G)) / (fit_weight + pull)
            split, miss = A - C, residual - F
            row_sums = A.sum(axis=1, keepdims=True) - 1.0 if self.affine else np.zeros((n, 1))
            D, G, d = D + split, G + miss, d + row_sums
            objective.append(self._value(X, C, E, penalty, fit_weight, noise_weight))

            dC, dF = C - C_before, F - F_before
            if max(np.abs(part).max() for part in (split, miss, row_sums, dC, dF)) <= self.tol:
                converged = True
                break
            primal = np.sum(split**2) + stiffness * np.sum(miss**2) + np.sum(row_sums**2)
            dual = np.sum(dC**2) + stiffness * np.sum(dF**2)
            change = balanced(iteration, float(primal) ** 0.5, float(dual) ** 0.5)
            rho *= change
            D, G, d = D / change, G / change, d / change
        # The scaled multipliers belong to this rho; the next fit begins at another.
        self._last = (C, E, F, D * rho, G * rho, d * rho) if self.warm_start else None
        return C, E, objective, converged

    @staticmethod
    def _value(
        X: Array, C: Array, E: Array, penalty: Penalty | None, fit_weight: float, noise_weight: float
    ) -> float:
        value = float(np.abs(C).sum()) + 0.5 * fit_weight * float(np.sum((X - C @ X - E) ** 2))
        return value if penalty is None else value + noise_weight * penalty.value(E)
