"""Low-rank and sparse subspace clustering with penalties that are not convex."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from rnlmf.cluster.affinity import representation_graph, unit_rows
from rnlmf.cluster.labels import LABEL_CONSTRAINTS
from rnlmf.compared.base import SubspaceClusterer, check_memory
from rnlmf.penalties import MinimaxConcave, change_singular_values
from rnlmf.typing import Array
from rnlmf.validation import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE, Interval, StrOptions

# The schedule of the authors' program: first penalty parameter of the low rank, growth, and its end.
FIRST_PENALTY = 0.1
GROWTH = 3.0
LARGEST_PENALTY = 1e6
# Matrices of n x n that are in memory at the same time.
MATRICES = 10


class LowRankSparseSubspaceClustering(SubspaceClusterer):
    """Representation of samples by each other that is both of low rank and sparse.

    With samples of length one, looks for ``C``, one row per sample, with small

        |X - C X|^2 / 2 + lambda f(singular values of C) + tau f(entries of C),   diag(C) = 0,

    by alternating directions [1]_. With ``penalty="gmc"`` ``f`` is a minimax concave function, whose
    proximal operator is firm thresholding; with "s0l0" it counts what is not zero, and the two proximal
    operators are averaged.

    This is the authors' schedule: the penalty parameters triple in every iteration, so that the
    thresholds vanish, and rows are brought to length one as it goes. It stops early rather than at a
    minimum, and its result depends on the schedule. A singular value decomposition of an n x n matrix
    in every iteration takes time ``O(n^3)`` and memory ``O(n^2)``.

    Parameters
    ----------
    n_clusters : int or None
        None: representation only.
    penalty : {"gmc", "s0l0"}
        See above.
    sparsity : float
        "gmc": ``tau / lambda``, the `alpha` of [1]_. "s0l0": ``tau`` between 0 and 1, with
        ``lambda = 1 - tau``.
    strength : float
        First penalty parameter, of "gmc" for the sparse part; "gmc" has ``lambda + tau = strength``.
    concavity : float
        Of "gmc", in (0, 1]: 1 is hard thresholding.
    max_iter : int
        Most iterations.
    tol : float
        The fit stops when the copies of ``C`` differ, and an iteration changes them, by less in every
        entry.
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
    representation_ : array of shape (n_samples, n_samples)
        ``C``, with rows of length one.
    objective_ : array
        ``|X - C X|^2 / 2`` at each iteration; it need not fall.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether it stopped before `max_iter`.

    References
    ----------
    .. [1] M. Brbic and I. Kopriva, "l0-motivated low-rank sparse subspace clustering", IEEE
       Transactions on Cybernetics, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import LowRankSparseSubspaceClustering
    >>> from rnlmf.metrics import clustering_error
    >>> rng = np.random.default_rng(0)
    >>> planes = [rng.standard_normal((50, 2)) @ rng.standard_normal((2, 20)) for _ in range(3)]
    >>> labels = LowRankSparseSubspaceClustering(3, random_state=0).fit_predict(np.vstack(planes))
    >>> clustering_error(np.repeat(range(3), 50), labels)
    0.0
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "penalty": [StrOptions({"gmc", "s0l0"})],
        "sparsity": [POSITIVE],
        "strength": [POSITIVE],
        "concavity": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        **LABEL_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters=None,
        *,
        penalty="s0l0",
        sparsity=0.5,
        strength=1.0,
        concavity=1.0,
        max_iter=100,
        tol=1e-4,
        assign_labels="kmeans",
        n_init=20,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.penalty = penalty
        self.sparsity = sparsity
        self.strength = strength
        self.concavity = concavity
        self.max_iter = max_iter
        self.tol = tol
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.random_state = random_state

    def _represent(self, X: Array) -> tuple[list[float], bool]:
        check_memory(len(X), MATRICES)
        if self.penalty == "s0l0" and self.sparsity >= 1.0:
            raise ValueError(f"sparsity={self.sparsity} must be below 1 for penalty='s0l0'.")
        unit = unit_rows(X)
        solve = self._minimax_concave if self.penalty == "gmc" else self._counting
        C, objective, converged = solve(unit)
        self.representation_ = unit_rows(C)
        return objective, converged

    def _graph(self) -> scipy.sparse.csr_array:
        return representation_graph(self.representation_, scaling=None)

    def _minimax_concave(self, X: Array) -> tuple[Array, list[float], bool]:
        step = RidgeStep(X)
        mu1, mu2 = FIRST_PENALTY, float(self.strength)
        low_rank_weight = mu2 / (1.0 + self.sparsity)
        sparse_weight = self.sparsity * low_rank_weight
        C1, C2, L1, L2 = (np.zeros((len(X), len(X))) for _ in range(4))
        J = step(C1, mu1 + mu2)
        objective: list[float] = []
        for _ in range(self.max_iter):
            before, J = J, step(mu1 * C1 + mu2 * C2 - L1 - L2, mu1 + mu2)
            objective.append(step.misfit(J))
            C1 = firm_singular_values(J + L1 / mu1, low_rank_weight / mu1, self.concavity)
            C2 = firm_threshold(J + L2 / mu2, sparse_weight / mu2, self.concavity)
            np.fill_diagonal(C2, 0.0)
            L1 += mu1 * (J - C1)
            L2 += mu2 * (J - C2)
            mu1, mu2 = min(GROWTH * mu1, LARGEST_PENALTY), min(GROWTH * mu2, LARGEST_PENALTY)
            if max(np.abs(J - other).max() for other in (C1, C2, before)) < self.tol:
                return C1, objective, True
        return C1, objective, False

    def _counting(self, X: Array) -> tuple[Array, list[float], bool]:
        step = RidgeStep(X)
        mu, tau = float(self.strength), float(self.sparsity)
        C, L, J = (np.zeros((len(X), len(X))) for _ in range(3))
        objective: list[float] = []
        for _ in range(self.max_iter):
            before, J = J, step(mu * C - L, mu)
            objective.append(step.misfit(J))
            B = J + L / mu
            C1 = firm_singular_values(B, (2.0 * (1.0 - tau) / mu) ** 0.5)
            C2 = firm_threshold(B, (2.0 * tau / mu) ** 0.5)
            np.fill_diagonal(C2, 0.0)
            C = (1.0 - tau) * C1 + tau * C2
            L += mu * (J - C)
            mu = min(GROWTH * mu, LARGEST_PENALTY)
            if max(np.abs(J - C).max(), np.abs(J - before).max()) < self.tol:
                return C, objective, True
        return C, objective, False


