"""Pictures of clusters: the affinity graph, sorted by cluster, and the spectral embedding."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from rnlmf.plotting.drawing import axes, principal_plane
from rnlmf.typing import Array


class AffinityDisplay:
    """Affinity graph with its samples sorted by cluster: a good graph is a row of bright blocks.

    Large graphs are shown as mean affinities of groups of neighbouring samples, so that no n x n
    picture is needed.

    Parameters
    ----------
    affinity : sparse array of shape (n_samples, n_samples) or (n_samples, n_landmarks)
        The graph.
    labels : array of shape (n_samples,)
        What rows, and the columns of a square graph, are sorted by.

    Attributes
    ----------
    ax_, figure_, image_
        The axes, figure and image of the last :meth:`plot`.

    Examples
    --------
    >>> from rnlmf import RNLMFClustering
    >>> from rnlmf.plotting import AffinityDisplay
    >>> from sklearn.datasets import load_iris
    >>> model = RNLMFClustering(3, random_state=0).fit(load_iris().data)
    >>> display = AffinityDisplay.from_estimator(model)
    >>> display.ax_.get_xlabel()
    'sample'
    """

    def __init__(self, affinity: Any, labels: Any) -> None:
        self.affinity = scipy.sparse.csr_array(affinity)
        self.labels = column_or_1d(labels)
        check_consistent_length(self.labels, np.empty(self.affinity.shape[0]))

    @classmethod
    def from_estimator(cls, estimator: Any, *, labels: Any = None, **options: Any) -> Self:
        """Picture of a fitted clustering estimator; the `options` are those of :meth:`plot`.

        Parameters
        ----------
        estimator : fitted estimator
            With `affinity_matrix_` and `labels_`.
        labels : array-like of shape (n_samples,) or None
            Other labels to sort by, such as known classes.
        """
        check_is_fitted(estimator, ["affinity_matrix_", "labels_"])
        labels = estimator.labels_ if labels is None else labels
        return cls(estimator.affinity_matrix_, labels).plot(**options)

    def grid(self, size: int = 400) -> Array:
        """Mean affinities on a grid of at most `size` cells a side, sorted by cluster."""
        n, p = self.affinity.shape
        order = np.argsort(self.labels, kind="stable")
        place = np.argsort(order)
        sorted_rows, rows = _cells(place, size)
        if n == p:
            sorted_columns, columns = sorted_rows, rows
        else:
            # Landmarks go where the samples that are nearest to them are.
            weight = np.asarray(self.affinity.sum(axis=0)).ravel()
            mean = (self.affinity.T @ place) / np.where(weight > 0.0, weight, 1.0)
            sorted_columns, columns = _cells(np.argsort(np.argsort(mean, kind="stable")), size)
        entries = self.affinity.tocoo()
        cells = sorted_rows[entries.coords[0]], sorted_columns[entries.coords[1]]
        total = np.zeros((len(rows), len(columns)))
        np.add.at(total, cells, entries.data)
        return total / np.outer(rows, columns)

    def plot(self, ax: Any = None, *, size: int = 400, cmap: str = "magma") -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib axes or None
            Where to draw.
        size : int
            Most cells a side.
        cmap : str
            Name of a colour map.
        """
        self.ax_, self.figure_ = axes(ax)
        picture = self.grid(size)
        n, p = self.affinity.shape
        # Affinities fall off fast: the root makes the weak ones visible.
        self.image_ = self.ax_.imshow(
            np.sqrt(picture), cmap=cmap, extent=(0, p, n, 0), aspect="auto", interpolation="nearest"
        )
        bounds = np.cumsum(np.bincount(np.unique(self.labels, return_inverse=True)[1]))[:-1]
        self.ax_.hlines(bounds, 0, p, color="white", linewidth=0.4, alpha=0.5)
        if n == p:
            self.ax_.vlines(bounds, 0, n, color="white", linewidth=0.4, alpha=0.5)
        self.ax_.set(xlabel="sample" if n == p else "landmark", ylabel="sample, sorted by cluster")
        self.figure_.colorbar(self.image_, ax=self.ax_, label="root of the mean affinity")
        return self


def _cells(place: Array, size: int) -> tuple[Array, Array]:
    """The cell of every place on a line of at most `size` cells, and how many places each has."""
    count = min(size, len(place))
    cells = place * count // len(place)
    return cells, np.bincount(cells, minlength=count)


class EmbeddingDisplay:
    """Spectral embedding in two dimensions, one colour for each cluster.

    Parameters
    ----------
    embedding : array of shape (n_samples, n_vectors)
        It is shown along its first two principal components.
    labels : array of shape (n_samples,)
        Clusters.

    Attributes
    ----------
    points_ : array of shape (n_samples, 2)
    ax_, figure_, scatter_
        The axes, figure and points of the last :meth:`plot`.

    Examples
    --------
    >>> from rnlmf import RNLMFClustering
    >>> from rnlmf.plotting import EmbeddingDisplay
    >>> from sklearn.datasets import load_iris
    >>> model = RNLMFClustering(3, random_state=0).fit(load_iris().data)
    >>> EmbeddingDisplay.from_estimator(model).points_.shape
    (150, 2)
    """

    def __init__(self, embedding: Any, labels: Any) -> None:
        self.embedding = np.asarray(embedding)
        self.labels = column_or_1d(labels)
        check_consistent_length(self.embedding, self.labels)

    @classmethod
    def from_estimator(cls, estimator: Any, *, labels: Any = None, **options: Any) -> Self:
        """Picture of a fitted clustering estimator; the `options` are those of :meth:`plot`.

        Parameters
        ----------
        estimator : fitted estimator
            With `embedding_` and `labels_`.
        labels : array-like of shape (n_samples,) or None
            Other labels to colour by, such as known classes.
        """
        check_is_fitted(estimator, ["embedding_", "labels_"])
        return cls(estimator.embedding_, estimator.labels_ if labels is None else labels).plot(
            **options
        )

    def plot(self, ax: Any = None, *, cmap: str = "nipy_spectral", **options: Any) -> Self:
        """Draw on `ax`, or on a new figure; other `options` are those of matplotlib's ``scatter``."""
        self.points_, _ = principal_plane(self.embedding)
        colours = np.unique(self.labels, return_inverse=True)[1]
        self.ax_, self.figure_ = axes(ax)
        self.scatter_ = self.ax_.scatter(*self.points_.T, c=colours, cmap=cmap, **{"s": 8, **options})
        self.ax_.set(xlabel="first principal component", ylabel="second principal component")
        return self
