"""What `RNLMF()` promises where it hears several opinions, and `feature_scale`."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from rnlmf import RNLMF, RNLMFDenoiser, RNLMFOutlierDetector, load, save
from rnlmf.datasets import corrupt_entries, salt_and_pepper
from rnlmf.metrics import relative_rmse

UNITS = 10.0 ** np.arange(-6, 6)
QUICK = {"n_components": 10, "kernel_scale": 1.0, "max_iter": 5, "random_state": 0}


@pytest.fixture(scope="module")
def waves():
    """Truth and data with 3% of gross errors: four columns that are smooth in time."""
    rng = np.random.default_rng(0)
    t = np.linspace(0.0, 12.0, 300)
    truth = np.column_stack([np.sin(t), np.cos(t), np.sin(2 * t) + np.cos(t), np.sin(t + 1)])
    truth += 0.02 * rng.normal(size=truth.shape)
    wrong = rng.random(truth.shape) < 0.03
    return truth, np.where(wrong, truth + rng.choice([-5.0, 5.0], truth.shape), truth), wrong


@pytest.fixture(scope="module")
def fitted(curved):
    return RNLMF(**QUICK).fit(curved[1])


def test_several_opinions_are_heard_unless_there_are_few_rows_many_columns_or_a_weight(curved, rng):
    _, noisy = curved
    wide = rng.normal(size=(40, 2049))
    for X, options, heard in (
        (noisy[:60], {}, True),
        (noisy[:29], {"noise_weight": 0.1}, False),
        (wide, {}, False),
        (noisy[:60], {"noise_weight": "scale"}, False),
        (noisy[:60], {"noise_penalty": "l1"}, False),
        (noisy[:60], {"opinions": "dictionary"}, False),
    ):
        model = RNLMF(**{**QUICK, "n_components": 3}, **options).fit(X)
        assert (model.feature_scale_ is not None) == heard
        assert model.n_components_ == 3
        assert model.left_alone_ == {} or heard


@pytest.mark.parametrize("rows", [3, 29])
def test_too_few_rows_come_back_as_they_are_and_it_is_said(curved, rows, tmp_path):
    _, noisy = curved
    noisy = noisy[:rows].copy()
    noisy[1, 2] = np.nan
    present = ~np.isnan(noisy)
    model = RNLMF(**{**QUICK, "n_components": 2})
    with pytest.warns(UserWarning, match="fewer than 30 rows.*opinions='dictionary'"):
        clean = model.fit_denoise(noisy)
    save(model, tmp_path / "model.safetensors")
    more = np.concatenate([noisy, curved[1]])
    for fitted in (model, load(tmp_path / "model.safetensors")):
        again = fitted.denoise(noisy)
        for result in (clean, again, fitted.denoise(more)[:rows], fitted.split(noisy)[2]):
            assert np.array_equal(result[present], noisy[present])
            assert np.isfinite(result).all()
        assert np.all(fitted.noise(noisy)[present] == 0.0)
        assert np.isnan(fitted.corruption_scores(noisy)).all()
        assert np.isnan(fitted.estimate_error(noisy))
        assert set(fitted.left_alone_.values()) == {
            "fewer than 30 rows, by which nothing can be judged"
        }
        assert len(fitted.left_alone_) == noisy.shape[1]


def test_of_few_rows_too_the_dictionary_decides_if_it_is_asked(curved):
    _, noisy = curved
    for options in ({"opinions": "dictionary"}, {"noise_weight": "scale"}, {"noise_penalty": "l1"}):
        model = RNLMF(**{**QUICK, "n_components": 2}, **options).fit(noisy[:29])
        assert np.any(model.noise(noisy[:29]) != 0.0)
        assert model.left_alone_ == {}


def test_denoising_and_scores_at_once_are_those_one_by_one(curved, fitted):
    _, noisy = curved
    for model in (fitted, RNLMF(**QUICK, opinions="dictionary").fit(noisy)):
        frame = pd.DataFrame(noisy)
        clean, scores = model.denoise_and_score(frame)
        pd.testing.assert_frame_equal(clean, model.denoise(frame))
        pd.testing.assert_frame_equal(scores, model.corruption_scores(frame))


def test_images_are_judged_as_such_saved_and_loaded(tmp_path):
    truth = load_digits().data[:600] / 16.0
    noisy = salt_and_pepper(truth, random_state=0).astype(np.float32)
    model = RNLMF(**QUICK)
    clean = model.fit_denoise(noisy)
    # Distances between images need no units of their own.
    assert model.feature_scale_ is None
    assert clean.dtype == np.float32
    assert relative_rmse(truth, clean) < 0.6 * relative_rmse(truth, noisy)
    assert np.mean(clean[noisy == truth] == noisy[noisy == truth]) > 0.97
    assert 0.0 < model.estimate_error(noisy) < 1.0
    save(model, tmp_path / "images.safetensors")
    again = load(tmp_path / "images.safetensors")
    np.testing.assert_array_equal(again.denoise(noisy[:50]), clean[:50])
    np.testing.assert_array_equal(RNLMF(**QUICK).fit_denoise(truth), truth)


@pytest.mark.parametrize("data", ["table", "sequence"])
def test_fit_denoise_is_fit_and_denoise(curved, waves, data):
    noisy = curved[1] if data == "table" else waves[1]
    model = RNLMF(**QUICK)
    together = model.fit_denoise(noisy)
    assert model.sequence_ == (data == "sequence")
    np.testing.assert_array_equal(together, model.denoise(noisy))
    np.testing.assert_array_equal(together, clone(model).fit(noisy).denoise(noisy))
    np.testing.assert_array_equal(together, RNLMFDenoiser(RNLMF(**QUICK)).fit_transform(noisy))


def test_with_groups_and_times_too(waves):
    _, noisy, _ = waves
    about = {"groups": np.repeat(["a", "b"], 150), "times": np.tile(np.arange(150.0) ** 1.1, 2)}
    model = RNLMF(**QUICK)
    np.testing.assert_array_equal(
        model.fit_denoise(noisy, **about), model.fit(noisy, **about).denoise(noisy, **about)
    )
    for name, values in about.items():
        with pytest.raises(ValueError, match=f"{name} has shape"):
            model.fit(noisy, **{name: values[:7]})


def test_entries_without_noise_are_the_same_to_the_bit_and_the_input_is_not_changed(curved, fitted):
    noisy = curved[1] * UNITS + 1.0
    before = noisy.copy()
    model = RNLMF(**QUICK).fit(noisy)
    denoised, noise = model.denoise(noisy), model.noise(noisy)
    model.corruption_scores(noisy), model.residuals(noisy), model.split(noisy)
    np.testing.assert_array_equal(noisy, before)
    unchanged = noise == 0.0
    assert 0.8 < unchanged.mean() < 1.0
    np.testing.assert_array_equal(denoised[unchanged], noisy[unchanged])
    changed = model.corruption_scores(noisy) > 0.5
    # Of rows of which most is wrong what could be right is left.
    usual = np.ones(len(noisy), dtype=bool)
    usual[model.bad_rows_] = False
    np.testing.assert_array_equal(changed[usual], ~unchanged[usual])
    assert not np.any(~unchanged & ~changed)


def test_gaps_and_masked_entries_are_filled_alike(curved, rng):
    clean, noisy = curved
    mask = rng.random(noisy.shape) < 0.05
    gappy = np.where(mask, np.nan, noisy)
    model = RNLMF(**QUICK)
    filled = model.fit_denoise(gappy)
    np.testing.assert_array_equal(model.fit_denoise(noisy, mask=mask), filled)
    assert np.all(np.isfinite(filled))
    assert np.std((filled - clean)[mask]) < 0.6 * np.std(clean[mask])
    for values in (model.noise(gappy), model.residuals(gappy), model.corruption_scores(gappy)):
        np.testing.assert_array_equal(np.isnan(values), mask)
    empty = np.full((1, noisy.shape[1]), np.nan)
    assert np.all(np.isfinite(model.denoise(empty)))


def test_frames_come_back_as_frames(curved, fitted):
    names = [f"c{i}" for i in range(12)]
    frame = pd.DataFrame(curved[1], columns=names, index=pd.date_range("2024", periods=200))
    model = RNLMF(**QUICK)
    for result in (model.fit_denoise(frame), model.noise(frame), model.corruption_scores(frame)):
        assert list(result.columns) == names
        assert result.index.equals(frame.index)
    np.testing.assert_array_equal(model.denoise(frame), fitted.denoise(curved[1]))


@pytest.mark.parametrize("data", ["table", "sequence"])
def test_saved_pickled_and_cloned(curved, waves, data, tmp_path):
    noisy = curved[1] if data == "table" else waves[1]
    model = RNLMF(**QUICK).fit(noisy)
    save(model, tmp_path / "m.safetensors")
    for again in (load(tmp_path / "m.safetensors"), pickle.loads(pickle.dumps(model))):
        for method in ("denoise", "corruption_scores", "transform", "residuals"):
            np.testing.assert_array_equal(getattr(again, method)(noisy), getattr(model, method)(noisy))
        assert again.sequence_ == model.sequence_
        assert again.left_alone_ == model.left_alone_
    assert clone(model).get_params() == model.get_params()


def test_the_order_of_rows_does_not_matter_without_a_sequence(curved, rng):
    _, noisy = curved
    order = rng.permutation(len(noisy))
    model = RNLMF(**QUICK, sequence=False)
    plain = model.fit_denoise(noisy)
    np.testing.assert_allclose(model.fit_denoise(noisy[order]), plain[order], atol=1e-6)


def test_rows_are_treated_one_by_one_without_a_sequence(curved):
    _, noisy = curved
    model = RNLMF(**QUICK, sequence=False).fit(noisy[:150])
    whole = model.denoise(noisy[150:])
    for i in (0, 7, 30):
        np.testing.assert_allclose(model.denoise(noisy[150 + i : 151 + i])[0], whole[i], atol=1e-6)


@pytest.mark.parametrize("data", ["table", "sequence"])
def test_units_and_shifts_of_the_columns_do_not_matter(curved, waves, data):
    noisy = curved[1] if data == "table" else waves[1]
    # Powers of two are exact, and so are results but for the shift.
    units = 2.0 ** np.linspace(-20, 20, noisy.shape[1]).round()
    shift = np.linspace(-3.0, 5.0, noisy.shape[1]) * units
    model = RNLMF(**QUICK)
    plain = model.fit_denoise(noisy)
    scores = model.corruption_scores(noisy)
    moved = noisy * units + shift
    np.testing.assert_allclose((model.fit_denoise(moved) - shift) / units, plain, atol=1e-6)
    np.testing.assert_allclose(model.corruption_scores(moved), scores, atol=1e-5)


def test_beats_the_dictionary_without_scales_on_mixed_units(curved):
    clean, noisy = curved
    errors = [
        relative_rmse(clean, model.fit_denoise(noisy * UNITS) / UNITS)
        for model in (
            RNLMF(**QUICK),
            RNLMF(30, opinions="dictionary", random_state=0),
            RNLMF(30, opinions="dictionary", feature_scale="robust", random_state=0),
        )
    ]
    assert errors[0] < 0.6 * errors[1]
    assert errors[2] < 0.6 * errors[1]


@pytest.mark.parametrize("data", ["table", "sequence"])
def test_float32_stays_and_agrees(curved, waves, data):
    noisy = curved[1] if data == "table" else waves[1]
    model = RNLMF(**QUICK)
    double = model.fit_denoise(noisy)
    single = model.fit_denoise(noisy.astype(np.float32))
    assert single.dtype == np.float32
    assert model.components_.dtype == np.float32
    for method in ("transform", "corruption_scores", "residuals", "noise"):
        assert getattr(model, method)(noisy.astype(np.float32)).dtype == np.float32
    assert relative_rmse(double, single) < 0.02


def test_the_seed_does_not_change_what_is_repaired(curved, fitted):
    other = RNLMF(**{**QUICK, "random_state": 9}).fit(curved[1])
    one, two = other.denoise(curved[1]), fitted.denoise(curved[1])
    assert np.mean((one != curved[1]) == (two != curved[1])) > 0.995
    assert relative_rmse(one, two) < 0.05


class TestSequence:
    def test_order_is_used_where_it_helps(self, waves, rng):
        truth, noisy, _ = waves
        model = RNLMF(**QUICK)
        cleaned = model.fit_denoise(noisy)
        assert model.sequence_
        assert relative_rmse(truth, cleaned) < 0.2 * relative_rmse(truth, noisy)
        shuffled = noisy[rng.permutation(len(noisy))]
        assert not model.fit(shuffled).sequence_
        assert RNLMF(**QUICK, sequence=True).fit(shuffled).sequence_
        assert not RNLMF(**QUICK, sequence=False).fit(noisy).sequence_

    def test_new_rows_out_of_order_and_single_ones(self, waves):
        truth, noisy, wrong = waves
        model = RNLMF(**QUICK).fit(noisy)
        i = int(np.flatnonzero(wrong.any(axis=1))[3])
        one = model.denoise(noisy[i : i + 1])
        assert one.shape == (1, 4)
        assert np.all(np.isfinite(one))
        order = np.random.default_rng(1).permutation(300)
        shuffled = model.denoise(noisy[order])
        assert relative_rmse(truth[order], shuffled) < 0.6 * relative_rmse(truth, noisy)

    def test_groups_keep_sequences_apart(self, waves):
        """A jump between two sequences is no error."""
        truth, _, _ = waves
        jump = truth + np.where(np.arange(300) < 150, 0.0, 40.0)[:, None]
        cleaned = RNLMF(**QUICK).fit_denoise(jump, groups=np.arange(300) < 150)
        np.testing.assert_array_equal(cleaned[148:152], jump[148:152])


class TestAbsurdValues:
    @pytest.mark.parametrize("value", [-9999.0, 1e300, -1e150])
    def test_a_single_one_is_gone_and_the_rest_as_without_it(self, curved, value):
        clean, _ = curved
        spoiled = clean.copy()
        spoiled[70, 4] = value
        cleaned = RNLMF(**QUICK).fit_denoise(spoiled)
        assert abs(cleaned[70, 4]) < 3.0
        others = np.ones(clean.shape, dtype=bool)
        others[70, 4] = False
        np.testing.assert_array_equal(cleaned[others], clean[others])

    def test_states_that_recur_are_not_repaired(self, curved):
        """The end of a range, whose cells lie where the others say that they are beyond it."""
        clipped = curved[0].copy()
        clipped[:, 4] = np.minimum(clipped[:, 4], np.quantile(clipped[:, 4], 0.9))
        np.testing.assert_array_equal(RNLMF(**QUICK).fit_denoise(clipped), clipped)

    def test_values_that_recur_at_random_are_errors(self, curved):
        spoiled = curved[0].copy()
        spoiled[::10, 4] = 1.5
        cleaned = RNLMF(**QUICK).fit_denoise(spoiled)
        off = np.abs(cleaned - curved[0])[::10, 4]
        assert np.median(off) < 0.2 * np.median(np.abs(spoiled - curved[0])[::10, 4])


class TestEstimateError:
    def test_is_about_right(self, curved, fitted):
        clean, noisy = curved
        truth = relative_rmse(clean, fitted.denoise(noisy))
        assert 0.3 * truth < fitted.estimate_error(noisy) < 3.0 * truth

    def test_is_not_known_where_nothing_was_found(self, curved):
        clean, _ = curved
        model = RNLMF(**QUICK).fit(clean)
        np.testing.assert_array_equal(model.denoise(clean), clean)
        assert np.isnan(model.estimate_error(clean))

    def test_a_wild_value_tells_nothing_of_others(self, curved):
        wild = curved[0].copy()
        wild[17, 2] = 1e6
        model = RNLMF(**QUICK).fit(wild)
        assert model.denoise(wild)[17, 2] != 1e6
        assert np.isnan(model.estimate_error(wild))
        wild[40, 1] = np.nan
        assert 0.0 < model.estimate_error(wild) < 1.0


class TestFeatureScale:
    """Columns in units of their own for the dictionary alone."""

    OPTIONS = {"opinions": "dictionary", "feature_scale": "robust", "random_state": 0}

    def test_units_do_not_matter(self, curved):
        clean, noisy = curved
        model = RNLMF(30, **self.OPTIONS)
        plain = model.fit_denoise(noisy)
        # The shift costs the smallest feature ten digits, and the iteration amplifies rounding.
        other = (model.fit_denoise(noisy * UNITS + 5.0) - 5.0) / UNITS
        np.testing.assert_allclose(other, plain, atol=1e-2)
        assert relative_rmse(clean, plain) < 0.5 * relative_rmse(clean, noisy)

    def test_unchanged_entries_are_the_same_to_the_bit(self, curved):
        noisy = curved[1] * UNITS + 1.0
        model = RNLMF(30, **self.OPTIONS).fit(noisy)
        unchanged = model.noise(noisy) == 0.0
        assert 0.3 < unchanged.mean() < 1.0
        np.testing.assert_array_equal(model.denoise(noisy)[unchanged], noisy[unchanged])

    @pytest.mark.parametrize("opinions", ["auto", "dictionary"])
    def test_the_dictionary_is_in_the_units_of_the_data(self, curved, opinions):
        noisy = curved[1] * UNITS
        model = RNLMF(30, **{**self.OPTIONS, "opinions": opinions}).fit(noisy)
        ratio = np.abs(model.components_).max(axis=0) / np.quantile(np.abs(noisy), 0.9, axis=0)
        assert np.all((ratio > 0.1) & (ratio < 5.0))
        assert model.transform(noisy).shape == (200, 30)
        predicted = model.inverse_transform(model.transform(noisy)) / UNITS
        assert relative_rmse(curved[0], predicted) < 0.5

    def test_missing_and_masked_entries_are_filled_alike(self, curved, rng):
        noisy = curved[1] * UNITS
        mask = rng.random(noisy.shape) < 0.05
        model = RNLMF(30, kernel_scale=1.0, noise_weight="scale", **self.OPTIONS)
        filled = model.fit_denoise(noisy, mask=mask)
        np.testing.assert_array_equal(model.fit_denoise(np.where(mask, np.nan, noisy)), filled)
        assert np.all(np.isfinite(filled))

    def test_a_feature_that_is_constant_but_for_rounding_and_errors_does_not_rule(self, rng):
        t = np.linspace(0.0, 6.0, 400)
        curve = [f(k * t) for k in range(1, 7) for f in (np.cos, np.sin)]
        truth = np.column_stack([*curve, 1e-17 * rng.standard_normal(400)])
        noisy = corrupt_entries(truth, 0.1, random_state=0)
        model = RNLMF(40, kernel_scale=0.5, noise_weight="scale", **self.OPTIONS)
        cleaned = model.fit_denoise(noisy)
        assert np.linalg.norm(cleaned - truth) < 0.5 * np.linalg.norm(noisy - truth)

    def test_residuals_are_in_the_columns_units(self):
        t = np.linspace(0.0, 6.0, 300)
        X = np.column_stack([np.cos(t), np.sin(t), np.cos(2 * t), np.full(300, 7.0)])
        X[::30, 1] += 3.0
        units = np.array([1.0, 128.0, 1.0 / 64.0, 1.0])
        model = RNLMF(20, kernel_scale=1.0, noise_weight="scale", **self.OPTIONS)
        plain = model.fit(X).residuals(X)
        assert np.all(np.abs(plain) >= np.abs(model.noise(X)) * (1 - 1e-6))
        np.testing.assert_allclose(plain[:, 3], 0.0, atol=1e-6)
        other = model.fit(X * units).residuals(X * units) / units
        np.testing.assert_allclose(other, plain, atol=1e-6)

    def test_outliers_are_found_in_the_columns_units(self, curved):
        clean, _ = curved
        X = clean * UNITS
        X[::20] = (clean[::20] + 1.5) * UNITS
        model = RNLMF(30, kernel_scale=1.0, noise_weight="scale", **self.OPTIONS)
        detector = RNLMFOutlierDetector(model, contamination=0.05)
        assert np.mean(detector.fit_predict(X)[::20] == -1) > 0.8
        np.testing.assert_array_equal(detector.scale_, detector.estimator_.feature_scale_)
