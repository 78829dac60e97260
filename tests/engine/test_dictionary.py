import numpy as np
import pytest

from helpers import make_problem, numerical_gradient
from rnlmf.engine.dictionary import (
    Statistics,
    direction,
    gradient_and_curvature,
    newton_direction,
    spectral_direction,
)
from rnlmf.engine.state import StepState
from rnlmf.kernels import RBF, Linear, Polynomial
from rnlmf.penalties import FeatureL2, FeatureNuclear

KERNELS = [RBF(), Polynomial(2, 1.0), Polynomial(3, 0.5), Linear()]


def statistics_of(kernel, Y, C, D):
    V = C * kernel.slope(kernel.argument(Y, D))
    return Statistics(V.T @ Y, V.sum(axis=0), C.T @ C)


@pytest.mark.parametrize("penalty", [None, FeatureL2(), FeatureNuclear()])
@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_agrees_with_finite_differences(kernel, penalty, rng):
    Y, D = 0.7 * rng.standard_normal((15, 6)), 0.7 * rng.standard_normal((4, 6))
    C = rng.standard_normal((15, 4))
    problem = make_problem(kernel=kernel, dictionary_penalty=penalty, dictionary_weight=0.3)

    def loss(D):
        K_D = kernel(D, D)
        return -np.sum(C * kernel(Y, D)) + 0.5 * np.sum((C.T @ C) * K_D) + problem.dictionary_value(K_D)

    gradient, _ = gradient_and_curvature(problem, D, kernel(D, D), statistics_of(kernel, Y, C, D))
    np.testing.assert_allclose(gradient, numerical_gradient(loss, D), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_curvature_is_that_of_the_frozen_gradient(kernel, rng):
    """With ``V`` and ``M`` held fixed the gradient is linear in ``D``, with slope ``H``."""
    Y, D = rng.standard_normal((15, 3)), rng.standard_normal((4, 3))
    C = rng.standard_normal((15, 4))
    statistics = statistics_of(kernel, Y, C, D)
    gradient, H = gradient_and_curvature(make_problem(kernel=kernel), D, kernel(D, D), statistics)
    np.testing.assert_allclose(gradient, H @ D - statistics.weighted_samples)
    np.testing.assert_allclose(H, H.T)


def test_newton_direction_solves_where_it_can(rng):
    A = rng.standard_normal((6, 6))
    H = A @ A.T + np.eye(6)
    gradient = rng.standard_normal((6, 3))
    np.testing.assert_allclose(H @ newton_direction(gradient, H), gradient)


@pytest.mark.parametrize("eigenvalues", [[-5.0, -1.0, 0.0, 3.0], [0.0, 0.0, 0.0, 0.0]])
def test_newton_direction_descends_where_curvature_is_not_positive(eigenvalues, rng):
    Q, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    gradient = rng.standard_normal((4, 2))
    direction = newton_direction(gradient, (Q * eigenvalues) @ Q.T)
    assert np.all(np.isfinite(direction))
    assert np.sum(direction * gradient) > 0


@pytest.mark.parametrize("d", [1, 2, 40])
def test_spectral_direction_is_no_longer_than_the_curvature_allows(d, rng):
    A = rng.standard_normal((d, d))
    H = A @ A.T
    gradient = rng.standard_normal((d, 3))
    expected = gradient / np.linalg.norm(H, 2)
    np.testing.assert_allclose(spectral_direction(gradient, H), expected, rtol=0.05)


@pytest.mark.parametrize("d", [1, 2, 3, 40])
def test_without_curvature_the_spectral_direction_is_the_gradient(d, rng):
    gradient = rng.standard_normal((d, 3))
    np.testing.assert_array_equal(spectral_direction(gradient, np.zeros((d, d))), gradient)


def test_large_dictionaries_take_the_spectral_step(rng, monkeypatch):
    A = rng.standard_normal((20, 20))
    H, gradient = A @ A.T + np.eye(20), rng.standard_normal((20, 2))
    np.testing.assert_array_equal(direction(gradient, H), newton_direction(gradient, H))
    monkeypatch.setattr("rnlmf.engine.dictionary.LARGE_DICTIONARY", 10)
    np.testing.assert_array_equal(direction(gradient, H), spectral_direction(gradient, H))


def test_statistics_add_up(rng):
    kernel, D = RBF(), rng.standard_normal((4, 3))
    Y, C = rng.standard_normal((15, 3)), rng.standard_normal((15, 4))
    total = Statistics.none(4, 3)
    for rows in (slice(0, 6), slice(6, 15)):
        total.plus(statistics_of(kernel, Y[rows], C[rows], D))
    whole = statistics_of(kernel, Y, C, D)
    np.testing.assert_allclose(total.weighted_samples, whole.weighted_samples)
    np.testing.assert_allclose(total.weight, whole.weight)
    np.testing.assert_allclose(total.code_gram, whole.code_gram)


def test_momentum_adds_up_until_a_restart():
    step = StepState(np.zeros((1, 1)))
    one = np.ones((1, 1))
    assert step.propose(one, 0.5).item() == 1.0
    assert step.propose(one, 0.5).item() == 1.5
    step.restart()
    step.damp()
    assert step.propose(one, 0.5).item() == 0.5


@pytest.mark.parametrize("d", [2, 3, 40])
def test_a_spectral_step_is_no_longer_than_the_norm_allows(d, rng):
    """The norm is known to two per cent."""
    H = rng.standard_normal((d, d))
    H = H @ H.T
    gradient = rng.standard_normal((d, 4))
    ratio = np.linalg.norm(gradient) / np.linalg.norm(direction(gradient, H, "spectral"))
    assert np.linalg.norm(H, 2) * 0.999 <= ratio <= 1.02 * np.linalg.norm(H, 2)
