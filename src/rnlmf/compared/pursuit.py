"""Orthogonal matching pursuit of many targets at once."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from rnlmf.cluster.affinity import block_rows, row_chunks
from rnlmf.engine.samples import default_threads, threads
from rnlmf.penalties import row_norms
from rnlmf.typing import Array

# An atom this close to the space of those chosen, and a residual this small beside its target, is
# rounding.
ROUNDING = 1e-7


def matching_pursuit(
    targets: Array,
    atoms: Array,
    n_nonzero: int,
    *,
    tol: float = 0.0,
    same: bool = False,
    n_threads: int | None = None,
) -> scipy.sparse.csr_array:
    """Codes ``C`` with few entries in every row such that ``C atoms`` is near to `targets`.

    Of every target the atom with the largest ``|residual . atom|`` is added, and the coefficients of
    all that were chosen are those of least squares, until the residual is small or there are
    `n_nonzero` [1]_. An orthonormal basis of the chosen atoms makes every step a product. Memory is
    ``O(n n_nonzero)``.

    Parameters
    ----------
    targets : array of shape (n, m)
        What is represented.
    atoms : array of shape (p, m)
        Of length one.
    n_nonzero : int
        Most entries of a row.
    tol : float
        A row ends when the residual, relative to the target, is not longer.
    same : bool
        Whether `atoms` are the `targets`, none of which may represent itself.
    n_threads : int or None
        None: as many as BLAS would use. Results do not depend on it.

    Returns
    -------
    sparse array of shape (n, p)

    References
    ----------
    .. [1] Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad, "Orthogonal matching pursuit: recursive
       function approximation with applications to wavelet decomposition", Asilomar Conference, 1993.
    """
    n, m = targets.shape
    p = len(atoms)
    count = min(n_nonzero, p - same, m)
    columns = np.zeros((n, count), dtype=np.int32)
    values = np.zeros((n, count))
    least = max(tol, ROUNDING)

    def work(rows: slice) -> None:
        block = targets[rows]
        residual = block.copy()
        lengths = row_norms(block)[:, 0]
        basis = np.zeros((len(block), count, m))
        # Of the atoms in the basis; the identity where nothing was chosen.
        triangle = np.tile(np.eye(count), (len(block), 1, 1))
        products = np.zeros((len(block), count))
        active = np.flatnonzero(lengths > 0.0)
        for step in range(count):
            active = active[row_norms(residual[active])[:, 0] > least * lengths[active]]
            if not len(active):
                break
            fits = np.abs(residual[active] @ atoms.T)
            if same:
                fits[np.arange(len(active)), rows.start + active] = -1.0
            np.put_along_axis(fits, columns[rows][active, :step], -1.0, axis=1)
            best = fits.argmax(axis=1)
            new = atoms[best]
            # Twice is enough for a new direction that is orthogonal to rounding.
            for _ in range(2):
                parts = np.einsum("bkm,bm->bk", basis[active, :step], new)
                triangle[active, :step, step] += parts
                new = new - np.einsum("bk,bkm->bm", parts, basis[active, :step])
            length = row_norms(new)[:, 0]
            good = length > ROUNDING
            # Whoever finds nothing new is done; what was added to its triangle is not used.
            triangle[active[~good], :, step] = np.eye(count)[step]
            active, new, length, best = active[good], new[good], length[good], best[good]
            new /= length[:, None]
            triangle[active, step, step] = length
            basis[active, step] = new
            products[active, step] = np.einsum("bm,bm->b", residual[active], new)
            residual[active] -= products[active, step, None] * new
            columns[rows.start + active, step] = best
        values[rows] = np.linalg.solve(triangle, products[:, :, None])[:, :, 0]

    with threads(n_threads or default_threads(), n) as run_map:
        for _ in run_map(work, row_chunks(n, block_rows(8 * max(p, count * m)))):
            pass
    # A row may have ended early: its last columns are no choice.
    row, place = np.nonzero(values)
    return scipy.sparse.csr_array((values[row, place], (row, columns[row, place])), shape=(n, p))
