import numpy as np
import pytest

from rnlmf.opinions.pixel_noise_verdict import NoiseVerdict
from rnlmf.opinions.pixel_scale import LEAST_ERROR, Scale

SCALE = Scale(0.0, 1.0, span=1.0)


@pytest.fixture
def spoiled(rng):
    """Predictions, right values about them, and the same with noise of 0.25 in a third of them."""
    prediction = rng.uniform(0.2, 0.8, (300, 100))
    right = prediction + 0.04 * rng.normal(size=prediction.shape)
    wrong = rng.random(right.shape) < 1.0 / 3.0
    noisy = np.where(wrong, right + 0.25 * rng.normal(size=right.shape), right)
    return prediction, wrong, noisy


def judged(Z, prediction, deviation=0.04):
    missing, scale = np.zeros(Z.shape, dtype=bool), np.full(Z.shape, deviation)
    verdict = NoiseVerdict.learn(Z, missing, prediction, scale, SCALE)
    return verdict, verdict.probability(Z, missing, prediction, scale)


def test_share_and_size_are_those_of_all_errors_not_of_gross_ones(spoiled):
    prediction, _, noisy = spoiled
    verdict, _ = judged(noisy, prediction)
    assert verdict.share == pytest.approx(1.0 / 3.0, abs=0.06)
    assert verdict.size == pytest.approx(0.25, abs=0.03)


@pytest.mark.parametrize("times", [0.5, 2.0, 3.0])
def test_scales_that_errors_have_blurred_are_sharp_again(spoiled, times):
    prediction, wrong, noisy = spoiled
    _, right = judged(noisy, prediction)
    verdict, probability = judged(noisy, prediction, 0.04 * times)
    assert verdict.factor * times == pytest.approx(1.0, abs=0.15)
    np.testing.assert_allclose(probability, right, atol=0.1)
    assert np.mean(probability[wrong] > 0.5) > 0.5
    assert np.mean(probability[~wrong] > 0.5) < 0.02


def test_what_is_near_its_prediction_is_right(spoiled):
    prediction, _, noisy = spoiled
    _, probability = judged(noisy, prediction)
    assert not probability[np.abs(noisy - prediction) < LEAST_ERROR].any()


def test_gaps_are_no_errors(spoiled):
    prediction, _, noisy = spoiled
    Z, missing = noisy.copy(), np.zeros(noisy.shape, dtype=bool)
    Z[:, 3], missing[:, 3] = np.nan, True
    scale = np.full(Z.shape, 0.04)
    verdict = NoiseVerdict.learn(Z, missing, prediction, scale, SCALE)
    probability = verdict.probability(Z, missing, prediction, scale)
    assert np.isfinite(probability).all()
    assert not probability[:, 3].any()
    assert verdict.share == pytest.approx(1.0 / 3.0, abs=0.06)


def test_the_order_of_rows_means_nothing(spoiled, rng):
    prediction, _, noisy = spoiled
    order = rng.permutation(len(noisy))
    _, probability = judged(noisy, prediction)
    _, other = judged(noisy[order], prediction[order])
    np.testing.assert_array_equal(other, probability[order])


def test_without_errors_hardly_any_is_found(rng):
    prediction = rng.uniform(0.0, 1.0, (300, 100))
    right = np.clip(prediction + 0.04 * rng.normal(size=prediction.shape), 0.0, 1.0)
    _, probability = judged(right, prediction)
    assert np.mean(probability > 0.5) < 1e-3


def test_black_is_no_error_where_errors_are_darker(rng):
    """Noise that is not cut off leaves no pixel black that is not."""
    prediction = rng.uniform(0.0, 0.5, (300, 100))
    right = np.clip(prediction + 0.2 * rng.normal(size=prediction.shape), 0.0, 1.0)
    wrong = rng.random(right.shape) < 0.1
    noisy = np.where(wrong, right + 0.4 * rng.normal(size=right.shape), right)
    verdict, probability = judged(noisy, prediction, 0.2)
    assert verdict.below
    assert not (probability[(noisy == 0.0) & (prediction < 0.3)] > 0.5).any()
    assert (probability[noisy < -LEAST_ERROR] > 0.5).all()
