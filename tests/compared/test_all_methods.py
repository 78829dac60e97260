"""What every method that RNLMF is compared with must do."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from rnlmf import (
    LowRankSubspaceClustering,
    RobustDictionaryLearning,
    RobustKernelPCA,
    RobustPCA,
    SelfExpressiveRNLMF,
    SparseSubspaceClustering,
)
from rnlmf.datasets import corrupt_samples, make_polynomial_manifolds
from rnlmf.metrics import relative_rmse

METHODS = {
    "robust pca": RobustPCA(),
    "robust pca, inexact": RobustPCA(solver="ialm"),
    "dictionary": RobustDictionaryLearning(random_state=0),
    "dictionary, l1": RobustDictionaryLearning(loss="l1", random_state=1),
    "dictionary, capped": RobustDictionaryLearning(loss="capped", random_state=0),
    "kernel pca": RobustKernelPCA(),
    "kernel pca, randomised": RobustKernelPCA(solver="randomized", random_state=0),
    "self-expressive": SelfExpressiveRNLMF(),
    "low rank": LowRankSubspaceClustering(),
    "low rank, factored": LowRankSubspaceClustering(solver="factored"),
    "low rank, clusters": LowRankSubspaceClustering(n_clusters=3, random_state=0),
    "sparse": SparseSubspaceClustering(),
    "sparse, affine": SparseSubspaceClustering(affine=True),
    "sparse, clusters": SparseSubspaceClustering(n_clusters=3, random_state=0),
}
every = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


@pytest.fixture(scope="module")
def low_rank():
    """Samples on a plane of three dimensions, and the same with wrong entries."""
    rng = np.random.default_rng(0)
    clean = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 15))
    return clean, np.where(rng.random(clean.shape) < 0.05, clean + 8.0, clean)


@parametrize_with_checks(list(METHODS.values()))
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@every
def test_removes_noise(method, low_rank):
    clean, noisy = low_rank
    model = clone(method)
    if isinstance(model, RobustDictionaryLearning):
        model.set_params(n_components=3)
    denoised = model.fit_denoise(noisy)
    assert relative_rmse(clean, denoised) < 0.65 * relative_rmse(clean, noisy)
    assert model.n_iter_ == len(model.objective_)


@every
@pytest.mark.parametrize("scale", [1e-3, 250.0])
def test_scale_carries_over(method, low_rank, scale):
    _, noisy = low_rank
    model = clone(method).set_params(max_iter=30)
    np.testing.assert_allclose(
        model.fit_denoise(scale * noisy) / scale, model.fit_denoise(noisy), atol=1e-6
    )


@every
def test_float32_stays_float32_and_agrees(method, low_rank):
    _, noisy = low_rank
    single = clone(method).fit_denoise(noisy.astype(np.float32))
    assert single.dtype == np.float32
    assert relative_rmse(clone(method).fit_denoise(noisy), single) < 0.01


@every
def test_input_is_not_changed(method, low_rank):
    noisy = low_rank[1].copy()
    clone(method).set_params(max_iter=3).fit_denoise(noisy)
    np.testing.assert_array_equal(noisy, low_rank[1])


@every
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_data_frame_comes_back(method, low_rank, frame):
    names = [f"f{i}" for i in range(15)]
    X = pd.DataFrame(low_rank[1], columns=names) if frame is pd.DataFrame else None
    X = pl.DataFrame(low_rank[1], schema=names) if X is None else X
    model = clone(method).set_params(max_iter=5)
    denoised = model.fit_denoise(X)
    assert isinstance(denoised, frame)
    assert list(denoised.columns) == names
    np.testing.assert_allclose(denoised.to_numpy(), model.fit_denoise(low_rank[1]), atol=1e-8)


@every
def test_survives_pickle(method, low_rank):
    model = clone(method).set_params(max_iter=5).fit(low_rank[1])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).objective_, model.objective_)


@every
def test_says_when_it_has_not_converged(method, low_rank):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = clone(method).set_params(max_iter=2, tol=0.0).fit(low_rank[1])
    assert not model.converged_


@every
def test_warm_start_goes_on_from_the_last_solution(method, low_rank):
    _, noisy = low_rank
    cold = clone(method).set_params(max_iter=20, tol=0.0).fit(noisy)
    warm = clone(method).set_params(max_iter=20, tol=0.0, warm_start=True).fit(noisy)
    np.testing.assert_array_equal(warm.objective_, cold.objective_)
    first = warm.objective_[0]
    warm.fit(noisy)
    assert warm.objective_[0] != first
    # Data of another shape begin anew.
    warm.fit(noisy[:50])
    np.testing.assert_array_equal(warm.objective_, cold.fit(noisy[:50]).objective_)


@every
@pytest.mark.parametrize(
    ("parameter", "value"), [("max_iter", 0), ("tol", -1.0), ("noise_penalty", "l3"), ("warm_start", 3)]
)
def test_bad_parameters_are_named(method, low_rank, parameter, value):
    with pytest.raises(ValueError, match=parameter):
        clone(method).set_params(**{parameter: value}).fit(low_rank[1])


@every
def test_infinite_data_are_refused(method, low_rank):
    spoilt = low_rank[1].copy()
    spoilt[3, 4] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        clone(method).fit(spoilt)


@every
def test_wrong_samples_of_the_papers_synthetic_data(method):
    clean, _ = make_polynomial_manifolds(2, 60, 20, random_state=0)
    noisy = corrupt_samples(clean, 0.2, random_state=0)
    model = clone(method).set_params(noise_penalty="l21")
    # These data have full rank, for which the weights that suit most data are too small.
    if isinstance(model, RobustPCA):
        model.set_params(weight=0.5)
    if isinstance(model, RobustKernelPCA):
        model.set_params(noise_weight=0.5)
    if isinstance(model, SelfExpressiveRNLMF):
        model.set_params(noise_weight=0.2)
    denoised = model.fit_denoise(noisy)
    assert np.all(np.isfinite(denoised))
    assert relative_rmse(clean, denoised) < 1.2 * relative_rmse(clean, noisy)
