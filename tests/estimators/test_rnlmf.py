import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from rnlmf import RNLMF, RNLMFDenoiser, SolverOptions, factorize
from rnlmf.kernels import RBF, Polynomial
from rnlmf.metrics import relative_rmse
from rnlmf.penalties import Nuclear

ESTIMATORS = [RNLMF, RNLMFDenoiser]
both = pytest.mark.parametrize("opinions", ["auto", "dictionary"])


@parametrize_with_checks(
    [
        *(estimator() for estimator in ESTIMATORS),
        RNLMF(opinions="dictionary", feature_scale="robust", max_iter=20),
    ]
)
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
    model = RNLMF(20, neighbors=0, opinions="dictionary", random_state=0)
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
    np.testing.assert_allclose(model.denoise(noisy[::-1])[::-1], whole, atol=1e-10)


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
    pipeline = make_pipeline(RNLMFDenoiser(20, random_state=0), PCA(2))
    assert pipeline.fit_transform(noisy).shape == (200, 2)
    search = GridSearchCV(
        RNLMF(10, kernel=Polynomial(), random_state=0, max_iter=5), {"kernel__degree": [1, 2]}, cv=2
    )
    assert search.fit(noisy).best_params_["kernel__degree"] in (1, 2)


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
    codes = RNLMF(5, random_state=0).set_output(transform=library).fit_transform(frame)
    assert list(codes.columns) == [f"rnlmf{i}" for i in range(5)]
    cleaned = RNLMFDenoiser(5, random_state=0).set_output(transform=library).fit_transform(frame)
    assert list(cleaned.columns) == list(frame.columns)


class TestBadInput:
    @pytest.fixture
    def X(self, curved):
        return curved[1]

    def test_infinite(self, X):
        X = X.copy()
        X[3, 4] = np.inf
        with pytest.raises(ValueError, match="infinity"):
            RNLMF(5).fit(X)

    def test_feature_without_a_value(self, X):
        X = X.copy()
        X[:, 2] = np.nan
        with pytest.raises(ValueError, match=r"\[2\] of X have no value"):
            RNLMF(5).fit(X)

    def test_mask_of_another_shape_or_type(self, X):
        with pytest.raises(ValueError, match="mask must be an array of bool"):
            RNLMF(5).fit(X, mask=np.zeros((3, 3), dtype=bool))
        with pytest.raises(ValueError, match="mask must be an array of bool"):
            RNLMF(5).fit(X, mask=np.zeros(X.shape, dtype=int))

    def test_empty_one_sample_text_and_sparse(self, X):
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            RNLMF(5).fit(np.empty((0, 3)))
        with pytest.raises(ValueError, match=r"1 sample\(s\)"):
            RNLMF(1).fit(X[:1])
        with pytest.raises(ValueError, match="could not convert"):
            RNLMF(2).fit([["a", "b"], ["c", "d"], ["e", "f"]])
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            RNLMF(5).fit(sparse.csr_array(X))

    def test_fewer_samples_than_atoms(self, X):
        with pytest.raises(ValueError, match="n_components=500 must not exceed n_samples=200"):
            RNLMF(500).fit(X)

    def test_wrong_width(self, X):
        model = RNLMF(5, random_state=0).fit(X)
        for method in (model.transform, model.denoise, model.noise, model.score):
            with pytest.raises(ValueError, match="features"):
                method(X[:, :3])
        with pytest.raises(ValueError, match="5 codes"):
            model.inverse_transform(np.ones((2, 4)))

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("kernel", "gauss"),
            ("kernel_scale", 0.0),
            ("code_penalty", "l3"),
            ("code_weight", -1.0),
            ("code_weight", 0.0),
            ("noise_penalty", "huber"),
            ("noise_weight", -0.1),
            ("noise_weight", "best"),
            ("opinions", "all"),
            ("sequence", "yes"),
            ("feature_scale", "standard"),
            ("dictionary_penalty", "l1"),
            ("dictionary_weight", -2.0),
            ("init", "kmeans"),
            ("solver", "fast"),
            ("solver", SolverOptions(momentum=1.0)),
            ("solver", SolverOptions(step_damping=0.5)),
            ("solver", SolverOptions("fast")),
            ("noise_penalty", Nuclear()),
            ("max_iter", 0),
            ("tol", -1.0),
            ("n_components", 0),
            ("n_jobs", 0),
        ],
    )
    def test_bad_parameters_are_named(self, X, name, value):
        with pytest.raises(ValueError, match=name):
            RNLMF(**{"n_components": 5, name: value}).fit(X)

    def test_start_of_the_wrong_shape(self, X):
        with pytest.raises(ValueError, match="init has shape"):
            RNLMF(5, init=np.ones((4, 2))).fit(X)

    def test_single_pass_where_there_is_none(self, X):
        with pytest.raises(ValueError, match="solver='single-pass'"):
            RNLMF(5, kernel="polynomial", solver="single-pass").fit(X)

    @pytest.mark.parametrize(
        "options", [{}, {"opinions": "dictionary"}, {"opinions": "dictionary", "solver": "paper"}]
    )
    def test_nothing_is_changed_in_place(self, X, options):
        before = X.copy()
        model = RNLMF(5, random_state=0, **options).fit(X)
        model.split(X)
        np.testing.assert_array_equal(X, before)


