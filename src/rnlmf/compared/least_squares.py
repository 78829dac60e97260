"""Least-squares representation: every sample as a combination of all, with small coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from rnlmf.cluster.affinity import gram, least_squares_factor, neighbour_graph
from rnlmf.cluster.labels import LABEL_CONSTRAINTS, SpectralClusters, check_n_clusters
from rnlmf.compared.base import Denoiser, in_mean_singular_values, neighbours_kept
from rnlmf.typing import Array
from rnlmf.validation import AT_LEAST_ONE, AUTO, POSITIVE, StrOptions

# weight="auto", over the mean squared singular value of the data.
RELATIVE_WEIGHT = 0.05


class LeastSquaresSubspaceClustering(SpectralClusters, Denoiser):
    """Least-squares representation of samples by each other, which clusters them.

    Minimises, as in [1]_,

        |X - Z X|^2 + weight |Z|^2,

    with ``diag(Z) = 0`` or without. The solution without is ``Z = B B^T`` with ``B = X F`` of the
    size of the data, and that with it divides row ``i`` by ``1 - |b_i|^2``: no n x n matrix is needed.

    Parameters
    ----------
    n_clusters : int or None
        None: representation only.
    weight : float or "auto"
        In the squared unit of the data. "auto" is 5% of the mean squared singular value of the data.
    zero_diagonal : bool
        Whether a sample may not represent itself.
    n_neighbors : int or None
        The largest affinities of a sample that are kept. None: all, n x n of them.
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
    representation_ : pair of arrays of shape (n_samples, n_features)
        ``V`` and ``U`` such that ``V U^T`` is ``Z``, but for the diagonal if that is to be zero.
    noise_ : array of shape (n_samples, n_features)
        ``X - Z X``: nowhere zero, as this method has no model of noise.
    weight_ : float
        The weight in use.
    objective_ : array of shape (1,)
        The minimum.
    n_iter_ : int
        1: the solution is exact.
    converged_ : bool
        True.

    References
    ----------
    .. [1] C. Lu, H. Min, Z. Zhao, L. Zhu, D. Huang and S. Yan, "Robust and efficient subspace
       segmentation via least squares regression", European Conference on Computer Vision, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import LeastSquaresSubspaceClustering
    >>> from rnlmf.metrics import clustering_error
    >>> rng = np.random.default_rng(0)
    >>> planes = [rng.standard_normal((50, 2)) @ rng.standard_normal((2, 20)) for _ in range(3)]
    >>> model = LeastSquaresSubspaceClustering(3, random_state=0)
    >>> labels = model.fit_predict(np.vstack(planes))
    >>> clustering_error(np.repeat(range(3), 50), labels)
    0.0
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "weight": [POSITIVE, AUTO],
        "zero_diagonal": ["boolean"],
        "n_neighbors": [AT_LEAST_ONE, None],
        "affinity_scaling": [StrOptions({"max", "sum"}), None],
        **LABEL_CONSTRAINTS,
    }

    def __init__(
        self,
        n_clusters=None,
        *,
        weight="auto",
        zero_diagonal=True,
        n_neighbors=None,
        affinity_scaling="max",
        assign_labels="kmeans",
        n_init=20,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.weight = weight
        self.zero_diagonal = zero_diagonal
        self.n_neighbors = n_neighbors
        self.affinity_scaling = affinity_scaling
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.random_state = random_state

    def _split(self, X: Array) -> tuple[list[float], bool]:
        check_n_clusters(self.n_clusters, len(X))
        data, scale = in_mean_singular_values(X)
        weight = RELATIVE_WEIGHT if self.weight == "auto" else float(self.weight) / scale**2
        self.weight_ = weight * scale**2
        B = data @ least_squares_factor(gram(data), weight)
        squares = np.einsum("ij,ij->i", B, B)
        # Without the diagonal, row i is divided by 1 - |b_i|^2, which the weight keeps positive.
        V = B / (1.0 - squares)[:, None] if self.zero_diagonal else B
        self_part = np.einsum("ij,ij->i", V, B) if self.zero_diagonal else np.zeros(len(B))
        noise = data - (V @ (B.T @ data) - self_part[:, None] * data)
        self.representation_ = (V, B)
        self.noise_ = (noise * scale).astype(X.dtype)
        size = float(np.sum((V.T @ V) * (B.T @ B))) - float(np.sum(self_part**2))
        if self.n_clusters is not None:
            count = neighbours_kept(self.n_neighbors, len(X))
            graph = neighbour_graph(B, count, scaling=self.affinity_scaling, rows=V)
            self._set_labels(graph, X)
        return [scale**2 * (float(np.sum(noise**2)) + weight * size)], True
