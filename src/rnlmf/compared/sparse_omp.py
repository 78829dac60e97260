"""Sparse subspace clustering by orthogonal matching pursuit, for many samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from rnlmf.cluster.affinity import representation_graph, unit_rows
from rnlmf.cluster.labels import LABEL_CONSTRAINTS
from rnlmf.compared.base import SubspaceClusterer
from rnlmf.compared.pursuit import matching_pursuit
from rnlmf.typing import Array
from rnlmf.validation import AT_LEAST_ONE, N_JOBS, NOT_NEGATIVE, StrOptions, thread_count


class SparseSubspaceClusteringOMP(SubspaceClusterer):
    """Sparse representation of samples by each other, found greedily, which clusters them.

    Samples are divided by their length, and every one is represented by at most `n_nonzero` others,
    chosen one after the other by orthogonal matching pursuit [1]_. Time is ``O(n^2 m n_nonzero)`` and
    memory ``O(n (m + n_nonzero))``: there is no n x n matrix.

    Parameters
    ----------
    n_clusters : int or None
        None: representation only.
    n_nonzero : int
        Most samples that represent another: about the dimension of the subspaces.
    tol : float
        A sample is represented well enough when the rest, relative to it, is not longer.
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
        ``C``, one row per sample, of samples of length one.
    objective_ : array of shape (1,)
        ``|X - C X|^2`` of samples of length one.
    n_iter_ : int
        1.
    converged_ : bool
        True.

    References
    ----------
    .. [1] C. You, D. Robinson and R. Vidal, "Scalable sparse subspace clustering by orthogonal matching
       pursuit", CVPR, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import SparseSubspaceClusteringOMP
    >>> from rnlmf.metrics import clustering_error
    >>> rng = np.random.default_rng(0)
    >>> parts = [rng.standard_normal((30, 3)) @ rng.standard_normal((3, 30)) for _ in range(4)]
    >>> labels = SparseSubspaceClusteringOMP(4, random_state=0).fit_predict(np.vstack(parts))
    >>> clustering_error(np.repeat(range(4), 30), labels)
    0.0
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "n_nonzero": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "affinity_scaling": [StrOptions({"l2", "max", "sum"}), None],
        "n_jobs": N_JOBS,
        **LABEL_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters=None,
        *,
        n_nonzero=10,
        tol=1e-3,
        affinity_scaling="l2",
        assign_labels="kmeans",
        n_init=20,
        n_jobs=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.n_nonzero = n_nonzero
        self.tol = tol
        self.affinity_scaling = affinity_scaling
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _represent(self, X: Array) -> tuple[list[float], bool]:
        unit = unit_rows(X)
        C = matching_pursuit(
            unit, unit, self.n_nonzero, tol=self.tol, same=True, n_threads=thread_count(self.n_jobs)
        )
        self.representation_ = C
        return [float(np.sum((unit - C @ unit) ** 2))], True

    def _graph(self) -> scipy.sparse.csr_array:
        return representation_graph(self.representation_, scaling=self.affinity_scaling)
