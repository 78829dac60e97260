import tracemalloc

import numpy as np
import pytest

from rnlmf import RNLMF
from rnlmf.engine.start import CLIPPED_SPREADS, DataSummary, known_values, robust_bounds, spread_of
from rnlmf.kernels import RBF, mean_distance
from rnlmf.metrics import relative_rmse


def summary_of(X):
    return DataSummary.of(X, np.random.RandomState(0))


def test_on_ordinary_data_it_is_the_plain_summary(curved):
    X = curved[1] + np.arange(12.0)
    summary = summary_of(X)
    np.testing.assert_allclose(summary.means, X.mean(axis=0))
    np.testing.assert_allclose(summary.spreads, X.std(axis=0))
    assert summary.mean_distance == pytest.approx(mean_distance(X))
    assert summary.spread == pytest.approx(np.sqrt(X.var(axis=0).mean()))
    assert summary.length_scale(RBF(), 0.5) == pytest.approx(0.5 * mean_distance(X))
    assert summary.length_scale(RBF(sigma=3.0), 0.5) == 3.0


@pytest.mark.parametrize("value", [1e30, -9999.0, 1e300])
@pytest.mark.parametrize("gaps", [False, True])
def test_one_absurd_value_sets_no_scale(value, gaps, curved, rng):
    X = curved[1].copy()
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    before = summary_of(X)
    X[17, 3] = value
    after = summary_of(X)
    assert after.mean_distance == pytest.approx(before.mean_distance, rel=0.05)
    np.testing.assert_allclose(after.spreads, before.spreads, rtol=0.5)
    assert spread_of(X) == pytest.approx(before.spread, rel=0.1)


@pytest.mark.parametrize("value", [1e30, -9999.0])
@pytest.mark.parametrize("options", [{}, {"solver": "paper", "max_iter": 60}])
def test_one_absurd_value_costs_no_accuracy(value, options, curved):
    clean, noisy = curved
    spiked = noisy.copy()
    spiked[17, 3] = value
    model = RNLMF(30, opinions="dictionary", random_state=0, **options)
    error = relative_rmse(clean, model.fit_denoise(noisy))
    assert relative_rmse(clean, model.fit_denoise(spiked)) < 1.5 * error


def test_columns_that_are_mostly_zero_keep_a_spread():
    rng = np.random.default_rng(0)
    rare = np.where(rng.random((2000, 30)) < 0.02, rng.uniform(1, 2, (2000, 30)), 0.0)
    summary = summary_of(rare)
    np.testing.assert_allclose(summary.spreads, rare.std(axis=0))
    assert summary.mean_distance == pytest.approx(mean_distance(rare))
    rare[5, 5] = 1e30
    assert summary_of(rare).spread < 2 * summary.spread


def test_bounds_of_constant_data_are_the_data():
    X = np.tile([1.0, 2.0], (10, 1))
    np.testing.assert_array_equal(robust_bounds(X).clip(X), X)
    assert summary_of(X).spread == 0.0


def test_a_feature_that_is_nearly_always_missing_has_a_median():
    X = np.random.default_rng(0).standard_normal((20_000, 2))
    X[:, 1] = np.nan
    X[19_999, 1] = 7.0
    assert summary_of(X).means[1] == 7.0


def test_the_spread_takes_little_memory():
    X = np.random.default_rng(0).standard_normal((200_000, 20))
    tracemalloc.start()
    spread_of(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * X.nbytes


def test_bounds_are_far_from_ordinary_values(rng):
    X = 3.0 * rng.standard_normal((4000, 1)) + 7.0
    bounds = robust_bounds(X)
    assert bounds.center == pytest.approx(7.0, abs=0.2)
    assert bounds.reach == pytest.approx(CLIPPED_SPREADS * 3.0, rel=0.05)


@pytest.mark.parametrize("value", [1e-6, 1.0, 1e6])
def test_the_few_values_that_differ_are_the_scale(value):
    X = np.zeros((1000, 2))
    X[:3, 0] = value
    assert robust_bounds(X).reach == pytest.approx(CLIPPED_SPREADS * value)


def test_known_values_are_the_first_that_are_there(rng, monkeypatch):
    monkeypatch.setattr("rnlmf.engine.start.CHUNK_ROWS", 7)
    X = rng.normal(size=(40, 2))
    X[rng.random(X.shape) < 0.4] = np.nan
    present = X[~np.isnan(X[:, 1]), 1]
    for count in (1, 5, len(present), 1000):
        np.testing.assert_array_equal(known_values(X, 1, count), present[:count])
