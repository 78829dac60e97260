import numpy as np
import pytest

from helpers import make_problem, make_samples
from rnlmf.engine import Corruption, Samples, encode, encoding
from rnlmf.engine.corruption import AdaptationSchedule
from rnlmf.engine.encoding import ClosedSteps, Pace
from rnlmf.engine.rows import row_objectives
from rnlmf.kernels import Polynomial
from rnlmf.penalties import L1, L2, L21, Nuclear

PROBLEMS = {
    "fast": {},
    "l21": {"noise_penalty": L21()},
    "l2": {"noise_penalty": L2()},
    "l1 codes": {"code_penalty": L1()},
    "polynomial": {"kernel": Polynomial(2, 1.0)},
    "nuclear": {"code_penalty": Nuclear()},
}


@pytest.fixture
def rows(rng):
    t = rng.uniform(0, 6, 300)
    clean = np.column_stack([np.cos(t), np.sin(t), np.cos(2 * t), np.sin(2 * t)])
    X = clean.copy()
    X[rng.random(X.shape) < 0.1] += 2.0
    angle = np.linspace(0, 6, 20)
    D = np.column_stack([np.cos(angle), np.sin(angle), np.cos(2 * angle), np.sin(2 * angle)])
    return X, D, clean


@pytest.mark.parametrize("name", PROBLEMS)
def test_rows_do_not_depend_on_each_other(name, rows):
    X, D, _ = rows
    problem = make_problem(**PROBLEMS[name])
    whole = encode(make_samples(X), D, problem, tol=1e-6)
    for some in (slice(0, 1), slice(3, 40)):
        part = encode(make_samples(X[some]), D, problem, tol=1e-6)
        np.testing.assert_allclose(part.noise, whole.noise[some], atol=1e-8)
        np.testing.assert_allclose(part.codes, whole.codes[some], atol=1e-8)


@pytest.mark.parametrize("name", ["fast", "l21", "l2"])
def test_closed_and_searched_steps_end_at_the_same_point(name, rows, monkeypatch):
    X, D, _ = rows
    problem = make_problem(**PROBLEMS[name])
    closed = encode(make_samples(X), D, problem, tol=1e-9, max_iter=3000)
    # Nothing of the one is used by the other.
    monkeypatch.delattr("rnlmf.engine.encoding.ClosedSteps")
    searched = encode(make_samples(X), D, problem, tol=1e-9, max_iter=3000, closed=False)
    agree = np.abs(closed.noise - searched.noise).max(axis=1) < 1e-5
    # The problem is not convex: a few rows may prefer another valley.
    assert agree.mean() > 0.9
    np.testing.assert_allclose(closed.objective[agree], searched.objective[agree], atol=1e-6)


@pytest.mark.parametrize("max_iter", [12, 200])
def test_adaptive_thresholds_are_those_of_the_row(max_iter, rows):
    """With few iterations too: a row in which little is wrong keeps more of itself."""
    X, D, _ = rows
    corruption = Corruption(size=2.0, rate=0.9, strength=0.5, noisy=0.1)
    problem = make_problem().adapted_to(corruption)
    settings = {"max_iter": max_iter, "with_residual": True}
    plain = encode(make_samples(X), D, problem, **settings)
    adapted = encode(make_samples(X), D, problem, corruption=corruption, **settings)
    assert np.mean(adapted.threshold) > 1.2 * np.mean(plain.threshold)


def test_result_is_a_stationary_point(rows):
    """No small move of a row lowers its objective, with the codes that belong to it."""
    X, D, _ = rows
    problem = make_problem()
    result = encode(make_samples(X), D, problem, tol=1e-10, max_iter=5000)
    Y = X - result.noise
    rng = np.random.default_rng(1)
    before = row_objectives(problem, X, Y, result.codes, D)
    for _ in range(20):
        moved = Y + 1e-4 * rng.standard_normal(Y.shape)
        assert np.all(row_objectives(problem, X, moved, result.codes, D) >= before - 1e-7)


