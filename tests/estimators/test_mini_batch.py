import numpy as np
import pytest
from scipy.linalg import expm
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from rnlmf import RNLMF, MiniBatchRNLMF, load, save
from rnlmf.datasets import corrupt_entries
from rnlmf.metrics import relative_rmse

SETTINGS = {"kernel_scale": 0.5, "noise_weight": "scale", "random_state": 0}


def curve(n, seed, m=12):
    t = np.random.default_rng(seed).uniform(0, 2 * np.pi, n)
    return np.column_stack([f(k * t) for k in range(1, m // 2 + 1) for f in (np.cos, np.sin)])


def noisy(X, seed):
    return corrupt_entries(X, 0.1, random_state=seed)


@pytest.fixture(scope="module")
def stream():
    return [noisy(curve(512, seed), seed) for seed in range(60)]


@pytest.fixture(scope="module")
def model(stream):
    model = MiniBatchRNLMF(40, **SETTINGS)
    for batch in stream:
        model.partial_fit(batch)
    return model


@parametrize_with_checks([MiniBatchRNLMF(max_iter=20)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_a_stream_is_as_good_as_a_fit_to_all_of_it(stream, model):
    X = curve(2000, 99)
    whole = RNLMF(40, opinions="dictionary", neighbor_share=0.0, **SETTINGS).fit(np.concatenate(stream))
    error = relative_rmse(X, model.denoise(noisy(X, 99)))
    assert error < 1.1 * relative_rmse(X, whole.denoise(noisy(X, 99)))
    assert model.n_batches_ == model.n_iter_ == 60
    assert model.n_samples_seen_ == 60 * 512


def test_a_fit_takes_a_third_of_the_passes_for_about_the_error(stream):
    X = np.concatenate(stream[:20])
    truth = np.concatenate([curve(512, seed) for seed in range(20)])
    whole = RNLMF(40, opinions="dictionary", neighbor_share=0.0, **SETTINGS).fit(X)
    batches = MiniBatchRNLMF(40, **SETTINGS).fit(X)
    assert batches.converged_
    assert batches.n_iter_ <= whole.n_iter_ / 3
    assert relative_rmse(truth, batches.denoise(X)) < 1.1 * relative_rmse(truth, whole.denoise(X))


def test_drift_is_followed_by_forgetting():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 12))
    turn = (A - A.T) / np.linalg.norm(A - A.T, 2)
    angles = np.linspace(0.0, 3.0, 100)
    batches = [noisy(curve(512, i) @ expm(angle * turn), i) for i, angle in enumerate(angles)]
    X = curve(2000, 999) @ expm(angles[-1] * turn)
    errors = []
    for share in (0.9, 0.0):
        model = MiniBatchRNLMF(40, forgetting=share, **SETTINGS)
        for batch in batches:
            model.partial_fit(batch)
        errors.append(relative_rmse(X, model.denoise(noisy(X, 1))))
    window = RNLMF(40, opinions="dictionary", neighbor_share=0.0, **SETTINGS).fit(
        np.concatenate(batches[-5:])
    )
    best = relative_rmse(X, window.denoise(noisy(X, 1)))
    assert errors[0] < 1.2 * best
    assert errors[1] > 2.0 * errors[0]


def test_units_follow_data_that_move_and_grow():
    def moved(X, i):
        return X * (1.0 + i / 40) + i / 40

    X = curve(2000, 99)
    errors, widths = {}, {}
    for units in ("followed", "first"):
        model = MiniBatchRNLMF(40, units=units, **SETTINGS)
        for i in range(80):
            model.partial_fit(moved(noisy(curve(512, i), i), i))
        found = model.denoise(moved(noisy(X, 99), 79))
        errors[units] = relative_rmse(moved(X, 79), found)
        widths[units] = model.kernel_.sigma
    assert widths["followed"] == pytest.approx(widths["first"] * (1 + 79 / 40), rel=0.15)
    assert errors["followed"] < 0.3 * relative_rmse(moved(X, 79), moved(noisy(X, 99), 79))
    assert errors["followed"] < errors["first"]


def test_gaps_are_filled(stream, model):
    gappy = MiniBatchRNLMF(40, **SETTINGS)
    rng = np.random.default_rng(5)
    for batch in stream:
        gappy.partial_fit(batch, mask=rng.random(batch.shape) < 0.1)
    X = curve(500, 99)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    filled = gappy.denoise(holes)
    missing = np.isnan(holes)
    assert np.std(filled[missing] - X[missing]) < 0.3 * np.std(X)


def test_a_batch_with_a_feature_without_values_is_learned_from(stream):
    model = MiniBatchRNLMF(40, **SETTINGS).partial_fit(stream[0])
    empty = stream[1].copy()
    empty[:, 3] = np.nan
    assert np.all(np.isfinite(model.partial_fit(empty).components_))


def test_a_model_goes_on_after_it_was_saved(stream, tmp_path):
    at_once, interrupted = (clone(MiniBatchRNLMF(20, **SETTINGS)) for _ in range(2))
    for batch in stream[:40]:
        at_once.partial_fit(batch)
    for batch in stream[:35]:
        interrupted.partial_fit(batch)
    save(interrupted, tmp_path / "model.safetensors")
    resumed = load(tmp_path / "model.safetensors")
    for batch in stream[35:40]:
        resumed.partial_fit(batch)
    np.testing.assert_allclose(resumed.components_, at_once.components_, rtol=1e-9, atol=1e-9)
    assert resumed._stream_state.corruption == at_once._stream_state.corruption


def test_parameters_are_chosen_in_the_first_batch(stream):
    model = MiniBatchRNLMF(20, random_state=0).partial_fit(stream[0])
    chosen = model.kernel_scale_, model.noise_weight_
    assert len(model.selection_) > 1
    model.partial_fit(stream[1])
    assert (model.kernel_scale_, model.noise_weight_) == chosen


def test_nothing_but_the_state_grows_with_the_stream(stream, model):
    import pickle

    model = clone(model)
    sizes = []
    for k in range(200):
        model.partial_fit(stream[k % 60][:64])
        sizes.append(len(pickle.dumps(model)))
    assert sizes[-1] == pytest.approx(sizes[100], rel=1e-3)


def test_a_callback_sees_batches_and_stops_them(stream):
    seen = []
    MiniBatchRNLMF(
        20, callback=lambda info: seen.append(info.iteration) or info.iteration == 4, **SETTINGS
    ).fit(np.concatenate(stream[:10]))
    assert seen == [1, 2, 3, 4]
