"""The engine beside a slow implementation that shares nothing with it."""

import itertools

import numpy as np
import pytest

from helpers import make_problem, make_samples
from oracle import algorithm_1, algorithm_2
from rnlmf.engine import Options, encoding, paper_order
from rnlmf.engine.corruption import Corruption
from rnlmf.kernels import RBF, Linear, Polynomial
from rnlmf.penalties import L1, L2, L21, FeatureL2, FeatureNuclear, MinimaxConcave, Nuclear

KERNELS = {
    "rbf": RBF(),
    "polynomial": Polynomial(2, 1.0),
    "cubic": Polynomial(3, 0.5),
    "linear": Linear(),
}
CODES = {"l2": L2(), "l1": L1(), "nuclear": Nuclear()}
# Some thresholds are above this knee, some below.
KNEE = 0.3
NOISES = {"l1": L1(), "l21": L21(), "l2": L2(), "concave": MinimaxConcave(KNEE)}
DICTIONARIES = {None: None, "l2": FeatureL2(), "nuclear": FeatureNuclear()}


@pytest.mark.parametrize("momentum", [0.0, 0.5])
@pytest.mark.parametrize(
    ("kernel", "code", "noise", "dictionary"),
    list(itertools.product(KERNELS, CODES, [*NOISES, "adaptive"], DICTIONARIES)),
)
def test_algorithm_1_is_what_it_says(kernel, code, noise, dictionary, momentum):
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 6, 9)
    adaptive = noise == "adaptive"
    noise_weight = 0.03 if adaptive else 0.05
    if adaptive:
        # Three samples are spoilt and the others alike, so that thresholds differ.
        X = 0.5 * np.column_stack([f(k * t / 12) for k in range(1, 6) for f in (np.cos, np.sin)])
        X[:3] += 0.6 * rng.choice([-1, 1], (3, 10))
    else:
        X = 0.5 * np.column_stack([np.cos(t), np.sin(t), np.cos(2 * t)])
        X[2, 1] += 1.0
        X[5] += 0.7
    # More atoms than numbers are one too many for the linear kernel: its matrix is singular.
    start = 0.5 * rng.standard_normal((3 if kernel == "linear" else 4, X.shape[1]))
    plain = {
        **{"kernel": kernel, "code": code, "dictionary": dictionary},
        **{"noise": "concave" if adaptive else noise, "knee": KNEE, "adaptive": adaptive},
        **{
            "code_weight": 0.02,
            "noise_weight": noise_weight,
            "dictionary_weight": 0.03 if dictionary else 0.0,
        },
    }
    # An adaptation at half of the iterations, and another five later.
    iterations = 12 if adaptive else 6
    D, Y, path = algorithm_1(plain, X, start, iterations, momentum=momentum, warmup=2)
    problem = make_problem(
        kernel=KERNELS[kernel],
        code_penalty=CODES[code],
        code_weight=0.02,
        noise_penalty=L1() if adaptive else NOISES[noise],
        noise_weight=noise_weight,
        adaptive=adaptive,
        dictionary_penalty=DICTIONARIES[dictionary],
        dictionary_weight=plain["dictionary_weight"],
    )
    options = Options(max_iter=iterations, tol=0.0, momentum=momentum, warmup=2)
    objectives = []
    solver = paper_order.PaperOrder(make_samples(X), problem, options)
    state = solver.init(start.copy())
    for _ in range(iterations):
        solver.step(state)
        objectives.append(state.latest_objective)
    np.testing.assert_allclose(state.dictionary, D, rtol=0, atol=1e-8)
    np.testing.assert_allclose(state.samples.Y, Y, rtol=0, atol=1e-8)
    np.testing.assert_allclose(objectives[-len(path) :], path, rtol=1e-8)
    if adaptive and kernel == "rbf" and code == "l2":
        assert state.samples.threshold_scale.max() > 1.2
        assert np.isfinite(state.corruption.knee)


def new_samples():
    rng = np.random.default_rng(1)
    t = rng.uniform(0, 6, 7)
    X = 0.5 * np.column_stack([np.cos(t), np.sin(t), np.cos(2 * t)])
    X[2, 1] += 1.0
    return X, 0.5 * rng.standard_normal((4, 3))


@pytest.mark.parametrize(
    ("kernel", "code", "noise"),
    list(itertools.product(KERNELS, CODES, [*NOISES, "adaptive"])),
)
def test_algorithm_2_is_what_it_says(kernel, code, noise):
    X, D = new_samples()
    adaptive = noise == "adaptive"
    plain = {
        **{"kernel": kernel, "code": code, "noise": "concave" if adaptive else noise, "knee": KNEE},
        **{"code_weight": 0.02, "noise_weight": 0.05},
    }
    # Of the data that a model was learned from: so many errors that a right sample stands out.
    corruption = Corruption(size=0.8, rate=0.8, strength=0.5) if adaptive else None
    fitted_codes = np.random.default_rng(2).standard_normal((9, 4)) if code == "nuclear" else None
    C, Y = algorithm_2(
        plain,
        X,
        D,
        iterations=12,
        corruption=(0.8, 0.8, 0.5) if adaptive else None,
        fitted_codes=fitted_codes,
    )
    noise_penalty = MinimaxConcave(KNEE) if adaptive else NOISES[noise]
    problem = make_problem(
        kernel=KERNELS[kernel],
        code_penalty=CODES[code],
        code_weight=0.02,
        noise_penalty=noise_penalty,
        noise_weight=0.05,
    )
    metric = None if fitted_codes is None else Nuclear().code_metric(fitted_codes.T @ fitted_codes)
    found = encoding.encode(
        make_samples(X),
        D,
        problem,
        code_metric=metric,
        corruption=corruption,
        max_iter=12,
        tol=-1.0,
        closed=False,
    )
    np.testing.assert_allclose(found.codes, C, rtol=0, atol=1e-8)
    np.testing.assert_allclose(X - found.noise, Y, rtol=0, atol=1e-8)


@pytest.mark.parametrize("noise", ["l1", "l21", "l2"])
def test_accelerated_closed_steps_end_where_algorithm_2_ends(noise):
    X, D = new_samples()
    plain = {"kernel": "rbf", "code": "l2", "noise": noise, "code_weight": 0.02, "noise_weight": 0.05}
    C, Y = algorithm_2(plain, X, D, iterations=2000)
    problem = make_problem(code_weight=0.02, noise_penalty=NOISES[noise], noise_weight=0.05)
    found = encoding.encode(make_samples(X), D, problem, max_iter=4000, tol=1e-14)
    np.testing.assert_allclose(found.codes, C, rtol=0, atol=1e-8)
    np.testing.assert_allclose(X - found.noise, Y, rtol=0, atol=1e-8)