@pytest.mark.parametrize("name", ["fast", "l1 codes", "polynomial", "nuclear"])
def test_noise_is_exactly_zero_where_nothing_was_removed(name, rows):
    X, D, _ = rows
    noise = encode(make_samples(X), D, make_problem(**PROBLEMS[name])).noise
    assert 0.2 < np.mean(noise == 0.0) < 1.0


def test_denoising_helps(rows):
    X, D, clean = rows
    noise = encode(make_samples(X), D, make_problem()).noise
    assert np.linalg.norm(X - noise - clean) < 0.7 * np.linalg.norm(X - clean)


def test_threads_do_not_change_the_result(rows):
    X, D, _ = rows
    X = np.tile(X, (20, 1))
    one = encode(make_samples(X), D, make_problem(), n_threads=1)
    two = encode(make_samples(X), D, make_problem(), n_threads=2)
    np.testing.assert_array_equal(one.noise, two.noise)


def test_converged_rows_are_reported(rows):
    X, D, _ = rows
    assert encode(make_samples(X), D, make_problem(), max_iter=500).converged.all()
    assert not encode(make_samples(X), D, make_problem(), max_iter=1, tol=1e-9).converged.all()


def test_at_a_brisk_pace_missing_values_are_predicted_alike_in_fewer_steps(rows, monkeypatch):
    X, D, clean = rows
    gaps = np.arange(len(X))[:, None] % 4 == np.arange(4)
    samples = Samples.of(np.where(gaps, np.nan, X), make_samples(X).units)
    problem = make_problem()
    steps = []
    step = ClosedSteps.step
    monkeypatch.setattr(ClosedSteps, "step", lambda *a: steps.append(0) or step(*a))
    usual = encode(samples, D, problem, tol=3e-3)
    before = len(steps)
    pace = Pace(40, 3e-3, fills=(0, 8), schedule=AdaptationSchedule(first=15, every=3, least=2))
    brisk = encode(samples, D, problem, pace=pace)
    assert len(steps) - before <= min(40, before)
    assert np.median(np.abs(brisk.filled - usual.filled)) < 0.02
    errors = [np.median(np.abs(e.filled - clean)[gaps]) for e in (brisk, usual)]
    assert errors[0] < 1.1 * errors[1]


@pytest.mark.parametrize("closed", [True, False])
def test_gaps_are_filled_when_it_is_time(rows, monkeypatch, closed):
    """And never where nothing is missing."""
    X, D, _ = rows
    filled = []
    monkeypatch.setattr(encoding, "fill_from_observed", lambda Y, *_: filled.append(len(Y)))
    pace = Pace(9, -1.0, (2, 5), AdaptationSchedule.within(9))
    encode(make_samples(X), D, make_problem(), pace=pace, closed=closed)
    assert filled == []
    gaps = X.copy()
    gaps[::3, 0] = np.nan
    encode(Samples.of(gaps, make_samples(X).units), D, make_problem(), pace=pace, closed=closed)
    assert filled == [len(X), len(X)]


@pytest.mark.parametrize("closed", [True, False])
def test_rows_end_when_nothing_is_left_to_be_filled(rows, monkeypatch, closed):
    """Not before the last gap was filled and the row has moved since, and then at once."""
    X, D, _ = rows
    kind = ClosedSteps if closed else encoding.SearchedSteps
    step, taken = kind.step, []
    monkeypatch.setattr(kind, "step", lambda *words: taken.append(1) or step(*words))
    pace = Pace(20, np.inf, (2, 5), AdaptationSchedule.within(20))
    gaps = X.copy()
    gaps[::3, 0] = np.nan
    for values, steps in ((X, 1), (gaps, 7)):
        taken.clear()
        samples = Samples.of(values, make_samples(X).units)
        assert encode(samples, D, make_problem(), pace=pace, closed=closed).converged.all()
        assert len(taken) == steps
