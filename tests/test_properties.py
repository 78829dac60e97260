"""What holds for data of any kind: shapes, types, scales, duplicates, constants, gross errors."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rnlmf import RNLMF
from rnlmf.kernels import Polynomial

SCALES = st.integers(-150, 150)
few = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
many = settings(few, max_examples=200)


@st.composite
def hostile(draw, scales=SCALES):
    """A matrix, mostly on a curve, with whatever is wrong with it."""
    n, m = draw(st.integers(2, 24)), draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    t = rng.uniform(0, 6, n)
    X = np.column_stack([np.cos(t + k) for k in range(m)])
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.1, 0.9]))] += 5.0
    if draw(st.booleans()):
        X[rng.integers(n, size=n // 2)] = X[0]
    if draw(st.booleans()):
        X[:, rng.integers(m)] = 3.0
    if m > 1 and draw(st.booleans()):
        X[:, 0] = X[:, 1] * (1 + 1e-12)
    if draw(st.booleans()):
        X[rng.integers(n)] = 1e3
    X = X * 10.0 ** draw(scales)
    in_single = 1e-30 < np.abs(X).max() < 1e30
    return X.astype(np.float32) if in_single and draw(st.booleans()) else X


OPTIONS = st.fixed_dictionaries(
    {
        "kernel": st.sampled_from(["rbf", Polynomial(2)]),
        "code_penalty": st.sampled_from(["l2", "l1", "nuclear"]),
        "noise_penalty": st.sampled_from(["l1", "l21", "l2", "adaptive"]),
        "dictionary_penalty": st.sampled_from([None, "nuclear"]),
        "n_components": st.sampled_from([1, 2]),
    }
)


def fitted(X, **options):
    plain = {
        "opinions": "dictionary",
        "neighbor_share": 0,
        "kernel_scale": 1.0,
        "noise_weight": "scale",
    }
    model = RNLMF(**{**plain, "dictionary_weight": 0.01, "max_iter": 6, "random_state": 0, **options})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


def check_results(X, options):
    before = X.copy()
    model = fitted(X, **options)
    found = model.denoise(X)
    np.testing.assert_array_equal(X, before)
    assert found.shape == X.shape
    assert found.dtype == X.dtype
    for result in (found, model.transform(X), model.components_, model.objective_):
        assert np.isfinite(result).all()
    # A sample's treatment does not depend on those beside it.
    alone = np.vstack([model.denoise(X[i : i + 1]) for i in range(len(X))])
    size = np.abs(X).max()
    np.testing.assert_allclose(alone / size, found / size, atol=1e-4 if X.dtype == np.float32 else 1e-8)


@few
@given(hostile(), OPTIONS)
def test_results_are_finite_and_row_by_row(X, options):
    check_results(X, options)


@pytest.mark.slow
@many
@given(hostile(), OPTIONS)
def test_results_are_finite_and_row_by_row_for_many(X, options):
    check_results(X, options)


@few
@given(hostile(st.just(0)), st.integers(-100, 100), st.floats(-8.0, 8.0).map(round))
def test_units_do_not_matter(X, exponent, shift):
    """Factors that are powers of two are exact, so that the results agree but for rounding."""
    X = X.astype(np.float64)
    unit = 2.0**exponent
    plain, other = fitted(X), fitted((X + shift) * unit)
    size = 1.0 + np.abs(X).max() + abs(shift)
    found = other.denoise((X + shift) * unit) / unit - shift
    np.testing.assert_allclose(found / size, plain.denoise(X) / size, atol=1e-6)


def test_threads_do_not_meet(curved):
    """One model treats sixteen batches at once as one after the other."""
    model = fitted(curved[1], n_components=10)
    batches = [curved[1][i::16] for i in range(16)]
    expected = [model.denoise(batch) for batch in batches]
    with ThreadPoolExecutor(16) as pool:
        for _ in range(3):
            for found, wanted in zip(pool.map(model.denoise, batches), expected, strict=True):
                np.testing.assert_array_equal(found, wanted)
