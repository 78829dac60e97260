import numpy as np
import pytest

from rnlmf.opinions.pixel_scale import LEAST_ERROR, Scale
from rnlmf.opinions.pixel_verdict import PixelVerdict

ENDS = (0.0, 1.0)
SCALE = Scale(*ENDS, span=ENDS[1] - ENDS[0])
# Two pixels to either side.
NEAR = (np.arange(50)[:, None] + (-2, -1, 1, 2)) % 50


@pytest.fixture
def images(rng):
    """Predictions, right values about them cut off at black and white, and salt in a third of rows."""
    prediction = rng.uniform(0.0, 1.0, (200, 50))
    right = np.clip(prediction + 0.05 * rng.normal(size=prediction.shape), *ENDS)
    wrong = (rng.random(right.shape) < 0.2) & (np.arange(200) % 3 == 0)[:, None]
    return prediction, right, wrong, np.where(wrong, 1.0, right)


def judged(Z, prediction):
    missing, scale = np.zeros(Z.shape, dtype=bool), np.full(Z.shape, 0.05)
    verdict = PixelVerdict.learn(Z, missing, prediction, scale, SCALE, NEAR)
    return verdict, verdict.probability(Z, missing, prediction, scale)


def test_salt_is_wrong_and_white_is_not(images):
    prediction, _, wrong, noisy = images
    verdict, probability = judged(noisy, prediction)
    far = np.abs(noisy - prediction) > 0.3
    assert (probability[wrong & far] > 0.5).all()
    assert np.mean(probability[~wrong] > 0.5) < 1e-3
    # Errors are white, and it is known that they are.
    assert verdict.values[-1] > 0.9


def test_right_images_have_hardly_any_wrong_pixel(images):
    prediction, right, _, _ = images
    verdict, probability = judged(right, prediction)
    assert np.mean(probability > 0.5) < 1e-3
    assert verdict.share < 0.01


def test_what_is_near_its_prediction_is_right(images):
    prediction, _, _, noisy = images
    _, probability = judged(noisy, prediction)
    assert not probability[np.abs(noisy - prediction) < LEAST_ERROR].any()


def test_pixels_of_a_block_are_wrong_together(images):
    """The same value, as far off, among wrong neighbours and among right ones."""
    prediction, _, _, noisy = images
    verdict, _ = judged(noisy, prediction)
    prediction, Z = np.full((1, 50), 0.5), np.full((1, 50), 0.5)
    Z[0, 10:20] = 1.0
    scale = np.full(Z.shape, 0.05)
    scale[0, [15, 40]] = 0.2
    Z[0, 40] = 1.0
    probability = verdict.probability(Z, np.zeros(Z.shape, dtype=bool), prediction, scale)
    assert probability[0, 15] > probability[0, 40]


def test_brighter_than_white_is_wrong(images):
    prediction, right, _, _ = images
    verdict, _ = judged(right, prediction)
    Z, guess = np.full((1, 50), 0.9), np.full((1, 50), 0.9)
    Z[0, 10] = 1.2
    wide = np.full(Z.shape, 0.3)
    probability = verdict.probability(Z, np.zeros(Z.shape, dtype=bool), guess, wide)
    assert probability[0, 10] > 0.9


def test_what_was_added_is_wrong_wherever_it_leads(images, rng):
    """Noise upon the right values, of a fifth of the span: errors have no values of their own."""
    prediction, right, _, _ = images
    wrong = rng.random(right.shape) < 0.1
    noisy = np.where(wrong, right + 0.2 * rng.normal(size=right.shape), right)
    verdict, probability = judged(noisy, prediction)
    assert verdict.added > 0.5
    assert verdict.size == pytest.approx(0.2, abs=0.08)
    far = wrong & (np.abs(noisy - prediction) > 0.25)
    assert np.mean(probability[far] > 0.5) > 0.9
    assert np.mean(probability[~wrong] > 0.5) < 0.01
