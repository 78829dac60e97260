"""The engine beside a slow implementation that shares nothing with it."""

import itertools

import numpy as np
import pytest

from helpers import make_problem, make_samples
from oracle import algorithm_1
from rnlmf.engine import Options, paper_order
from rnlmf.kernels import RBF, Polynomial
from rnlmf.penalties import L1, L2, L21, FeatureL2, FeatureNuclear, Nuclear

KERNELS = {"rbf": RBF(), "polynomial": Polynomial(2, 1.0)}
CODES = {"l2": L2(), "l1": L1(), "nuclear": Nuclear()}
NOISES = {"l1": L1(), "l21": L21(), "l2": L2()}
DICTIONARIES = {None: None, "l2": FeatureL2(), "nuclear": FeatureNuclear()}


@pytest.mark.parametrize("momentum", [0.0, 0.5])
@pytest.mark.parametrize(
    ("kernel", "code", "noise", "dictionary"),
    list(itertools.product(KERNELS, CODES, NOISES, DICTIONARIES)),
)
def test_algorithm_1_is_what_it_says(kernel, code, noise, dictionary, momentum):
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 6, 9)
    X = 0.5 * np.column_stack([np.cos(t), np.sin(t), np.cos(2 * t)])
    X[2, 1] += 1.0
    X[5] += 0.7
    start = 0.5 * rng.standard_normal((4, 3))
    plain = {
        **{"kernel": kernel, "code": code, "noise": noise, "dictionary": dictionary},
        **{"code_weight": 0.02, "noise_weight": 0.05, "dictionary_weight": 0.03 if dictionary else 0.0},
    }
    D, Y, path = algorithm_1(plain, X, start, iterations=6, momentum=momentum, warmup=2)
    problem = make_problem(
        kernel=KERNELS[kernel],
        code_penalty=CODES[code],
        code_weight=0.02,
        noise_penalty=NOISES[noise],
        noise_weight=0.05,
        dictionary_penalty=DICTIONARIES[dictionary],
        dictionary_weight=plain["dictionary_weight"],
    )
    options = Options(max_iter=6, tol=0.0, momentum=momentum, warmup=2)
    states = []
    solver = paper_order.PaperOrder(make_samples(X), problem, options)
    state = solver.init(start.copy())
    for _ in range(6):
        solver.update(state)
        state.iteration += 1
        states.append(state.latest_objective)
    np.testing.assert_allclose(state.dictionary, D, rtol=0, atol=1e-8)
    np.testing.assert_allclose(state.samples.Y, Y, rtol=0, atol=1e-8)
    np.testing.assert_allclose(states[-len(path) :], path, rtol=1e-8)
