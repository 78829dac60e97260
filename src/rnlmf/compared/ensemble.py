"""Ensemble of k-subspaces: samples that many rough clusterings put together."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import check_random_state

from rnlmf.cluster.affinity import strongest, symmetrize
from rnlmf.cluster.labels import LABEL_CONSTRAINTS
from rnlmf.compared.base import SubspaceClusterer, neighbours_kept
from rnlmf.engine.batches import canonical_order
from rnlmf.engine.samples import default_threads, threads
from rnlmf.typing import Array
from rnlmf.validation import AT_LEAST_ONE, N_JOBS, Interval, StrOptions, thread_count


class EnsembleKSubspaces(SubspaceClusterer):
    """Clustering by agreement of many runs of k-subspaces from random starts.

    A run draws `n_subspaces` random subspaces, gives every sample to the one that holds most of it,
    and a few times fits each subspace to its samples, by their first singular vectors without
    centring, and gives them away anew. The affinity of two samples is the share of the runs in which
    they are together; of every sample the `n_neighbors` largest make a graph, which spectral
    clustering cuts [1]_.

    The shares come from products of sparse matrices, in blocks: memory is ``O(n (n_runs +
    n_neighbors))``. Data of many features are best reduced by PCA first.

    Parameters
    ----------
    n_clusters : int
        Clusters.
    n_components : int
        Dimension of the subspaces.
    n_subspaces : int or None
        Subspaces of a run. None: `n_clusters`.
    n_runs : int
        Runs.
    n_refits : int
        How often a run fits its subspaces, unless labels repeat; 0 is random projections only.
    n_neighbors : int or None
        The largest affinities of a sample that are kept. None: all, n x n of them.
    symmetrize : {"average", "union"}
        Whether an affinity that only one of two samples keeps counts half, as in [1]_, or whole, as in
        the authors' program.
    assign_labels : {"kmeans", "weighted", "cluster_qr"}
        How the spectral embedding is cut; see :class:`RNLMFClustering`.
    n_init : int
        Starts of k-means.
    n_jobs : int or None
        Threads; -1 is all cores. None: as many as BLAS would use. Results do not depend on it.
    random_state : int, RandomState or None
        For the subspaces, the spectral embedding and k-means.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Clusters from 0, the largest first.
    affinity_matrix_ : sparse array of shape (n_samples, n_samples)
        The graph.
    eigenvalues_ : array of shape (n_clusters,)
        Of the normalised graph.
    run_labels_ : array of shape (n_runs, n_samples)
        The clusters of every run.
    objective_ : array of shape (n_runs,)
        Squared distance of the samples from their subspaces at the end of every run.
    n_iter_ : int
        Runs.
    converged_ : bool
        True.

    References
    ----------
    .. [1] J. Lipor, D. Hong, Y. S. Tan and L. Balzano, "Subspace clustering using ensembles of
       K-subspaces", Information and Inference, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import EnsembleKSubspaces
    >>> from rnlmf.metrics import clustering_error
    >>> rng = np.random.default_rng(0)
    >>> planes = [rng.standard_normal((50, 2)) @ rng.standard_normal((2, 20)) for _ in range(3)]
    >>> labels = EnsembleKSubspaces(3, random_state=0).fit_predict(np.vstack(planes))
    >>> clustering_error(np.repeat(range(3), 50), labels)
    0.0
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **LABEL_CONSTRAINTS,
        "n_clusters": [AT_LEAST_ONE],
        "n_components": [AT_LEAST_ONE],
        "n_subspaces": [AT_LEAST_ONE, None],
        "n_runs": [AT_LEAST_ONE],
        "n_refits": [Interval(Integral, 0, None, closed="left")],
        "n_neighbors": [AT_LEAST_ONE, None],
        "symmetrize": [StrOptions({"average", "union"})],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        n_components=2,
        n_subspaces=None,
        n_runs=200,
        n_refits=2,
        n_neighbors=10,
        symmetrize="average",
        assign_labels="kmeans",
        n_init=20,
        n_jobs=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.n_subspaces = n_subspaces
        self.n_runs = n_runs
        self.n_refits = n_refits
        self.n_neighbors = n_neighbors
        self.symmetrize = symmetrize
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _represent(self, X: Array) -> tuple[list[float], bool]:
        neighbours_kept(self.n_neighbors, len(X))
        # Neither rounding nor ties shall depend on the order of samples.
        self._order = order = canonical_order(X)
        scale = float(np.abs(X).max(initial=0.0)) or 1.0
        data = X[order] / scale
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_runs)

        def run(seed: int) -> tuple[Array, float]:
            return self._run(data, np.random.RandomState(seed))

        with threads(thread_count(self.n_jobs) or default_threads(), len(X) * self.n_runs) as run_map:
            labels, distances = zip(*run_map(run, seeds), strict=True)
        self.run_labels_ = np.array(labels)[:, np.argsort(order)]
        return [scale**2 * distance for distance in distances], True

    @property
    def _subspaces(self) -> int:
        return int(self.n_subspaces or self.n_clusters or 0)

    def _run(self, X: Array, rng: np.random.RandomState) -> tuple[Array, float]:
        """Labels of one run, and the squared distance from the subspaces."""
        m, k = X.shape[1], self._subspaces
        d = min(self.n_components, m)
        bases = np.linalg.qr(rng.standard_normal((k, m, d)))[0]
        labels, parts = nearest_subspaces(X, bases)
        for _ in range(self.n_refits):
            grams = np.stack([(Z := X[labels == j]).T @ Z for j in range(k)])
            bases = np.linalg.eigh(grams)[1][:, :, m - d :]
            empty = np.bincount(labels, minlength=k) == 0
            bases[empty] = np.linalg.qr(rng.standard_normal((int(empty.sum()), m, d)))[0]
            before = labels
            labels, parts = nearest_subspaces(X, bases)
            if np.array_equal(labels, before):
                break
        return labels, max(float(np.sum(X**2) - parts.sum()), 0.0)

    def _graph(self) -> scipy.sparse.csr_array:
        n_runs, n = self.run_labels_.shape
        columns = self.run_labels_[:, self._order] + self._subspaces * np.arange(n_runs)[:, None]
        rows = np.broadcast_to(np.arange(n), columns.shape)
        # Its products with itself are shares of the runs.
        together = scipy.sparse.csr_array(
            (np.full(columns.size, n_runs**-0.5), (rows.ravel(), columns.ravel())),
            shape=(n, self._subspaces * n_runs),
        )
        count = neighbours_kept(self.n_neighbors, n)
        A = strongest(together, together, count, same=True, n_threads=thread_count(self.n_jobs))
        place = np.argsort(self._order)
        return symmetrize(scipy.sparse.csr_array(A[place][:, place]), rule=self.symmetrize)


def nearest_subspaces(X: Array, bases: Array) -> tuple[Array, Array]:
    """The subspace that holds most of every sample, and the squared length of what it holds.

    `bases` has shape (k, m, d), with orthonormal columns.
    """
    k, m, d = bases.shape
    projected = X @ bases.transpose(1, 0, 2).reshape(m, k * d)
    held = np.square(projected).reshape(len(X), k, d).sum(axis=2)
    labels = held.argmax(axis=1)
    return labels, held[np.arange(len(X)), labels]
