"""Low-rank representation: every sample as a combination of all, with coefficients of low rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from rnlmf.cluster.affinity import neighbour_graph, unit_rows
from rnlmf.cluster.labels import LABEL_CONSTRAINTS, SpectralClusters, check_n_clusters
from rnlmf.compared.base import (
    Denoiser,
    balanced,
    check_memory,
    in_mean_singular_values,
    neighbours_kept,
)
from rnlmf.penalties import NOISE_PENALTIES, Penalty, shrink_singular_values
from rnlmf.typing import Array
from rnlmf.validation import AT_LEAST_ONE, AUTO, NOT_NEGATIVE, POSITIVE, StrOptions

# noise_weight="auto" of solver="factored": threshold of the noise, in deviations of the data.
RELATIVE_THRESHOLD = 0.05
# code_weight="auto", over the mean squared singular value of the data.
RELATIVE_CODE_WEIGHT = 0.05
# First penalty parameter, from which it is balanced.
FIRST_PENALTY = 4.0
# Matrices of n x n that are in memory at the same time in "admm".
MATRICES = 2
# Singular values of the representation, over the largest, that take part in affinities.
LEAST_SINGULAR_VALUE = 1e-4
# Alternations between the two factors of a component before the next one.
INNER_PASSES = 3


class LowRankSubspaceClustering(SpectralClusters, Denoiser):
    """Low-rank representation of samples by each other, which denoises and clusters them.

    With ``solver="admm"`` the low-rank representation of [1]_,

        min |Z|_* + noise_weight R(E)   subject to   X = Z X + E,

    whose coefficients ``Z`` (n_samples x n_samples, one row per sample) are found among the
    combinations of the left singular vectors of ``X``, where the minimum lies: an iteration costs
    ``O(n m^2)``. With ``solver="factored"`` its factored form [2]_, ``Z = V U^T`` with
    `n_components` columns each,

        min |X - V U^T X - E|^2 / 2 + code_weight (|U|^2 + |V|^2) / 2 + noise_weight R(E),

    by exact minimisation over one column at a time, ``O(n m)`` each, so that the objective never
    rises and no n x n matrix is needed.

    Spectral clustering cuts the graph of [1]_: with the singular values and vectors ``Z = L S R^T``,
    the affinity of two samples is a power of the cosine between their rows of ``L S^1/2``.

    Parameters
    ----------
    n_clusters : int or None
        None: denoise only.
    noise_weight : float or "auto"
        In "admm" in the inverse of the data's unit; "auto" is ``min(n, m) / R(X)``, at which no
        noise and nothing but noise cost the same. In "factored" in the data's unit, the threshold
        above which a residual is noise; "auto" is 5% of the data's standard deviation, for "l21"
        times ``sqrt(m)``.
    noise_penalty : {"l1", "l21"}
        ``R``: wrong entries or wrong samples.
    solver : {"admm", "factored"}
        See above.
    n_components : int or None
        Columns of the factors in "factored". None: all, ``min(n_samples, n_features)``.
    code_weight : float or "auto"
        Weight of the factors in "factored", in the squared unit of the data. "auto" is 5% of
        the mean squared singular value of the data.
    max_iter : int
        Most iterations; of "factored", sweeps over the columns.
    tol : float
        "admm" stops when both residuals, relative to the data, are smaller; "factored" when a sweep
        lowers the objective by less, relatively.
    warm_start : bool
        Start from the last solution if the data have the same shape: faster along a path of weights.
    affinity_power : float
        Exponent of the cosines: 4 in the program of the authors of [1]_.
    n_neighbors : int or None
        The largest affinities of a sample that are kept. None: all, n x n of them.
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
    representation_ : array of shape (n_samples, n_samples), or pair of arrays
        ``Z``; of "factored" its factors ``V`` and ``U``, of shape (n_samples, n_components) each.
    noise_ : array of shape (n_samples, n_features)
        ``E``; exactly zero where no noise was found.
    noise_weight_ : float
        The weight in use.
    objective_ : array
        Objective at each iteration. In "admm" it need not fall, as the constraint holds only in the
        end.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether it stopped before `max_iter`.

    References
    ----------
    .. [1] G. Liu, Z. Lin, S. Yan, J. Sun, Y. Yu and Y. Ma, "Robust recovery of subspace structures by
       low-rank representation", IEEE Transactions on Pattern Analysis and Machine Intelligence, 2013.
    .. [2] J. Shen and P. Li, "Learning structured low-rank representation via matrix factorization",
       AISTATS, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import LowRankSubspaceClustering
    >>> rng = np.random.default_rng(0)
    >>> clean = rng.standard_normal((100, 3)) @ rng.standard_normal((3, 20))
    >>> noisy = np.where(rng.random(clean.shape) < 0.05, 10.0, clean)
    >>> denoised = LowRankSubspaceClustering().fit_denoise(noisy)
    >>> bool(np.linalg.norm(denoised - clean) < 0.3 * np.linalg.norm(noisy - clean))
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "noise_weight": [POSITIVE, AUTO],
        "noise_penalty": [StrOptions({"l1", "l21"})],
        "solver": [StrOptions({"admm", "factored"})],
        "n_components": [AT_LEAST_ONE, None],
        "code_weight": [POSITIVE, AUTO],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "warm_start": ["boolean"],
        "affinity_power": [POSITIVE],
        "n_neighbors": [AT_LEAST_ONE, None],
        **LABEL_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters=None,
        *,
        noise_weight="auto",
        noise_penalty="l1",
        solver="admm",
        n_components=None,
        code_weight="auto",
        max_iter=1000,
        tol=1e-6,
        warm_start=False,
        affinity_power=4.0,
        n_neighbors=None,
        assign_labels="kmeans",
        n_init=20,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.noise_weight = noise_weight
        self.noise_penalty = noise_penalty
        self.solver = solver
        self.n_components = n_components
        self.code_weight = code_weight
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.affinity_power = affinity_power
        self.n_neighbors = n_neighbors
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.random_state = random_state

    def _split(self, X: Array) -> tuple[list[float], bool]:
        check_n_clusters(self.n_clusters, len(X))
        # In these units the residual X - Z X is of the size of Z.
        data, scale = in_mean_singular_values(X)
        fit = self._alternate if self.solver == "admm" else self._factorize
        E, objective, converged = fit(data, scale, NOISE_PENALTIES[self.noise_penalty]())
        self.noise_ = (E * scale).astype(X.dtype)
        if self.n_clusters is not None:
            graph = neighbour_graph(
                self._subspace_rows(),
                neighbours_kept(self.n_neighbors, len(X)),
                scaling=None,
                power=self.affinity_power,
            )
            self._set_labels(graph, X - self.noise_)
        return objective, converged

    def _subspace_rows(self) -> Array:
        """Unit rows of ``L S^1/2`` of the representation, without singular values that are noise."""
        if self.solver == "admm":
            left, values, _ = scipy.linalg.svd(self.representation_, full_matrices=False)
        else:
            V, U = self.representation_
            basis, triangle = scipy.linalg.qr(V, mode="economic")
            _, other = scipy.linalg.qr(U, mode="economic")
            rotation, values, _ = scipy.linalg.svd(triangle @ other.T)
            left = basis @ rotation
        kept = values > LEAST_SINGULAR_VALUE * values[0]
        return unit_rows(left[:, kept] * np.sqrt(values[kept]))

    def _alternate(self, X: Array, scale: float, penalty: Penalty) -> tuple[Array, list[float], bool]:
        """Two-block alternating directions: ``J`` and ``E``, then ``W``, with ``Z = W left^T``."""
        check_memory(len(X), MATRICES)
        left, values, right = scipy.linalg.svd(X, full_matrices=False)
        kept = values > max(X.shape) * np.finfo(float).eps * values[0]
        left, values, right = left[:, kept], values[kept], right[kept]
        B = values[:, None] * right
        if self.noise_weight == "auto":
            weight = min(X.shape) / (penalty.value(X) or 1.0)
        else:
            weight = float(self.noise_weight) * scale
        self.noise_weight_ = weight / scale

        n, r = left.shape
        mu = FIRST_PENALTY
        size = float(np.linalg.norm(X)) or 1.0
        start = self._start("_last", (n, r), X.shape, X.shape, (n, r))
        W, E, Y1, Y2 = start or (np.zeros((n, r)), np.zeros_like(X), np.zeros_like(X), np.zeros((n, r)))
        U1, U2 = Y1 / mu, Y2 / mu
        WB = W @ B
        objective: list[float] = []
        converged = False
        for iteration in range(1, self.max_iter + 1):
            J, singular_values = shrink_singular_values(W + U2, 1.0 / mu)
            E = penalty.prox(X - WB + U1, weight / mu)
            before, WB_before = W, WB
            # B B^T is diagonal, as B is the data in their own singular vectors.
            W = ((X - E + U1) @ B.T + J - U2) / (values**2 + 1.0)
            WB = W @ B
            fit, split = X - WB - E, W - J
            U1, U2 = U1 + fit, U2 + split
            objective.append(float(singular_values.sum()) + weight * penalty.value(E))
            primal = max(np.linalg.norm(fit) / size, np.linalg.norm(split) / r**0.5)
            dual = max(np.linalg.norm(WB - WB_before) / size, np.linalg.norm(W - before) / r**0.5)
            converged = bool(max(primal, dual) <= self.tol)
            if converged:
                break
            factor = balanced(iteration, primal, dual)
            mu *= factor
            U1, U2 = U1 / factor, U2 / factor
        self._last: Any = (W, E, U1 * mu, U2 * mu) if self.warm_start else None
        self.representation_ = J @ left.T
        return E, objective, converged

    def _factorize(self, X: Array, scale: float, penalty: Penalty) -> tuple[Array, list[float], bool]:
        """Exact minimisation over one column of ``V`` or ``U = X G`` at a time."""
        n, m = X.shape
        threshold, beta = self.noise_weight, self.code_weight
        if threshold == "auto":
            threshold = RELATIVE_THRESHOLD * float(X.std())
            threshold *= m**0.5 if self.noise_penalty == "l21" else 1.0
        else:
            threshold = float(threshold) / scale
        if beta == "auto":
            beta = RELATIVE_CODE_WEIGHT * float(np.sum(X**2)) / min(n, m) or 1.0
        else:
            beta = float(beta) / scale**2
        self.noise_weight_, self.code_weight_ = threshold * scale, beta * scale**2

        left, values, right = scipy.linalg.svd(X, full_matrices=False)
        k = min(n, m) if self.n_components is None else min(int(self.n_components), min(n, m))
        squares = values**2
        start = self._start("_last", (n, k), (k, len(values)), X.shape)
        if start is None:
            # The minimum without noise; components that it drops get a chance to return.
            strength = np.sqrt(np.maximum(1.0 - beta / np.maximum(squares, 1e-300), 0.1))[:k]
            strength = np.where(values[:k] > 0.0, strength, 0.0)
            V = left[:, :k] * strength
            G = np.diag(strength / np.where(values[:k] > 0.0, values[:k], 1.0))
            G = np.hstack([G, np.zeros((k, len(values) - k))])
            E = np.zeros_like(X)
        else:
            V, G, E = (array.copy() for array in start)

        # Columns of U are X right^T g: all of U's norms and products follow from g, of length m.
        atoms = (G * squares) @ right
        residual = X - E - V @ atoms
        objective: list[float] = []
        converged = False
        for _ in range(self.max_iter):
            for t in range(k):
                residual += np.outer(V[:, t], atoms[t])
                v, g, atom = V[:, t], G[t], atoms[t]
                for _ in range(INNER_PASSES):
                    norm = float(v @ v)
                    g = right @ (v @ residual) / (norm * squares + beta)
                    atom = (g * squares) @ right
                    v = residual @ atom / (float(atom @ atom) + beta)
                V[:, t], G[t], atoms[t] = v, g, atom
                residual -= np.outer(v, atom)
            residual += E
            E = penalty.prox(residual, threshold)
            residual -= E
            value = 0.5 * float(np.sum(residual**2)) + threshold * penalty.value(E)
            value += 0.5 * beta * float(np.sum(V**2) + np.sum(G**2 * squares))
            objective.append(value * scale**2)
            converged = len(objective) > 1 and objective[-2] - objective[-1] <= self.tol * objective[-1]
            if converged:
                break
        self._last = (V, G, E) if self.warm_start else None
        self.representation_ = (V, left @ (G * values).T)
        return E, objective, converged
