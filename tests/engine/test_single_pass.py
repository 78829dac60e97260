import numpy as np
import pytest

from helpers import make_problem, make_samples
from rnlmf.engine import Options, StopReason, encode, samples, single_pass
from rnlmf.engine.state import StepState
from rnlmf.penalties import L1, L2, L21


@pytest.fixture(scope="module")
def start():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 6, 900)
    X = 0.5 * np.column_stack([np.cos(t), np.sin(t), np.cos(2 * t), np.sin(2 * t), np.cos(3 * t)])
    X[rng.random(X.shape) < 0.1] += 1.0
    return X, 0.5 * rng.standard_normal((12, 5))


def plain_path(X, D, problem, iterations):
    """The single pass, written out on whole matrices in double precision: the oracle."""
    Y = X.copy()
    path = []
    for _ in range(iterations):
        K, K_D = problem.kernel(Y, D), problem.kernel(D, D)
        C = K @ np.linalg.inv(K_D + problem.code_weight * np.eye(len(D)))
        V = C * K
        loss = 0.5 * len(X) - V.sum() + 0.5 * np.sum((C.T @ C) * K_D)
        path.append(
            loss
            + 0.5 * problem.code_weight * np.sum(C**2)
            + problem.noise_weight * problem.noise_penalty.value(X - Y)
        )
        M = (C.T @ C) * K_D
        H = M + np.diag(V.sum(axis=0) - M.sum(axis=1))
        step = np.linalg.solve(H, H @ D - V.T @ Y)
        w = V.sum(axis=1, keepdims=True)
        P = V @ D / w
        Y = X - problem.noise_penalty.prox(X - P, problem.noise_weight / w)
        D = D - step
    return np.array(path)


def fit(X, D, problem, callback=None, **options):
    settings = Options(**{"tol": 0.0, **options})
    return single_pass.fit(make_samples(X), D, problem, settings, callback)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-9), (np.float32, 1e-4)])
@pytest.mark.parametrize("noise_penalty", [L1(), L21(), L2()])
@pytest.mark.parametrize("fused", [True, False])
def test_follows_the_plain_iteration(start, monkeypatch, fused, noise_penalty, dtype, rtol):
    monkeypatch.setattr(samples, "GROUP_ROWS", 300)
    X, _ = start
    D = X[::75]
    problem = make_problem(noise_penalty=noise_penalty)
    result = fit(X.astype(dtype), D, problem, max_iter=40, momentum=0.0, fused=fused)
    np.testing.assert_allclose(result.objective[:40], plain_path(X, D, problem, 40), rtol=rtol)


def test_reaches_the_same_objective_sooner_with_momentum(start):
    X, D = start
    plain = fit(X, D, make_problem(), max_iter=150, momentum=0.0).objective
    accelerated = fit(X, D, make_problem(), max_iter=60, momentum=0.9).objective
    assert min(accelerated) <= min(plain) * 1.01


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9, 0.99, 0.999])
@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
def test_ends_at_its_best_whatever_the_momentum(start, momentum, scale):
    X, D = start
    result = fit(X * scale, D * scale, make_problem(), max_iter=120, momentum=momentum)
    assert np.all(np.isfinite(result.objective))
    assert_best_dictionary(result, X * scale)


def assert_best_dictionary(result, X):
    """The samples, treated anew with the dictionary, are explained about as well as at best."""
    explained = encode(make_samples(X), result.dictionary, make_problem(), tol=1e-6, max_iter=2000)
    assert explained.objective.sum() <= 1.01 * min(result.objective)


def test_does_not_diverge_on_pure_noise(rng):
    X = rng.standard_normal((300, 8))
    result = fit(X, rng.standard_normal((40, 8)), make_problem(), max_iter=150, momentum=0.99)
    assert_best_dictionary(result, X)


def test_threads_do_not_change_the_result(start, monkeypatch):
    monkeypatch.setattr(samples, "GROUP_ROWS", 128)
    X, D = start
    one, two = (
        fit(X, D, make_problem(), max_iter=30, n_threads=n_threads).dictionary for n_threads in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_the_input_is_not_changed(start):
    X, D = start
    X_before, D_before = X.copy(), D.copy()
    fit(X, D, make_problem(), max_iter=5)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(D, D_before)


def test_a_sample_that_no_atom_sees_is_brought_back(start):
    X, D = start
    far = X.copy()
    far[0, 0] += 1e4
    assert np.abs(fit(far, D, make_problem(), max_iter=60).samples.Y[0]).max() < 5.0


def test_steps_that_overshoot_are_damped(start, monkeypatch):
    """Steps ten times too long raise the objective; recovery must still bring it down."""
    X, D = start
    propose = StepState.propose
    monkeypatch.setattr(
        StepState,
        "propose",
        lambda self, direction, momentum: propose(self, 10.0 * direction, momentum),
    )
    good = fit(X, D, make_problem(), max_iter=150, momentum=0.0)
    monkeypatch.undo()
    reference = fit(X, D, make_problem(), max_iter=150, momentum=0.0)
    assert min(good.objective) <= 2.0 * min(reference.objective)


def test_every_iteration_is_reported(start):
    X, D = start
    seen = []
    result = fit(X, D, make_problem(), max_iter=40, momentum=0.999, callback=seen.append)
    assert [info.iteration for info in seen] == list(range(1, 41))
    assert [info.objective for info in seen] == result.objective


def test_callback_can_stop(start):
    X, D = start
    result = fit(X, D, make_problem(), max_iter=40, callback=lambda info: info.iteration == 7)
    assert result.n_iter == 7
    assert result.reason is StopReason.CALLBACK
    assert not result.converged


def test_a_step_that_is_no_number_is_not_taken(start, monkeypatch):
    X, D = start
    solver = single_pass.SinglePass(make_samples(X), make_problem(), Options())
    state = solver.init(D)
    downhill, calls = single_pass.direction, []

    def broken_once(*given):
        calls.append(1)
        return np.full_like(D, np.nan) if len(calls) == 5 else downhill(*given)

    monkeypatch.setattr(single_pass, "direction", broken_once)
    for _ in range(5):
        before = state.dictionary
        solver.step(state)
    np.testing.assert_array_equal(state.dictionary, before)
    assert state.dictionary_change == np.inf
    solver.step(state)
    assert np.isfinite(state.dictionary).all()