class TestOddInput:
    """What is unusual but not wrong works."""

    @pytest.mark.parametrize("solver", ["single-pass", "paper"])
    def test_constant_and_duplicate(self, solver):
        X = np.tile([1.0, 2.0, 3.0], (20, 1))
        model = RNLMF(3, solver=solver, random_state=0)
        np.testing.assert_allclose(model.fit_denoise(X), X, atol=1e-6)

    def test_constant_features(self, curved):
        X = np.column_stack([curved[1], np.full(200, 7.0)])
        cleaned = RNLMF(20, random_state=0).fit_denoise(X)
        np.testing.assert_allclose(cleaned[:, -1], 7.0, atol=1e-6)

    def test_integers_and_booleans(self):
        rng = np.random.default_rng(0)
        for X in (rng.integers(0, 9, (60, 4)), rng.random((60, 4)) < 0.5):
            cleaned = RNLMF(5, random_state=0).fit_denoise(X)
            assert cleaned.dtype == np.float64
            assert np.all(np.isfinite(cleaned))

    @pytest.mark.parametrize("scale", [1e-150, 1e150])
    @pytest.mark.parametrize("options", [{}, {"solver": "paper"}, {"kernel": "polynomial"}])
    def test_extreme_magnitudes(self, curved, scale, options):
        _, noisy = curved
        options = {"opinions": "dictionary" if options else "auto", **options}
        model = RNLMF(10, random_state=0, max_iter=20, **options)
        plain = model.fit_denoise(noisy)
        np.testing.assert_allclose(model.fit_denoise(noisy * scale) / scale, plain, atol=1e-5)

    @pytest.mark.parametrize("scale", [1e-30, 1e30])
    def test_extreme_magnitudes_in_float32(self, curved, scale):
        X = (curved[1] * scale).astype(np.float32)
        assert np.all(np.isfinite(RNLMF(10, random_state=0).fit_denoise(X)))

    def test_one_huge_spike_in_a_new_sample(self, curved):
        clean, noisy = curved
        model = RNLMF(40, random_state=0).fit(noisy)
        spiked = clean[:20].copy()
        spiked[:, 3] += 1e6
        cleaned = model.denoise(spiked)
        assert np.abs(cleaned[:, 3]).max() < 10 * np.abs(clean).max()

    def test_more_atoms_than_distinct_samples(self):
        X = np.repeat(np.arange(6.0).reshape(3, 2), 10, axis=0)
        assert np.all(np.isfinite(RNLMF(12, random_state=0).fit_denoise(X)))

    @pytest.mark.parametrize("seed", range(12))
    def test_no_combination_of_options_gives_nan(self, seed):
        """Random options on random, often degenerate data: finite results and no numerical warning."""
        rng = np.random.default_rng(seed)
        for _ in range(4):
            n, m = int(rng.integers(2, 40)), int(rng.integers(1, 8))
            X = rng.standard_normal((n, m)) * 10.0 ** rng.integers(-6, 6)
            spoil = rng.integers(0, 4)
            if spoil == 1:
                X[:] = X[0]
            elif spoil == 2:
                X[rng.random(X.shape) < 0.2] *= 1e6
            elif spoil == 3:
                X[::2] = X[0]
            options = {
                "n_components": int(rng.integers(1, n + 1)),
                "kernel": str(rng.choice(["rbf", "polynomial", "linear"])),
                "kernel_scale": float(rng.choice([0.05, 1.0, 10.0])),
                "code_penalty": str(rng.choice(["l2", "l1", "nuclear"])),
                "code_weight": float(rng.choice([1e-4, 1.0])),
                "noise_penalty": str(rng.choice(["l1", "l21", "l2"])),
                "dictionary_penalty": rng.choice([None, "l2", "nuclear"]),
                "dictionary_weight": 0.1,
                "init": str(rng.choice(["random", "samples"])),
                "solver": SolverOptions(
                    momentum=float(rng.choice([0.0, 0.99])),
                    dictionary_step=str(rng.choice(["newton", "spectral"])),
                ),
            }
            model = RNLMF(max_iter=25, random_state=0, **options).fit(X)
            parts = [*model.split(X), model.components_, model.objective_]
            assert all(np.all(np.isfinite(part)) for part in parts), options


class TestMissingValues:
    @pytest.fixture
    def gappy(self, curved, rng):
        clean, noisy = curved
        return np.where(rng.random(clean.shape) < 0.1, np.nan, noisy)

    @pytest.mark.parametrize("options", [{}, {"kernel": "polynomial"}, {"noise_penalty": "l21"}])
    def test_are_filled(self, curved, gappy, options):
        clean, _ = curved
        before = gappy.copy()
        model = RNLMF(20, noise_weight="scale", kernel_scale=1.0, random_state=0, **options).fit(gappy)
        filled = model.denoise(gappy)
        np.testing.assert_array_equal(gappy, before)
        assert np.all(np.isfinite(filled))
        missing = np.isnan(gappy)
        means = np.broadcast_to(np.nanmean(gappy, axis=0), clean.shape)
        error = np.sqrt(np.mean((filled - clean)[missing] ** 2))
        assert error < np.sqrt(np.mean((means - clean)[missing] ** 2))
        np.testing.assert_array_equal(np.isnan(model.noise(gappy)), missing)

    def test_mask_is_the_same_as_missing(self, curved, gappy):
        _, noisy = curved
        model = RNLMF(20, noise_weight="scale", kernel_scale=1.0, random_state=0)
        by_mask = model.fit_denoise(noisy, mask=np.isnan(gappy))
        np.testing.assert_array_equal(by_mask, model.fit_denoise(gappy))

    def test_rows_are_treated_one_by_one(self, gappy):
        model = RNLMF(20, noise_weight="scale", kernel_scale=1.0, random_state=0).fit(gappy)
        np.testing.assert_allclose(model.denoise(gappy)[7:9], model.denoise(gappy[7:9]), atol=1e-8)

    def test_sample_without_values_is_finite(self, gappy):
        model = RNLMF(20, noise_weight="scale", kernel_scale=1.0, random_state=0).fit(gappy)
        empty = np.full((1, gappy.shape[1]), np.nan)
        assert np.all(np.isfinite(model.denoise(empty)))
