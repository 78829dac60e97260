import cvxpy as cp
import numpy as np
import pytest

from rnlmf import SparseSubspaceClustering


@pytest.fixture
def noisy(rng):
    clean = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 6))
    return np.where(rng.random(clean.shape) < 0.1, clean + 3.0, clean)


def minimum(model, X, penalty, affine):
    """The same problem by a generic convex solver."""
    n, m = X.shape
    C, E = cp.Variable((n, n)), cp.Variable((n, m))
    value = cp.sum(cp.abs(C)) + model.fit_weight_ / 2 * cp.sum_squares(X - C @ X - E)
    constraints = [cp.diag(C) == 0]
    if affine:
        constraints.append(cp.sum(C, axis=1) == 1)
    if penalty is None:
        constraints.append(E == 0)
    else:
        size = cp.sum(cp.abs(E)) if penalty == "l1" else cp.sum(cp.norm(E, axis=1))
        value = value + model.noise_weight_ * size
    return cp.Problem(cp.Minimize(value), constraints).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("penalty", [None, "l1", "l21"])
def test_agrees_with_a_generic_convex_solver(noisy, penalty, affine):
    model = SparseSubspaceClustering(
        fit_weight=20.0,
        noise_weight=3.0,
        noise_penalty=penalty,
        affine=affine,
        tol=1e-7,
        max_iter=10000,
    ).fit(noisy)
    assert model.objective_[-1] == pytest.approx(minimum(model, noisy, penalty, affine), rel=1e-5)
    C = model.representation_.toarray()
    assert np.all(np.diag(C) == 0.0)
    if affine:
        np.testing.assert_allclose(C.sum(axis=1), 1.0, atol=1e-4)
    if penalty is None:
        np.testing.assert_allclose(model.noise_, noisy - C @ noisy, atol=1e-12)


def test_more_features_than_samples(rng):
    X = rng.standard_normal((8, 30))
    model = SparseSubspaceClustering(fit_weight=20.0, noise_weight=3.0, tol=1e-7, max_iter=5000).fit(X)
    assert model.objective_[-1] == pytest.approx(minimum(model, X, "l1", False), rel=1e-5)


def test_the_smallest_useful_weight(noisy):
    """Below a fit weight of one, some sample has no coefficients; above, every one has."""
    for weight, empty in ((0.95, True), (1.05, False)):
        model = SparseSubspaceClustering(
            fit_weight=weight, noise_penalty=None, tol=1e-7, max_iter=20000
        ).fit(noisy)
        rows = np.abs(model.representation_.toarray()).sum(axis=1)
        assert (rows.min() == 0.0) == empty


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("noise_weight", 0.0), ("fit_weight", -1.0), ("affine", "yes")],
)
def test_bad_parameters_are_named(noisy, parameter, value):
    with pytest.raises(ValueError, match=parameter):
        SparseSubspaceClustering(**{parameter: value}).fit(noisy)
