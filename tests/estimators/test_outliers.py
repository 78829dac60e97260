import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from rnlmf import RNLMF, RNLMFOutlierDetector
from rnlmf.estimators.uncertainty import scores_of
from rnlmf.metrics import relative_rmse

CHECKED = RNLMF(opinions="dictionary", feature_scale="robust", max_iter=40, random_state=0)


@parametrize_with_checks([RNLMFOutlierDetector(CHECKED)])
def test_outlier_detector_keeps_scikit_learns_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def model(curved):
    return RNLMF(40, kernel_scale=1.0, noise_weight="scale", random_state=0).fit(curved[1])


def test_score_is_one_half_at_the_threshold_and_grows():
    residual = np.array([[0.0, 0.5, -1.0, 3.0, 1e30]])
    scores = scores_of(residual, np.ones((1, 1)), np.zeros((1, 5), dtype=bool))
    assert scores[0, 2] == pytest.approx(0.5)
    assert np.all(np.diff(scores) > 0.0)
    assert np.all((scores >= 0.0) & (scores <= 1.0))


@pytest.mark.parametrize("options", [{}, {"kernel": "polynomial"}, {"code_penalty": "l1"}])
def test_wrong_entries_score_higher(curved, options):
    clean, noisy = curved
    model = RNLMF(40, kernel_scale=1.0, noise_weight="scale", random_state=0, **options).fit(noisy)
    scores = model.corruption_scores(noisy)
    assert roc_auc_score((noisy != clean).ravel(), scores.ravel()) > 0.9


def test_noise_is_where_the_score_passes_one_half(curved, model):
    _, noisy = curved
    scores, noise = model.corruption_scores(noisy), model.noise(noisy)
    np.testing.assert_array_equal(scores > 0.5, noise != 0.0)


def test_missing_entries_have_no_score_and_no_residual(curved, model):
    gappy = curved[1].copy()
    gappy[3, 2] = np.nan
    for values in (model.corruption_scores(gappy), model.residuals(gappy)):
        assert np.argwhere(np.isnan(values)).tolist() == [[3, 2]]


def test_noise_is_part_of_the_residual(curved, model):
    _, noisy = curved
    residuals, noise = model.residuals(noisy), model.noise(noisy)
    assert np.all(np.abs(noise) <= np.abs(residuals) * (1 + 1e-9))
    assert np.all(noise * residuals >= 0.0)
    assert np.all(residuals[noise != 0.0] != 0.0)


def test_detector_needs_no_noise_to_be_found():
    t = np.linspace(0.0, 6.0, 600)
    noisy = np.column_stack([f(k * t) for k in range(1, 5) for f in (np.cos, np.sin)])
    wrong = np.arange(600) % 20 == 0
    noisy[wrong] += 1.0
    # A weight so large that nothing is taken for noise.
    model = RNLMF(30, kernel_scale=1.0, noise_weight=1e3, random_state=0)
    detector = RNLMFOutlierDetector(model, contamination=0.05).fit(noisy)
    assert not detector.estimator_.noise(noisy).any()
    assert roc_auc_score(wrong, -detector.score_samples(noisy)) > 0.95


def test_estimated_error_is_of_the_right_size(curved, model):
    clean, noisy = curved
    true = relative_rmse(clean, model.denoise(noisy))
    assert 0.3 * true < model.estimate_error(noisy) < 3.0 * true


def test_estimated_error_of_a_data_frame_is_that_of_its_values(curved, model):
    """Without a warning of names that the user has given."""
    frame = pd.DataFrame(curved[1]).add_prefix("x")
    named = clone(model).fit(frame)
    assert named.estimate_error(frame) == pytest.approx(model.estimate_error(curved[1]))


def test_detector_finds_bad_samples(curved, rng):
    clean, _ = curved
    noisy = clean.copy()
    bad = np.arange(0, len(clean), 10)
    noisy[bad] += rng.standard_normal((len(bad), clean.shape[1]))
    model = RNLMF(40, kernel_scale=1.0, noise_weight="scale", random_state=0)
    detector = RNLMFOutlierDetector(model, contamination=0.1).fit(noisy)
    wrong = np.isin(np.arange(len(clean)), bad)
    assert roc_auc_score(wrong, -detector.score_samples(noisy)) > 0.95
    assert np.mean(detector.predict(noisy) == -1) == pytest.approx(0.1, abs=0.01)
