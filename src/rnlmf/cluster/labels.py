"""From an affinity graph to labels: the steps that all clustering methods share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from rnlmf.cluster.affinity import connect
from rnlmf.cluster.assign import assign, by_size, eigengap
from rnlmf.cluster.spectral import Embedding, spectral_embedding
from rnlmf.engine.batches import canonical_order
from rnlmf.typing import Array
from rnlmf.validation import Interval, StrOptions

# Most clusters that the eigengap is looked for among.
MAX_CLUSTERS = 50
# Vectors beyond one for each cluster, at most as many again.
EXTRA_VECTORS = 20
CHUNK_ROWS = 8192

# What the constructors of all clustering methods allow for this step.
LABEL_CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
    "assign_labels": [StrOptions({"weighted", "kmeans", "cluster_qr"})],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "random_state": ["random_state"],
}


@dataclass(frozen=True)
class Spectrum:
    """Eigenvectors of a graph, how many clusters it has, and how clear that is (None if given)."""

    embedding: Embedding
    n_clusters: int
    confidence: float | None


def check_n_clusters(n_clusters: int | None, n_samples: int) -> None:
    """Refuse more clusters than samples."""
    if n_clusters is not None and n_clusters > n_samples:
        raise ValueError(
            f"n_clusters={n_clusters} must not exceed n_samples={n_samples}: take fewer clusters."
        )


def spectrum(
    W: scipy.sparse.csr_array,
    features: Array,
    n_clusters: int | None,
    rng: np.random.RandomState,
    *,
    extra: bool = False,
) -> tuple[scipy.sparse.csr_array, Spectrum]:
    """The graph, linked where it falls into more parts than clusters, and its spectrum.

    Parameters
    ----------
    W : sparse array of shape (n, n)
        The graph.
    features : array of shape (n, d)
        What decides, by their cosines, which parts are linked.
    n_clusters : int or None
        None: by the eigengap, at most 50.
    rng : RandomState
        For the start of the eigenvectors.
    extra : bool
        Whether vectors beyond those of the clusters are wanted, for :func:`rnlmf.cluster.assign.cut`.
    """
    n = W.shape[0]
    wanted = min(n_clusters or MAX_CLUSTERS, n)
    W = connect(W, features, wanted)
    if n_clusters is None:
        wanted += 1
    elif extra:
        wanted += min(EXTRA_VECTORS, n_clusters)
    embedding = spectral_embedding(W, min(wanted, n), rng)
    if n_clusters is None:
        return W, Spectrum(embedding, *eigengap(embedding.eigenvalues))
    return W, Spectrum(embedding, n_clusters, None)


def _clusters(estimator: Any) -> bool:
    if estimator.n_clusters is None:
        raise AttributeError(
            f"With n_clusters=None {type(estimator).__name__} denoises only: give a number of clusters."
        )
    return True


class SpectralClusters:
    """Labels for estimators that represent samples by each other.

    The estimator has the parameters `n_clusters`, `assign_labels`, `n_init` and `random_state`, and
    calls :meth:`_set_labels` at the end of its fit. It is a denoiser first, and not a clusterer in the
    sense of scikit-learn, who expects one to part clouds of points: subspaces through the origin do not
    tell opposite clouds apart.
    """

    n_clusters: int | None
    assign_labels: str
    n_init: int
    random_state: Any
    labels_: Array
    fit: Callable[..., Any]

    @available_if(_clusters)
    def fit_predict(self, X: Any, y: Any = None) -> Array:
        """Fit, and return the label of every sample."""
        return self.fit(X).labels_

    def _set_labels(self, W: scipy.sparse.csr_array, X: Array) -> None:
        """Set `labels_` and `affinity_matrix_` from a graph of the samples `X`."""
        rng = check_random_state(self.random_state)
        order = canonical_order(X)
        graph = scipy.sparse.csr_array(W[order][:, order])
        graph, result = spectrum(graph, X[order], self.n_clusters, rng)
        parts, _ = assign(result.embedding.vectors, self.assign_labels, self.n_init, rng)
        labels, _ = by_size(parts, result.n_clusters)
        place = np.argsort(order)
        self.labels_ = labels[place]
        self.affinity_matrix_ = scipy.sparse.csr_array(graph[place][:, place])
        self.eigenvalues_ = result.embedding.eigenvalues
