import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

from rnlmf import RNLMF, RNLMFClustering
from rnlmf.cluster import default_estimator
from rnlmf.cluster import estimator as module
from rnlmf.datasets import corrupt_entries
from rnlmf.metrics import clustering_error, relative_rmse

MODELS = {
    "default": RNLMFClustering(random_state=0),
    "landmarks": RNLMFClustering(compare_with="landmarks", n_landmarks=60, random_state=0),
    "paper": RNLMFClustering(
        link_by="neighbors",
        affinity="least-squares",
        affinity_weight=0.01,
        assign_labels="kmeans",
        min_relative_size=0,
        n_neighbors=15,
        estimator=default_estimator(360, 9, kernel_scale=1.0),
        random_state=0,
    ),
}
every = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def circles(rng, n=120, spread=0.02):
    """Three closed curves in nine dimensions, each in its own three, far apart."""
    parts = []
    for j in range(3):
        t = rng.uniform(0, 2 * np.pi, n)
        X = spread * rng.standard_normal((n, 9))
        X[:, 3 * j] += np.cos(t)
        X[:, 3 * j + 1] += np.sin(t)
        X[:, 3 * j + 2] += 2.0
        parts.append(X)
    return np.vstack(parts), np.repeat(np.arange(3), n)


@pytest.fixture
def curves(rng):
    X, y = circles(rng)
    return corrupt_entries(X, 0.03, magnitude=3.0, random_state=0), y


# The checks have few samples, so that the number of atoms must follow them.
SMALL = RNLMF(kernel_scale=1.0, noise_penalty="l1", noise_weight="scale")


