import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rnlmf import RNLMF, ScaledRNLMF
from rnlmf.datasets import corrupt_entries
from rnlmf.estimators.scaled import robust_spread
from rnlmf.metrics import relative_rmse

UNITS = 10.0 ** np.arange(-6, 6)


@parametrize_with_checks([ScaledRNLMF(RNLMF(max_iter=20, random_state=0))])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_units_of_the_features_do_not_matter(curved):
    clean, noisy = curved
    model = ScaledRNLMF(RNLMF(30, random_state=0))
    plain = model.fit_denoise(noisy)
    # The shift costs the smallest feature ten digits, and the iteration amplifies rounding.
    other = (model.fit_denoise(noisy * UNITS + 5.0) - 5.0) / UNITS
    np.testing.assert_allclose(other, plain, atol=1e-2)
    assert relative_rmse(clean, plain) < 0.5 * relative_rmse(clean, noisy)


def test_beats_the_plain_model_on_mixed_units(curved):
    clean, noisy = curved
    scaled = ScaledRNLMF(RNLMF(30, random_state=0)).fit_denoise(noisy * UNITS) / UNITS
    plain = RNLMF(30, random_state=0).fit_denoise(noisy * UNITS) / UNITS
    assert relative_rmse(clean, scaled) < 0.6 * relative_rmse(clean, plain)


def test_unchanged_entries_are_the_same_to_the_bit(curved):
    noisy = curved[1] * UNITS + 1.0
    model = ScaledRNLMF(RNLMF(30, random_state=0)).fit(noisy)
    unchanged = model.noise(noisy) == 0.0
    assert 0.3 < unchanged.mean() < 1.0
    np.testing.assert_array_equal(model.denoise(noisy)[unchanged], noisy[unchanged])


def test_dictionary_is_in_the_units_of_the_data(curved):
    noisy = curved[1] * UNITS
    model = ScaledRNLMF(RNLMF(30, random_state=0)).fit(noisy)
    ratio = np.abs(model.components_).max(axis=0) / np.abs(noisy).max(axis=0)
    assert np.all((ratio > 0.1) & (ratio < 3.0))
    assert model.transform(noisy).shape == (200, 30)


def test_a_data_frame_comes_back(curved):
    frame = pd.DataFrame(curved[1], columns=[f"c{i}" for i in range(12)])
    clean = ScaledRNLMF(RNLMF(10, max_iter=5)).fit_denoise(frame)
    assert list(clean.columns) == list(frame.columns)


def test_spread_is_not_moved_by_gross_errors(rng):
    X = rng.normal(size=(1000, 3)) * [1.0, 10.0, 0.0]
    X[:30] += 1e4
    np.testing.assert_allclose(robust_spread(X)[:2], [1.0, 10.0], rtol=0.1)
    assert np.all(robust_spread(np.ones((5, 2))) == 1.0)
    mostly_equal = np.where(np.arange(100) < 90, 1.0, 2.0)[:, None]
    assert robust_spread(mostly_equal) == pytest.approx(mostly_equal.std())


def test_scores_and_error_are_those_of_the_scaled_features(curved):
    noisy = curved[1] * UNITS
    model = ScaledRNLMF(RNLMF(30, kernel_scale=1.0, noise_weight="scale", random_state=0)).fit(noisy)
    scaled = (noisy - model.center_) / model.scale_
    np.testing.assert_array_equal(
        model.corruption_scores(noisy), model.estimator_.corruption_scores(scaled)
    )
    assert model.estimate_error(noisy) == model.estimator_.estimate_error(scaled)


def test_missing_and_masked_entries_are_filled_alike(curved, rng):
    noisy = curved[1] * UNITS
    mask = rng.random(noisy.shape) < 0.05
    model = ScaledRNLMF(RNLMF(30, kernel_scale=1.0, noise_weight="scale", random_state=0))
    filled = model.fit_denoise(noisy, mask=mask)
    np.testing.assert_array_equal(model.fit_denoise(np.where(mask, np.nan, noisy)), filled)
    assert np.all(np.isfinite(filled))
    with pytest.raises(ValueError, match="mask must be an array of bool"):
        model.fit(noisy, mask=mask[:5])


def test_a_feature_that_is_constant_but_for_rounding_and_errors_does_not_rule(rng):
    t = np.linspace(0.0, 6.0, 400)
    curve = [f(k * t) for k in range(1, 7) for f in (np.cos, np.sin)]
    truth = np.column_stack([*curve, 1e-17 * rng.standard_normal(400)])
    noisy = corrupt_entries(truth, 0.1, random_state=0)
    model = ScaledRNLMF(RNLMF(40, kernel_scale=0.5, noise_weight="scale", random_state=0))
    clean = model.fit_denoise(noisy)
    assert np.linalg.norm(clean - truth) < 0.5 * np.linalg.norm(noisy - truth)


def test_residuals_are_in_the_columns_units():
    t = np.linspace(0.0, 6.0, 300)
    X = np.column_stack([np.cos(t), np.sin(t), np.cos(2 * t), np.full(300, 7.0)])
    X[::30, 1] += 3.0
    units = np.array([1.0, 128.0, 1.0 / 64.0, 1.0])
    model = ScaledRNLMF(RNLMF(20, kernel_scale=1.0, noise_weight="scale", random_state=0))
    plain = model.fit(X).residuals(X)
    assert np.all(np.abs(plain) >= np.abs(model.noise(X)) * (1 - 1e-6))
    assert not plain[:, 3].any()
    other = model.fit(X * units).residuals(X * units) / units
    np.testing.assert_allclose(other, plain, atol=1e-6)
