"""Clusters of the methods that represent samples by each other."""

import numpy as np
import pytest
from sklearn.base import clone

from rnlmf import (
    LeastSquaresSubspaceClustering,
    LowRankSubspaceClustering,
    SelfExpressiveRNLMF,
    SparseSubspaceClustering,
)
from rnlmf.metrics import clustering_error

METHODS = {
    "sparse": SparseSubspaceClustering(fit_weight=20.0, noise_weight=20.0),
    "sparse, without noise": SparseSubspaceClustering(fit_weight=20.0, noise_penalty=None),
    "low rank": LowRankSubspaceClustering(noise_weight=1.0),
    "low rank, neighbours": LowRankSubspaceClustering(noise_weight=1.0, n_neighbors=8),
    "low rank, factored": LowRankSubspaceClustering(noise_weight=1.0, solver="factored"),
    "self-expressive": SelfExpressiveRNLMF(kernel_scale=2.0, noise_weight=1.0),
    "least squares": LeastSquaresSubspaceClustering(),
    "least squares, unscaled": LeastSquaresSubspaceClustering(affinity_scaling=None),
}
every = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


@pytest.fixture
def planes(rng):
    """Samples on four planes through the origin, in a random order."""
    X = np.vstack([rng.standard_normal((40, 2)) @ rng.standard_normal((2, 30)) for _ in range(4)])
    order = rng.permutation(160)
    return X[order], np.repeat(np.arange(4), 40)[order]


@every
def test_independent_planes_are_told_apart(method, planes):
    X, y = planes
    model = clone(method).set_params(n_clusters=4, random_state=0)
    assert clustering_error(y, model.fit_predict(X)) == 0.0
    assert model.affinity_matrix_.shape == (160, 160)
    assert abs(model.affinity_matrix_ - model.affinity_matrix_.T).max() < 1e-12
    np.testing.assert_array_equal(np.bincount(model.labels_), 40)


@every
def test_order_of_samples_does_not_matter(method, planes, rng):
    X, _ = planes
    X = X + 0.3 * rng.standard_normal(X.shape)
    order = rng.permutation(160)
    model = clone(method).set_params(n_clusters=4, random_state=0)
    labels = clone(model).fit_predict(X)
    assert clustering_error(labels[order], clone(model).fit_predict(X[order])) == 0.0


@every
def test_without_n_clusters_there_are_no_labels(method, planes):
    X, _ = planes
    model = clone(method).fit(X)
    assert not hasattr(model, "labels_")
    with pytest.raises(AttributeError, match="fit_predict"):
        model.fit_predict(X)


@every
def test_more_clusters_than_samples_are_refused(method, planes):
    with pytest.raises(ValueError, match="n_clusters=161"):
        clone(method).set_params(n_clusters=161).fit(planes[0])


@every
def test_labels_do_not_change_the_noise(method, planes):
    X, _ = planes
    with_labels = clone(method).set_params(n_clusters=4, random_state=0).fit(X)
    np.testing.assert_array_equal(with_labels.noise_, clone(method).fit(X).noise_)


@pytest.mark.parametrize("kind", dict.fromkeys(type(method) for method in METHODS.values()))
def test_the_number_of_clusters_comes_first(kind):
    assert kind(4).n_clusters == 4