@parametrize_with_checks(
    [
        *(clone(model).set_params(estimator=None) for model in MODELS.values()),
        RNLMFClustering(estimator=SMALL),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@every
def test_finds_noisy_curves(model, curves):
    X, y = curves
    model = clone(model).set_params(n_clusters=3).fit(X)
    assert clustering_error(y, model.labels_) < 0.05
    assert model.converged_
    assert model.n_clusters_ == 3
    assert model.n_clusters_confidence_ is None


@every
def test_new_samples(model, curves, rng):
    X, y = curves
    model = clone(model).set_params(n_clusters=3).fit(X)
    assert np.mean(model.predict(X) == model.labels_) > 0.99
    new, truth = circles(rng, n=30)
    match = [np.bincount(model.labels_[y == j]).argmax() for j in range(3)]
    assert np.mean(model.predict(new) == np.array(match)[truth]) > 0.98
    # Each row on its own.
    np.testing.assert_array_equal(model.predict(new[:7]), model.predict(new)[:7])


@every
def test_order_of_samples_does_not_matter(model, curves, rng):
    X, _ = curves
    order = rng.permutation(len(X))
    model = clone(model).set_params(n_clusters=4)
    labels = model.fit(X).labels_
    affinity = model.affinity_matrix_
    np.testing.assert_array_equal(model.fit(X[order]).labels_, labels[order])
    columns = order if affinity.shape[1] == len(X) else slice(None)
    np.testing.assert_array_equal(
        model.affinity_matrix_.toarray(), affinity[order][:, columns].toarray()
    )


@every
def test_threads_do_not_change_the_result(model, curves):
    X, _ = curves
    model = clone(model).set_params(n_clusters=3)
    one, two = (clone(model).set_params(n_jobs=jobs).fit(X) for jobs in (1, 2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert abs(one.affinity_matrix_ - two.affinity_matrix_).max() == 0.0


@every
def test_the_number_of_clusters_is_found(model, curves):
    X, y = curves
    model = clone(model).fit(X)
    assert model.n_clusters_ == 3
    assert 0.0 < model.n_clusters_confidence_ < 0.9
    assert clustering_error(y, model.labels_) < 0.05


@every
@pytest.mark.parametrize("count", [1, 5])
def test_confidence_is_high_where_the_number_is_clear(model, count, rng):
    X = 0.3 * rng.standard_normal((60 * count, 5)) + np.repeat(10 * np.eye(5)[:count], 60, axis=0)
    model = clone(model).set_params(n_landmarks=60).fit(X)
    assert model.n_clusters_ == count
    assert model.n_clusters_confidence_ > 0.5


def test_two_separate_groups_without_a_warning(rng):
    X = rng.standard_normal((200, 5)) * 0.1
    X[:100] += 10.0
    model = RNLMFClustering(
        2, estimator=default_estimator(200, 5, tol=1e-3, max_iter=1000), random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = model.fit_predict(X)
    assert connected_components(model.affinity_matrix_, directed=False)[0] == 2
    assert clustering_error(np.arange(200) < 100, labels) == 0.0


def test_more_parts_than_clusters_are_linked(rng):
    """Six groups of which three pairs are near each other, in three clusters."""
    centers = np.array([[0.0, 0], [1, 0], [20, 0], [21, 0], [0, 20], [1, 20]])
    X = np.repeat(centers, 40, axis=0) + 0.05 * rng.standard_normal((240, 2))
    model = RNLMFClustering(
        3, estimator=default_estimator(240, 2, kernel_scale=0.3), random_state=0
    ).fit(X)
    assert model.n_connected_components_ <= 3
    assert clustering_error(np.repeat([0, 0, 1, 1, 2, 2], 40), model.labels_) == 0.0


def test_graph_and_landmarks_agree_if_every_sample_is_a_landmark(curves):
    X, _ = curves
    graph, landmarks = (
        RNLMFClustering(3, compare_with=other, random_state=0).fit(X)
        for other in ("samples", "landmarks")
    )
    np.testing.assert_allclose(graph.eigenvalues_, landmarks.eigenvalues_, atol=1e-4)
    assert clustering_error(graph.labels_, landmarks.labels_) == 0.0


def test_large_data_take_landmarks_and_a_part_of_the_samples(curves, monkeypatch):
    X, y = curves
    monkeypatch.setattr(module, "GRAPH_SAMPLES", 300)
    monkeypatch.setattr(module, "LANDMARKS", 100)
    model = RNLMFClustering(3, fit_samples=200, random_state=0).fit(X)
    assert model.affinity_matrix_.shape == (360, 100)
    assert clustering_error(y, model.labels_) < 0.02
    assert (
        clustering_error(y, RNLMFClustering(3, fit_samples=200, random_state=0).fit_predict(X)) < 0.02
    )


@pytest.mark.parametrize(("least", "n_clusters", "count"), [(30, 3, 60), (90, 3, 90), (40, None, 40)])
def test_there_are_landmarks_for_every_cluster(curves, monkeypatch, least, n_clusters, count):
    monkeypatch.setattr(module, "LANDMARKS", least)
    model = RNLMFClustering(n_clusters, compare_with="landmarks", random_state=0).fit(curves[0])
    assert model.affinity_matrix_.shape == (360, count)


def test_as_many_fit_samples_as_there_are_is_all_of_them(curves):
    X, _ = curves
    whole, all_of_them, part = (
        RNLMFClustering(3, fit_samples=count, random_state=0).fit(X).estimator_.components_
        for count in (None, len(X), len(X) - 1)
    )
    np.testing.assert_array_equal(whole, all_of_them)
    assert not np.array_equal(whole, part)


def test_scale_and_shift_carry_over(curves):
    X, _ = curves
    model = RNLMFClustering(3, random_state=0)
    for other in (1000.0 * X, X - 5.0):
        assert clustering_error(model.fit(X).labels_, model.fit(other).labels_) < 0.01


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_extreme_magnitudes(rng, scale):
    y = np.repeat([0, 1], 30)
    X = rng.standard_normal((60, 5)) + 10.0 * y[:, None]
    assert clustering_error(y, RNLMFClustering(2, random_state=0).fit_predict(scale * X)) == 0.0


def test_denoises_too(rng):
    X, _ = circles(rng)
    noisy = corrupt_entries(X, 0.03, magnitude=3.0, random_state=0)
    frame = pd.DataFrame(noisy, columns=[f"f{i}" for i in range(9)])
    clean = RNLMFClustering(3, random_state=0).fit_denoise(frame)
    assert isinstance(clean, pd.DataFrame)
    assert relative_rmse(X, clean) < 0.5 * relative_rmse(X, noisy)


def test_the_default_threshold_is_a_twentieth_of_the_spread(curves):
    X, _ = curves
    automatic = RNLMFClustering(3, random_state=0).fit(X).estimator_
    spread = np.sqrt(np.mean(X.std(axis=0) ** 2))
    assert automatic.noise_weight_ * automatic.kernel_.sigma**2 == pytest.approx(
        0.05 * spread, rel=1e-3
    )


@every
def test_missing_entries_hardly_matter(model, curves, rng):
    X, y = curves
    gaps = np.where(rng.random(X.shape) < 0.05, np.nan, X)
    model = clone(model).set_params(n_clusters=3).fit(gaps)
    assert clustering_error(y, model.labels_) < 0.05
    assert np.mean(model.predict(gaps) == model.labels_) > 0.98
    assert np.all(np.isfinite(model.denoise(gaps)))


def test_columns_with_units_are_brought_to_one_scale(rng):
    y = np.repeat(np.arange(3), 60)
    # The column with the largest unit says nothing of the groups.
    X = np.column_stack([3.0 * rng.normal(size=(3, 6))[y], np.zeros(180)]) + rng.normal(size=(180, 7))
    X *= 10.0 ** np.arange(-3, 4)
    plain = default_estimator(*X.shape)
    errors = [
        clustering_error(y, RNLMFClustering(3, estimator=estimator, random_state=0).fit_predict(X))
        for estimator in (plain, clone(plain).set_params(feature_scale="robust"))
    ]
    assert errors[1] < 0.05 < errors[0]


def test_seeds_reach_the_estimator_unless_it_has_its_own(curves):
    X, _ = curves
    drawn = RNLMFClustering(
        3, estimator=RNLMF(5, noise_weight="scale", feature_scale="robust"), random_state=0
    )
    assert isinstance(drawn.fit(X).estimator_.random_state, int)
    assert drawn.estimator.random_state is None
    own = RNLMFClustering(3, estimator=default_estimator(*X.shape, random_state=7), random_state=0)
    assert own.fit(X).estimator_.random_state == 7


def test_all_cores_are_minus_one(curves):
    X, _ = curves
    one, every_core = (
        RNLMFClustering(3, n_jobs=jobs, random_state=0).fit(X).labels_ for jobs in (1, -1)
    )
    np.testing.assert_array_equal(one, every_core)


def test_survives_pickle(curves):
    X, _ = curves
    model = RNLMFClustering(3, random_state=0).fit(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_degenerate_data():
    for X in (np.zeros((30, 4)), np.ones((30, 4)), np.eye(30)):
        labels = RNLMFClustering(3, random_state=0).fit_predict(X)
        assert labels.min() == 0
        assert labels.max() <= 2
    assert RNLMFClustering(1, random_state=0).fit_predict(np.eye(5)).max() == 0
    assert RNLMFClustering(random_state=0).fit(np.eye(2)).n_clusters_ in (1, 2)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_clusters", 0),
        ("n_clusters", 400),
        ("n_neighbors", 0),
        ("link_by", "all"),
        ("affinity", "rbf"),
        ("affinity_weight", 0.0),
        ("affinity_scaling", "mean"),
        ("compare_with", "sparse"),
        ("n_landmarks", 1),
        ("assign_labels", "discretize"),
        ("min_relative_size", 1.0),
        ("fit_samples", 1),
    ],
)
def test_bad_parameters_are_named(curves, parameter, value):
    with pytest.raises(ValueError, match=parameter):
        RNLMFClustering(**{parameter: value}).fit(curves[0])


def test_input_is_not_changed(curves):
    X = curves[0].copy()
    RNLMFClustering(3, random_state=0).fit(X).predict(X)
    np.testing.assert_array_equal(X, curves[0])


def test_float32_agrees(curves):
    X, _ = curves
    model = RNLMFClustering(3, random_state=0)
    single = model.fit(X.astype(np.float32)).labels_
    assert clustering_error(model.fit(X).labels_, single) < 0.01


@pytest.mark.slow
def test_digits_beat_the_neighbours_of_the_pixels():
    from sklearn.cluster import SpectralClustering

    X, y = load_digits(return_X_y=True)
    ours = RNLMFClustering(10, random_state=0).fit_predict(X)
    pixels = SpectralClustering(
        10, affinity="nearest_neighbors", n_neighbors=10, random_state=0
    ).fit_predict(X)
    assert clustering_error(y, ours) < clustering_error(y, pixels)
