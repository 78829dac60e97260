"""Affinity graphs: sparse, symmetric matrices that say which samples belong together.

Every graph is built in the same steps: coefficients of samples on samples, the largest of every row,
a division that makes rows comparable, and symmetrisation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from rnlmf.engine.samples import default_threads, threads
from rnlmf.typing import Array

# Memory of one block of affinities.
BLOCK_BYTES = 1 << 25
MAX_BLOCK_ROWS = 1024
# The largest entries of a long row are looked for among the tiles with the largest maxima.
TILE = 64
CHUNK_ROWS = 8192
# Weight of a link between parts that have nothing in common.
LEAST_LINK = 1e-6


def row_chunks(n: int, rows: int) -> Iterator[slice]:
    """Slices of at most `rows` rows."""
    for start in range(0, n, rows):
        yield slice(start, min(start + rows, n))


def block_rows(bytes_of_a_row: int) -> int:
    """Rows that are worked on together."""
    return int(np.clip(BLOCK_BYTES // bytes_of_a_row, 1, MAX_BLOCK_ROWS))


def gram(C: Array) -> Array:
    """``C^T C`` in double precision, without a copy of ``C`` in it."""
    G = np.zeros((C.shape[1], C.shape[1]))
    for rows in row_chunks(len(C), CHUNK_ROWS):
        block = C[rows].astype(np.float64)
        G += block.T @ block
    return G


def unit_rows(B: Array) -> Array:
    """Rows of length one, as a new array; zero rows stay zero."""
    lengths = np.sqrt(np.einsum("ij,ij->i", B, B))
    unit: Array = B / np.where(lengths > 0.0, lengths, 1.0)[:, None].astype(B.dtype)
    return unit


def least_squares_factor(G: Array, weight: float) -> Array:
    """``F`` such that ``B = C F`` has the least-squares affinities ``A = B B^T``.

    The paper's ``A = (C C^T + gamma I)^-1 C C^T`` (one row of ``C`` per sample) is, by the identity of
    Woodbury, ``C (C^T C + gamma I)^-1 C^T``: a Cholesky factor of a (d, d) matrix replaces the inverse
    of an (n, n) one.

    Parameters
    ----------
    G : array of shape (d, d)
        ``C^T C``.
    weight : float
        ``gamma``.
    """
    factor = scipy.linalg.cholesky(G + weight * np.eye(len(G)), lower=True)
    inverse: Array = scipy.linalg.solve_triangular(factor, np.eye(len(G)), lower=True).T
    return inverse


def largest_of_rows(values: Array, count: int) -> tuple[Array, Array]:
    """Columns and values of the `count` largest of every row, in falling order.

    Of equal values the first columns are taken.
    """
    rows, n = values.shape
    # The count-th largest of the tiles' maxima is a lower bound of the count-th largest of all.
    maxima = values
    if n >= 4 * TILE * count:
        whole = n // TILE * TILE
        maxima = values[:, :whole].reshape(rows, -1, TILE).max(axis=2)
    bound = np.partition(maxima, -count, axis=1)[:, -count]
    row, column = np.nonzero(values >= bound[:, None])
    candidates = values[row, column]
    order = np.lexsort((column, -candidates, row))
    starts = np.searchsorted(row, np.arange(rows))
    chosen = order[starts[:, None] + np.arange(count)]
    return column[chosen], candidates[chosen]


def strongest(
    B: Any,
    reference: Any,
    count: int,
    *,
    same: bool = False,
    groups: Array | None = None,
    n_threads: int | None = None,
) -> scipy.sparse.csr_array:
    """The `count` largest ``|b_i . r_j|`` of every row, as a sparse matrix.

    Blocks of rows are worked on in turn, so that memory is ``O(n count)`` and never (n, n).

    Parameters
    ----------
    B : array or sparse array of shape (n, d)
        Rows ``b_i``.
    reference : array or sparse array of shape (p, d)
        Rows ``r_j``.
    count : int
        At most ``p``, or ``p - 1`` if `same`.
    same : bool
        Whether `reference` is `B`; the diagonal is then left out.
    groups : array of shape (n,) or None
        With `same`: pairs of the same group are left out too.
    n_threads : int or None
        None: as many as BLAS would use. Results do not depend on it.
    """
    n, p = B.shape[0], reference.shape[0]
    columns = np.empty((n, count), dtype=np.int32)
    values = np.empty((n, count), dtype=B.dtype)

    def work(rows: slice) -> None:
        block = B[rows] @ reference.T
        if scipy.sparse.issparse(block):
            block = block.toarray()
        np.abs(block, out=block)
        if groups is not None:
            block[groups[rows, None] == groups] = -1.0
        elif same:
            block[np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)] = -1.0
        columns[rows], values[rows] = largest_of_rows(block, count)

    with threads(n_threads or default_threads(), n) as run_map:
        for _ in run_map(work, row_chunks(n, block_rows(p * B.dtype.itemsize))):
            pass
    np.maximum(values, 0.0, out=values)
    offsets = np.arange(0, n * count + 1, count)
    return scipy.sparse.csr_array((values.ravel(), columns.ravel(), offsets), shape=(n, p))


def scale_rows(A: scipy.sparse.csr_array, by: str | None) -> scipy.sparse.csr_array:
    """Rows divided by their largest entry (the paper), sum (the authors' program), length or nothing.

    `by` is "max", "sum", "l2" or None.
    """
    if by is None:
        return A.astype(np.float64)
    if by == "max":
        size = A.max(axis=1).toarray().ravel()
    else:
        size = np.asarray((A if by == "sum" else A.power(2)).sum(axis=1)).ravel()
        size = size if by == "sum" else np.sqrt(size)
    size = np.where(size > 0.0, size, 1.0)
    scaled = A.astype(np.float64)
    scaled.data /= np.repeat(size, np.diff(A.indptr))
    return scaled


def symmetrize(
    A: scipy.sparse.csr_array, *, diagonal: bool = False, rule: str = "average"
) -> scipy.sparse.csr_array:
    """``(A + A^T) / 2`` without explicit zeros and, unless wanted, without its diagonal.

    With the rule "union" the larger of the two.
    """
    W = scipy.sparse.csr_array((A + A.T) * 0.5 if rule == "average" else A.maximum(A.T))
    if not diagonal:
        W.setdiag(0.0)
    W.eliminate_zeros()
    W.sort_indices()
    return W


def neighbour_graph(
    B: Array,
    n_neighbors: int,
    *,
    scaling: str | None = "max",
    power: float = 1.0,
    rows: Array | None = None,
    n_threads: int | None = None,
) -> scipy.sparse.csr_array:
    """Graph of the `n_neighbors` largest ``|b_i . b_j|`` of every sample (Algorithm 3, lines 2 to 5).

    Parameters
    ----------
    B : array of shape (n, d)
        See :func:`least_squares_factor`.
    n_neighbors : int
        ``kappa``; at most ``n - 1`` are taken.
    scaling : {"max", "sum"} or None
        See :func:`scale_rows`.
    power : float
        Exponent of the affinities.
    rows : array of shape (n, d) or None
        What takes the place of ``b_i``; `B` if None.
    n_threads : int or None
        None: as many as BLAS would use.
    """
    A = strongest(
        B if rows is None else rows, B, min(n_neighbors, len(B) - 1), same=True, n_threads=n_threads
    )
    A.data **= power
    return symmetrize(scale_rows(A, scaling))


def shared_neighbours(A: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Graph ``A L^-1 A^T``, with ``L`` the column sums of ``A``: samples that share neighbours.

    Its row sums are those of ``A``, and its normalised form ``N N^T`` with ``N = D^-1/2 A L^-1/2`` has
    no negative eigenvalue [1]_. If every sample is among its own neighbours, direct ones count too.

    References
    ----------
    .. [1] D. Cai and X. Chen, "Large scale spectral clustering via landmark-based sparse
       representation", IEEE Transactions on Cybernetics, 2015.
    """
    return symmetrize(scipy.sparse.csr_array(A @ over_columns(A).T), diagonal=True)


def over_columns(A: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """``A L^-1``: columns over their sums."""
    sums = np.asarray(A.sum(axis=0)).ravel()
    return scipy.sparse.csr_array(A @ scipy.sparse.diags_array(1.0 / np.where(sums > 0.0, sums, 1.0)))


def between_parts(A: scipy.sparse.csr_array, parts: Array, count: int) -> scipy.sparse.csr_array:
    """Rows of `A` summed over the parts that they belong to, of shape (count, columns)."""
    n = len(parts)
    member = scipy.sparse.csr_array((np.ones(n), (parts, np.arange(n))), shape=(count, n))
    return scipy.sparse.csr_array(member @ A)


def connect(W: scipy.sparse.csr_array, B: Array, n_components: int) -> scipy.sparse.csr_array:
    """The graph with links that leave at most `n_components` connected components.

    A graph of more parts than clusters does not say which parts belong together. While there are too
    many, each part is linked to the sample outside that is nearest to it by ``|b_i . b_j|`` of unit
    rows, with that weight over the largest.
    """
    unit = None
    while True:
        count, component = connected_components(W, directed=False)
        if count <= n_components:
            return W
        unit = unit_rows(B) if unit is None else unit
        nearest = strongest(unit, unit, 1, same=True, groups=component)
        value, column = np.asarray(nearest.data, dtype=np.float64), nearest.indices
        order = np.lexsort((np.arange(len(B)), -value, component))
        best = order[np.searchsorted(component[order], np.arange(count))]
        # An affinity of zero connects as well, if only just.
        weight = np.maximum(value[best], LEAST_LINK) * (W.max() or 1.0)
        links = scipy.sparse.csr_array((weight, (best, column[best])), shape=W.shape)
        W = scipy.sparse.csr_array(W + symmetrize(links))


def keep_mass(A: scipy.sparse.csr_array, share: float) -> scipy.sparse.csr_array:
    """Of every row the fewest largest entries, by magnitude, that hold `share` of its absolute sum.

    Step ``thrC`` of the program of Elhamifar and Vidal (2013).
    """
    A = scipy.sparse.csr_array(A)
    sizes = np.abs(A.data)
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    order = np.lexsort((-sizes, row))
    before = np.cumsum(sizes[order]) - sizes[order]
    sums = np.bincount(row, sizes, minlength=A.shape[0])
    starts = np.concatenate([[0.0], np.cumsum(sums)[:-1]])
    kept = np.zeros(len(sizes), dtype=bool)
    kept[order] = before - starts[row[order]] < share * sums[row[order]] * (1.0 - 1e-12)
    return scipy.sparse.csr_array((A.data[kept], (row[kept], A.indices[kept])), shape=A.shape)


def representation_graph(
    Z: Any, *, mass: float = 1.0, scaling: str | None = "max"
) -> scipy.sparse.csr_array:
    """Graph of a self-representation ``Z``, one row per sample: `keep_mass`, scaling, symmetry."""
    A = abs(keep_mass(scipy.sparse.csr_array(Z), mass))
    return symmetrize(scale_rows(scipy.sparse.csr_array(A), scaling))
