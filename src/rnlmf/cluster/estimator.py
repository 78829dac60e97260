"""Subspace clustering by RNLMF (Algorithm 3 of the paper), from a thousand samples to a million."""

from __future__ import annotations

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

from rnlmf.cluster.affinity import row_chunks, unit_rows
from rnlmf.cluster.assign import cut
from rnlmf.cluster.graphs import Comparison, Graph, landmark_graph, sample_graph
from rnlmf.cluster.labels import EXTRA_VECTORS, LABEL_CONSTRAINTS, canonical_order, check_n_clusters
from rnlmf.cluster.landmarks import choose_landmarks
from rnlmf.conventions import like
from rnlmf.engine import default_threads
from rnlmf.engine.start import DataSummary
from rnlmf.estimators.rnlmf import RNLMF
from rnlmf.kernels import RBF
from rnlmf.penalties import NOISE_PENALTIES, Penalty, resolve

Array = npt.NDArray[Any]

LEAST_ATOMS = 32
MAX_ATOMS = 256
# More samples than this hardly improve the dictionary.
FIT_SAMPLES = 20_000
# Above this many samples affinities are those with landmarks.
GRAPH_SAMPLES = 100_000
LANDMARKS = 2000
LANDMARKS_PER_CLUSTER = 20
# noise_weight="auto": threshold of the noise, in standard deviations of the data.
RELATIVE_THRESHOLD = 0.05
CHUNK_ROWS = 8192


