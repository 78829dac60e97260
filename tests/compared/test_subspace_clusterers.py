"""What every method that only clusters, by a representation of samples by each other, must do."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from rnlmf import (
    ElasticNetSubspaceClustering,
    EnsembleKSubspaces,
    KernelSparseSubspaceClustering,
    LeastSquaresSubspaceClustering,
    LowRankSparseSubspaceClustering,
    LowRankSubspaceClustering,
    SparseSubspaceClustering,
    SparseSubspaceClusteringOMP,
)
from rnlmf.compared import base
from rnlmf.metrics import clustering_error

METHODS = {
    "matching pursuit": SparseSubspaceClusteringOMP(4, n_nonzero=5, random_state=0),
    "elastic net": ElasticNetSubspaceClustering(4, random_state=0),
    "kernel": KernelSparseSubspaceClustering(4, random_state=0),
    "kernel, polynomial": KernelSparseSubspaceClustering(4, kernel="polynomial", random_state=0),
    "kernel, linear": KernelSparseSubspaceClustering(4, kernel="linear", random_state=0),
    "s0l0": LowRankSparseSubspaceClustering(4, random_state=0),
    "gmc": LowRankSparseSubspaceClustering(4, penalty="gmc", concavity=0.6, random_state=0),
    "ensemble": EnsembleKSubspaces(4, n_components=3, n_runs=60, random_state=0),
    "ensemble, union": EnsembleKSubspaces(
        4, n_components=3, n_runs=60, symmetrize="union", random_state=0
    ),
}
every = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


@pytest.fixture
def planes(rng):
    """Samples on four subspaces of three dimensions, in a random order."""
    X = np.vstack([rng.standard_normal((30, 3)) @ rng.standard_normal((3, 30)) for _ in range(4)])
    order = rng.permutation(120)
    return X[order], np.repeat(np.arange(4), 30)[order]


@parametrize_with_checks([METHODS[name] for name in METHODS if "," not in name])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@every
def test_independent_subspaces_are_told_apart(method, planes):
    X, y = planes
    model = clone(method)
    assert clustering_error(y, model.fit_predict(X)) == 0.0
    assert abs(model.affinity_matrix_ - model.affinity_matrix_.T).max() < 1e-12
    assert model.affinity_matrix_.diagonal().max() == 0.0
    assert model.n_iter_ == len(model.objective_)
    assert model.converged_


@pytest.mark.parametrize("name", ["matching pursuit", "elastic net"])
def test_no_sample_represents_one_of_another_subspace(name, planes):
    X, y = planes
    links = clone(METHODS[name]).fit(X).representation_.tocoo()
    assert links.nnz > 0
    np.testing.assert_array_equal(y[links.row], y[links.col])


@every
def test_order_and_scale_do_not_matter(method, planes, rng):
    X = planes[0] + 0.3 * rng.standard_normal(planes[0].shape)
    order = rng.permutation(120)
    labels = clone(method).fit_predict(X)
    assert clustering_error(labels[order], clone(method).fit_predict(X[order])) == 0.0
    # A power of two, so that rounding is the same.
    assert clustering_error(labels, clone(method).fit_predict(1024.0 * X)) == 0.0


@every
def test_rotations_do_not_change_the_affinities(method, planes, rng):
    if isinstance(method, EnsembleKSubspaces):
        pytest.skip("its subspaces are drawn at random, in the coordinates of the data")
    X = planes[0] + 0.3 * rng.standard_normal(planes[0].shape)
    rotation, _ = np.linalg.qr(rng.standard_normal((30, 30)))
    before, after = (clone(method).fit(data).affinity_matrix_ for data in (X, X @ rotation))
    assert abs(before - after).max() < 1e-5


@every
def test_single_precision_and_frames(method, planes):
    X, y = planes
    assert clustering_error(y, clone(method).fit_predict(X.astype(np.float32))) == 0.0
    model = clone(method)
    assert clustering_error(y, model.fit_predict(pd.DataFrame(X).add_prefix("f"))) == 0.0
    assert model.feature_names_in_[0] == "f0"


@every
def test_survives_pickle(method, planes):
    model = clone(method).fit(planes[0])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).labels_, model.labels_)


@every
def test_equal_and_empty_samples_are_no_trouble(method, planes):
    X = planes[0].copy()
    X[1], X[2] = X[0], 0.0
    labels = clone(method).fit_predict(X)
    assert labels.shape == (120,)
    assert labels[0] == labels[1]


@every
def test_bad_input_is_refused(method, planes):
    X = planes[0].copy()
    with pytest.raises(ValueError, match="n_clusters=121"):
        clone(method).set_params(n_clusters=121).fit(X)
    with pytest.raises(ValueError, match="n_init"):
        clone(method).set_params(n_init=0).fit(X)
    X[3, 4] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        clone(method).fit(X)


@pytest.mark.parametrize(
    "method",
    [
        KernelSparseSubspaceClustering(4),
        LowRankSparseSubspaceClustering(4),
        EnsembleKSubspaces(4, n_neighbors=None),
        SparseSubspaceClustering(4),
        LowRankSubspaceClustering(4),
        LowRankSubspaceClustering(4, solver="factored", max_iter=2),
        LeastSquaresSubspaceClustering(4),
    ],
    ids=repr,
)
def test_matrices_that_are_too_large_are_refused(method, planes, monkeypatch):
    monkeypatch.setattr(base, "MOST_BYTES", 8 * 119**2 * 2)
    with pytest.raises(ValueError, match=r"120 samples need about \d+ GiB"):
        method.fit(planes[0])


def test_the_message_says_how_much_memory():
    with pytest.raises(ValueError, match="100000 samples need about 298 GiB"):
        base.check_memory(100_000, 4)


@pytest.mark.parametrize(
    "kind", sorted({type(method) for method in METHODS.values()}, key=lambda kind: kind.__name__)
)
def test_the_number_of_clusters_comes_first(kind):
    assert kind(4).n_clusters == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "most"),
    [
        # Greedy choices follow the noise now and then.
        (SparseSubspaceClusteringOMP(10, n_nonzero=3, random_state=0), 0.1),
        (ElasticNetSubspaceClustering(10, random_state=0), 0.02),
    ],
    ids=["matching pursuit", "elastic net"],
)
def test_twenty_thousand_samples(method, most):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((2000, 3)) @ rng.standard_normal((3, 40)) for _ in range(10)])
    X += 0.02 * rng.standard_normal(X.shape)
    labels = method.fit_predict(X)
    assert clustering_error(np.repeat(np.arange(10), 2000), labels) < most
    assert method.representation_.nnz <= 50 * len(X)
