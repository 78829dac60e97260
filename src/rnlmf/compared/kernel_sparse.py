"""Kernel sparse subspace clustering: every sample's image as a combination of a few others."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse

from rnlmf.cluster.affinity import representation_graph
from rnlmf.cluster.labels import LABEL_CONSTRAINTS
from rnlmf.compared.active_set import largest_products, represent_sparsely
from rnlmf.compared.base import SubspaceClusterer, check_memory
from rnlmf.compared.feature_space import Coordinates, FeatureSpace
from rnlmf.kernels import KERNELS, Kernel
from rnlmf.typing import Array
from rnlmf.validation import AT_LEAST_ONE, N_JOBS, POSITIVE, Interval, StrOptions, thread_count

# Matrices of n x n that are in memory at the same time.
MATRICES = 4


class KernelSparseSubspaceClustering(SubspaceClusterer):
    """Sparse representation of samples by each other in the feature space of a kernel.

    Finds a sparse matrix ``C`` with zero diagonal, one row per sample, by minimising

        |C|_1 + lambda_fit Tr (I - C) K (I - C)^T / 2,   K = K(X, X),

    which is ``|phi(X) - C phi(X)|^2`` beside the sum of the coefficients [1]_. In orthonormal
    coordinates of the span of the images it is the problem of :class:`SparseSubspaceClustering`
    without noise, which it equals for the linear kernel, and is solved exactly, by active sets. The
    kernel matrix and its eigenvectors take memory ``O(n^2)``.

    Parameters
    ----------
    n_clusters : int or None
        None: representation only.
    kernel : {"rbf", "polynomial", "linear"} or Kernel
        See :mod:`rnlmf.kernels`.
    kernel_scale : float
        The kernel's ``sigma`` is this times the mean distance between samples, of kernels other than
        "rbf" their root mean square length, unless the kernel brings its own.
    fit_weight : float
        ``lambda_fit`` over the weight below which ``C = 0`` for some sample, ``1 / min_i max_j
        |K_ij|``. It must exceed 1 to be of use.
    max_iter : int
        Most rounds of changes of the active sets.
    affinity_mass : float
        The share of a sample's coefficients, by absolute sum and largest first, that makes affinities.
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
        ``C``.
    fit_weight_ : float
        ``lambda_fit``.
    sigma_ : float
        The kernel's length scale.
    objective_ : array
        Objective after every round; it never rises.
    n_iter_ : int
        Rounds.
    converged_ : bool
        Whether the last round left no condition of optimality violated.

    References
    ----------
    .. [1] V. M. Patel and R. Vidal, "Kernel sparse subspace clustering", ICIP, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import KernelSparseSubspaceClustering
    >>> from rnlmf.metrics import clustering_error
    >>> rng = np.random.default_rng(0)
    >>> parts = [rng.standard_normal((30, 3)) @ rng.standard_normal((3, 30)) for _ in range(4)]
    >>> model = KernelSparseSubspaceClustering(4, random_state=0)
    >>> clustering_error(np.repeat(range(4), 30), model.fit_predict(np.vstack(parts)))
    0.0
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "kernel": [StrOptions(KERNELS.keys()), Kernel],
        "kernel_scale": [POSITIVE],
        "fit_weight": [POSITIVE],
        "max_iter": [AT_LEAST_ONE],
        "affinity_mass": [Interval(Real, 0, 1, closed="right")],
        "n_jobs": N_JOBS,
        **LABEL_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters=None,
        *,
        kernel="rbf",
        kernel_scale=1.0,
        fit_weight=20.0,
        max_iter=40,
        affinity_mass=1.0,
        assign_labels="kmeans",
        n_init=20,
        n_jobs=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.kernel_scale = kernel_scale
        self.fit_weight = fit_weight
        self.max_iter = max_iter
        self.affinity_mass = affinity_mass
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _represent(self, X: Array) -> tuple[list[float], bool]:
        check_memory(len(X), MATRICES)
        space = FeatureSpace.of(X, self.kernel, self.kernel_scale)
        self.sigma_ = space.sigma
        images = Coordinates.of(space.gram(X)).of_samples
        self.fit_weight_ = self.fit_weight / (float(largest_products(images).min()) or 1.0)
        self.representation_, objective, converged = represent_sparsely(
            images,
            np.full(len(X), self.fit_weight_),
            max_iter=self.max_iter,
            n_threads=thread_count(self.n_jobs),
        )
        return objective, converged

    def _graph(self) -> scipy.sparse.csr_array:
        return representation_graph(self.representation_, mass=self.affinity_mass)
