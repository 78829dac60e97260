"""Sparse representations of samples by each other, by active sets: there is no n x n matrix."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path, lars_path_gram

from rnlmf.cluster.affinity import block_rows, largest_of_rows, row_chunks, strongest
from rnlmf.engine.samples import default_threads, threads
from rnlmf.typing import Array

# The first active set: the samples with the largest products.
FIRST_ACTIVE = 100
# The active set is larger than the number of nonzeros by this factor.
ROOM = 1.25
# How far a condition of optimality may be violated, and the accuracy of the inner solver.
SLACK = 1e-6
INNER_TOLERANCE = 1e-8
INNER_ITERATIONS = 10_000
# Samples whose active sets are checked together.
MOST_ROWS = 256

# Which samples represent one, and with which coefficients.
Sparse = tuple[Array, Array]


def largest_products(X: Array, *, n_threads: int | None = None) -> Array:
    """``max_j |x_i . x_j|`` over ``j != i``, for every sample."""
    peaks: Array = strongest(X, X, 1, same=True, n_threads=n_threads).data
    return peaks


def represent_sparsely(
    X: Array,
    weights: Array,
    *,
    l1_ratio: float = 1.0,
    max_nonzero: int | None = None,
    max_iter: int = 40,
    n_threads: int | None = None,
) -> tuple[scipy.sparse.csr_array, list[float], bool]:
    """The elastic net of every sample on all others.

    Row ``i`` of the result minimises ``t |c|_1 + (1 - t) |c|^2 / 2 + g_i |x_i - c X|^2 / 2`` with
    ``c_i = 0``. It is solved on an active set of samples, beginning with those of the largest
    products. Samples outside of it that violate the conditions of optimality,
    ``|g_i (x_i - c X) . x_j| <= t``, take the place of those without a coefficient until there are
    none [1]_.

    Parameters
    ----------
    X : array of shape (n, m)
        Samples, one in a row.
    weights : array of shape (n,)
        ``g``.
    l1_ratio : float
        ``t``; 1 is the lasso.
    max_nonzero : int or None
        Of a sample's coefficients the largest that are kept, of the solution. None: all.
    max_iter : int
        Most rounds of changes of the active set.
    n_threads : int or None
        None: as many as BLAS would use. Results do not depend on it.

    Returns
    -------
    C : sparse array of shape (n, n)
    objective : list of float
        Of all samples together after every round.
    converged : bool
        Whether the last round left no condition violated.

    References
    ----------
    .. [1] C. You, C.-G. Li, D. Robinson and R. Vidal, "Oracle based active set algorithm for scalable
       elastic net subspace clustering", CVPR, 2016.
    """
    n = len(X)

    def work(rows: slice) -> tuple[list[Sparse], list[float], bool]:
        places = np.arange(rows.start, rows.stop)
        found, objective, converged = _block(X, places, weights[rows], l1_ratio, max_iter)
        return [_largest(entry, max_nonzero) for entry in found], objective, converged

    with threads(n_threads or default_threads(), n) as run_map:
        blocks = list(run_map(work, row_chunks(n, min(block_rows(8 * n), MOST_ROWS))))
    entries = [entry for found, _, _ in blocks for entry in found]
    offsets = np.concatenate([[0], np.cumsum([len(support) for support, _ in entries])])
    C = scipy.sparse.csr_array(
        (
            np.concatenate([values for _, values in entries]),
            np.concatenate([support for support, _ in entries]),
            offsets,
        ),
        shape=(n, n),
    )
    C.sort_indices()
    # Blocks that are done stay as they are.
    longest = max(len(objective) for _, objective, _ in blocks)
    padded = [objective + objective[-1:] * (longest - len(objective)) for _, objective, _ in blocks]
    totals = [float(total) for total in np.sum(padded, axis=0)]
    return C, totals, all(converged for _, _, converged in blocks)


def _largest(entry: Sparse, count: int | None) -> Sparse:
    """The coefficients that are not zero, and of them the `count` largest."""
    support, values = entry
    order = np.argsort(-np.abs(values), kind="stable")[: np.count_nonzero(values)][:count]
    return support[order], values[order]


def _block(
    X: Array, rows: Array, weights: Array, t: float, max_iter: int
) -> tuple[list[Sparse], list[float], bool]:
    """Representations of some samples, objective of every round, and whether all are optimal."""
    products = np.abs(X[rows] @ X.T)
    products[np.arange(len(rows)), rows] = -1.0
    first, _ = largest_of_rows(products, min(FIRST_ACTIVE, len(X) - 1))
    found = [(support, np.zeros(len(support))) for support in first]
    values = np.zeros(len(rows))
    active = np.arange(len(rows))
    objective: list[float] = []
    for _ in range(max_iter):
        residuals = np.empty((len(active), X.shape[1]))
        for k, i in enumerate(active):
            support, x, g = found[i][0], X[rows[i]], weights[i]
            c = _elastic_net(X[support], x, g, t)
            rest = residuals[k] = x - c @ X[support]
            values[i] = t * np.abs(c).sum() + 0.5 * (1.0 - t) * (c @ c) + 0.5 * g * (rest @ rest)
            found[i] = (support, c)
        objective.append(float(values.sum()))
        slopes = np.abs(residuals @ X.T) * weights[active, None]
        slopes[np.arange(len(active)), rows[active]] = 0.0
        still = []
        for k, i in enumerate(active):
            support, c = found[i]
            slopes[k, support] = 0.0
            wrong = np.flatnonzero(slopes[k] > t * (1.0 + SLACK))
            if len(wrong):
                kept = support[c != 0.0]
                room = max(FIRST_ACTIVE, int(ROOM * len(kept)) + 1) - len(kept)
                worst = wrong[np.argsort(-slopes[k, wrong], kind="stable")[:room]]
                # The coefficients are those of the kept, should this have been the last round.
                padded = np.concatenate([c[c != 0.0], np.zeros(len(worst))])
                found[i] = (np.concatenate([kept, worst]), padded)
                still.append(i)
        active = np.array(still, dtype=int)
        if not still:
            return found, objective, True
    return found, objective, False


def _elastic_net(others: Array, x: Array, weight: float, t: float) -> Array:
    """The elastic net on an active set.

    With ``(1 - t) / g`` on the diagonal of the Gram matrix it is a lasso, whose path is followed by
    least angle regression: exact where coordinate descent takes for ever, as samples of a subspace
    depend on each other. Equal samples can end the path early; coordinate descent then goes on from
    there.
    """
    gram, products = others @ others.T, others @ x
    limit = t / weight
    gram.flat[:: len(gram) + 1] += (1.0 - t) / weight
    with warnings.catch_warnings():
        # The conditions of optimality are checked, here and by the caller.
        warnings.simplefilter("ignore", ConvergenceWarning)
        *_, c = lars_path_gram(
            products,
            gram,
            n_samples=1,
            alpha_min=limit,
            method="lasso",
            copy_Gram=True,
            return_path=False,
        )
        slopes = products - gram @ c
        # Where there is a coefficient the slope is the limit, with its sign; elsewhere less.
        wrong = np.abs(slopes - np.where(c != 0.0, limit * np.sign(c), np.clip(slopes, -limit, limit)))
        if wrong.max() > SLACK * limit:
            _, path, *_ = enet_path(
                np.asfortranarray(others.T),
                np.ascontiguousarray(x),
                l1_ratio=t,
                alphas=[1.0 / (weight * len(x))],
                tol=INNER_TOLERANCE,
                max_iter=INNER_ITERATIONS,
                coef_init=c,
                precompute=False,
                check_input=False,
            )
            c = path[:, 0]
    solution: Array = c
    return solution
