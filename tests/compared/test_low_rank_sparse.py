"""Against the published schedule, in columns, with plain inverses and decompositions."""

from itertools import count

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from rnlmf import LowRankSparseSubspaceClustering
from rnlmf.compared.low_rank_sparse import RidgeStep, firm_threshold


@pytest.fixture
def columns(rng):
    """Samples in columns, of length one."""
    X = np.hstack([rng.standard_normal((12, 2)) @ rng.standard_normal((2, 12)) for _ in range(3)])
    X += 0.1 * rng.standard_normal(X.shape)
    return X / np.linalg.norm(X, axis=0)


def normalised(C):
    return C / np.linalg.norm(C, axis=0)


def firm(a, t, g):
    size = np.abs(a)
    if g == 1.0:
        return np.where(size > t, a, 0.0)
    return np.sign(a) * np.minimum(size, np.maximum((size - t) / (1.0 - g), 0.0))


def of_singular_values(M, function):
    U, s, Vt = np.linalg.svd(M)
    return U @ np.diag(function(s)) @ Vt


def reference_gmc(X, alpha, mu2, g):
    n = X.shape[1]
    G, eye = X.T @ X, np.eye(n)
    weight, tau, mu1 = mu2 / (1 + alpha), mu2 * alpha / (1 + alpha), 0.1
    C1, C2, L1, L2 = (np.zeros((n, n)) for _ in range(4))
    J = normalised(np.linalg.inv(G + (mu1 + mu2) * eye) @ G)
    for iteration in count(1):
        before = J
        right = G + mu1 * C1 + mu2 * C2 - L1 - L2
        J = normalised(np.linalg.inv(G + (mu1 + mu2) * eye) @ right)
        C1 = of_singular_values(J + L1 / mu1, lambda s, t=weight / mu1: firm(s, t, g))
        C2 = firm(J + L2 / mu2, tau / mu2, g)
        np.fill_diagonal(C2, 0.0)
        L1, L2 = L1 + mu1 * (J - C1), L2 + mu2 * (J - C2)
        mu1, mu2 = min(3 * mu1, 1e6), min(3 * mu2, 1e6)
        if max(np.abs(J - C1).max(), np.abs(J - C2).max(), np.abs(J - before).max()) < 1e-4:
            return normalised(C1), iteration


def reference_s0l0(X, weight, mu):
    n = X.shape[1]
    G, eye, tau = X.T @ X, np.eye(n), 1 - weight
    C, L, J = (np.zeros((n, n)) for _ in range(3))
    for iteration in count(1):
        before = J
        J = normalised(np.linalg.inv(G + mu * eye) @ (G + mu * C - L))
        B = J + L / mu
        C1 = of_singular_values(B, lambda s, t=2 * weight / mu: np.where(s**2 > t, s, 0.0))
        C2 = np.where(np.abs(B) > np.sqrt(2 * tau / mu), B, 0.0)
        np.fill_diagonal(C2, 0.0)
        C = weight * C1 + tau * C2
        L, mu = L + mu * (J - C), min(3 * mu, 1e6)
        if max(np.abs(J - C).max(), np.abs(J - before).max()) < 1e-4:
            return normalised(C), iteration


@pytest.mark.parametrize(
    ("alpha", "mu2", "gamma"), [(1000.0, 3.0, 1.0), (0.1, 20.0, 0.6), (0.1, 1.0, 0.1)]
)
def test_minimax_concave(columns, alpha, mu2, gamma):
    expected, iterations = reference_gmc(columns, alpha, mu2, gamma)
    model = LowRankSparseSubspaceClustering(
        penalty="gmc", sparsity=alpha, strength=mu2, concavity=gamma
    ).fit(3.0 * columns.T)
    assert model.n_iter_ == iterations
    np.testing.assert_allclose(model.representation_.T, expected, atol=1e-6)


@pytest.mark.parametrize(("weight", "mu"), [(0.5, 1.0), (0.3, 20.0), (0.7, 5.0)])
def test_counting(columns, weight, mu):
    expected, iterations = reference_s0l0(columns, weight, mu)
    model = LowRankSparseSubspaceClustering(sparsity=1.0 - weight, strength=mu).fit(columns.T)
    assert model.n_iter_ == iterations
    np.testing.assert_allclose(model.representation_.T, expected, atol=1e-6)


def test_ridge_step_is_the_inverse(columns, rng):
    X = columns.T
    M = rng.standard_normal((36, 36))
    expected = (X @ X.T + M) @ np.linalg.inv(X @ X.T + 0.3 * np.eye(36))
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(RidgeStep(X)(M, 0.3), expected, atol=1e-10)


def test_firm_threshold(rng):
    a = 3.0 * rng.standard_normal(200)
    for g in (0.1, 0.6, 1.0):
        np.testing.assert_allclose(firm_threshold(a, 0.8, g), firm(a, 0.8, g), atol=1e-12)


def test_a_share_of_one_is_refused(columns):
    with pytest.raises(ValueError, match="sparsity"):
        LowRankSparseSubspaceClustering(sparsity=1.0).fit(columns.T)


@pytest.mark.parametrize("penalty", ["gmc", "s0l0"])
def test_too_few_decompositions_are_told(columns, penalty):
    model = LowRankSparseSubspaceClustering(3, penalty=penalty, max_iter=2, random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(columns.T)
    assert len(model.objective_) == 2
    assert np.isfinite(model.representation_).all()
