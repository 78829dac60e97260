"""The landmark form of a graph: samples are compared with a few thousand representatives only."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.cluster import MiniBatchKMeans

from rnlmf.cluster.affinity import symmetrize

Array = npt.NDArray[Any]

# k-means need not converge: landmarks must be spread over the samples, no more.
EPOCHS = 5
BATCH_ROWS = 4096


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
    centers: Array = model.fit(B).cluster_centers_.astype(B.dtype)
    return centers


def landmark_graph(Z: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Affinities between landmarks, ``Z^T D^-1 Z`` with ``D`` the row sums of ``Z``.

    ``Z`` (n, p) are the affinities of samples with landmarks. The graph of samples ``W = Z L^-1 Z^T``,
    with ``L`` the column sums of ``Z``, has ``D`` as its row sums, and its normalised form is
    ``N N^T`` with ``N = D^-1/2 Z L^-1/2`` [1]_. That of this (p, p) graph is ``N^T N``: both have the
    same eigenvalues, and each one's vectors follow from the other's.

    References
    ----------
    .. [1] D. Cai and X. Chen, "Large scale spectral clustering via landmark-based sparse
       representation", IEEE Transactions on Cybernetics, 2015.
    """
    sums = np.asarray(Z.sum(axis=1)).ravel()
    scaled = scipy.sparse.diags_array(1.0 / np.where(sums > 0.0, sums, 1.0)) @ Z
    return scipy.sparse.csr_array(symmetrize(Z.T @ scaled, diagonal=True))