class RidgeStep:
    """``(G + M) (G + mu I)^-1`` with ``G = X X^T``, its rows brought to length one.

    In the singular vectors of ``X`` the inverse is a diagonal: ``M / mu`` but for as many directions as
    there are features.
    """

    def __init__(self, X: Array):
        self.X = X
        left, values, _ = scipy.linalg.svd(X, full_matrices=False)
        self.left, self.squares = left, values**2

    def __call__(self, M: Array, mu: float) -> Array:
        # (G + M) u = squares u + M u, divided by (squares + mu) on u and by mu elsewhere.
        inside = M @ self.left
        shift = (self.squares * self.left + inside) / (self.squares + mu) - inside / mu
        return unit_rows(M / mu + shift @ self.left.T)

    def misfit(self, J: Array) -> float:
        return 0.5 * float(np.sum((self.X - J @ self.X) ** 2))


def firm_threshold(M: Array, t: float, concavity: float = 1.0) -> Array:
    """Zero up to ``t``, the identity from ``t / concavity``, linear between; 1 is hard thresholding."""
    return MinimaxConcave(t / concavity).prox(M, t)


def firm_singular_values(M: Array, t: float, concavity: float = 1.0) -> Array:
    """:func:`firm_threshold` of the singular values."""
    return change_singular_values(M, lambda values: firm_threshold(values, t, concavity))[0]
