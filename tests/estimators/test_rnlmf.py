import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from rnlmf import RNLMF, factorize
from rnlmf.kernels import RBF, Polynomial
from rnlmf.metrics import relative_rmse

both = pytest.mark.parametrize("opinions", ["auto", "dictionary"])


@pytest.mark.filterwarnings("ignore:Nothing is altered")
@parametrize_with_checks([RNLMF(), RNLMF(opinions="dictionary", feature_scale="robust", max_iter=20)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@both
def test_removes_noise(curved, opinions):
    clean, noisy = curved
    denoised = RNLMF(40, opinions=opinions, random_state=0).fit_denoise(noisy)
    assert relative_rmse(clean, denoised) < 0.3 * relative_rmse(clean, noisy)


@both
def test_new_samples_are_treated_as_well_as_old_ones(curved, opinions):
    clean, noisy = curved
    model = RNLMF(40, opinions=opinions, random_state=0).fit(noisy[:150])
    new = relative_rmse(clean[150:], model.denoise(noisy[150:]))
    assert new < 0.6 * relative_rmse(clean[150:], noisy[150:])


@both
def test_parts_fit_together(curved, opinions):
    _, noisy = curved
    model = RNLMF(20, opinions=opinions, random_state=0).fit(noisy)
    codes, noise, denoised = model.split(noisy)
    if opinions == "dictionary":
        np.testing.assert_array_equal(denoised, noisy - noise)
    np.testing.assert_array_equal(noise, noisy - denoised)
    np.testing.assert_array_equal(model.denoise(noisy), denoised)
    np.testing.assert_array_equal(model.noise(noisy), noise)
    np.testing.assert_array_equal(model.transform(noisy), codes)
    unchanged = noise == 0.0
    assert unchanged.any()
    np.testing.assert_array_equal(denoised[unchanged], noisy[unchanged])


def test_fit_denoise_and_factorize_are_fit_and_denoise(curved):
    _, noisy = curved
    model = RNLMF(20, neighbor_share=0, opinions="dictionary", random_state=0)
    together = model.fit_denoise(noisy)
    np.testing.assert_array_equal(together, model.denoise(noisy))
    result = factorize(noisy, 20, random_state=0)
    np.testing.assert_array_equal(result.denoised, together)
    np.testing.assert_array_equal(result.dictionary, model.components_)
    assert result.converged == model.converged_
    assert result.kernel.sigma == model.kernel_.sigma


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "linear"])
def test_inverse_transform_predicts_the_clean_samples(kernel):
    t = np.linspace(0, 6, 300)
    curve = np.column_stack([np.cos(t), np.sin(t), np.cos(2 * t), np.sin(2 * t)])
    model = RNLMF(30, kernel=kernel, code_weight=1e-4, noise_weight=10.0, random_state=0).fit(curve)
    predicted = model.inverse_transform(model.transform(curve))
    assert relative_rmse(curve, predicted) < 0.05


@pytest.mark.parametrize(("scale", "shift"), [(1e-3, 0.0), (250.0, -40.0), (1.0, 1e4)])
@pytest.mark.parametrize("noise_penalty", ["l1", "l21", "l2"])
def test_scale_and_shift_carry_over(curved, noise_penalty, scale, shift):
    _, noisy = curved
    model = RNLMF(20, noise_penalty=noise_penalty, random_state=0, max_iter=40)
    plain = model.fit_denoise(noisy)
    moved = model.fit_denoise(scale * noisy + shift)
    np.testing.assert_allclose((moved - shift) / scale, plain, atol=1e-5)


@both
def test_each_feature_may_have_a_shift_of_its_own(curved, opinions):
    _, noisy = curved
    shift = np.arange(noisy.shape[1]) * 10.0
    model = RNLMF(20, opinions=opinions, random_state=0, max_iter=40)
    np.testing.assert_allclose(
        model.fit_denoise(noisy + shift) - shift, model.fit_denoise(noisy), atol=1e-6
    )


