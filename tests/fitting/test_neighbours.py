import numpy as np
import pytest

from rnlmf import RNLMF
from rnlmf.datasets import corrupt_entries
from rnlmf.fitting.neighbours import COUNT, Neighbours, same_sample, scored_rows
from rnlmf.metrics import relative_rmse

QUICK = {"kernel_scale": 0.5, "noise_weight": "scale", "random_state": 0}


@pytest.fixture
def trajectory():
    """Dense samples of a curve, as of a motion."""
    t = np.linspace(0.0, 6.0, 800)
    return np.column_stack([f(k * t) for k in range(1, 7) for f in (np.cos, np.sin)])


@pytest.mark.parametrize("known", [True, False])
def test_prediction_is_the_weighted_mean_of_the_nearest_others(known, rng):
    X = rng.standard_normal((60, 4))
    reference = X if known else X[1:]
    predicted = Neighbours(reference, reference).predict(X[:1], X[:1])
    squares = ((X - X[0]) ** 2).sum(axis=1)
    nearest = np.argsort(squares)[1 : COUNT + 1]
    expected = np.average(X[nearest], axis=0, weights=1.0 / squares[nearest])
    np.testing.assert_allclose(predicted[0], expected)


def test_a_sample_is_not_its_own_neighbour_even_with_gaps(rng):
    X = rng.standard_normal((50, 5))
    with_gap = X.copy()
    with_gap[:, 2] = np.nan
    # The sample's own value is nowhere to be found: changing it changes nothing.
    changed = X.copy()
    changed[7, 2] += 100.0
    before = Neighbours(X, X).predict(with_gap[7:8], X[7:8])
    after = Neighbours(changed, changed).predict(with_gap[7:8], X[7:8])
    np.testing.assert_allclose(after, before)


def test_copies_of_a_sample_do_not_take_the_places_of_its_neighbours(rng):
    X = rng.standard_normal((60, 4))
    X[5, 1] = np.nan
    copies = np.repeat(X, 3 * COUNT, axis=0)
    alone, among = Neighbours.among(X, X), Neighbours.among(copies, copies)
    np.testing.assert_array_equal(among.predict(X, X), alone.predict(X, X))
    assert np.isfinite(among.predict(X, X)).all()


def test_neighbours_are_heard_where_every_sample_stands_several_times(trajectory):
    copies = np.repeat(trajectory[::10], 2 * COUNT, axis=0)
    model = RNLMF(20, **QUICK, neighbor_share=1.0).fit(copies)._model
    assert np.isfinite(model.neighbours.predict(copies, model.units.to_engine(copies))).all()


@pytest.mark.parametrize("dense_first", [True, False])
def test_the_share_is_chosen_on_all_kinds_of_samples(dense_first, rng):
    """Half of the samples have neighbours that know them, the first or the last."""
    t = np.linspace(0.0, 6.0, 300)
    waves = np.column_stack([f(k * t) for k in range(1, 7) for f in (np.cos, np.sin)])
    dense = waves @ rng.standard_normal((12, 200)) / 3.0
    strangers = 2.0 * rng.standard_normal((300, 200))
    X = np.vstack([dense, strangers] if dense_first else [strangers, dense])
    # Fewer are asked than there are.
    assert scored_rows(X.shape[1]) < 300
    assert RNLMF(20, **{**QUICK, "kernel_scale": 1.0}, max_iter=30).fit(X).neighbor_share_ == 1.0


def test_gaps_of_neighbours_do_not_count(rng):
    X = rng.standard_normal((40, 3))
    gappy = X.copy()
    gappy[:, 0] = np.nan
    predicted = Neighbours(gappy, gappy).predict(X[:5], X[:5])
    assert np.isnan(predicted[:, 0]).all()
    assert np.isfinite(predicted[:, 1:]).all()
    P = rng.standard_normal((5, 3))
    mixed = Neighbours(gappy, gappy).mix(X[:5], X[:5], P)
    np.testing.assert_array_equal(mixed[:, 0], P[:, 0])


def test_same_sample_compares_what_both_have():
    X = np.array([[1.0, np.nan, 3.0]])
    others = np.array([[[1.0, 2.0, 3.0], [1.0, 2.0, 4.0], [np.nan, 0.0, 3.0]]])
    np.testing.assert_array_equal(same_sample(X, others), [[True, False, True]])


def test_neighbours_are_heard_on_dense_samples_and_help(trajectory):
    noisy = corrupt_entries(trajectory, 0.2, random_state=0)
    # Few atoms: the model alone is coarse.
    model = RNLMF(20, **QUICK).fit(noisy)
    alone = RNLMF(20, **QUICK, neighbor_share=0).fit(noisy)
    assert model.neighbor_share_ > 0.0
    assert alone.neighbor_share_ == 0.0
    error = relative_rmse(trajectory, model.denoise(noisy))
    assert error < relative_rmse(trajectory, alone.denoise(noisy))


def test_neighbours_are_not_heard_where_they_know_nothing(rng):
    # Many features of their own, few samples: the nearest is as far as any other.
    X = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 60))
    X += 2.0 * rng.standard_normal(X.shape)
    assert RNLMF(40, **QUICK).fit(X).neighbor_share_ <= 0.25


def test_codes_are_the_models_own(trajectory):
    noisy = corrupt_entries(trajectory, 0.1, random_state=0)
    heard = RNLMF(30, **QUICK, neighbor_share=1.0).fit(noisy)
    alone = RNLMF(30, **QUICK, neighbor_share=0.0).fit(noisy)
    np.testing.assert_array_equal(heard.transform(noisy), alone.transform(noisy))


def test_rows_are_treated_one_by_one(trajectory):
    noisy = corrupt_entries(trajectory, 0.1, random_state=0)
    model = RNLMF(30, **QUICK, neighbor_share=1.0).fit(noisy)
    whole = model.denoise(noisy)
    np.testing.assert_allclose(model.denoise(noisy[100:110]), whole[100:110], atol=1e-3)
    np.testing.assert_allclose(model.denoise(noisy[::-1])[::-1], whole, atol=1e-3)


@pytest.mark.parametrize("neighbor_share", [-0.1, 1.5, "some"])
def test_bad_share_is_refused(trajectory, neighbor_share):
    with pytest.raises(ValueError, match="neighbor_share"):
        RNLMF(5, neighbor_share=neighbor_share).fit(trajectory)


@pytest.mark.parametrize("count", [1, 2, COUNT])
def test_few_samples_are_all_neighbours(count, rng):
    X = rng.standard_normal((count + 1, 4))
    predicted = Neighbours(X[1:], X[1:]).predict(X[:1], X[:1])
    squares = ((X[1:] - X[0]) ** 2).sum(axis=1)
    np.testing.assert_allclose(predicted[0], np.average(X[1:], axis=0, weights=1.0 / squares))
