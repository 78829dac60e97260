"""What `RNLMF` makes of wrong, odd and missing input."""

import numpy as np
import pytest
from scipy import sparse

from rnlmf import RNLMF, SolverOptions
from rnlmf.penalties import Nuclear


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
            RNLMF(5, opinions="dictionary", init=np.ones((4, 2))).fit(X)

    def test_single_pass_where_there_is_none(self, X):
        with pytest.raises(ValueError, match="solver='single-pass'"):
            RNLMF(5, kernel="polynomial", solver="single-pass").fit(X)

    @pytest.mark.parametrize(
        "options", [{"n_components": 500}, {"kernel": "polynomial", "solver": "single-pass"}]
    )
    def test_what_cannot_be_done_is_refused_before_any_work(self, X, options, monkeypatch):
        monkeypatch.setattr(RNLMF, "_fit", lambda *_: pytest.fail("too late"))
        with pytest.raises(ValueError, match=r"must not exceed|single-pass"):
            RNLMF(**options).fit(X)

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
        model = RNLMF(3, solver=solver, opinions="dictionary", random_state=0)
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