@both
def test_a_row_does_not_depend_on_the_others(curved, opinions):
    _, noisy = curved
    model = RNLMF(20, opinions=opinions, random_state=0).fit(noisy)
    whole = model.denoise(noisy)
    np.testing.assert_allclose(model.denoise(noisy[7:8]), whole[7:8], atol=1e-10)
    # In another order distances to the most similar rows differ by their rounding, to single precision.
    rounding = 1e-10 if opinions == "dictionary" else 1e-5
    np.testing.assert_allclose(model.denoise(noisy[::-1])[::-1], whole, atol=rounding)


@pytest.mark.parametrize("solver", ["single-pass", "paper"])
def test_same_seed_same_result_on_any_number_of_threads(curved, solver):
    _, noisy = curved
    results = [
        RNLMF(20, opinions="dictionary", solver=solver, random_state=3, n_jobs=n_jobs)
        .fit(noisy)
        .components_
        for n_jobs in (1, 1, 2, -1)
    ]
    np.testing.assert_array_equal(results[0], results[1])
    for other in results[2:]:
        np.testing.assert_allclose(other, results[0], atol=1e-8)


@pytest.mark.parametrize("options", [{}, {"solver": "paper"}, {"kernel": "polynomial"}])
def test_float32_stays_float32_and_agrees(curved, options):
    _, noisy = curved
    model = RNLMF(20, kernel_scale=1.0, noise_weight="scale", random_state=0, max_iter=30, **options)
    double = model.fit_denoise(noisy)
    single = model.fit_denoise(noisy.astype(np.float32))
    assert single.dtype == np.float32
    assert model.components_.dtype == np.float32
    assert model.transform(noisy.astype(np.float32)).dtype == np.float32
    assert relative_rmse(double, single) < 0.02


def test_orders_agree_on_the_objective(curved):
    _, noisy = curved
    ends = [
        RNLMF(
            20,
            kernel_scale=1.0,
            noise_penalty="l1",
            noise_weight="scale",
            solver=solver,
            random_state=0,
            tol=0.0,
            max_iter=400,
        )
        .fit(noisy)
        .objective_[-1]
        for solver in ("single-pass", "paper")
    ]
    assert ends[0] == pytest.approx(ends[1], rel=0.1)


