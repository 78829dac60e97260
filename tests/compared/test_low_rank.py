import cvxpy as cp
import numpy as np
import pytest
from sklearn.base import clone

from rnlmf import LowRankSubspaceClustering


@pytest.fixture
def clean(rng):
    return rng.standard_normal((60, 4)) @ rng.standard_normal((4, 20))


@pytest.fixture
def noisy(rng, clean):
    return np.where(rng.random(clean.shape) < 0.1, clean + 3.0, clean)


@pytest.mark.parametrize("penalty", ["l1", "l21"])
def test_a_huge_weight_gives_the_shape_interaction_matrix(clean, penalty):
    model = LowRankSubspaceClustering(noise_weight=1e4, noise_penalty=penalty, tol=1e-9).fit(clean)
    U = np.linalg.svd(clean)[0][:, :4]
    np.testing.assert_allclose(model.representation_, U @ U.T, atol=1e-7)
    assert model.objective_[-1] == pytest.approx(4.0, abs=1e-6)
    assert np.all(model.noise_ == 0.0)


@pytest.mark.parametrize("penalty", ["l1", "l21"])
def test_agrees_with_a_generic_convex_solver(noisy, penalty):
    X = noisy[:20, :8]
    model = LowRankSubspaceClustering(noise_penalty=penalty, tol=1e-8, max_iter=20000).fit(X)
    Z = cp.Variable((20, 20))
    E = X - Z @ X
    size = cp.sum(cp.abs(E)) if penalty == "l1" else cp.sum(cp.norm(E, axis=1))
    minimum = cp.Problem(cp.Minimize(cp.normNuc(Z) + model.noise_weight_ * size)).solve(
        solver=cp.SCS, eps=1e-8, max_iters=100000
    )
    assert model.objective_[-1] == pytest.approx(minimum, rel=1e-5)
    np.testing.assert_allclose(X - model.noise_, model.representation_ @ X, atol=1e-5)


@pytest.mark.parametrize("penalty", ["l1", "l21"])
def test_the_smallest_useful_weight(noisy, penalty):
    """Just below it all of the data are noise; just above they are not."""
    norms = np.linalg.norm(noisy, axis=1, keepdims=True)
    edge = 1.0 / np.linalg.norm(noisy @ (np.sign(noisy) if penalty == "l1" else noisy / norms).T, 2)
    model = LowRankSubspaceClustering(noise_penalty=penalty, tol=1e-8, max_iter=5000)
    below, above = (
        clone(model).set_params(noise_weight=factor * edge).fit(noisy) for factor in (0.99, 1.05)
    )
    np.testing.assert_allclose(below.noise_, noisy, atol=1e-4)
    assert np.abs(below.representation_).max() < 1e-6
    assert np.abs(above.representation_).max() > 1e-4


@pytest.mark.parametrize("penalty", ["l1", "l21"])
@pytest.mark.parametrize("n_components", [3, None])
def test_factored_objective_never_rises_and_is_the_stated_one(noisy, penalty, n_components):
    model = LowRankSubspaceClustering(
        noise_weight=0.3,
        noise_penalty=penalty,
        solver="factored",
        n_components=n_components,
        code_weight=0.5,
        tol=0.0,
    )
    model.set_params(max_iter=30).fit(noisy)
    assert np.all(np.diff(model.objective_) <= 1e-10 * model.objective_[0])
    V, U = model.representation_
    E = model.noise_
    assert V.shape == U.shape == (60, n_components or 20)
    size = np.abs(E).sum() if penalty == "l1" else np.linalg.norm(E, axis=1).sum()
    value = 0.5 * np.sum((noisy - V @ U.T @ noisy - E) ** 2) + 0.3 * size
    value += 0.25 * (np.sum(U**2) + np.sum(V**2))
    assert model.objective_[-1] == pytest.approx(value, rel=1e-10)


def test_factored_without_noise_reaches_the_convex_minimum(clean):
    """With E = 0 the singular values of Z are 1 - code_weight / s^2."""
    model = LowRankSubspaceClustering(
        noise_weight=1e6, solver="factored", code_weight=20.0, tol=1e-12
    ).fit(clean)
    s = np.linalg.svd(clean, compute_uv=False)[:4]
    z = np.maximum(1.0 - 20.0 / s**2, 0.0)
    minimum = np.sum(0.5 * (s - s * z) ** 2 + 20.0 * z)
    assert model.objective_[-1] == pytest.approx(minimum, rel=1e-6)


def test_factored_removes_errors_of_both_signs(rng, clean):
    noisy = clean.copy()
    hit = rng.random(clean.shape) < 0.05
    noisy[hit] += np.where(rng.random(hit.sum()) < 0.5, 8.0, -8.0)
    noise = LowRankSubspaceClustering(solver="factored", n_components=4).fit(noisy).noise_
    wrong = (noisy - clean)[hit]
    assert np.median(noise[hit][wrong > 0]) > 5.0
    assert np.median(noise[hit][wrong < 0]) < -5.0


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("noise_weight", 0.0), ("solver", "svd"), ("n_components", 0), ("code_weight", "some")],
)
def test_bad_parameters_are_named(noisy, parameter, value):
    with pytest.raises(ValueError, match=parameter):
        LowRankSubspaceClustering(**{parameter: value}).fit(noisy)
