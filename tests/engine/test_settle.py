import numpy as np
import pytest

from helpers import make_problem, make_samples
from rnlmf.engine import Corruption, SampleState, encode
from rnlmf.engine.settle import Settling


@pytest.mark.parametrize("corruption", [None, Corruption(1.0, 0.8, 2.0, 0.1)])
def test_many_steps_end_where_new_samples_do(rng, corruption):
    X = rng.standard_normal((70, 5))
    D = X[:9].copy()
    problem = make_problem(adaptive=True).adapted_to(corruption)
    samples = make_samples(X)
    state = SampleState.at(np.empty_like(X), moving=True)
    Settling(problem, D, corruption, 400).settle(samples, state)
    found = encode(samples, D, problem, corruption=corruption, max_iter=400, tol=1e-4)
    # The noise of the latter is one prediction further.
    np.testing.assert_allclose(state.Y, X - found.noise, atol=5e-3)
    assert np.all(state.speed == 0.0)
    assert np.any(state.threshold_scale > 1.0) == (corruption is not None)
