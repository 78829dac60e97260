"""Clusters from an embedding, and how many there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from rnlmf.cluster.affinity import unit_rows
from rnlmf.typing import Array

# Of more rows than this, a sample decides where k-means starts.
KMEANS_ROWS = 20_000
# As scikit-learn has it.
KMEANS_ITERATIONS = 300
# Steps of a walk after which parts of a graph count as not connected.
LONGEST_STAY = 1000.0


def eigengap(eigenvalues: Array) -> tuple[int, float]:
    """Number of clusters after which the eigenvalues fall most, and how clear that is.

    A walk on the graph stays in a cluster with eigenvalue ``lambda`` for about ``1 / (1 - lambda)``
    steps. The number of clusters is where this time falls by the largest factor; times beyond a
    thousand steps count as that, as parts of a graph that are hardly or not at all connected are alike.

    Parameters
    ----------
    eigenvalues : array
        In falling order.

    Returns
    -------
    n_clusters : int
    confidence : float
        One minus the logarithm of the second largest factor over that of the largest: 0 if two numbers
        are equally good, 1 if there is no other.
    """
    falls = np.diff(np.log(np.maximum(1.0 - eigenvalues, 0.0) + 1.0 / LONGEST_STAY))
    if len(falls) == 0:
        return 1, 1.0
    order = np.argsort(-falls, kind="stable")
    largest = falls[order[0]]
    second = max(falls[order[1]], 0.0) if len(falls) > 1 else 0.0
    confidence = 1.0 - second / largest if largest > 0.0 else 0.0
    return int(order[0]) + 1, float(confidence)


def aligned(vectors: Array) -> Array:
    """The rows after a rotation that takes `k` representative ones to the axes.

    The rotation is the orthogonal matrix nearest to the rows that a pivoted QR factorization picks
    (Damle, Minden and Ying 2019). It takes no chance.
    """
    k = vectors.shape[1]
    _, _, pivots = scipy.linalg.qr(vectors.T, pivoting=True, mode="economic")
    left, _, right = np.linalg.svd(vectors[pivots[:k]].T)
    rotated: Array = vectors @ (left @ right)
    return rotated


def kmeans(
    rows: Array,
    n_clusters: int,
    n_init: int,
    rng: np.random.RandomState,
    weights: Array | None = None,
) -> tuple[Array, Array]:
    """Labels and centres of k-means with several starts; of many rows, a sample finds the start."""
    init: Any = "k-means++"
    if len(rows) > KMEANS_ROWS:
        some = rng.choice(len(rows), KMEANS_ROWS, replace=False)
        chosen = None if weights is None else weights[some]
        init = kmeans(rows[some], n_clusters, n_init, rng, chosen)[1]
        n_init = 1
    model = KMeans(
        n_clusters,
        init=init,
        n_init=n_init,
        max_iter=KMEANS_ITERATIONS,
        random_state=int(rng.randint(2**31 - 1)),
    )
    # Its threads add up in any order, and the last bit can decide between two starts.
    with threadpool_limits(limits=1, user_api="openmp"):
        model.fit(rows, sample_weight=weights)
    return model.labels_, model.cluster_centers_


def assign(vectors: Array, method: str, n_init: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """As many clusters as there are eigenvectors.

    Parameters
    ----------
    vectors : array of shape (n, k)
        Eigenvectors. Their rows are made unit.
    method : {"weighted", "kmeans", "cluster_qr"}
        "weighted" is k-means in which a sample counts for the fourth power of the largest coordinate
        of its aligned row: one that lies between many clusters has a small one, and such samples
        would otherwise make up a cluster of their own.
    n_init : int
        Starts of k-means.
    rng : RandomState
        For the starts.

    Returns
    -------
    labels : array of shape (n,)
    centers : array of shape (k, k)
        Means of the rows of every cluster; a cluster may be empty with "cluster_qr", its centre zero.
    """
    rows = unit_rows(vectors)
    k = rows.shape[1]
    if method == "cluster_qr":
        labels = np.abs(aligned(vectors)).argmax(axis=1)
        return labels, cluster_means(rows, labels, k)
    weights = None
    if method == "weighted":
        weights = np.abs(aligned(rows)).max(axis=1) ** 4
    return kmeans(rows, k, n_init, rng, weights)


def cluster_means(rows: Array, labels: Array, k: int) -> Array:
    """Mean of the rows with each label from 0 to ``k - 1``."""
    sums = np.zeros((k, rows.shape[1]))
    np.add.at(sums, labels, rows)
    means: Array = sums / np.maximum(np.bincount(labels, minlength=k), 1)[:, None]
    return means


@dataclass(frozen=True)
class Cut:
    """Clusters, and how they follow from the parts that the embedding falls into.

    Attributes
    ----------
    labels : array of shape (n,)
        Clusters from 0, the largest first.
    centers : array of shape (p, p)
        Centres of the parts, among unit rows of the first ``p`` eigenvectors.
    label_of_part : array of shape (p,)
    """

    labels: Array
    centers: Array
    label_of_part: Array


def cut(
    vectors: Array,
    n_clusters: int,
    table: Callable[[Array, int], Array],
    *,
    method: str,
    n_init: int,
    min_relative_size: float,
    rng: np.random.RandomState,
) -> Cut:
    """`n_clusters` clusters none of which is very small.

    A graph often has small parts that hardly touch the rest. Each takes an eigenvector, and the place
    of a true cluster. So if some of the parts are smaller than `min_relative_size` of the mean size, as
    many more are made, until enough are large or there are no more vectors; then the smallest part is
    joined to the one that holds most of its links, again and again.

    Parameters
    ----------
    vectors : array of shape (n, p_max)
        More eigenvectors than clusters, if small parts are to be joined.
    n_clusters : int
        How many are wanted.
    table : callable
        From labels and their number to the (p, p) sums of affinities between parts.
    method, n_init
        See :func:`assign`.
    min_relative_size : float
        0: take the clusters as they are.
    rng : RandomState
        For :func:`assign`.
    """
    n, most = vectors.shape
    least = min_relative_size * n / n_clusters
    count = n_clusters
    while True:
        parts, centers = assign(vectors[:, :count], method, n_init, rng)
        small = int(np.sum(np.bincount(parts, minlength=count) < least))
        if count - small >= n_clusters or count == most:
            break
        count = min(max(n_clusters + small, count + 1), most)
    label_of_part = join_small(table(parts, count), np.bincount(parts, minlength=count), n_clusters)
    labels, order = by_size(label_of_part[parts], n_clusters)
    return Cut(labels, centers, order[label_of_part])


def join_small(table: Array, sizes: Array, n_clusters: int) -> Array:
    """Which of `n_clusters` clusters each part belongs to, after the smallest were joined to others."""
    table = np.array(table, dtype=np.float64)
    sizes = sizes.astype(np.float64)
    label = np.arange(len(sizes))
    alive = np.ones(len(sizes), dtype=bool)
    while alive.sum() > n_clusters:
        smallest = int(np.argmin(np.where(alive, sizes, np.inf)))
        alive[smallest] = False
        links = np.where(alive, table[smallest], -1.0)
        # A part without links to any other joins the smallest.
        target = int(links.argmax() if links.max() > 0.0 else np.argmin(np.where(alive, sizes, np.inf)))
        table[target] += table[smallest]
        table[:, target] += table[:, smallest]
        sizes[target] += sizes[smallest]
        label[label == smallest] = target
    _, numbers = np.unique(label, return_inverse=True)
    return np.asarray(numbers)


def by_size(labels: Array, k: int) -> tuple[Array, Array]:
    """Labels in the order of falling size (of equal ones, the first seen), and the new of each old."""
    sizes = np.bincount(labels, minlength=k)
    first = np.full(k, len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    order = np.lexsort((first, -sizes))
    rank = np.empty(k, dtype=np.int64)
    rank[order] = np.arange(k)
    return rank[labels], rank
