"""Normalised spectral embedding of an affinity graph, safe on nearly disconnected graphs.

A graph of several parts that hardly touch has many eigenvalues that are one, or nearly so. Methods
that build up a space from one vector (ARPACK) miss some of them without a word or do not converge.
Here every connected component is solved on its own, a small one by a dense solver, a large one by a
block method.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, lobpcg, splu
from sklearn.exceptions import ConvergenceWarning

from rnlmf.typing import Array

# Components of up to this many samples are solved by a dense method.
DENSE_SAMPLES = 2500
# Up to this many, an exact factorization is a fair preconditioner where there is no multigrid.
FACTORIZED_SAMPLES = 20_000
# Vectors beyond those wanted, so that the last ones converge too.
GUARD = 6
# The Laplacian is singular; its preconditioner is that of a slightly larger one.
SHIFT = 1e-5
# Norm of a residual, the matrix having norm one.
TOLERANCE = 1e-5
# Restarts, and steps of each, before the vectors are taken as they are (choices).
ROUNDS = 5
STEPS = 40


@dataclass(frozen=True)
class Embedding:
    """The largest eigenpairs of a normalised graph.

    Attributes
    ----------
    vectors : array of shape (n, k)
        Orthonormal eigenvectors of ``D^-1/2 W D^-1/2``.
    eigenvalues : array of shape (k,)
        In falling order; as many are one as there are connected components, if `k` allows.
    degrees : array of shape (n,)
        Row sums ``D`` of the graph.
    n_components : int
        Connected components, of one sample or more.
    converged : bool
        Whether every eigenpair is exact to `TOLERANCE`.
    """

    vectors: Array
    eigenvalues: Array
    degrees: Array
    n_components: int
    converged: bool


def spectral_embedding(W: scipy.sparse.csr_array, k: int, rng: np.random.RandomState) -> Embedding:
    """The `k` largest eigenpairs of the normalised graph ``D^-1/2 W D^-1/2``.

    Parameters
    ----------
    W : sparse array of shape (n, n)
        Symmetric, without negative entries.
    k : int
        At most ``n``.
    rng : RandomState
        For the first vectors of the iteration.

    Notes
    -----
    A connected component has the eigenvalue one exactly once, with the vector ``sqrt(degrees)``. So has
    a sample without any neighbour, its own component. The rest of a component comes from LOBPCG [1]_,
    whose block does not miss an eigenvalue because it is repeated, with algebraic multigrid (pyamg) as
    its preconditioner where that is installed, with a sparse factorization for up to 20,000 samples
    where it is not, and with none otherwise.

    Of the components that have the same eigenvalue the larger ones come first.

    References
    ----------
    .. [1] A. Knyazev, "Toward the optimal preconditioned eigensolver: locally optimal block
       preconditioned conjugate gradient method", SIAM Journal on Scientific Computing, 2001.
    """
    W = scipy.sparse.csr_array(W, dtype=np.float64)
    n = W.shape[0]
    if not 1 <= k <= n:
        raise ValueError(f"k={k} must lie between 1 and the number of samples, {n}.")
    degrees = np.asarray(W.sum(axis=1)).ravel()
    root = np.sqrt(degrees)
    inverse = np.where(root > 0.0, 1.0 / np.where(root > 0.0, root, 1.0), 0.0)
    M = scipy.sparse.csr_array(
        scipy.sparse.diags_array(inverse) @ W @ scipy.sparse.diags_array(inverse)
    )
    count, component = connected_components(W, directed=False)
    members = np.split(np.argsort(component, kind="stable"), np.cumsum(np.bincount(component))[:-1])
    # Only the largest components can be among the first k vectors.
    largest_first = sorted(range(count), key=lambda c: (-len(members[c]), members[c][0]))[:k]
    converged = True
    pairs: list[tuple[float, int, int, Array]] = []
    # If no component is left over, the eigenvalues below one count as well.
    extra = k - len(largest_first)
    for rank, c in enumerate(largest_first):
        part = members[c]
        first = root[part] / np.linalg.norm(root[part]) if len(part) > 1 else np.ones(1)
        pairs.append((1.0, rank, 0, first))
        wanted = min(extra, len(part) - 1)
        if wanted:
            block = M if count == 1 else scipy.sparse.csr_array(M[part][:, part])
            values, vectors, good = _rest(block, first, wanted, rng)
            converged &= good
            pairs += [(float(v), rank, i + 1, vectors[:, i]) for i, v in enumerate(values)]
    pairs = sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2]))[:k]
    vectors = np.zeros((n, k))
    for column, (_, rank, _, vector) in enumerate(pairs):
        vectors[members[largest_first[rank]], column] = vector
    if not converged:
        warnings.warn(
            "The eigenvectors of the affinity graph did not converge. The labels can be used; "
            "n_neighbors with a higher value makes the problem easier"
            + ("." if _multigrid() else ", as does the package pyamg (the extra rnlmf[cluster])."),
            ConvergenceWarning,
            stacklevel=2,
        )
    return Embedding(vectors, np.array([pair[0] for pair in pairs]), degrees, int(count), converged)


def _rest(
    M: scipy.sparse.csr_array, first: Array, k: int, rng: np.random.RandomState
) -> tuple[Array, Array, bool]:
    """The `k` largest eigenpairs of a connected graph after its `first`."""
    n = len(first)
    block = k + GUARD
    if n <= DENSE_SAMPLES or 5 * block > n:
        # Deflated: the first eigenvalue becomes -1, so that it is not found again.
        dense = M.toarray()
        dense -= 2.0 * np.outer(first, first)
        values, vectors = scipy.linalg.eigh(dense, subset_by_index=(n - k, n - 1), overwrite_a=True)
        return values[::-1], vectors[:, ::-1], True
    laplacian = scipy.sparse.csr_array(scipy.sparse.eye_array(n) - M)
    preconditioner = _preconditioner(laplacian, first, rng)
    vectors = rng.standard_normal((n, block))
    constraint = first[:, None]
    for _ in range(ROUNDS):
        with warnings.catch_warnings():
            # It warns of what is checked below.
            warnings.simplefilter("ignore", UserWarning)
            values, vectors = lobpcg(
                laplacian,
                vectors,
                M=preconditioner,
                Y=constraint,
                tol=0.3 * TOLERANCE,
                maxiter=STEPS,
                largest=False,
            )
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
        residual = laplacian @ vectors[:, :k] - vectors[:, :k] * values[:k]
        if np.linalg.norm(residual, axis=0).max() <= TOLERANCE:
            return 1.0 - values[:k], vectors[:, :k], True
    return 1.0 - values[:k], vectors[:, :k], False


def _multigrid() -> Any:
    try:
        import pyamg
    except ImportError:
        return None
    return pyamg


def _preconditioner(
    laplacian: scipy.sparse.csr_array, kernel: Array, rng: np.random.RandomState
) -> LinearOperator | None:
    n = len(kernel)
    shifted = scipy.sparse.csr_matrix(laplacian + SHIFT * scipy.sparse.eye_array(n))
    pyamg = _multigrid()
    if pyamg is not None:
        with _global_seed(int(rng.randint(2**31 - 1))):
            hierarchy = pyamg.smoothed_aggregation_solver(shifted, B=kernel[:, None])
            return hierarchy.aspreconditioner()
    if n <= FACTORIZED_SAMPLES:
        factor = splu(scipy.sparse.csc_matrix(shifted), options={"SymmetricMode": True})
        return LinearOperator((n, n), matvec=factor.solve, matmat=factor.solve, dtype=np.float64)
    return None


@contextmanager
def _global_seed(seed: int) -> Iterator[None]:
    """NumPy's global generator, which pyamg draws from, seeded for a while."""
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
