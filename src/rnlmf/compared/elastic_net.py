"""Elastic-net subspace clustering by an active set, for many samples."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse

from rnlmf.cluster.affinity import representation_graph, unit_rows
from rnlmf.cluster.labels import LABEL_CONSTRAINTS
from rnlmf.compared.active_set import largest_products, represent_sparsely
from rnlmf.compared.base import SubspaceClusterer
from rnlmf.typing import Array
from rnlmf.validation import (
    AT_LEAST_ONE,
    N_JOBS,
    POSITIVE,
    Interval,
    StrOptions,
    thread_count,
)


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
        n_threads = thread_count(self.n_jobs)
        peaks = largest_products(unit, n_threads=n_threads)
        # A sample without any product has no coefficients, whatever the weight.
        weights = self.fit_weight * self.l1_ratio / np.where(peaks > 0.0, peaks, 1.0)
        self.representation_, objective, converged = represent_sparsely(
            unit,
            weights,
            l1_ratio=self.l1_ratio,
            max_nonzero=self.max_nonzero,
            max_iter=self.max_iter,
            n_threads=n_threads,
        )
        return objective, converged

    def _graph(self) -> scipy.sparse.csr_array:
        return representation_graph(
            self.representation_, mass=self.affinity_mass, scaling=self.affinity_scaling
        )
