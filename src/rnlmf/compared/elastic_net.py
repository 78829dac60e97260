"""Elastic-net subspace clustering by an active set, for many samples."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path

from rnlmf.cluster.affinity import (
    block_rows,
    largest_of_rows,
    representation_graph,
    row_chunks,
    unit_rows,
)
from rnlmf.cluster.labels import LABEL_CONSTRAINTS
from rnlmf.compared.base import SubspaceClusterer
from rnlmf.engine.samples import default_threads, threads
from rnlmf.typing import Array
from rnlmf.validation import (
    AT_LEAST_ONE,
    N_JOBS,
    POSITIVE,
    Interval,
    StrOptions,
    thread_count,
)

# The first active set: the samples with the largest products.
FIRST_ACTIVE = 100
# The active set is larger than the number of nonzeros by this factor.
ROOM = 1.25
# How far a condition of optimality may be violated, and the accuracy of the inner solver.
SLACK = 1e-6
INNER_TOLERANCE = 1e-8
INNER_ITERATIONS = 10_000
# Samples whose active sets are checked together.
MOST_ROWS = 256


class ElasticNetSubspaceClustering(SubspaceClusterer):
    """Representation of samples by each other with an elastic net, which clusters them.

    With samples of length one, every one is represented by the others through

        min_c  t |c|_1 + (1 - t) |c|^2 / 2 + g |x - c X|^2 / 2,   c_i = 0,

    where ``t`` is `l1_ratio` and ``g`` is `fit_weight` over the weight below which ``c = 0``,
    ``t / max_j |x_i . x_j|`` [1]_. The problem is solved on an active set of samples, beginning with
    those of the largest products; samples outside that violate the conditions of optimality,
    ``|g (x - c X) . x_j| <= t``, come in until there are none. Memory is ``O(n (m + max_nonzero))``:
    there is no n x n matrix. ``l1_ratio=1`` is sparse subspace clustering without noise.

    Parameters
    ----------
    n_clusters : int or None
        None: representation only.
    fit_weight : float
        ``g`` over the smallest of use; above 1.
    l1_ratio : float
        In (0, 1]: 1 is sparse; less connects more samples of the same subspace.
    max_nonzero : int
        Of a sample's coefficients the largest that are kept.
    max_iter : int
        Most rounds of changes of the active set.
    affinity_mass : float
        The share of a sample's coefficients, by absolute sum and largest first, that makes affinities.
    affinity_scaling : {"l2", "max", "sum"} or None
        What the coefficients of a sample are divided by: length, largest, sum of the absolute ones.
    assign_labels : {"kmeans", "weighted", "cluster_qr"}
        How the spectral embedding is cut; see :class:`RNLMFClustering`.
    n_init : int
        Starts of k-means.
    n_jobs : int or None
        Threads; -1 is all cores. None: as many as BLAS would use. Results do not depend on it.
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
        The coefficients, one row per sample, of samples of length one.
    objective_ : array
        Sum of the objectives of all samples after every round; it never rises.
    n_iter_ : int
        Rounds.
    converged_ : bool
        Whether the last round left no condition violated.

    References
    ----------
    .. [1] C. You, C.-G. Li, D. Robinson and R. Vidal, "Oracle based active set algorithm for scalable
       elastic net subspace clustering", CVPR, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import ElasticNetSubspaceClustering
    >>> from rnlmf.metrics import clustering_error
    >>> rng = np.random.default_rng(0)
    >>> planes = [rng.standard_normal((50, 2)) @ rng.standard_normal((2, 20)) for _ in range(3)]
    >>> labels = ElasticNetSubspaceClustering(3, random_state=0).fit_predict(np.vstack(planes))
    >>> clustering_error(np.repeat(range(3), 50), labels)
    0.0
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "fit_weight": [POSITIVE],
        "l1_ratio": [Interval(Real, 0, 1, closed="right")],
        "max_nonzero": [AT_LEAST_ONE],
        "max_iter": [AT_LEAST_ONE],
        "affinity_mass": [Interval(Real, 0, 1, closed="right")],
        "affinity_scaling": [StrOptions({"l2", "max", "sum"}), None],
        "n_jobs": N_JOBS,
        **LABEL_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters=None,
        *,
        fit_weight=50.0,
        l1_ratio=0.9,
        max_nonzero=50,
        max_iter=40,
        affinity_mass=1.0,
        affinity_scaling="l2",
        assign_labels="kmeans",
        n_init=20,
        n_jobs=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.fit_weight = fit_weight
        self.l1_ratio = l1_ratio
        self.max_nonzero = max_nonzero
        self.max_iter = max_iter
        self.affinity_mass = affinity_mass
        self.affinity_scaling = affinity_scaling
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _represent(self, X: Array) -> tuple[list[float], bool]:
        unit = unit_rows(X)
        n = len(unit)
        count = min(self.max_nonzero, n - 1)
        columns = np.zeros((n, count), dtype=np.int32)
        values = np.zeros((n, count))

        def work(rows: slice) -> tuple[list[float], bool]:
            found, objective, converged = self._block(unit, np.arange(rows.start, rows.stop))
            for i, (support, c) in zip(range(rows.start, rows.stop), found, strict=True):
                largest = np.argsort(-np.abs(c), kind="stable")[:count]
                columns[i, : len(largest)] = support[largest]
                values[i, : len(largest)] = c[largest]
            return objective, converged

        rounds: list[list[float]] = []
        converged = True
        with threads(thread_count(self.n_jobs) or default_threads(), n) as run_map:
            for objective, good in run_map(work, row_chunks(n, min(block_rows(8 * n), MOST_ROWS))):
                rounds.append(objective)
                converged &= good
        row, place = np.nonzero(values)
        self.representation_ = scipy.sparse.csr_array(
            (values[row, place], (row, columns[row, place])), shape=(n, n)
        )
        # Blocks that are done stay as they are.
        longest = max(len(objective) for objective in rounds)
        padded = [objective + objective[-1:] * (longest - len(objective)) for objective in rounds]
        return [float(total) for total in np.sum(padded, axis=0)], converged

    def _graph(self) -> scipy.sparse.csr_array:
        return representation_graph(
            self.representation_, mass=self.affinity_mass, scaling=self.affinity_scaling
        )

    def _block(
        self, unit: Array, rows: Array
    ) -> tuple[list[tuple[Array, Array]], list[float], bool]:
        """Supports and coefficients of some samples; objective of every round; whether optimal."""
        b, n = len(rows), len(unit)
        t = float(self.l1_ratio)
        place = np.arange(b)
        products = np.abs(unit[rows] @ unit.T)
        products[place, rows] = -1.0
        largest, _ = largest_of_rows(products, min(FIRST_ACTIVE, n - 1))
        peak = products.max(axis=1)
        # A sample without any product has no coefficients, whatever the weight.
        weight = self.fit_weight * t / np.where(peak > 0.0, peak, 1.0)
        found = [(support, np.zeros(len(support))) for support in largest]
        values = np.zeros(b)
        active = place[peak > 0.0]
        objective: list[float] = []
        for _ in range(self.max_iter):
            residuals = np.empty((len(active), unit.shape[1]))
            for k, i in enumerate(active):
                support = found[i][0]
                c = self._solve(unit[support], unit[rows[i]], weight[i])
                residuals[k] = unit[rows[i]] - c @ unit[support]
                values[i] = (
                    t * np.abs(c).sum()
                    + 0.5 * (1.0 - t) * c @ c
                    + 0.5 * weight[i] * residuals[k] @ residuals[k]
                )
                found[i] = (support, c)
            objective.append(float(values.sum()))
            slopes = np.abs(residuals @ unit.T) * weight[active, None]
            slopes[np.arange(len(active)), rows[active]] = 0.0
            still = []
            for k, i in enumerate(active):
                support, c = found[i]
                slopes[k, support] = 0.0
                wrong = np.flatnonzero(slopes[k] > t * (1.0 + SLACK))
                if not len(wrong):
                    continue
                kept = support[c != 0.0]
                room = max(FIRST_ACTIVE, int(ROOM * len(kept)) + 1) - len(kept)
                wrong = wrong[np.argsort(-slopes[k, wrong], kind="stable")[:room]]
                found[i] = (np.concatenate([kept, wrong]), np.concatenate([c[c != 0.0], 0.0 * wrong]))
                still.append(i)
            active = np.array(still, dtype=int)
            if not len(active):
                return found, objective, True
        return found, objective, False

    def _solve(self, others: Array, x: Array, weight: float) -> Array:
        """The elastic net on an active set, by coordinate descent."""
        gram = others @ others.T
        with warnings.catch_warnings():
            # Equal samples make it slow; the conditions of optimality are checked by the caller.
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, coefficients, *_ = enet_path(
                np.asfortranarray(others.T),
                x,
                l1_ratio=self.l1_ratio,
                alphas=[1.0 / (weight * len(x))],
                precompute=gram,
                Xy=others @ x,
                tol=INNER_TOLERANCE,
                max_iter=INNER_ITERATIONS,
                check_input=False,
            )
        solution: Array = coefficients[:, 0]
        return solution
