import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from sklearn.datasets import load_digits

from rnlmf.datasets import corrupt_entries, occlude, salt_and_pepper
from rnlmf.metrics import relative_rmse
from rnlmf.opinions.pixels import PixelJudge, same_unit


@pytest.fixture(scope="module")
def digits():
    return load_digits().data[:700] / 16.0


@pytest.fixture(scope="module")
def salted(digits):
    noisy = salt_and_pepper(digits, random_state=0)
    return noisy, *PixelJudge.learn(noisy)


def test_clean_images_come_back_to_the_bit(digits):
    judge, judgement = PixelJudge.learn(digits)
    assert np.array_equal(judgement.repaired(digits), digits)
    assert judge.left_alone
    assert np.isnan(judgement.error_left(digits))


def test_salt_and_pepper_goes_and_the_rest_stays(digits, salted):
    noisy, _, judgement = salted
    repaired = judgement.repaired(noisy)
    assert relative_rmse(digits, repaired) < 0.6 * relative_rmse(digits, noisy)
    assert np.array_equal(repaired[~judgement.wrong], noisy[~judgement.wrong])
    assert np.mean(judgement.wrong[noisy == digits]) < 0.03


@pytest.mark.parametrize("density", [0.05, 0.1])
def test_gaussian_noise_in_some_pixels_goes(digits, density):
    """It is darker than black, brighter than white, and anything between, in every image."""
    noisy = corrupt_entries(digits, density, random_state=0)
    assert same_unit(noisy)
    _, judgement = PixelJudge.learn(noisy)
    assert relative_rmse(digits, judgement.repaired(noisy)) < 0.7 * relative_rmse(digits, noisy)
    assert np.mean(judgement.wrong[noisy == digits]) < 0.01


def test_a_block_is_found_though_its_pixels_vouch_for_each_other(digits):
    noisy = occlude(digits, (8, 8), random_state=0)
    _, judgement = PixelJudge.learn(noisy)
    assert relative_rmse(digits, judgement.repaired(noisy)) < 0.9 * relative_rmse(digits, noisy)


@pytest.mark.parametrize("value", [1e5, -9999.0, 1e30])
def test_a_wild_value_blinds_nobody(digits, salted, value):
    noisy, _, before = salted
    spoiled = noisy.copy()
    spoiled[3, 27] = value
    _, judgement = PixelJudge.learn(spoiled)
    assert judgement.wrong[3, 27]
    assert 0.0 <= judgement.repaired(spoiled)[3, 27] <= 1.0
    assert np.mean(judgement.wrong != before.wrong) < 0.005


def test_rows_are_judged_one_by_one(salted):
    noisy, judge, judgement = salted
    some = judge.judge(noisy[:20])
    assert np.array_equal(some.wrong, judgement.wrong[:20])
    assert some.prediction == pytest.approx(judgement.prediction[:20])


def test_gaps_are_filled(digits, salted):
    noisy, judge, _ = salted
    gappy = noisy[:20].copy()
    gappy[:, 20] = np.nan
    judgement = judge.judge(gappy)
    filled = judgement.repaired(gappy)
    assert np.isfinite(filled).all()
    assert np.abs(filled[:, 20] - digits[:20, 20]).mean() < digits[:, 20].std()


def test_pixels_share_both_ends_of_a_scale(digits, rng):
    assert same_unit(digits)
    wild = digits.copy()
    wild[5, 5] = 1e30
    assert same_unit(wild)
    assert not same_unit(rng.normal(size=(200, 10)))
    # A limit that all columns share is one end only.
    assert not same_unit(np.minimum(rng.exponential(size=(200, 10)), 2.0) + 0.0)


def test_few_images_of_many_pixels_are_cleaned_and_left_alone():
    noise = np.random.default_rng(0).normal(size=(100, 19, 19))
    smooth = gaussian_filter(noise, (0, 1.2, 1.2))[:, 2:-2, 2:-2].reshape(100, -1)
    fields = np.clip(0.5 + smooth / smooth.std() / 4.0, 0.0, 1.0)
    _, judgement = PixelJudge.learn(fields)
    assert relative_rmse(fields, judgement.repaired(fields)) < 0.01
    noisy = salt_and_pepper(fields, random_state=0)
    _, judgement = PixelJudge.learn(noisy)
    assert relative_rmse(fields, judgement.repaired(noisy)) < 0.4 * relative_rmse(fields, noisy)


def strokes(count, side=14):
    """Bright arcs on black ground, none like another."""
    rng = np.random.default_rng(0)
    t = np.linspace(-1.0, 1.0, 40)
    images = np.zeros((count, side, side))
    for image in images:
        for _ in range(2):
            angle, bend, (x, y) = rng.uniform(0, np.pi), rng.normal(), rng.normal(side / 2, 1.5, 2)
            along, across = 4.0 * t, 2.0 * bend * t**2
            rows = y + along * np.sin(angle) + across * np.cos(angle)
            columns = x + along * np.cos(angle) - across * np.sin(angle)
            places = np.clip(np.rint([rows, columns]).astype(int), 0, side - 1)
            image[tuple(places)] = 1.0
    smooth = gaussian_filter(images, (0, 0.6, 0.6))
    return np.clip(2.5 * smooth - 0.1, 0.0, 1.0).reshape(count, -1)


@pytest.mark.parametrize("whites", [[1.0], [253 / 255, 254 / 255, 1.0]], ids=["white", "whites"])
def test_clean_strokes_are_neither_blocks_nor_errors(whites, rng):
    """They surprise like errors: only the evidence speaks for them."""
    drawn = strokes(800)
    weights = np.arange(len(whites), 0, -1.0) ** 2
    white = rng.choice(whites, drawn.shape, p=weights / weights.sum())
    drawn = np.where(drawn == 1.0, white, drawn)
    judge, judgement = PixelJudge.learn(drawn)
    assert np.array_equal(judgement.repaired(drawn), drawn)
    assert judge.left_alone


def test_salt_and_pepper_on_strokes_goes():
    drawn = strokes(300)
    noisy = salt_and_pepper(drawn, random_state=0)
    _, judgement = PixelJudge.learn(noisy)
    assert relative_rmse(drawn, judgement.repaired(noisy)) < 0.6 * relative_rmse(drawn, noisy)
