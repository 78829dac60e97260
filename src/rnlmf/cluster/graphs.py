"""Graphs of codes: all samples compared with each other, or with landmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from sklearn.cluster import MiniBatchKMeans
from threadpoolctl import threadpool_limits

from rnlmf.cluster.affinity import (
    between_parts,
    gram,
    least_squares_factor,
    neighbour_graph,
    over_columns,
    row_chunks,
    scale_rows,
    shared_neighbours,
    strongest,
    unit_rows,
)
from rnlmf.cluster.labels import Spectrum, spectrum
from rnlmf.typing import Array

# weight="auto", over the mean eigenvalue of C^T C.
RELATIVE_WEIGHT = 0.1
CHUNK_ROWS = 8192
# Eigenvalues below this do not take part in the treatment of new samples.
LEAST_EIGENVALUE = 1e-3
# k-means need not converge: landmarks must be spread over the samples, no more.
EPOCHS = 5
BATCH_ROWS = 4096


@dataclass(frozen=True)
class Comparison:
    """How codes are compared.

    Attributes
    ----------
    cosine : bool
        Whether codes, and the rows whose products are affinities, have unit length.
    weight : float or "auto"
        ``gamma`` of the least-squares affinities.
    n_neighbors : int
    scaling : {"max", "sum"}
        See :func:`rnlmf.cluster.affinity.scale_rows`.
    n_threads : int
    """

    cosine: bool
    weight: float | str
    n_neighbors: int
    scaling: str
    n_threads: int

    def prepare(self, rows: Array) -> Array:
        """Rows of unit length where affinities are cosines."""
        return unit_rows(rows) if self.cosine else rows

    def factor(self, C: Array, n_samples: int) -> Array:
        """What makes affinities of codes, `C` being those of all of the samples or of some."""
        G = gram(C) * (n_samples / len(C))
        weight = self.weight
        if weight == "auto":
            weight = RELATIVE_WEIGHT * float(np.trace(G)) / len(G) or 1.0
        return least_squares_factor(G, float(weight))

    def weigh(self, C: Array, factor: Array) -> Array:
        """Codes that become, in place, rows whose products are affinities."""
        for rows in row_chunks(len(C), CHUNK_ROWS):
            C[rows] = self.prepare(C[rows] @ factor)
        return C

    def compare(self, B: Array, reference: Array) -> scipy.sparse.csr_array:
        """The largest affinities of rows with those of `reference`, a sample's with itself included."""
        count = min(self.n_neighbors + 1, len(reference))
        B = B.astype(reference.dtype, copy=False)
        Z = strongest(B, reference, count, n_threads=self.n_threads)
        return scale_rows(Z, self.scaling)

    def neighbours(self, B: Array) -> scipy.sparse.csr_array:
        """The graph of Algorithm 3."""
        return neighbour_graph(B, self.n_neighbors, scaling=self.scaling, n_threads=self.n_threads)


@dataclass(frozen=True)
class Graph:
    """Affinities, their spectrum, and what follows from both.

    Attributes
    ----------
    affinity : sparse array
        What the caller sees.
    spectrum : Spectrum
    vectors : array of shape (n, k)
        Eigenvectors, as functions on the samples.
    projection : array of shape (p, k)
        What takes the affinities of a sample with the `p` rows of the reference to the embedding.
    table : callable
        From parts and their number to the sums of the affinities between them.
    """

    affinity: scipy.sparse.csr_array
    spectrum: Spectrum
    vectors: Array
    projection: Array
    table: Callable[[Array, int], Array]


def sample_graph(
    B: Array,
    comparison: Comparison,
    link_by: str,
    n_clusters: int | None,
    rng: np.random.RandomState,
    *,
    extra: bool,
) -> Graph:
    """All samples compared with each other; the parameters are those of the estimator."""
    shared = link_by == "shared-neighbors"
    A = comparison.compare(B, B) if shared else comparison.neighbours(B)
    W, result = spectrum(shared_neighbours(A) if shared else A, B, n_clusters, rng, extra=extra)
    projection = _functions(result) / np.maximum(result.embedding.eigenvalues, LEAST_EIGENVALUE)
    if shared:
        projection = over_columns(A).T @ projection

    def table(parts: Array, count: int) -> Array:
        sums = between_parts(W, parts, count)
        return between_parts(scipy.sparse.csr_array(sums.T), parts, count).toarray()

    return Graph(W, result, result.embedding.vectors, projection, table)


def choose_landmarks(B: Array, count: int, rng: np.random.RandomState) -> Array:
    """`count` representatives of the rows of `B`: centres of k-means, or all rows if they are few."""
    if len(B) <= count:
        return B.copy()
    model = MiniBatchKMeans(
        count,
        init="random",
        n_init=1,
        max_iter=EPOCHS,
        batch_size=BATCH_ROWS,
        compute_labels=False,
        random_state=int(rng.randint(2**31 - 1)),
    )
    # Its threads add up in any order; results shall not depend on it.
    with threadpool_limits(limits=1, user_api="openmp"):
        centers: Array = model.fit(B).cluster_centers_.astype(B.dtype)
    return centers


def landmark_graph(
    Z: scipy.sparse.csr_array,
    landmarks: Array,
    n_clusters: int | None,
    rng: np.random.RandomState,
    *,
    extra: bool,
) -> Graph:
    """All samples compared with landmarks, by affinities `Z` of shape (n, p).

    The graph of samples that share landmarks and that of landmarks that share samples have the same
    eigenvalues, and the vectors of either follow from the other's.
    """
    shared = shared_neighbours(scipy.sparse.csr_array(Z.T))
    _, result = spectrum(shared, landmarks, n_clusters, rng, extra=extra)
    values = np.maximum(result.embedding.eigenvalues, LEAST_EIGENVALUE)
    projection = _functions(result) / np.sqrt(values)

    def table(parts: Array, count: int) -> Array:
        sums = between_parts(Z, parts, count)
        return (over_columns(sums) @ sums.T).toarray()

    return Graph(Z, result, Z @ projection, projection, table)


def _functions(result: Spectrum) -> Array:
    """``D^-1/2 U``: eigenvectors as functions on the reference."""
    degrees = result.embedding.degrees
    scale = np.sqrt(np.where(degrees > 0.0, degrees, 1.0))
    functions: Array = result.embedding.vectors / scale[:, None]
    return functions
