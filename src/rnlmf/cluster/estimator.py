"""Subspace clustering by RNLMF (Algorithm 3 of the paper), from a thousand samples to a million."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state

from rnlmf.cluster.affinity import row_chunks, unit_rows
from rnlmf.cluster.assign import cut
from rnlmf.cluster.graphs import Comparison, Graph, choose_landmarks, landmark_graph, sample_graph
from rnlmf.cluster.labels import EXTRA_VECTORS, LABEL_CONSTRAINTS, check_n_clusters
from rnlmf.conventions import check_samples, like
from rnlmf.engine.batches import canonical_order, some_rows
from rnlmf.engine.source import RowSource
from rnlmf.estimators.large import rows_of
from rnlmf.estimators.rnlmf import RNLMF
from rnlmf.fitting.settings import threads_of
from rnlmf.typing import Array
from rnlmf.validation import (
    AT_LEAST_ONE,
    AUTO,
    N_JOBS,
    POSITIVE,
    HasMethods,
    Interval,
    StrOptions,
    fit_context,
)

# Bounds of the number of atoms, which is twice that of the features between them (choices).
LEAST_ATOMS = 32
MAX_ATOMS = 256
# More samples than this hardly improve the dictionary.
FIT_SAMPLES = 20_000
# Above this many samples affinities are those with landmarks.
GRAPH_SAMPLES = 100_000
# How many, and at least so many for every cluster, or a small one has none (choices).
LANDMARKS = 2000
LANDMARKS_PER_CLUSTER = 20
# Rows that are looked at together.
CHUNK_ROWS = 8192


def default_estimator(n_samples: int, n_features: int, **parameters: Any) -> RNLMF:
    """The factorization that suits clusters: a wide kernel, small codes, and no search.

    Parameters
    ----------
    n_samples, n_features : int
        Of the data: there are twice as many atoms as features, at least 32, at most 256 and at most
        half of the number of samples.
    **parameters
        Of :class:`RNLMF`, in place of these settings.

    Returns
    -------
    RNLMF
        Not fitted.
    """
    settings = {
        "n_components": max(1, min(max(2 * n_features, LEAST_ATOMS), MAX_ATOMS, n_samples // 2)),
        "kernel_scale": 3.0,
        "noise_penalty": "l1",
        "noise_weight": "scale",
        "neighbor_share": 0.0,
    }
    return RNLMF(**{**settings, **parameters})


class RNLMFClustering(ClusterMixin, BaseEstimator):
    """Subspace clustering by robust non-linear matrix factorization.

    :class:`RNLMF` gives every sample a code ``c_i`` that does not see its noise. Samples whose codes
    represent each other are neighbours in a graph, which is cut by normalised spectral clustering:
    Algorithm 3 of [1]_, in memory ``O(n (n_components + n_neighbors))``. New samples get a label too,
    for which the model keeps ``n_components`` numbers for every sample or landmark.

    The affinities are ``A = C (C^T C + gamma I)^-1 C^T``, the solution of a least-squares
    representation of the codes by each other. The defaults differ from the paper, whose settings depend
    on the data: they are the same for all data. The paper's are, for example for
    COIL-20, ``RNLMFClustering(20, estimator=RNLMF(256, kernel_scale=1.0, noise_penalty="l1",
    noise_weight=5e-4, neighbor_share=0, solver="paper"), link_by="neighbors",
    affinity="least-squares", affinity_weight=0.01, n_neighbors=15, assign_labels="kmeans",
    min_relative_size=0)``.

    Parameters
    ----------
    n_clusters : int or None
        None: where the eigenvalues of the graph fall most, at most 50; see `n_clusters_confidence_`.
    estimator : RNLMF or None
        The factorization that gives the codes: it has ``fit``, ``transform`` and ``denoise``. A
        `random_state` of None is drawn from that of the clustering. None:
        :func:`rnlmf.cluster.default_estimator`, whose settings suit clusters and need no search.
    n_neighbors : int
        ``kappa``, the largest affinities of a sample that are kept.
    link_by : {"shared-neighbors", "neighbors"}
        "neighbors" links neighbours, as in the paper; "shared-neighbors" links samples that have
        neighbours in common, a sample being among its own. Landmarks are always shared.
    affinity : {"cosine", "least-squares"}
        "least-squares" is ``|A_ij|``, as in the paper. "cosine" is ``|A_ij| / sqrt(A_ii A_jj)`` of
        codes of unit length, so that neither bright nor unusual samples attract the others.
    affinity_weight : float or "auto"
        ``gamma``. "auto" is 0.1 of the mean eigenvalue of ``C^T C``.
    affinity_scaling : {"max", "sum"}
        What the affinities of a sample are divided by: the largest (the paper) or the sum of those kept
        (the authors' program).
    compare_with : {"auto", "samples", "landmarks"}
        "samples" compares all samples with each other, in blocks: time ``O(n^2)``, memory ``O(n)``.
        "landmarks" compares them with `n_landmarks` representatives: time and memory ``O(n)``.
        "auto" takes landmarks above 100,000 samples.
    n_landmarks : int or None
        None: 2000, or 20 for each cluster if that is more.
    assign_labels : {"weighted", "kmeans", "cluster_qr"}
        How the embedding is cut: k-means with `n_init` starts, in which samples that lie between many
        clusters count less ("weighted") or like the others ("kmeans"), or a pivoted QR factorization.
    n_init : int
        Starts of k-means.
    min_relative_size : float
        The smallest that a cluster may be, over the mean size: smaller ones are joined to what they
        have most links with, and others are cut further. Raise it to 0.5 if clusters are of similar
        size, lower it if some are very small; 0 takes what the embedding gives, as the paper does.
    fit_samples : int or None
        The dictionary, and the landmarks, are learnt from at most this many samples, drawn at random.
        None: from all.
    n_jobs : int or None
        Threads; -1 is all cores. None: as many as BLAS would use. Results do not depend on it. An
        `estimator` that is given has its own.
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
        eigenvalues, on a logarithmic scale, over the largest. Near 0 another number is as good.
    affinity_matrix_ : sparse array of shape (n_samples, n_samples) or (n_samples, n_landmarks)
        The graph.
    embedding_ : array of shape (n_samples, n_vectors)
        Eigenvectors, their rows of unit length: `n_clusters_`, and more if there were small parts.
    eigenvalues_ : array
        Largest eigenvalues of the normalised graph.
    n_connected_components_ : int
        Of the graph that is cut; at most `n_clusters`.
    n_iter_ : int
        Iterations of the factorization.
    converged_ : bool
        Whether the eigenvectors converged.
    estimator_ : RNLMF
        The fitted factorization.
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
        "n_neighbors": [AT_LEAST_ONE],
        "estimator": [HasMethods(["fit", "transform", "denoise"]), None],
        "link_by": [StrOptions({"shared-neighbors", "neighbors"})],
        "affinity": [StrOptions({"cosine", "least-squares"})],
        "affinity_weight": [POSITIVE, AUTO],
        "affinity_scaling": [StrOptions({"max", "sum"})],
        "compare_with": [StrOptions({"auto", "samples", "landmarks"})],
        "n_landmarks": [Interval(Integral, 2, None, closed="left"), None],
        "min_relative_size": [Interval(Real, 0, 1, closed="left")],
        "fit_samples": [Interval(Integral, 2, None, closed="left"), None],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        n_clusters=None,
        *,
        estimator=None,
        n_neighbors=4,
        link_by="shared-neighbors",
        affinity="cosine",
        affinity_weight="auto",
        affinity_scaling="max",
        compare_with="auto",
        n_landmarks=None,
        assign_labels="weighted",
        n_init=20,
        min_relative_size=0.3,
        fit_samples=FIT_SAMPLES,
        n_jobs=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.estimator = estimator
        self.n_neighbors = n_neighbors
        self.link_by = link_by
        self.affinity = affinity
        self.affinity_weight = affinity_weight
        self.affinity_scaling = affinity_scaling
        self.compare_with = compare_with
        self.n_landmarks = n_landmarks
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.min_relative_size = min_relative_size
        self.fit_samples = fit_samples
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or rows that are not in memory
            Noisy samples; NaN where an entry is missing, if the `estimator` takes it. Rows of
            :func:`rnlmf.sources.row_source` are read by block and compared with landmarks; results
            then depend on their order through the rows that are drawn.
        y : None
            Ignored.

        Returns
        -------
        self
            Fitted.
        """
        source = rows_of(self, X, fitting=True)
        X = check_samples(self, X, fitting=True) if source is None else source
        check_n_clusters(self.n_clusters, len(X))
        rng = check_random_state(self.random_state)
        place: Any = slice(None)
        if source is None:
            order = canonical_order(X)
            place = np.argsort(order)
            X = X[order]
        some = self._some(X, rng)
        self._comparison = Comparison(
            cosine=self.affinity == "cosine",
            weight=self.affinity_weight,
            n_neighbors=self.n_neighbors,
            scaling=self.affinity_scaling,
            n_threads=threads_of(self.n_jobs),
        )
        self.estimator_ = self._seeded_estimator(some, rng).fit(some)
        if source is not None and self.compare_with == "samples":
            raise ValueError("Data that are not in memory are compared with landmarks.")
        landmarks = (
            source is not None
            or self.compare_with == "landmarks"
            or (self.compare_with == "auto" and len(X) > GRAPH_SAMPLES)
        )
        graph = self._landmark_graph(X, some, rng) if landmarks else self._sample_graph(X, rng)
        found = graph.spectrum
        most = found.n_clusters + min(EXTRA_VECTORS, found.n_clusters)
        result = cut(
            graph.vectors[:, :most],
            found.n_clusters,
            graph.table,
            method=self.assign_labels,
            n_init=self.n_init,
            min_relative_size=self.min_relative_size,
            rng=rng,
        )
        count = len(result.centers)
        self._cut, self._projection = result, graph.projection[:, :count]
        self.labels_ = result.labels[place]
        self.embedding_ = unit_rows(graph.vectors[place, :count])
        affinity = graph.affinity[place]
        self.affinity_matrix_ = scipy.sparse.csr_array(affinity if landmarks else affinity[:, place])
        self.n_clusters_ = found.n_clusters
        self.n_clusters_confidence_ = found.confidence
        self.eigenvalues_ = found.embedding.eigenvalues
        self.n_connected_components_ = found.embedding.n_components
        self.n_iter_ = self.estimator_.n_iter_
        self.converged_ = found.embedding.converged
        return self

    def predict(self, X: Any) -> Array:
        """Label of samples, new or old, each on its own.

        A sample's affinities with those of the fit give its place in the embedding (the extension of
        Nyström), and the nearest cluster there is its own.
        """
        source = rows_of(self, X)
        X = check_samples(self, X) if source is None else source
        labels = np.empty(len(X), dtype=np.int64)
        for rows in row_chunks(len(X), CHUNK_ROWS):
            place = unit_rows(self._affinities(X[rows]) @ self._projection)
            part = pairwise_distances_argmin(place, self._cut.centers)
            labels[rows] = self._cut.label_of_part[part]
        return labels

    def denoise(self, X: Any, *, out: Any = None) -> Any:
        """Samples without their noise, ``X - E``, in the container of `X`.

        Those of data that are not in memory are written to `out`, as by :meth:`rnlmf.RNLMF.denoise`.
        """
        source = rows_of(self, X)
        if source is not None:
            return self.estimator_.denoise(source, out=out)
        return like(X, self.estimator_.denoise(check_samples(self, X)))

    def fit_denoise(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the samples without their noise."""
        return self.fit(X).denoise(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = RNLMF() if self.estimator is None else self.estimator
        tags.input_tags.allow_nan = inner.__sklearn_tags__().input_tags.allow_nan
        return tags

    def _some(self, X: Array, rng: np.random.RandomState) -> Array:
        """The samples that the dictionary is learnt from."""
        return X[:] if self.fit_samples is None else some_rows(X, self.fit_samples, rng)

    def _seeded_estimator(self, X: Array, rng: np.random.RandomState) -> Any:
        """The factorization, not fitted, with seeds of its own where it has none."""
        if self.estimator is None:
            estimator = default_estimator(*X.shape, n_jobs=self.n_jobs)
        else:
            estimator = clone(self.estimator)
        seeds = {
            name: int(rng.randint(2**31 - 1))
            for name, value in sorted(estimator.get_params().items())
            if name.endswith("random_state") and value is None
        }
        return estimator.set_params(**seeds)

    def _codes(self, X: Array) -> Array:
        """Codes of samples, in blocks, ready to be compared."""
        codes = np.empty((len(X), len(self.estimator_.components_)), X.dtype)
        for rows in row_chunks(len(X), CHUNK_ROWS):
            codes[rows] = self._comparison.prepare(self.estimator_.transform(X[rows]))
        return codes

    def _affinities(self, X: Array) -> scipy.sparse.csr_array:
        """Affinities of samples with the reference."""
        B = self._comparison.weigh(self._codes(X), self._factor)
        return self._comparison.compare(B, self._reference)

    def _sample_graph(self, X: Array, rng: np.random.RandomState) -> Graph:
        C = self._codes(X)
        self._factor = self._comparison.factor(C, len(C))
        self._reference = self._comparison.weigh(C, self._factor)
        extra = self.min_relative_size > 0.0
        return sample_graph(
            self._reference, self._comparison, self.link_by, self.n_clusters, rng, extra=extra
        )

    def _landmark_graph(self, X: Array, some: Array, rng: np.random.RandomState) -> Graph:
        count = self.n_landmarks
        if count is None:
            count = max(LANDMARKS, LANDMARKS_PER_CLUSTER * (self.n_clusters or 0))
        elif self.n_clusters is not None and count < self.n_clusters:
            raise ValueError(
                f"n_landmarks={count} must not be less than n_clusters={self.n_clusters}: take more."
            )
        C = self._codes(some)
        self._factor = self._comparison.factor(C, len(X))
        landmarks = choose_landmarks(self._comparison.weigh(C, self._factor), count, rng)
        self._reference = self._comparison.prepare(landmarks)
        chunks = (
            X.each(self._affinities)
            if isinstance(X, RowSource)
            else [self._affinities(X[rows]) for rows in row_chunks(len(X), CHUNK_ROWS)]
        )
        Z = scipy.sparse.csr_array(scipy.sparse.vstack(chunks))
        extra = self.min_relative_size > 0.0
        return landmark_graph(Z, landmarks, self.n_clusters, rng, extra=extra)
