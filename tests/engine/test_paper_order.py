import numpy as np
import pytest

from helpers import make_problem, make_samples
from rnlmf.engine import Options, paper_order
from rnlmf.kernels import RBF, Polynomial
from rnlmf.penalties import L1, L2, L21, FeatureL2, FeatureNuclear, Nuclear


@pytest.fixture(scope="module")
def start():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 6, 80)
    X = 0.5 * np.column_stack([np.cos(t), np.sin(t), np.cos(2 * t), np.sin(2 * t)])
    X[rng.random(X.shape) < 0.1] += 1.0
    return make_samples(X), 0.5 * rng.standard_normal((10, 4))


def fit(start, problem, callback=None, **options):
    samples, D = start
    settings = Options(**{"momentum": 0.0, "tol": 0.0, **options})
    return paper_order.fit(samples, D, problem, settings, callback)


@pytest.mark.parametrize("kernel", [RBF(), Polynomial(2, 1.0)])
@pytest.mark.parametrize("noise_penalty", [L1(), L21(), L2()])
@pytest.mark.parametrize("code_penalty", [L2(), L1(), Nuclear()])
def test_objective_never_rises_without_momentum(start, kernel, code_penalty, noise_penalty):
    problem = make_problem(kernel=kernel, code_penalty=code_penalty, noise_penalty=noise_penalty)
    path = np.array(fit(start, problem, max_iter=80).objective)
    assert np.diff(path).max() <= 1e-12 * path[0]
    assert path[-1] < path[0]


@pytest.mark.parametrize("penalty", [FeatureL2(), FeatureNuclear()])
@pytest.mark.parametrize("kernel", [RBF(), Polynomial(2, 1.0)])
def test_objective_never_rises_with_a_dictionary_penalty(start, kernel, penalty):
    problem = make_problem(kernel=kernel, dictionary_penalty=penalty, dictionary_weight=0.05)
    path = np.array(fit(start, problem, max_iter=60).objective)
    assert np.diff(path).max() <= 1e-12 * path[0]


def test_l2_penalty_on_the_dictionary_has_no_effect_with_rbf(start):
    plain = fit(start, make_problem(), max_iter=20)
    penalised = fit(
        start, make_problem(dictionary_penalty=FeatureL2(), dictionary_weight=1.0), max_iter=20
    )
    np.testing.assert_allclose(plain.dictionary, penalised.dictionary, atol=1e-8)


def test_nuclear_penalty_lowers_the_rank_in_feature_space(start):
    problem = make_problem(dictionary_penalty=FeatureNuclear(), dictionary_weight=0.5)
    plain, penalised = fit(start, make_problem(), max_iter=60), fit(start, problem, max_iter=60)
    norms = [
        FeatureNuclear().value(problem.atom_kernel(result.dictionary)) for result in (plain, penalised)
    ]
    assert norms[1] < norms[0]


@pytest.mark.parametrize("code_penalty", [L1(), Nuclear(), L2()])
def test_successive_differences_vanish(start, code_penalty):
    """Theorem 1, for the objective, the dictionary, the codes and the noise."""
    problem = make_problem(code_penalty=code_penalty)
    samples, D = start
    solver = paper_order.PaperOrder(samples, problem, Options(momentum=0.0, max_iter=1500))
    state = solver.init(D)
    moves = []
    for _ in range(1500):
        old = solver.objective(state), state.dictionary, state.codes, state.samples.Y
        solver.step(state)
        new = solver.objective(state), state.dictionary, state.codes, state.samples.Y
        moves.append([np.linalg.norm(a - b) for a, b in zip(old, new, strict=True)])
    moves = np.array(moves)
    early, late = moves[20:60].mean(axis=0), moves[-40:].mean(axis=0)
    assert np.all(late <= 0.2 * early)


@pytest.mark.parametrize("momentum", [0.5, 0.99])
def test_large_momentum_does_not_diverge(start, momentum):
    without = fit(start, make_problem(), max_iter=150).objective
    path = fit(start, make_problem(), max_iter=150, momentum=momentum).objective
    assert path[-1] <= 1.2 * without[-1]
    assert path[-1] == min(path)


def test_spectral_step_descends_too(start):
    path = fit(start, make_problem(), max_iter=60, dictionary_step="spectral").objective
    assert np.diff(path).max() <= 1e-12 * path[0]


def test_callback_sees_every_iteration_and_can_stop(start):
    seen = []
    result = fit(
        start, make_problem(), max_iter=50, callback=lambda i: seen.append(i) or i.iteration == 7
    )
    assert [info.iteration for info in seen] == list(range(1, 8))
    assert result.n_iter == 7
    assert [info.objective for info in seen] == result.objective
