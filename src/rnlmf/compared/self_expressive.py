"""The self-expressive form of RNLMF: the samples without their noise are the dictionary."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from rnlmf.cluster.affinity import neighbour_graph
from rnlmf.cluster.labels import LABEL_CONSTRAINTS, SpectralClusters, check_n_clusters
from rnlmf.compared.base import Denoiser, check_memory
from rnlmf.compared.feature_space import FeatureSpace
from rnlmf.compared.spectral_functions import RidgeRepresentation, remove_noise
from rnlmf.penalties import NOISE_PENALTIES, Penalty
from rnlmf.typing import Array
from rnlmf.validation import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE, StrOptions

# Matrices of n x n that are in memory at the same time.
MATRICES = 5


class SelfExpressiveRNLMF(SpectralClusters, Denoiser):
    """Robust non-linear matrix factorization whose dictionary is the denoised data.

    With the constraint ``D = X - E`` in the model of :class:`RNLMF` samples represent each other [1]_,

        min_{C, E}  |phi(X - E) - C phi(X - E)|^2 / 2 + lambda_C |C|^2 / 2 + lambda_E R(E),

    with the Gaussian kernel. The codes are eliminated: with ``K = K(X - E, X - E)`` they are ``C = K
    (K + lambda_C I)^-1``, and ``lambda_C Tr K (K + lambda_C I)^-1 / 2`` is left of the first two
    terms. It is minimised over ``E`` by proximal gradient steps, so that the objective always falls.
    An iteration takes the eigenvectors of an n x n matrix: time ``O(n^3)`` and memory ``O(n^2)``,
    where :class:`RNLMF` is linear in n. It treats no new samples.

    Parameters
    ----------
    n_clusters : int or None
        None: denoise only.
    noise_weight : float
        ``lambda_E`` is this times ``lambda_C n / R(X)``; useful between 0.05 and 1.
    noise_penalty : {"l1", "l21"}
        ``R``: wrong entries or wrong samples.
    code_weight : float
        ``lambda_C``; above that of :class:`RNLMF`, as there are as many atoms as samples.
    kernel_scale : float
        The kernel's ``sigma`` is this times the mean distance between samples.
    max_iter : int
        Most iterations.
    tol : float
        The fit stops when a step changes ``E`` by less, relative to ``X``.
    warm_start : bool
        Start from the last solution if the data have the same shape: faster along a path of weights.
    n_neighbors : int
        The largest affinities ``|C_ij|`` of a sample that are kept.
    affinity_scaling : {"max", "sum"} or None
        What the affinities of a sample are divided by.
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
        ``C``.
    noise_ : array of shape (n_samples, n_features)
        ``E``; exactly zero where no noise was found.
    noise_weight_ : float
        ``lambda_E``.
    sigma_ : float
        The kernel's length scale.
    objective_ : array
        Objective at each iteration; it never rises.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether it stopped before `max_iter`.

    References
    ----------
    .. [1] J. Fan, C. Yang and M. Udell, "Robust Non-Linear Matrix Factorization for Dictionary
       Learning, Denoising, and Clustering", IEEE Transactions on Signal Processing, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import SelfExpressiveRNLMF
    >>> t = np.linspace(0, 6, 100)
    >>> clean = np.column_stack([f(k * t) for k in range(1, 5) for f in (np.cos, np.sin)])
    >>> noisy = np.where(np.random.default_rng(0).random(clean.shape) < 0.05, 3.0, clean)
    >>> denoised = SelfExpressiveRNLMF().fit_denoise(noisy)
    >>> bool(np.linalg.norm(denoised - clean) < 0.6 * np.linalg.norm(noisy - clean))
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "noise_weight": [POSITIVE],
        "noise_penalty": [StrOptions({"l1", "l21"})],
        "code_weight": [POSITIVE],
        "kernel_scale": [POSITIVE],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "warm_start": ["boolean"],
        "n_neighbors": [AT_LEAST_ONE],
        "affinity_scaling": [StrOptions({"max", "sum"}), None],
        **LABEL_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters=None,
        *,
        noise_weight=0.1,
        noise_penalty="l1",
        code_weight=0.3,
        kernel_scale=1.0,
        max_iter=500,
        tol=1e-4,
        warm_start=False,
        n_neighbors=10,
        affinity_scaling="max",
        assign_labels="kmeans",
        n_init=20,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.noise_weight = noise_weight
        self.noise_penalty = noise_penalty
        self.code_weight = code_weight
        self.kernel_scale = kernel_scale
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.n_neighbors = n_neighbors
        self.affinity_scaling = affinity_scaling
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.random_state = random_state

    def _split(self, X: Array) -> tuple[list[float], bool]:
        check_n_clusters(self.n_clusters, len(X))
        check_memory(len(X), MATRICES)
        space = FeatureSpace.of(X, "rbf", self.kernel_scale)
        self.sigma_ = sigma = space.sigma
        data = X.astype(np.float64) / sigma
        penalty: Penalty = NOISE_PENALTIES[self.noise_penalty]()
        # Everything over lambda_C, for which the rest has no unit.
        weight = self.noise_weight * len(X) / (penalty.value(data) or 1.0)
        self.noise_weight_ = self.code_weight * weight / sigma
        start = self._start("_last", X.shape)
        E = np.zeros_like(data) if start is None else start[0] / sigma
        ridge = RidgeRepresentation(float(self.code_weight))
        E, objective, converged = remove_noise(
            data, E, ridge, penalty, weight, tol=self.tol, max_iter=self.max_iter
        )
        self._last = (E * sigma,) if self.warm_start else None
        self.noise_ = (E * sigma).astype(X.dtype)
        values, vectors = scipy.linalg.eigh(space.gram((data - E) * sigma))
        values = np.maximum(values, 0.0)
        B = vectors * np.sqrt(values / (values + self.code_weight))
        self.representation_ = B @ B.T
        if self.n_clusters is not None:
            graph = neighbour_graph(B, self.n_neighbors, scaling=self.affinity_scaling)
            self._set_labels(graph, X - self.noise_)
        return [self.code_weight * value for value in objective], converged