class RNLMFClustering(ClusterMixin, BaseEstimator):
    """Subspace clustering by robust non-linear matrix factorization.

    :class:`RNLMF` gives every sample a code ``c_i`` that does not see its noise. Samples whose codes
    represent each other are neighbours in a graph, which is cut by normalised spectral clustering:
    Algorithm 3 of [1]_, in memory ``O(n (n_components + n_neighbors))``. New samples get a label too,
    for which the model keeps ``n_components`` numbers for every sample or landmark.

    The affinities are ``A = C (C^T C + gamma I)^-1 C^T``, the solution of a least-squares
    representation of the codes by each other. The defaults differ from the paper, whose settings depend
    on the data: they are the same for all data. The paper's are, for example for
    COIL-20, ``RNLMFClustering(20, n_components=256, kernel_scale=1.0, noise_weight=5e-4,
    solver="paper", links="direct", affinity="least-squares", affinity_weight=0.01, n_neighbors=15,
    assign_labels="kmeans", least_share=0)``.

    Parameters
    ----------
    n_clusters : int or None
        None: where the eigenvalues of the graph fall most, at most 50; see `n_clusters_confidence_`.
    n_neighbors : int
        ``kappa``, the largest affinities of a sample that are kept.
    links : {"shared", "direct"}
        "direct" links neighbours, as in the paper; "shared" links samples that have neighbours in
        common, a sample being among its own. Landmarks are always shared.
    affinity : {"cosine", "least-squares"}
        "least-squares" is ``|A_ij|``, as in the paper. "cosine" is ``|A_ij| / sqrt(A_ii A_jj)`` of
        codes of unit length, so that neither bright nor unusual samples attract the others.
    affinity_weight : float or "auto"
        ``gamma``. "auto" is 0.1 of the mean eigenvalue of ``C^T C``.
    affinity_scaling : {"max", "sum"}
        What the affinities of a sample are divided by: the largest (the paper) or the sum of those kept
        (the authors' program).
    form : {"auto", "graph", "landmarks"}
        "graph" compares all samples with each other, in blocks: time ``O(n^2)``, memory ``O(n)``.
        "landmarks" compares them with `n_landmarks` representatives: time and memory ``O(n)``.
        "auto" takes landmarks above 100,000 samples.
    n_landmarks : int or None
        None: 2000, or 20 for each cluster if that is more.
    assign_labels : {"weighted", "kmeans", "cluster_qr"}
        How the embedding is cut: k-means with `n_init` starts, in which samples that lie between many
        clusters count less ("weighted") or like the others ("kmeans"), or a pivoted QR factorization.
    n_init : int
        Starts of k-means.
    least_share : float
        The smallest that a cluster may be, over the mean size: smaller ones are joined to what they
        have most links with, and others are cut further. Raise it to 0.5 if clusters are of similar
        size, lower it if some are very small; 0 takes what the embedding gives, as the paper does.
    n_components : int or None
        Number of atoms. None: twice the number of features, at least 32, at most 256 and at most half
        of the number of samples.
    kernel_scale : float
        The kernel's ``sigma`` over the mean distance between samples.
    code_weight : float
        ``lambda_C``.
    noise_penalty : {"l1", "l21"} or Penalty
        ``R(E)``: wrong entries or wrong samples.
    noise_weight : float or "auto"
        ``lambda_E``. "auto" sets the threshold above which a residual is noise to 5% of the data's
        standard deviation.
    solver : {"auto", "single-pass", "paper"}
        Order of the updates; see :class:`RNLMF`.
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
        "links": [StrOptions({"shared", "direct"})],
        "affinity": [StrOptions({"cosine", "least-squares"})],
        "affinity_weight": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "affinity_scaling": [StrOptions({"max", "sum"})],
        "form": [StrOptions({"auto", "graph", "landmarks"})],
        "n_landmarks": [Interval(Integral, 2, None, closed="left"), None],
        "least_share": [Interval(Real, 0, 1, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel_scale": [Interval(Real, 0, None, closed="neither")],
        "code_weight": [Interval(Real, 0, None, closed="neither")],
        "noise_penalty": [StrOptions({"l1", "l21"}), Penalty],
        "noise_weight": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "solver": [StrOptions({"auto", "single-pass", "paper"})],
        "fit_samples": [Interval(Integral, 2, None, closed="left"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_clusters=None,
        *,
        n_neighbors=4,
        links="shared",
        affinity="cosine",
        affinity_weight="auto",
        affinity_scaling="max",
        form="auto",
        n_landmarks=None,
        assign_labels="weighted",
        n_init=20,
        least_share=0.3,
        n_components=None,
        kernel_scale=3.0,
        code_weight=1e-2,
        noise_penalty="l1",
        noise_weight="auto",
        solver="auto",
        fit_samples=FIT_SAMPLES,
        max_iter=300,
        tol=3e-4,
        n_jobs=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.links = links
        self.affinity = affinity
        self.affinity_weight = affinity_weight
        self.affinity_scaling = affinity_scaling
        self.form = form
        self.n_landmarks = n_landmarks
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.least_share = least_share
        self.n_components = n_components
        self.kernel_scale = kernel_scale
        self.code_weight = code_weight
        self.noise_penalty = noise_penalty
        self.noise_weight = noise_weight
        self.solver = solver
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
        self._comparison = Comparison(
            cosine=self.affinity == "cosine",
            weight=self.affinity_weight,
            n_neighbors=self.n_neighbors,
            scaling=self.affinity_scaling,
            n_threads=default_threads() if self.n_jobs is None else self.n_jobs,
        )
        self.factorization_ = self._factorization(some, rng).fit(some)
        landmarks = self.form == "landmarks" or (self.form == "auto" and len(X) > GRAPH_SAMPLES)
        graph = self._landmark_graph(X, some, rng) if landmarks else self._sample_graph(X, rng)
        found = graph.spectrum
        most = found.n_clusters + min(EXTRA_VECTORS, found.n_clusters)
        result = cut(
            graph.vectors[:, :most],
            found.n_clusters,
            graph.table,
            method=self.assign_labels,
            n_init=self.n_init,
            least_share=self.least_share,
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
        self.n_iter_ = self.factorization_.n_iter_
        self.converged_ = found.embedding.converged
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
            place = unit_rows(self._affinities(X[rows]) @ self._projection)
            part = pairwise_distances_argmin(place, self._cut.centers)
            labels[rows] = self._cut.label_of_part[part]
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
        summary = DataSummary.of(X, rng)
        sigma = summary.length_scale(RBF(), self.kernel_scale)
        weight = self.noise_weight
        if weight == "auto":
            weight = RELATIVE_THRESHOLD * summary.spread / sigma**2
            penalty = resolve(self.noise_penalty, NOISE_PENALTIES)
            weight *= 1.0 if penalty.entrywise else m**0.5
        return RNLMF(
            self._n_atoms(n, m),
            kernel=RBF(sigma=sigma),
            code_penalty="l2",
            code_weight=self.code_weight,
            noise_penalty=self.noise_penalty,
            noise_weight=weight,
            init="random",
            solver=self.solver,
            max_iter=self.max_iter,
            tol=self.tol,
            n_jobs=self.n_jobs,
            random_state=int(rng.randint(2**31 - 1)),
        )

    def _n_atoms(self, n_samples: int, n_features: int) -> int:
        if self.n_components is not None:
            return int(self.n_components)
        return max(1, min(max(2 * n_features, LEAST_ATOMS), MAX_ATOMS, n_samples // 2))

    def _codes(self, X: Array) -> Array:
        """Codes of samples, in blocks, ready to be compared."""
        codes = np.empty((len(X), len(self.factorization_.components_)), X.dtype)
        for rows in row_chunks(len(X), CHUNK_ROWS):
            codes[rows] = self._comparison.prepare(self.factorization_.transform(X[rows]))
        return codes

    def _affinities(self, X: Array) -> scipy.sparse.csr_array:
        """Affinities of samples with the reference."""
        B = self._comparison.weigh(self._codes(X), self._factor)
        return self._comparison.compare(B, self._reference)

    def _sample_graph(self, X: Array, rng: np.random.RandomState) -> Graph:
        C = self._codes(X)
        self._factor = self._comparison.factor(C, len(C))
        self._reference = self._comparison.weigh(C, self._factor)
        extra = self.least_share > 0.0
        return sample_graph(
            self._reference, self._comparison, self.links, self.n_clusters, rng, extra=extra
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
        chunks = [self._affinities(X[rows]) for rows in row_chunks(len(X), CHUNK_ROWS)]
        Z = scipy.sparse.csr_array(scipy.sparse.vstack(chunks))
        extra = self.least_share > 0.0
        return landmark_graph(Z, landmarks, self.n_clusters, rng, extra=extra)
