import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from rnlmf import RNLMF, held_out_score, select
from rnlmf.model_selection.held_out import (
    HeldOut,
    confidence,
    distance,
    half_miss,
    missed,
    related_features,
)


@pytest.mark.parametrize("loss", [distance, lambda r, spread: missed(r, half_miss(r, spread))])
def test_losses_are_bounded_and_free_of_scale(loss, rng):
    residuals = np.append(rng.standard_normal(100), 1e9)
    values = loss(residuals, 1.0)
    assert np.all((values >= 0.0) & (values <= 1.0))
    assert values[-1] == pytest.approx(1.0)
    np.testing.assert_allclose(loss(5 * residuals, 5.0), values)


def test_half_a_miss_follows_the_residuals_only_where_most_are_large(rng):
    residuals = rng.standard_normal(1000)
    assert half_miss(0.01 * residuals, 1.0) == 0.3
    assert half_miss(np.where(rng.random(1000) < 0.3, 100.0, 0.01 * residuals), 1.0) == 0.3
    assert half_miss(residuals, 1.0) == pytest.approx(3 * np.median(np.abs(residuals)))


def test_distance_prefers_the_model_that_is_less_far_off(rng):
    steady = np.full(1000, 0.5)
    exact_or_far = np.where(rng.random(1000) < 0.6, 0.0, 1.5)
    assert distance(steady, 1.0).mean() < distance(exact_or_far, 1.0).mean()
    assert missed(steady, 0.3).mean() > missed(exact_or_far, 0.3).mean()


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


def test_too_few_entries_to_hold_any_out_are_told():
    with pytest.raises(ValueError, match="too few entries"):
        select(np.full((40, 3), np.nan), RNLMF(1), {}, random_state=0)


def test_progress_changes_nothing(curved, capfd):
    grid, model = (
        {"kernel_scale": [0.5, 4.0]},
        RNLMF(10, noise_weight="scale", max_iter=20, random_state=0),
    )
    silent, told = (
        select(curved[1], model, grid, random_state=0, progress=progress) for progress in (False, True)
    )
    assert told.table == silent.table
    assert "Candidates" in "".join(capfd.readouterr())
