import numpy as np
import pytest

from helpers import make_problem, numerical_gradient
from rnlmf.engine.rows import code_step, code_value, noise_gradient, noise_step, row_objectives
from rnlmf.kernels import RBF, Linear, Polynomial
from rnlmf.penalties import L1, L2, L21, Nuclear

KERNELS = [RBF(), Polynomial(2, 1.0), Polynomial(3, 0.5), Linear()]


@pytest.fixture
def rows(rng):
    X, D = rng.standard_normal((12, 3)), rng.standard_normal((4, 3))
    Y = X - 0.3 * rng.standard_normal(X.shape)
    return X, Y, rng.standard_normal((12, 4)), D


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_agrees_with_finite_differences(kernel, rows):
    X, Y, C, D = rows
    problem = make_problem(kernel=kernel, noise_weight=0.0)
    gradient, _ = noise_gradient(problem, Y, C, D)
    numerical = numerical_gradient(lambda Y: row_objectives(problem, X, Y, C, D).sum(), Y)
    np.testing.assert_allclose(gradient, numerical, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("penalty", [L1(), L21(), L2()])
@pytest.mark.parametrize("kernel", KERNELS)
def test_noise_step_raises_no_row(kernel, penalty, rows):
    X, Y, C, D = rows
    problem = make_problem(kernel=kernel, noise_penalty=penalty, noise_weight=0.1)
    before = row_objectives(problem, X, Y, C, D)
    after = row_objectives(problem, X, noise_step(problem, X, Y, C, D), C, D)
    assert np.all(after <= before + 1e-12)
    assert after.sum() < before.sum()


def test_noise_step_treats_rows_one_by_one(rows):
    X, Y, C, D = rows
    problem = make_problem()
    together = noise_step(problem, X, Y, C, D)
    alone = np.vstack([noise_step(problem, X[[i]], Y[[i]], C[[i]], D) for i in range(len(X))])
    np.testing.assert_allclose(together, alone, atol=1e-12)


@pytest.mark.parametrize("penalty", [L1(), Nuclear()])
def test_code_step_descends(penalty, rows):
    """Lemma 5."""
    _, Y, C, D = rows
    problem = make_problem(code_penalty=penalty, code_weight=0.1)
    K, K_D = problem.kernel(Y, D), problem.kernel(D, D)

    def objective(C):
        return -np.sum(C * K) + 0.5 * np.sum((C.T @ C) * K_D) + code_value(problem, C)

    new = code_step(problem, C, K, K_D)
    lipschitz = np.linalg.norm(K_D, 2)
    drop = 0.5 * (1.01 - 1.0) * lipschitz * np.sum((new - C) ** 2)
    assert objective(new) <= objective(C) - drop + 1e-12


@pytest.mark.parametrize("penalty", [L1(), L21(), L2()])
def test_a_missing_value_costs_nothing(penalty, rows):
    X, Y, C, D = rows
    problem = make_problem(noise_penalty=penalty, noise_weight=0.1)
    gaps = np.where(np.arange(X.size).reshape(X.shape) % 4 == 0, np.nan, X)
    as_predicted = np.where(np.isnan(gaps), Y, X)
    expected = row_objectives(problem, as_predicted, Y, C, D)
    np.testing.assert_allclose(row_objectives(problem, gaps, Y, C, D), expected, rtol=1e-12)


def test_a_row_for_which_no_step_descends_stays_where_it_is(rows, monkeypatch):
    X, Y, C, D = rows
    # Steps of the polynomial kernel are too long at first.
    problem = make_problem(kernel=Polynomial(3, 0.5), noise_weight=0.1)
    before = row_objectives(problem, X, Y, C, D)
    monkeypatch.setattr("rnlmf.engine.rows.MAX_HALVINGS", 1)
    new = noise_step(problem, X, Y, C, D)
    stayed = (new == Y).all(axis=1)
    assert stayed.any()
    assert np.all(row_objectives(problem, X, new, C, D) <= before + 1e-12)
