"""Clusters from an embedding, and how many there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
from sklearn.cluster import KMeans

from rnlmf.cluster.affinity import unit_rows

Array = npt.NDArray[Any]

# Of more rows than this, a sample decides where k-means starts.
KMEANS_ROWS = 20_000
KMEANS_ITERATIONS = 300


def eigengap(eigenvalues: Array) -> tuple[int, float]:
    """Number of clusters where the eigenvalues fall most, and how clear that is.

    Parameters
    ----------
    eigenvalues : array
        In falling order.

    Returns
    -------
    n_clusters : int
    confidence : float
        One minus the second largest fall over the largest: 0 if two numbers are equally good, 1 if
        there is no other.
    """
    falls = eigenvalues[:-1] - eigenvalues[1:]
    if len(falls) == 0:
        return 1, 1.0
    order = np.argsort(-falls, kind="stable")
    largest = falls[order[0]]
    second = falls[order[1]] if len(falls) > 1 else 0.0
    confidence = 1.0 - second / largest if largest > 0.0 else 0.0
    return int(order[0]) + 1, float(confidence)


def pivoted_clusters(vectors: Array) -> Array:
    """Labels from a pivoted QR factorization, without chance (Damle, Minden and Ying 2019)."""
    k = vectors.shape[1]
    _, _, pivots = scipy.linalg.qr(vectors.T, pivoting=True, mode="economic")
    left, _, right = np.linalg.svd(vectors[pivots[:k]].T)
    labels: Array = np.abs(vectors @ (left @ right)).argmax(axis=1)
    return labels


def kmeans(
    rows: Array, n_clusters: int, n_init: int, rng: np.random.RandomState
) -> tuple[Array, Array]:
    """Labels and centres of k-means with several starts; of many rows, a sample finds the start."""
    init: Any = "k-means++"
    if len(rows) > KMEANS_ROWS:
        some = rng.choice(len(rows), KMEANS_ROWS, replace=False)
        init = kmeans(rows[some], n_clusters, n_init, rng)[1]
        n_init = 1
    model = KMeans(
        n_clusters,
        init=init,
        n_init=n_init,
        max_iter=KMEANS_ITERATIONS,
        random_state=int(rng.randint(2**31 - 1)),
    ).fit(rows)
    return model.labels_, model.cluster_centers_


def assign(vectors: Array, method: str, n_init: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Labels of samples and centres of clusters, from eigenvectors whose rows are made unit.

    Parameters
    ----------
    vectors : array of shape (n, k)
    method : {"kmeans", "cluster_qr"}
    n_init : int
        Starts of k-means.
    rng : RandomState

    Returns
    -------
    labels : array of shape (n,)
        From 0, in the order of the clusters' sizes, largest first.
    centers : array of shape (k, k)
        In the same order.
    """
    rows = unit_rows(vectors)
    k = rows.shape[1]
    if method == "kmeans":
        labels, _ = kmeans(rows, k, n_init, rng)
    else:
        labels = pivoted_clusters(vectors)
    return by_size(labels, rows)


def by_size(labels: Array, rows: Array) -> tuple[Array, Array]:
    """Labels without gaps, the largest cluster first, and the means of the `rows` of each."""
    found, first, inverse, sizes = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -sizes))
    rank = np.empty(len(found), dtype=np.int64)
    rank[order] = np.arange(len(found))
    ranked = rank[inverse]
    centers = np.zeros((len(found), rows.shape[1]))
    np.add.at(centers, ranked, rows)
    return ranked, centers / sizes[order, None]
