import numpy as np
import pytest

from rnlmf.opinions.mixing import ScaleModel, combine, logarithm, of_row, quantiles, shares, typical


def test_shares_recover_a_known_mixture_beside_gross_errors(rng):
    predictions = rng.normal(size=(3, 800, 4))
    truth = np.array([[0.7, 0.3, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.2, 0.2, 0.6]]).T
    Z = combine(truth, predictions) + 0.1 * rng.normal(size=(800, 4))
    wrong = rng.random(Z.shape) < 0.05
    Z = np.where(wrong, Z + 20.0, Z)
    used = np.ones(Z.shape, dtype=bool)
    np.testing.assert_allclose(shares(Z, used, predictions), truth, atol=0.03)


def test_shares_heed_scales_and_are_never_negative(rng):
    predictions = rng.normal(size=(2, 600, 1))
    scale = rng.choice([0.05, 5.0], size=(600, 1))
    Z = -0.5 * predictions[0] + predictions[1] + scale * rng.normal(size=(600, 1))
    found = shares(Z, np.ones(Z.shape, dtype=bool), predictions, scale)
    assert found[0, 0] == 0.0
    assert found[1, 0] == pytest.approx(1.0, abs=0.2)


def test_cells_that_are_not_used_have_no_say(rng):
    predictions = rng.normal(size=(2, 300, 2))
    Z = predictions[1].copy()
    used = rng.random(Z.shape) < 0.7
    found = shares(np.where(used, Z, 1e6), used, predictions)
    np.testing.assert_allclose(found, [[0.0, 0.0], [1.0, 1.0]], atol=1e-6)
    few = shares(Z, np.zeros(Z.shape, dtype=bool), predictions)
    np.testing.assert_array_equal(few, [[1.0, 1.0], [0.0, 0.0]])


def test_scales_are_those_of_the_residuals(rng):
    """Where residuals grow with a feature, so do the scales, at every size and for every column."""
    features = rng.normal(size=(2, 2000, 3))
    truth = np.array([1.0, 10.0, 0.1]) * np.exp(0.8 * features[0])
    residual = truth * rng.normal(size=truth.shape)
    used = np.ones(truth.shape, dtype=bool)
    model = ScaleModel.learn(residual, used, features, np.zeros(3))
    scale = model.predict(features)
    relative = np.abs(residual) / scale
    quantiles = np.quantile(relative, 0.7, axis=0)
    np.testing.assert_allclose(quantiles, 1.0364, rtol=0.02)
    for low, high in ((-9.0, -1.0), (-1.0, 0.0), (0.0, 1.0), (1.0, 9.0)):
        part = (features[0] > low) & (features[0] <= high)
        assert np.quantile(relative[part], 0.7) == pytest.approx(1.0364, rel=0.3)
    slope = np.polyfit(features[0].ravel(), np.log(scale / [1.0, 10.0, 0.1]).ravel(), 1)[0]
    assert 0.5 < slope < 0.9


def test_scales_do_not_feel_gross_errors_much(rng):
    features = rng.normal(size=(1, 1000, 2))
    residual = rng.normal(size=(1000, 2))
    used = np.ones(residual.shape, dtype=bool)
    plain = ScaleModel.learn(residual, used, features, np.zeros(2)).predict(features)
    spoiled = np.where(rng.random(residual.shape) < 0.05, 1e4, residual)
    model = ScaleModel.learn(spoiled, used, features, np.zeros(2))
    assert np.median(model.predict(features) / plain) < 1.3


def test_no_scale_is_below_the_resolution(rng):
    residual = np.zeros((100, 2))
    used = np.ones(residual.shape, dtype=bool)
    features = rng.normal(size=(1, 100, 2))
    resolution = np.array([0.5, 0.0])
    scale = ScaleModel.learn(residual, used, features, resolution).predict(features)
    assert np.all(scale[:, 0] >= 0.5)
    assert np.all(scale > 0.0)
    np.testing.assert_allclose(typical(residual, used, resolution), [0.5, 1e-6])


def test_the_row_of_a_cell_is_the_others(rng):
    residual = rng.normal(size=(20, 4))
    used = rng.random(residual.shape) < 0.8
    unit = np.ones(4)
    found = of_row(residual, used, unit)
    for i, j in np.ndindex(residual.shape):
        others = [k for k in range(4) if k != j and used[i, k]]
        logs = logarithm(np.abs(residual[i, others]), 1.0)
        assert found[i, j] == pytest.approx(logs.mean() if others else 0.0)


def test_quantiles_are_those_of_numpy(rng):
    values = rng.normal(size=(101, 5))
    used = rng.random(values.shape) < 0.8
    used[:, 2] = False
    used[1:, 3], used[0, 3] = False, True
    found = quantiles(values, used, 0.5, 0.7, 1.0)
    for j in (0, 1, 3, 4):
        np.testing.assert_allclose(found[:, j], np.quantile(values[used[:, j], j], (0.5, 0.7, 1.0)))
    assert np.isnan(found[:, 2]).all()


def test_shares_of_predictions_that_are_equal_are_those_of_one_of_them(rng):
    predictions = rng.normal(size=(3, 500, 1))
    predictions[2] = predictions[1]
    Z = 0.4 * predictions[0] + 0.6 * predictions[1] + 0.01 * rng.normal(size=(500, 1))
    found = shares(Z, np.ones(Z.shape, dtype=bool), predictions)[:, 0]
    assert np.all(found >= 0.0)
    assert found[0] == pytest.approx(0.4, abs=0.01)
    assert found[1] + found[2] == pytest.approx(0.6, abs=0.01)