def test_convergence_is_told(curved):
    _, noisy = curved
    model = RNLMF(20, opinions="dictionary", random_state=0, tol=1e-3, max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(noisy)
    assert model.converged_
    assert model.n_iter_ < 1000
    assert model.objective_[-1] <= 1.001 * model.objective_.min()
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        RNLMF(20, random_state=0, max_iter=3).fit(noisy)


def test_callback_reports_progress(curved):
    seen = []
    RNLMF(10, random_state=0, max_iter=15, tol=0.0, callback=seen.append).fit(curved[1])
    assert [info.iteration for info in seen] == list(range(1, 16))
    assert all(info.max_iter == 15 for info in seen)


def test_noise_weight_is_the_papers(curved):
    """A weight given as a number is the one reported, and "auto" can be given back as a number."""
    _, noisy = curved
    assert RNLMF(10, noise_weight=3e-4, random_state=0).fit(noisy).noise_weight_ == pytest.approx(3e-4)
    automatic = RNLMF(10, opinions="dictionary", random_state=0).fit(noisy)
    chosen = {
        "noise_weight": automatic.noise_weight_,
        "kernel_scale": automatic.kernel_scale_,
    }
    given = RNLMF(10, **chosen, random_state=0).fit(noisy)
    np.testing.assert_allclose(given.components_, automatic.components_, rtol=1e-6)


def test_kernel_brings_its_own_scale(curved):
    _, noisy = curved
    automatic = RNLMF(10, kernel_scale=2.0, noise_weight="scale", random_state=0).fit(noisy)
    sigma = automatic.kernel_.sigma
    given = RNLMF(10, kernel=RBF(sigma=sigma), noise_weight="scale", random_state=0).fit(noisy)
    np.testing.assert_allclose(given.components_, automatic.components_)
    model = RNLMF(10, kernel=Polynomial(3, 0.5), random_state=0, max_iter=5).fit(noisy)
    assert (model.kernel_.degree, model.kernel_.offset) == (3, 0.5)


@pytest.mark.parametrize("init", ["samples", "array"])
def test_other_starts(curved, init):
    _, noisy = curved
    start = noisy[:10] if init == "array" else init
    model = RNLMF(10, opinions="dictionary", init=start, random_state=0, max_iter=50).fit(noisy)
    assert np.all(np.isfinite(model.components_))


def test_score_prefers_the_better_model(curved):
    _, noisy = curved
    scores = [
        RNLMF(d, opinions="dictionary", random_state=0).fit(noisy[:150]).score(noisy[150:])
        for d in (2, 40)
    ]
    assert scores[0] < scores[1] < 0.0


def test_works_in_a_pipeline_and_a_grid_search(curved):
    _, noisy = curved
    model = RNLMF(20, kernel=Polynomial(), noise_weight="scale", max_iter=20, random_state=0)
    assert make_pipeline(model, PCA(2)).fit_transform(noisy).shape == (200, 2)
    search = GridSearchCV(model, {"kernel__degree": [1, 3]}, cv=2).fit(noisy)
    assert len(set(search.cv_results_["mean_test_score"])) == 2


@pytest.mark.parametrize(
    ("name", "values", "options"),
    [
        ("kernel_scale", [0.05, 1.0, 20.0], {"noise_weight": "scale"}),
        ("n_components", [1, 40], {"noise_weight": "scale", "kernel_scale": 1.0}),
        ("kernel_scale", [0.05, 1.0, 20.0], {"noise_weight": "scale", "feature_scale": "robust"}),
    ],
)
def test_a_grid_search_takes_what_is_best_against_the_truth(curved, name, values, options):
    clean, noisy = curved
    units = 10.0 ** np.arange(-6, 6) if "feature_scale" in options else 1.0
    model = RNLMF(**{"n_components": 40, "neighbor_share": 0.0, "random_state": 0, **options})
    search = GridSearchCV(model, {name: values}, cv=2).fit(noisy * units)
    scores = search.cv_results_["mean_test_score"]
    assert np.all((scores > -1.0) & (scores < 0.0))

    def error(value):
        denoised = clone(model).set_params(**{name: value}).fit_denoise(noisy * units) / units
        return relative_rmse(clean, denoised)

    assert search.best_params_[name] == min(values, key=error)


def test_a_score_of_too_few_samples_is_refused(curved):
    model = RNLMF(5, kernel_scale=1.0, noise_weight="scale", max_iter=3).fit(curved[1])
    with pytest.raises(ValueError, match="too few entries"):
        model.score(curved[1][:1])
    frame = pd.DataFrame(curved[1]).add_prefix("x")
    assert clone(model).fit(frame).score(frame) < 0.0


@both
def test_survives_pickle_and_clone(curved, opinions):
    _, noisy = curved
    model = RNLMF(10, opinions=opinions, random_state=0).fit(noisy)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.denoise(noisy), model.denoise(noisy))
    assert clone(model).get_params() == model.get_params()


@both
def test_data_frames_keep_names_and_index(curved, opinions):
    _, noisy = curved
    names = [f"sensor {i}" for i in range(noisy.shape[1])]
    frame = pd.DataFrame(noisy, columns=names, index=pd.date_range("2024", periods=len(noisy)))
    model = RNLMF(10, opinions=opinions, random_state=0)
    cleaned = model.fit_denoise(frame)
    assert isinstance(cleaned, pd.DataFrame)
    assert list(cleaned.columns) == names
    assert cleaned.index.equals(frame.index)
    np.testing.assert_allclose(cleaned, clone(model).fit_denoise(noisy), atol=1e-6)
    cleaned = model.fit_denoise(pl.DataFrame(noisy, schema=names))
    assert isinstance(cleaned, pl.DataFrame)
    assert cleaned.columns == names


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output(curved, library):
    frame = pd.DataFrame(curved[1]).add_prefix("x")
    model = RNLMF(5, noise_weight="scale", max_iter=5, random_state=0)
    codes = model.set_output(transform=library).fit_transform(frame)
    assert list(codes.columns) == [f"rnlmf{i}" for i in range(5)]
