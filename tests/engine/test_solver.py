"""The protocol of all ways of iterating: one loop, a state that can be stored, a reason to stop."""

import numpy as np
import pytest

from helpers import make_problem, make_samples
from rnlmf.engine import Options, PaperOrder, SinglePass, SolverState, StopReason, run
from rnlmf.engine.solver import MOST_FAILURES
from rnlmf.penalties import L1

every_solver = pytest.mark.parametrize(
    ("kind", "changes"),
    [
        (SinglePass, {}),
        (SinglePass, {"adaptive": True}),
        (PaperOrder, {}),
        (PaperOrder, {"adaptive": True}),
        (PaperOrder, {"code_penalty": L1()}),
    ],
)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 6, 150)
    X = 0.5 * np.column_stack([np.cos(t), np.sin(t), np.cos(2 * t), np.sin(2 * t)])
    X[rng.random(X.shape) < 0.1] += 1.0
    return X, 0.5 * rng.standard_normal((10, 4))


def make_solver(kind, X, changes, **options):
    return kind(make_samples(X), make_problem(**changes), Options(**{"tol": 0.0, **options}))


@every_solver
def test_a_stored_state_goes_on_as_if_nothing_had_happened(kind, changes, data):
    X, D = data
    whole = make_solver(kind, X, changes, max_iter=60)
    at_once = run(whole, whole.init(D))
    first = make_solver(kind, X, changes, max_iter=60)
    state = first.init(D)
    run(first, state, callback=lambda info: info.iteration == 37)
    arrays = {name: array.copy() for name, array in state.to_arrays().items()}
    assert all(isinstance(array, np.ndarray) and array.dtype != object for array in arrays.values())
    second = make_solver(kind, X, changes, max_iter=60)
    resumed = run(second, SolverState.from_arrays(arrays))
    np.testing.assert_allclose(resumed.dictionary, at_once.dictionary, atol=1e-12)
    np.testing.assert_allclose(resumed.samples.Y, at_once.samples.Y, atol=1e-12)
    np.testing.assert_allclose(resumed.objective, at_once.objective)
    assert resumed.n_iter == 60


@every_solver
def test_the_best_is_kept(kind, changes, data):
    X, D = data
    solver = make_solver(kind, X, changes, max_iter=45, momentum=0.95)
    state = solver.init(D)
    result = run(solver, state)
    # With an adaptive penalty the objective is another after each adaptation; the last is at 40.
    comparable = result.objective[40:] if changes.get("adaptive") else result.objective
    assert state.best_objective == min(comparable)


@every_solver
def test_reasons_to_stop(kind, changes, data):
    X, D = data
    reasons = []
    for options, callback in (
        ({"max_iter": 5}, None),
        ({"max_iter": 50}, lambda info: info.iteration == 3),
        ({"max_iter": 500, "tol": 1e-2}, None),
    ):
        solver = make_solver(kind, X, changes, **options)
        reasons.append(run(solver, solver.init(D), callback).reason)
    assert reasons == [StopReason.MAX_ITER, StopReason.CALLBACK, StopReason.CONVERGED]


def test_an_objective_that_is_never_a_number_is_given_up(data):
    X, D = data
    broken = X.copy()
    broken[0, 0] = np.inf
    solver = make_solver(SinglePass, broken, {}, max_iter=200, fused=False)
    with np.errstate(all="ignore"):
        result = run(solver, solver.init(D))
    assert result.reason is StopReason.DIVERGED
    assert result.n_iter == MOST_FAILURES
    assert not result.converged


def test_shards_of_any_size_give_the_same(data, monkeypatch):
    X, D = data
    ends = []
    for rows in (512, 40):
        monkeypatch.setattr("rnlmf.engine.samples.GROUP_ROWS", rows)
        solver = make_solver(SinglePass, X, {"adaptive": True}, max_iter=50)
        ends.append(run(solver, solver.init(D)))
    np.testing.assert_allclose(ends[0].dictionary, ends[1].dictionary, atol=1e-8)
    assert ends[0].corruption.rate == pytest.approx(ends[1].corruption.rate)
