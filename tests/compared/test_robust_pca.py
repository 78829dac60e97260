import numpy as np
import pytest

from rnlmf import RobustPCA
from rnlmf.metrics import relative_rmse


@pytest.fixture
def noisy(rng):
    clean = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 20))
    return np.where(rng.random(clean.shape) < 0.1, clean + 5.0, clean)


@pytest.mark.parametrize(("penalty", "weight"), [("l1", 0.13), ("l21", 0.4)])
def test_solvers_agree_and_satisfy_optimality(noisy, penalty, weight):
    settings = {"noise_penalty": penalty, "max_iter": 5000, "tol": 1e-9}
    model = RobustPCA(weight, **settings).fit(noisy)
    inexact = RobustPCA(weight, solver="ialm", rho=1.01, **settings).fit(noisy)
    assert 0 < model.rank_ < 20
    assert model.objective_[-1] == pytest.approx(inexact.objective_[-1], rel=1e-6)

    # U V^T + W = weight G with |W| <= 1, W orthogonal to U and V, G a subgradient at the noise: only
    # the part of G at the zeros of the noise is free, so test the parts that are not.
    U, values, Vt = np.linalg.svd(model.low_rank_, full_matrices=False)
    U, Vt = U[:, : model.rank_], Vt[: model.rank_]
    np.testing.assert_allclose(values[: model.rank_], model.singular_values_, rtol=1e-6)
    _, _, Y = RobustPCA(weight, warm_start=True, **settings).fit(noisy)._last
    np.testing.assert_allclose(U.T @ Y @ Vt.T, np.eye(model.rank_), atol=1e-4)
    assert np.linalg.norm(Y, 2) <= 1.0 + 1e-4
    noise = model.noise_
    if penalty == "l1":
        assert np.abs(Y).max() <= weight * (1 + 1e-4)
        np.testing.assert_allclose(Y[noise != 0.0], weight * np.sign(noise[noise != 0.0]), atol=1e-4)
    else:
        norms = np.linalg.norm(noise, axis=1)
        assert np.linalg.norm(Y, axis=1).max() <= weight * (1 + 1e-4)
        wrong = norms > 0.0
        directions = noise[wrong] / norms[wrong, None]
        np.testing.assert_allclose(Y[wrong], weight * directions, atol=1e-4)


def test_a_fast_growing_parameter_stops_short_of_the_minimum(noisy):
    ends = [RobustPCA(solver="ialm", rho=rho).fit(noisy).objective_[-1] for rho in (1.01, 1.05, 1.5)]
    assert ends[1] == pytest.approx(ends[0], rel=1e-3)
    assert ends[2] > ends[1] > ends[0]


@pytest.mark.parametrize("solver", ["admm", "ialm"])
def test_penalty_parameter_changes_the_way_but_not_the_end(noisy, solver):
    models = [
        RobustPCA(solver=solver, rho=1.01, mu=mu, tol=1e-7, max_iter=20000).fit(noisy)
        for mu in (0.05, 0.2)
    ]
    assert models[0].objective_[0] != models[1].objective_[0]
    assert models[0].objective_[-1] == pytest.approx(models[1].objective_[-1], rel=1e-4)


def test_recovers_a_matrix_of_low_rank_exactly(rng):
    clean = rng.standard_normal((150, 2)) @ rng.standard_normal((2, 40))
    noisy = np.where(rng.random(clean.shape) < 0.05, 10.0, clean)
    model = RobustPCA().fit(noisy)
    assert model.rank_ == 2
    assert relative_rmse(clean, model.low_rank_) < 1e-4
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-10)


@pytest.mark.parametrize("solver", ["admm", "ialm"])
def test_missing_entries_are_filled_in(rng, solver):
    clean = rng.standard_normal((150, 2)) @ rng.standard_normal((2, 40))
    holes = np.where(rng.random(clean.shape) < 0.2, np.nan, clean)
    model = RobustPCA(0.3, solver=solver)
    filled = model.fit_denoise(holes)
    assert relative_rmse(clean, filled) < 1e-3
    for noise in (model.noise_, model.noise(holes)):
        np.testing.assert_array_equal(np.isnan(noise), np.isnan(holes))
    assert relative_rmse(clean, RobustPCA(ridge=0.0).fit(clean).denoise(holes)) < 1e-3


def test_outlier_pursuit_finds_the_wrong_samples(rng):
    clean = rng.standard_normal((150, 2)) @ rng.standard_normal((2, 40))
    noisy = clean.copy()
    noisy[:10] = 3.0 * rng.standard_normal((10, 40))
    model = RobustPCA(noise_penalty="l21").fit(noisy)
    sizes = np.linalg.norm(model.noise_, axis=1)
    assert sizes[:10].min() > 5 * sizes[10:].max()


@pytest.mark.parametrize("penalty", ["l1", "l21"])
def test_new_samples(rng, penalty):
    clean = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 30))
    noisy = np.where(rng.random(clean.shape) < 0.05, 10.0, clean)
    model = RobustPCA(noise_penalty="l1", ridge=0.0).fit(noisy[:150])
    new = model.denoise(noisy[150:])
    assert relative_rmse(clean[150:], new) < 0.1 * relative_rmse(clean[150:], noisy[150:])
    np.testing.assert_allclose(new, noisy[150:] - model.noise(noisy[150:]))
    # Each row by itself.
    model.set_params(noise_penalty=penalty)
    new = model.denoise(noisy[150:])
    np.testing.assert_allclose(model.denoise(noisy[160:161]), new[10:11], atol=1e-10)


def test_new_samples_satisfy_optimality(rng):
    clean = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 30))
    noisy = np.where(rng.random(clean.shape) < 0.05, 10.0, clean)
    model = RobustPCA(ridge=0.1, new_noise_weight=0.5, tol=1e-10, max_iter=10000).fit(noisy)
    E = model.noise(noisy)
    V = model.components_
    residual = noisy - E - (noisy - E) @ V.T @ V / 1.1
    assert np.abs(residual).max() <= 0.5 + 1e-6
    np.testing.assert_allclose(residual[E != 0.0], 0.5 * np.sign(E[E != 0.0]), atol=1e-6)


def test_fewer_components_for_new_samples(noisy):
    model = RobustPCA(0.3).fit(noisy)
    few = model.set_params(n_components=1).noise(noisy)
    assert np.linalg.norm(few) > np.linalg.norm(model.set_params(n_components=None).noise(noisy))


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("weight", 0.0),
        ("solver", "svd"),
        ("rho", 0.5),
        ("mu", -1.0),
        ("n_components", 0),
        ("ridge", -1),
    ],
)
def test_bad_parameters_are_named(noisy, parameter, value):
    with pytest.raises(ValueError, match=parameter):
        RobustPCA(**{parameter: value}).fit(noisy)
