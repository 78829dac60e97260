"""Subspace clustering by RNLMF (Algorithm 3 of the paper), from a thousand samples to a million."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import BaseEstimator, ClusterMixin, _fit_context
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from rnlmf.cluster.affinity import (
    gram,
    least_squares_factor,
    neighbour_graph,
    row_chunks,
    scale_rows,
    strongest,
    unit_rows,
)
from rnlmf.cluster.assign import assign
from rnlmf.cluster.labels import (
    LABEL_CONSTRAINTS,
    Spectrum,
    canonical_order,
    check_n_clusters,
    spectrum,
)
from rnlmf.cluster.landmarks import choose_landmarks, landmark_graph
from rnlmf.conventions import like
from rnlmf.engine import default_threads, start
from rnlmf.estimators import RNLMF
from rnlmf.kernels import RBF

Array = npt.NDArray[Any]

MAX_ATOMS = 256
# More samples than this hardly improve the dictionary.
FIT_SAMPLES = 20_000
# Above this many samples affinities are those with landmarks.
GRAPH_SAMPLES = 100_000
LANDMARKS = 2000
LANDMARKS_PER_CLUSTER = 20
# affinity_weight="auto", over the mean eigenvalue of C^T C.
RELATIVE_AFFINITY_WEIGHT = 0.3
# noise_weight="auto": threshold of the noise, in standard deviations of the data.
RELATIVE_THRESHOLD = 0.05
CHUNK_ROWS = 8192
# Eigenvalues below this do not take part in the treatment of new samples.
LEAST_EIGENVALUE = 1e-3


@dataclass(frozen=True)
class _Reference:
    """What samples are compared with: rows `B`, made from codes by `factor`."""

    factor: Array
    B: Array


@dataclass(frozen=True)
class _Cut:
    """A graph, its spectrum, and what takes affinities with the reference to the embedding."""

    graph: scipy.sparse.csr_array
    spectrum: Spectrum
    vectors: Array
    projection: Array


class RNLMFClustering(ClusterMixin, BaseEstimator):
    """Subspace clustering by robust non-linear matrix factorization.

    :class:`RNLMF` gives every sample a code ``c_i`` that does not see its noise. Samples whose codes
    represent each other are neighbours in a graph, which is cut by normalised spectral clustering:
    Algorithm 3 of [1]_, in memory ``O(n (n_components + n_neighbors))``. New samples get a label too.

    The affinities are ``A = C (C^T C + gamma I)^-1 C^T``, the solution of a least-squares
    representation of the codes by each other. The defaults differ from the paper, whose settings depend
    on the data: they were chosen once and are the same for all data. The paper's are, for example for
    COIL-20, ``RNLMFClustering(20, n_components=256, kernel_scale=1.0, noise_weight=5e-4,
    affinity="least-squares", affinity_weight=0.01, n_neighbors=15)``.

    Parameters
    ----------
    n_clusters : int or None
        None: where the eigenvalues of the graph fall most, at most 50; see `n_clusters_confidence_`.
    n_neighbors : int
        ``kappa``, the largest affinities of a sample that are kept.
    affinity : {"cosine", "least-squares"}
        "least-squares" is ``|A_ij|``, as in the paper. "cosine" is ``|A_ij| / sqrt(A_ii A_jj)`` of
        codes of unit length, so that neither bright nor unusual samples attract the others.
    affinity_weight : float or "auto"
        ``gamma``. "auto" is 0.3 of the mean eigenvalue of ``C^T C``.
    affinity_scaling : {"max", "sum"}
        What the affinities of a sample are divided by: the largest (the paper) or the sum of those kept
        (the authors' program).
    form : {"auto", "graph", "landmarks"}
        "graph" compares all samples with each other, in blocks: time ``O(n^2)``, memory ``O(n)``.
        "landmarks" compares them with `n_landmarks` representatives: time and memory ``O(n)``.
        "auto" takes landmarks above 100,000 samples.
    n_landmarks : int or None
        None: 2000, or 20 for each cluster if that is more.
    assign_labels : {"kmeans", "cluster_qr"}
        How the embedding is cut: k-means with `n_init` starts, or a pivoted QR factorization, which has
        none.
    n_init : int
        Starts of k-means.
    n_components : int or None
        Number of atoms. None: 256, at most half of the number of samples.
    kernel_scale : float
        The kernel's ``sigma`` over the mean distance between samples.
    code_weight : float
        ``lambda_C``.
    noise_penalty : {"l1", "l21"}
        ``R(E)``: wrong entries or wrong samples.
    noise_weight : float or "auto"
        ``lambda_E``. "auto" sets the threshold above which a residual is noise to 5% of the data's
        standard deviation.
    fit_samples : int or None
        The dictionary, and the landmarks, are learnt from at most this many samples, drawn at random.
        None: from all.
    max_iter, tol
        See :class:`RNLMF`.
    n_jobs : int or None
        Threads. None: as many as BLAS would use. Results do not depend on it.
    random_state : int, RandomState or None
        For everything that is drawn at random. Results do not depend on the order of the samples.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Clusters from 0, the largest first.
    n_clusters_ : int
        How many there are.
    n_clusters_confidence_ : float or None
        With ``n_clusters=None``, how clear their number is: one minus the second largest fall of the
        eigenvalues over the largest. Above 0.5 it can be trusted; near 0 another number is as good.
    affinity_matrix_ : sparse array of shape (n_samples, n_samples) or (n_samples, n_landmarks)
        The graph.
    embedding_ : array of shape (n_samples, n_clusters_)
        Eigenvectors, their rows of unit length.
    eigenvalues_ : array
        Largest eigenvalues of the normalised graph.
    n_connected_components_ : int
        Of the graph that is cut; at most `n_clusters`.
    converged_ : bool
        Whether the eigenvectors converged.
    factorization_ : RNLMF
        The fitted factorization; ``factorization_.denoise(X)`` are the samples without their noise.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    References
    ----------
    .. [1] J. Fan, C. Yang and M. Udell, "Robust Non-Linear Matrix Factorization for Dictionary
       Learning, Denoising, and Clustering", IEEE Transactions on Signal Processing, 2021.

    Examples
    --------
    >>> from rnlmf import RNLMFClustering
    >>> from rnlmf.datasets import corrupt_entries
    >>> from rnlmf.metrics import clustering_error
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(300, n_features=10, centers=4, random_state=0)
    >>> model = RNLMFClustering(4, random_state=0).fit(corrupt_entries(X, 0.02, random_state=0))
    >>> clustering_error(y, model.labels_) < 0.05
    True
    >>> clustering_error(y, model.predict(X)) < 0.05
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **LABEL_CONSTRAINTS,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "affinity": [StrOptions({"cosine", "least-squares"})],
        "affinity_weight": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "affinity_scaling": [StrOptions({"max", "sum"})],
        "form": [StrOptions({"auto", "graph", "landmarks"})],
        "n_landmarks": [Interval(Integral, 2, None, closed="left"), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel_scale": [Interval(Real, 0, None, closed="neither")],
        "code_weight": [Interval(Real, 0, None, closed="neither")],
        "noise_penalty": [StrOptions({"l1", "l21"})],
        "noise_weight": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "fit_samples": [Interval(Integral, 2, None, closed="left"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_clusters=None,
        *,
        n_neighbors=5,
        affinity="cosine",
        affinity_weight="auto",
        affinity_scaling="max",
        form="auto",
        n_landmarks=None,
        assign_labels="kmeans",
        n_init=20,
        n_components=None,
        kernel_scale=3.0,
        code_weight=1e-2,
        noise_penalty="l1",
        noise_weight="auto",
        fit_samples=FIT_SAMPLES,
        max_iter=300,
        tol=3e-4,
        n_jobs=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.affinity_weight = affinity_weight
        self.affinity_scaling = affinity_scaling
        self.form = form
        self.n_landmarks = n_landmarks
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.n_components = n_components
        self.kernel_scale = kernel_scale
        self.code_weight = code_weight
        self.noise_penalty = noise_penalty
        self.noise_weight = noise_weight
        self.fit_samples = fit_samples
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None) -> Self:
        """Cluster samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Noisy samples.
        y : ignored

        Returns
        -------
        self
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        check_n_clusters(self.n_clusters, len(X))
        rng = check_random_state(self.random_state)
        order = canonical_order(X)
        place = np.argsort(order)
        X = X[order]
        some = self._some(X, rng)
        self.factorization_ = self._factorization(some, rng).fit(some)
        landmarks = self.form == "landmarks" or (self.form == "auto" and len(X) > GRAPH_SAMPLES)
        cut = self._cut_landmarks(X, some, rng) if landmarks else self._cut_graph(X, rng)
        labels, self._centers = assign(cut.vectors, self.assign_labels, self.n_init, rng)
        self._projection = cut.projection
        graph, result = cut.graph[place], cut.spectrum
        self.affinity_matrix_ = scipy.sparse.csr_array(graph if landmarks else graph[:, place])
        rows = unit_rows(cut.vectors)
        self.labels_, self.embedding_ = labels[place], rows[place]
        self.n_clusters_ = len(self._centers)
        self.n_clusters_confidence_ = result.confidence
        self.eigenvalues_ = result.eigenvalues
        self.n_connected_components_ = result.embedding.n_components
        self.converged_ = result.embedding.converged
        return self

    def predict(self, X):
        """Label of samples, new or old, each on its own.

        A sample's affinities with those of the fit give its place in the embedding (the extension of
        Nyström), and the nearest cluster there is its own.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        labels = np.empty(len(X), dtype=np.int64)
        for rows in row_chunks(len(X), CHUNK_ROWS):
            place = unit_rows(self._compare(X[rows]) @ self._projection)
            labels[rows] = pairwise_distances_argmin(place, self._centers)
        return labels

    def denoise(self, X):
        """Samples without their noise, ``X - E``, in the container of `X`."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return like(X, self.factorization_.denoise(data))

    def fit_denoise(self, X, y=None):
        """Fit, and return the samples without their noise."""
        return self.fit(X).denoise(X)

    def _some(self, X: Array, rng: np.random.RandomState) -> Array:
        """The samples that the dictionary is learnt from."""
        if self.fit_samples is None or len(X) <= self.fit_samples:
            return X
        return X[np.sort(rng.choice(len(X), self.fit_samples, replace=False))]

    def _factorization(self, X: Array, rng: np.random.RandomState) -> RNLMF:
        """The factorization with everything said that this method depends on."""
        n, m = X.shape
        sigma = start.length_scale(X, RBF(), self.kernel_scale, rng)
        weight = self.noise_weight
        if weight == "auto":
            spreads = start.spread(X, start.data_units(X, RBF(), sigma)) * sigma
            weight = RELATIVE_THRESHOLD * float(np.sqrt(np.mean(spreads**2))) / sigma**2
            weight *= m**0.5 if self.noise_penalty == "l21" else 1.0
        return RNLMF(
            max(1, min(MAX_ATOMS, n // 2)) if self.n_components is None else self.n_components,
            kernel=RBF(sigma=sigma),
            code_penalty="l2",
            code_weight=self.code_weight,
            noise_penalty=self.noise_penalty,
            noise_weight=weight,
            init="random",
            max_iter=self.max_iter,
            tol=self.tol,
            n_jobs=self.n_jobs,
            random_state=int(rng.randint(2**31 - 1)),
        )

    def _codes(self, X: Array) -> Array:
        """Codes of samples, of unit length where affinities are cosines."""
        codes = np.empty((len(X), len(self.factorization_.components_)), X.dtype)
        for rows in row_chunks(len(X), CHUNK_ROWS):
            block = self.factorization_.transform(X[rows])
            codes[rows] = unit_rows(block) if self.affinity == "cosine" else block
        return codes

    def _factor(self, C: Array, n_samples: int) -> Array:
        """The factor that makes affinities of the codes, `C` being those of all samples or of some."""
        G = gram(C) * (n_samples / len(C))
        weight = self.affinity_weight
        if weight == "auto":
            weight = RELATIVE_AFFINITY_WEIGHT * float(np.trace(G)) / len(G) or 1.0
        return least_squares_factor(G, weight)

    def _weigh(self, C: Array, factor: Array) -> Array:
        """Codes that become, in place, rows whose products are affinities."""
        for rows in row_chunks(len(C), CHUNK_ROWS):
            block = C[rows] @ factor
            C[rows] = unit_rows(block) if self.affinity == "cosine" else block
        return C

    def _compare(self, X: Array) -> scipy.sparse.csr_array:
        """Affinities of samples with the reference."""
        reference = self._reference
        B = self._weigh(self._codes(X), reference.factor).astype(reference.B.dtype, copy=False)
        count = min(self.n_neighbors, len(reference.B))
        Z = strongest(B, reference.B, count, n_threads=self._n_threads())
        return scale_rows(Z, self.affinity_scaling)

    def _cut_graph(self, X: Array, rng: np.random.RandomState) -> _Cut:
        """Affinities of all samples with each other."""
        C = self._codes(X)
        factor = self._factor(C, len(C))
        B = self._weigh(C, factor)
        self._reference = _Reference(factor, B)
        W = neighbour_graph(
            B, self.n_neighbors, scaling=self.affinity_scaling, n_threads=self._n_threads()
        )
        W, result = spectrum(W, B, self.n_clusters, rng)
        projection = _projection(result) / np.maximum(result.kept, LEAST_EIGENVALUE)
        return _Cut(W, result, result.vectors, projection)

    def _cut_landmarks(self, X: Array, some: Array, rng: np.random.RandomState) -> _Cut:
        """Affinities of all samples with landmarks."""
        C = self._codes(some)
        factor = self._factor(C, len(X))
        count = self.n_landmarks
        if count is None:
            count = max(LANDMARKS, LANDMARKS_PER_CLUSTER * (self.n_clusters or 0))
        B = choose_landmarks(self._weigh(C, factor), count, rng)
        self._reference = _Reference(factor, unit_rows(B) if self.affinity == "cosine" else B)
        chunks = [self._compare(X[rows]) for rows in row_chunks(len(X), CHUNK_ROWS)]
        Z = scipy.sparse.csr_array(scipy.sparse.vstack(chunks))
        _, result = spectrum(landmark_graph(Z), B, self.n_clusters, rng)
        projection = _projection(result) / np.sqrt(np.maximum(result.kept, LEAST_EIGENVALUE))
        return _Cut(Z, result, Z @ projection, projection)

    def _n_threads(self) -> int:
        return default_threads() if self.n_jobs is None else self.n_jobs


def _projection(result: Spectrum) -> Array:
    """``D^-1/2 U``: eigenvectors as functions on the reference."""
    degrees = result.embedding.degrees
    scaled: Array = result.vectors / np.sqrt(np.where(degrees > 0.0, degrees, 1.0))[:, None]
    return scaled
