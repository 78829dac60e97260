import numpy as np
import pytest

from helpers import numerical_gradient
from rnlmf import RobustKernelPCA
from rnlmf.compared.robust_kernel_pca import SchattenNorm
from rnlmf.metrics import relative_rmse


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.5])
def test_gradient(rng, exponent):
    Z = rng.standard_normal((12, 3))
    norm = SchattenNorm(exponent / 2)
    _, gradient = norm.value_and_gradient(Z)
    expected = numerical_gradient(lambda Z: norm.value_and_gradient(Z)[0], Z)
    np.testing.assert_allclose(gradient, expected, atol=1e-6)


def test_value_is_the_schatten_norm_of_the_images(rng):
    Z = rng.standard_normal((10, 3))
    K = np.exp(-0.5 * ((Z[:, None] - Z) ** 2).sum(axis=2))
    value, _ = SchattenNorm(0.5).value_and_gradient(Z)
    assert value == pytest.approx(np.sqrt(np.linalg.eigvalsh(K)).sum(), rel=1e-3)


def test_a_sketch_of_full_size_changes_nothing(rng):
    Z = rng.standard_normal((12, 3))
    value, gradient = SchattenNorm(0.5).value_and_gradient(Z)
    sketched = SchattenNorm(0.5, rng.standard_normal((12, 12))).value_and_gradient(Z)
    assert sketched[0] == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(sketched[1], gradient, atol=1e-6)


@pytest.mark.parametrize("penalty", ["l1", "l21"])
@pytest.mark.parametrize("solver", ["full", "randomized"])
def test_objective_falls_and_is_the_stated_one(curved, penalty, solver):
    X = curved[1][:80]
    model = RobustKernelPCA(0.3, noise_penalty=penalty, solver=solver, random_state=0, max_iter=60)
    model.fit(X)
    assert len(model.objective_) > 3
    assert np.all(np.diff(model.objective_) <= 0.0)
    if solver == "full":
        Z = (X - model.noise_) / model.sigma_
        size = (
            np.abs(model.noise_).sum()
            if penalty == "l1"
            else np.linalg.norm(model.noise_, axis=1).sum()
        )
        value = SchattenNorm(0.5).value_and_gradient(Z)[0] + model.noise_weight_ * size
        assert model.objective_[-1] == pytest.approx(value, rel=1e-10)


def test_removes_noise_from_a_curve(curved):
    clean, noisy = curved
    full = RobustKernelPCA(0.3, max_iter=150).fit_denoise(noisy)
    assert relative_rmse(clean, full) < 0.2 * relative_rmse(clean, noisy)
    sketched = RobustKernelPCA(0.3, solver="randomized", n_components=80, random_state=0)
    assert relative_rmse(clean, sketched.fit_denoise(noisy)) < 0.3 * relative_rmse(clean, noisy)


def test_end_is_stationary(curved):
    """Where there is noise, the gradient balances the penalty; elsewhere it is smaller."""
    X = curved[1][:60]
    model = RobustKernelPCA(0.4, tol=1e-7, max_iter=3000).fit(X)
    E = model.noise_
    _, gradient = SchattenNorm(0.5).value_and_gradient((X - E) / model.sigma_)
    weight = model.noise_weight_ * model.sigma_
    assert np.abs(gradient).max() <= weight * 1.05
    np.testing.assert_allclose(gradient[E != 0], weight * np.sign(E[E != 0]), atol=0.05 * weight)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("noise_weight", 0.0),
        ("solver", "svd"),
        ("exponent", 2.0),
        ("kernel_scale", 0),
        ("n_components", 0),
    ],
)
def test_bad_parameters_are_named(curved, parameter, value):
    with pytest.raises(ValueError, match=parameter):
        RobustKernelPCA(**{parameter: value}).fit(curved[1])
