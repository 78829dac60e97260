import numpy as np
import pytest

from helpers import numerical_gradient
from rnlmf import SelfExpressiveRNLMF
from rnlmf.compared import base
from rnlmf.compared.spectral_functions import RidgeRepresentation
from rnlmf.metrics import clustering_error, relative_rmse


def ridge_objective(Z, weight):
    """``min_C |phi(Z) - C phi(Z)|^2 / 2 + w |C|^2 / 2``, with codes and traces."""
    K = np.exp(-0.5 * ((Z[:, None] - Z) ** 2).sum(axis=2))
    C = np.linalg.solve(K + weight * np.eye(len(Z)), K).T
    rest = np.eye(len(Z)) - C
    return 0.5 * np.trace(rest @ K @ rest.T) + 0.5 * weight * np.sum(C**2)


def test_the_codes_are_eliminated(rng):
    Z = rng.standard_normal((15, 4))
    value, _ = RidgeRepresentation(0.3).value_and_gradient(Z)
    assert 0.3 * value == pytest.approx(ridge_objective(Z, 0.3))


def test_gradient(rng):
    Z = rng.standard_normal((12, 3))
    norm = RidgeRepresentation(0.2)
    _, gradient = norm.value_and_gradient(Z)
    expected = numerical_gradient(lambda Z: norm.value_and_gradient(Z)[0], Z)
    np.testing.assert_allclose(gradient, expected, atol=1e-6)


@pytest.mark.parametrize("penalty", ["l1", "l21"])
def test_objective_falls_and_is_the_stated_one(curved, penalty):
    X = curved[1][:80]
    model = SelfExpressiveRNLMF(noise_penalty=penalty, max_iter=60).fit(X)
    assert np.all(np.diff(model.objective_) <= 0.0)
    Z = (X - model.noise_) / model.sigma_
    E = model.noise_
    size = np.abs(E).sum() if penalty == "l1" else np.linalg.norm(E, axis=1).sum()
    value = ridge_objective(Z, 0.3) + model.noise_weight_ * size
    assert model.objective_[-1] == pytest.approx(value)
    K = np.exp(-0.5 * ((Z[:, None] - Z) ** 2).sum(axis=2))
    expected = K @ np.linalg.inv(K + 0.3 * np.eye(80))
    np.testing.assert_allclose(model.representation_, expected, atol=1e-8)


def test_the_order_of_samples_carries_over(curved, rng):
    X, order = curved[1][:60], rng.permutation(60)
    model = SelfExpressiveRNLMF(max_iter=40)
    expected = model.fit(X).noise_[order]
    np.testing.assert_allclose(model.fit(X[order]).noise_, expected, atol=1e-6)


def test_rotations_do_not_change_the_model(rng):
    Z = rng.standard_normal((15, 4))
    rotation, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    value, gradient = RidgeRepresentation(0.3).value_and_gradient(Z)
    turned, turned_gradient = RidgeRepresentation(0.3).value_and_gradient(Z @ rotation)
    assert turned == pytest.approx(value)
    np.testing.assert_allclose(turned_gradient, gradient @ rotation, atol=1e-10)


def test_independent_groups_are_told_apart(rng):
    """Far from each other, they have nothing in common in feature space."""
    y = np.arange(90) % 3
    X = 8.0 * np.eye(3)[y] + 0.3 * rng.standard_normal((90, 3))
    labels = SelfExpressiveRNLMF(3, random_state=0).fit_predict(X)
    assert clustering_error(y, labels) == 0.0


def test_removes_noise_from_a_curve(curved):
    clean, noisy = curved
    denoised = SelfExpressiveRNLMF().fit_denoise(noisy)
    assert relative_rmse(clean, denoised) < 0.4 * relative_rmse(clean, noisy)


def test_matrices_that_are_too_large_are_refused(curved, monkeypatch):
    monkeypatch.setattr(base, "MOST_BYTES", 8 * 10**2)
    with pytest.raises(ValueError, match="GiB"):
        SelfExpressiveRNLMF().fit(curved[1])


@pytest.mark.parametrize(
    ("parameter", "value"), [("noise_weight", 0.0), ("code_weight", -1.0), ("n_neighbors", 0)]
)
def test_bad_parameters_are_named(curved, parameter, value):
    with pytest.raises(ValueError, match=parameter):
        SelfExpressiveRNLMF(**{parameter: value}).fit(curved[1])
