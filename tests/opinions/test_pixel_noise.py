import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from rnlmf import RNLMF
from rnlmf.datasets import corrupt_entries, occlude, salt_and_pepper
from rnlmf.estimators.persistence import load, save
from rnlmf.metrics import relative_rmse
from rnlmf.opinions.pixel_noise import anywhere, places_tell
from rnlmf.opinions.pixel_relations import likeness, neighbours
from rnlmf.opinions.pixels import PixelJudge

SIDE = 16


def smooth(count, seed=0):
    noise = np.random.default_rng(seed).normal(size=(count, SIDE + 4, SIDE + 4))
    some = gaussian_filter(noise, (0, 1.5, 1.5))[:, 2:-2, 2:-2].reshape(count, -1)
    return np.clip(0.5 + some / some.std() / 4.0, 0.0, 1.0)


@pytest.fixture(scope="module")
def fields():
    return smooth(300)


@pytest.fixture(scope="module")
def spoiled(fields):
    noisy = corrupt_entries(fields, 0.3, random_state=0)
    return noisy, *PixelJudge.learn(noisy)


@pytest.fixture(scope="module")
def near(fields):
    return neighbours(likeness(fields, np.zeros(fields.shape, dtype=bool)))


def test_noise_in_a_third_of_all_pixels_goes(fields, spoiled):
    noisy, judge, judgement = spoiled
    assert judge.noise is not None
    assert relative_rmse(fields, judgement.repaired(noisy)) < 0.45 * relative_rmse(fields, noisy)


def test_what_is_rather_right_comes_back_to_the_bit(fields, spoiled):
    noisy, _, judgement = spoiled
    repaired, right = judgement.repaired(noisy), noisy == fields
    kept = judgement.probability <= 0.5
    assert np.array_equal(repaired[kept], noisy[kept])
    assert np.mean(repaired[right] != noisy[right]) < 0.06


def test_a_doubtful_pixel_is_the_mean_of_what_it_may_be(spoiled):
    noisy, judge, judgement = spoiled
    told = judge.noise.testify(judge.unit.scaled(noisy), np.zeros(noisy.shape, dtype=bool))
    P, right = judgement.probability, judge.unit.to_data(told.prediction)
    expected = np.where(judgement.wrong, P * right + (1.0 - P) * noisy, noisy)
    np.testing.assert_allclose(judgement.repaired(noisy), expected)


def test_later_rounds_predict_better(fields, spoiled):
    noisy, judge, _ = spoiled
    Z, nothing = judge.unit.scaled(noisy), np.zeros(noisy.shape, dtype=bool)
    first = judge.noise.rounds[0].testify(Z, Z, nothing, Z)
    last = judge.noise.testify(Z, nothing)
    off = [np.std(judge.unit.to_data(told.prediction) - fields) for told in (first, last)]
    assert off[1] < 0.9 * off[0]


def test_rows_are_judged_one_by_one(spoiled):
    noisy, judge, judgement = spoiled
    some = judge.judge(noisy[:20])
    np.testing.assert_allclose(some.repaired(noisy[:20]), judgement.repaired(noisy)[:20])


def test_new_images_are_cleaned(spoiled):
    _, judge, _ = spoiled
    new = smooth(50, seed=1)
    noisy = corrupt_entries(new, 0.3, random_state=1)
    repaired = judge.judge(noisy).repaired(noisy)
    assert relative_rmse(new, repaired) < 0.45 * relative_rmse(new, noisy)


def test_gaps_are_filled_and_wild_values_blind_nobody(fields, spoiled):
    noisy, _, before = spoiled
    gappy = noisy.copy()
    gappy[:20, 20], gappy[30, 40] = np.nan, 1e30
    judge, judgement = PixelJudge.learn(gappy)
    repaired = judgement.repaired(gappy)
    assert judge.noise is not None
    assert np.abs(repaired[:20, 20] - fields[:20, 20]).mean() < fields[:, 20].std()
    assert abs(repaired[30, 40] - fields[30, 40]) < 1.0
    others = before.repaired(noisy)[50:]
    assert relative_rmse(fields[50:], repaired[50:]) < 1.1 * relative_rmse(fields[50:], others)


def test_values_anywhere_are_found_as_well(fields, rng):
    noisy = np.where(rng.random(fields.shape) < 0.2, rng.random(fields.shape), fields)
    judge, judgement = PixelJudge.learn(noisy)
    assert judge.noise is not None
    assert relative_rmse(fields, judgement.repaired(noisy)) < 0.45 * relative_rmse(fields, noisy)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda X: X,
        lambda X: salt_and_pepper(X, random_state=0),
        lambda X: occlude(X, (SIDE, SIDE), random_state=0),
    ],
    ids=["clean", "salt and pepper", "occlusion"],
)
def test_other_errors_do_not_fall_anywhere(fields, spoil):
    judge, _ = PixelJudge.learn(spoil(fields))
    assert judge.noise is None


def test_where_suspects_fall(near, rng):
    noise = rng.random((200, len(near))) < 0.1
    deviation = rng.random(noise.shape)
    assert anywhere(noise, near, deviation)
    # In some images only, in hardly any, beside each other, and where predictions are bad.
    assert not anywhere(noise & (np.arange(200) % 2 == 0)[:, None], near, deviation)
    assert not anywhere(noise & (rng.random(noise.shape) < 0.01), near, deviation)
    blocks = np.kron(rng.random((200, 4, 4)) < 0.1, np.ones((1, 4, 4))) > 0
    assert not anywhere(blocks.reshape(200, -1), near, deviation)
    assert not anywhere(noise & (deviation > rng.random(noise.shape)), near, deviation)


def test_where_the_order_of_columns_means_nothing_places_do_not_tell(fields, near, rng):
    nothing = np.zeros(fields.shape, dtype=bool)
    assert places_tell(likeness(fields, nothing), near)
    alike = likeness(fields[:, rng.permutation(fields.shape[1])], nothing)
    assert not places_tell(alike, neighbours(alike))


def test_a_saved_model_finds_the_same(fields, tmp_path):
    noisy = corrupt_entries(fields, 0.2, random_state=0)
    model = RNLMF(random_state=0, max_iter=5).fit(noisy)
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again._judge.noise is not None
    np.testing.assert_array_equal(again.denoise(noisy[:30]), model.denoise(noisy[:30]))
