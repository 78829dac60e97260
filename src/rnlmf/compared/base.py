"""What the methods that RNLMF is compared with share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator

from rnlmf.cluster.labels import SpectralClusters, check_n_clusters
from rnlmf.conventions import check_samples, like, report_fit
from rnlmf.typing import Array
from rnlmf.validation import fit_context

# Residual balancing of the alternating direction methods (Boyd et al. 2011, section 3.4.1).
BALANCE = 5.0
BALANCE_EVERY = 10
BALANCE_UNTIL = 300
# Memory above which a method of n x n matrices is refused.
MOST_BYTES = 1 << 33
# What a graph with all edges takes while it is made: entries and their columns, a few times over.
FULL_GRAPH = 8


class Denoiser(BaseEstimator):
    """Base class: a fit that splits its training data into a clean part and noise.

    A subclass's ``_split`` sets ``noise_`` and what else it leaves behind, and returns the objective of
    every iteration and whether it converged. Everything is computed in double precision and returned
    in the precision of the data.
    """

    noise_: Array

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Split noisy samples into a clean part and noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Noisy samples.
        y : None
            Ignored.

        Returns
        -------
        self
            Fitted.
        """
        objective, converged = self._split(check_samples(self, X, fitting=True))
        report_fit(self, objective, len(objective), converged)
        return self

    def fit_denoise(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the training data without their noise, in the container of `X`."""
        self.fit(X)
        return like(X, check_samples(self, X) - self.noise_)

    def _split(self, X: Array) -> tuple[list[float], bool]:
        raise NotImplementedError

    def _start(self, name: str, *shapes: tuple[int, ...]) -> Any:
        """The last solution, if warm starts are wanted and its arrays have the `shapes`."""
        last = getattr(self, name, None) if self.warm_start else None
        if last is None or tuple(array.shape for array in last) != shapes:
            return None
        return last


class SubspaceClusterer(SpectralClusters, BaseEstimator):
    """Base class: a fit that represents samples by each other, for their graph, and no model of noise.

    A subclass's ``_represent`` gets the samples in double precision, sets what it leaves behind, and
    returns the objective of every iteration and whether it converged; ``_graph`` then makes the graph.
    """

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Represent samples by each other, and cluster them if a number of clusters is given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : None
            Ignored.

        Returns
        -------
        self
            Fitted.
        """
        samples = check_samples(self, X, fitting=True)
        check_n_clusters(self.n_clusters, len(samples))
        objective, converged = self._represent(samples.astype(np.float64))
        if self.n_clusters is not None:
            self._set_labels(self._graph(), samples)
        report_fit(self, objective, len(objective), converged)
        return self

    def _represent(self, X: Array) -> tuple[list[float], bool]:
        raise NotImplementedError

    def _graph(self) -> scipy.sparse.csr_array:
        raise NotImplementedError


def check_memory(n_samples: int, n_matrices: int) -> None:
    """Refuse data whose n x n matrices of doubles would take more than 8 GiB."""
    needed = 8 * n_samples**2 * n_matrices
    if needed > MOST_BYTES:
        raise ValueError(
            f"{n_samples} samples need about {needed / 2**30:.0f} GiB for matrices of "
            f"{n_samples} x {n_samples}, more than {MOST_BYTES / 2**30:.0f} GiB: take fewer samples, "
            "or RNLMFClustering, SparseSubspaceClusteringOMP or ElasticNetSubspaceClustering, whose "
            "memory grows with the number of samples only."
        )


def neighbours_kept(n_neighbors: int | None, n_samples: int) -> int:
    """How many affinities of a sample are kept; None is all, which is refused if it is too many."""
    if n_neighbors is None:
        check_memory(n_samples, FULL_GRAPH)
    return n_samples - 1 if n_neighbors is None else min(n_neighbors, n_samples - 1)


def in_mean_singular_values(X: Array) -> tuple[Array, float]:
    """The data over their mean singular value, in double precision, and that value.

    Neither the steps of a method nor rounding then depend on the data's scale.
    """
    data = X.astype(np.float64)
    scale = float(np.linalg.norm(data)) / min(data.shape) ** 0.5 or 1.0
    data /= scale
    return data, scale


def balanced(iteration: int, primal: float, dual: float) -> float:
    """Factor for the penalty parameter that brings the two residuals together.

    Only every tenth of the first 300 iterations may change it: a parameter that stays fixed in the
    end keeps the proof of convergence.
    """
    if iteration % BALANCE_EVERY or iteration > BALANCE_UNTIL:
        return 1.0
    if primal > BALANCE * dual:
        return 2.0
    return 0.5 if dual > BALANCE * primal else 1.0


def minimise_rows(
    step: Callable[[Array, Array], Array],
    Z: Array,
    tol: float,
    max_iter: int,
    *,
    accelerated: bool = True,
) -> Array:
    """Minimise a convex function of every row by descent steps.

    ``step(rows, Z)`` takes one step from ``Z``, the current values of the ``rows``. Every row has its
    own momentum, restart (O'Donoghue and Candes 2015) and end, so that it does not depend on the
    others.

    Parameters
    ----------
    step : callable
        See above.
    Z : array of shape (n_samples, n_variables)
        Start.
    tol : float
        A row ends when a step changes no entry by more than this.
    max_iter : int
        Most steps.
    accelerated : bool
        Whether the steps are proximal gradient steps, to which momentum can be added.

    Returns
    -------
    array of the shape of `Z`
    """
    result = Z.copy()
    rows = np.arange(len(Z))
    current, ahead, t = Z, Z, np.ones((len(Z), 1))
    for _ in range(max_iter):
        if not len(rows):
            break
        new = step(rows, ahead)
        result[rows] = new
        moved = np.abs(new - ahead).max(axis=1, initial=0.0) > tol
        forward = np.einsum("ij,ij->i", ahead - new, new - current) <= 0.0
        t = np.where(forward[:, None] & accelerated, t, 1.0)
        t_next = 0.5 + np.sqrt(0.25 + t * t)
        ahead = new + (t - 1.0) / t_next * (new - current)
        rows, current, ahead, t = rows[moved], new[moved], ahead[moved], t_next[moved]
    return result
