import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from rnlmf import RNLMF, held_out_score, select
from rnlmf.selection import GridWalk, HeldOut, confidence, losses, related_features


def test_losses_are_bounded_and_free_of_scale(rng):
    predicted, observed = rng.standard_normal((2, 100))
    values = losses(predicted, observed, 1.0)
    assert np.all((values >= 0.0) & (values <= 1.0))
    assert losses(np.array([1e9]), np.zeros(1), 1.0) == [1.0]
    np.testing.assert_allclose(losses(5 * predicted, 5 * observed, 5.0), values)


def test_held_out_entries_are_a_share_in_groups(rng):
    X = rng.standard_normal((400, 20))
    held_out = HeldOut.draw(X, np.random.RandomState(0), 0.05)
    assert held_out.hidden.mean() == pytest.approx(0.05, abs=0.002)
    assert set(held_out.hidden.sum(axis=1)) == {0, 5}
    np.testing.assert_array_equal(np.isnan(held_out.samples), held_out.hidden)
    np.testing.assert_array_equal(held_out.samples[~held_out.hidden], X[~held_out.hidden])


def test_missing_entries_are_not_held_out(rng):
    X = np.where(rng.random((100, 8)) < 0.2, np.nan, 1.0)
    held_out = HeldOut.draw(X, np.random.RandomState(0), 0.2)
    assert not np.any(held_out.hidden & np.isnan(X))
    np.testing.assert_array_equal(np.isnan(held_out.samples).all(axis=1), np.isnan(X).all(axis=1))


def test_related_features_are_correlated(rng):
    base = rng.standard_normal((300, 2))
    X = np.column_stack([base[:, 0], base[:, 1], -base[:, 0] + 0.1 * base[:, 1], np.ones(300)])
    order = related_features(X, np.random.RandomState(0))
    np.testing.assert_array_equal(order[:, 0], np.arange(4))
    assert order[0, 1] == 2


def test_walk_finds_the_minimum_of_a_valley_and_tries_nothing_twice():
    tried = []

    def evaluate(point):
        tried.append(tuple(point.values()))
        return np.full(3, (point["a"] - 4.0) ** 2 + (point["b"] - 1.0) ** 2)

    walk = GridWalk(evaluate, {"a": [1.0, 2.0, 4.0, 8.0], "b": [1.0, 2.0, 3.0]})
    best = walk.run((1, 1))
    assert walk.point(best) == {"a": 4.0, "b": 1.0}
    assert len(tried) == len(set(tried)) < 12


def test_a_larger_value_is_taken_where_it_is_not_credibly_worse(rng):
    noise = rng.random(400)
    worse = {1.0: 0.0, 2.0: 0.001, 4.0: 0.5}

    def evaluate(point):
        return rng.permutation(noise) + worse[point["a"]]

    walk = GridWalk(evaluate, {"a": [1.0, 2.0, 4.0]})
    assert walk.cautious((0,), "a") == (1,)
    assert walk.cautious((2,), "a") == (2,)


def test_scattered_entries_are_single_and_scored_samples_have_some(rng):
    X = rng.standard_normal((5000, 30))
    held_out = HeldOut.scattered(X, np.random.RandomState(0), 0.01)
    assert held_out.hidden.mean() == pytest.approx(0.01, abs=0.001)
    scored = held_out.scored()
    assert scored.hidden.any(axis=1).all()
    assert 0 < len(scored.truth) <= 2000
    np.testing.assert_array_equal(np.isnan(scored.samples), scored.hidden)


def test_confidence_is_high_for_a_clear_winner_and_not_for_a_tie(rng):
    random = np.random.RandomState(0)
    noise = rng.random((2, 300))
    assert confidence([noise[0], noise[1] + 1.0], 0, random) == 1.0
    assert confidence([noise[0], noise[1]], int(noise.mean(axis=1).argmin()), random) < 1.0


def test_select_returns_a_fitted_estimator_and_a_table(curved):
    _, noisy = curved
    model = RNLMF(20, noise_weight="scale", random_state=0)
    found = select(noisy, model, {"kernel_scale": [1.0, 8.0]}, random_state=0)
    assert [row["kernel_scale"] for row in found.table] == [1.0, 8.0]
    assert found.estimator.kernel_scale_ == 1.0
    assert np.all(np.isfinite(found.estimator.denoise(noisy)))
    with pytest.raises(ValueError, match="hidden_share=2"):
        select(noisy, model, {}, hidden_share=2)


def test_scorer_works_in_grid_search(curved):
    _, noisy = curved
    search = GridSearchCV(
        RNLMF(10, noise_weight="scale", random_state=0, max_iter=40),
        {"kernel_scale": [1.0, 8.0]},
        scoring=held_out_score,
        cv=2,
    ).fit(noisy)
    assert search.best_params_ == {"kernel_scale": 1.0}
