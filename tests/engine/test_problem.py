import numpy as np
import pytest

from helpers import make_problem
from rnlmf.engine.problem import inverse_of_damped
from rnlmf.engine.rows import code_step
from rnlmf.engine.solver import has_converged
from rnlmf.penalties import Nuclear


def test_inverse_against_numpy(rng):
    D = rng.standard_normal((6, 2))
    K = make_problem().atom_kernel(D)
    np.testing.assert_allclose(inverse_of_damped(K, 0.1), np.linalg.inv(K + 0.1 * np.eye(6)))


def test_inverse_of_a_singular_matrix_is_finite():
    inverse = inverse_of_damped(np.ones((4, 4)), 0.0)
    assert np.all(np.isfinite(inverse))
    np.testing.assert_allclose(inverse, inverse.T)


def test_inverse_of_nothing_but_zeros_is_finite():
    np.testing.assert_array_equal(inverse_of_damped(np.zeros((3, 3)), 0.0), np.eye(3))


def test_encoder_of_nuclear_codes_is_stationary_for_the_fit(rng):
    """At the codes' optimum, ``C = K R`` with ``R`` from ``(C^T C)^(1/2)`` gives them back."""
    D, Y = rng.standard_normal((4, 3)), rng.standard_normal((40, 3))
    problem = make_problem(code_penalty=Nuclear(), code_weight=0.2)
    K, K_D = problem.kernel(Y, D), problem.kernel(D, D)
    C = np.zeros((40, 4))
    for _ in range(5000):
        C = code_step(problem, C, K, K_D)
    values, vectors = np.linalg.eigh(C.T @ C)
    metric = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    np.testing.assert_allclose(K @ problem.encoder(K_D, metric), C, atol=1e-5)


def test_convergence_needs_objective_and_dictionary():
    still = [1.0] * 20
    assert has_converged(still, 0.0, 1e-4)
    assert not has_converged(still, 1e-3, 1e-4)
    assert not has_converged(list(np.linspace(2.0, 1.0, 20)), 0.0, 1e-4)
    assert not has_converged([1.0, 1.0], 0.0, 1e-4)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_singular_matrix_is_damped_by_its_own_rounding(scale):
    """Whatever its unit: the largest number of the inverse is that of rounding."""
    K_D = scale * np.ones((4, 4))
    largest = np.abs(inverse_of_damped(K_D, 0.0)).max()
    assert 0.05 < largest * np.finfo(float).eps * np.trace(K_D) <= 1.0
