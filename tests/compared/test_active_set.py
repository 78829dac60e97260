import cvxpy as cp
import numpy as np
import pytest

from rnlmf import ElasticNetSubspaceClustering
from rnlmf.compared import active_set
from rnlmf.compared.active_set import largest_products, represent_sparsely


@pytest.fixture
def samples(rng):
    """On three planes, with some noise."""
    X = np.vstack([rng.standard_normal((15, 2)) @ rng.standard_normal((2, 8)) for _ in range(3)])
    return X + 0.05 * rng.standard_normal(X.shape)


def values(X, C, weights, t):
    squares = np.sum((X - C @ X) ** 2, axis=1)
    ridge = 0.5 * (1.0 - t) * np.sum(C**2, axis=1)
    return t * np.abs(C).sum(axis=1) + ridge + 0.5 * weights * squares


@pytest.mark.parametrize("t", [1.0, 0.9, 0.3])
def test_agrees_with_a_generic_convex_solver(samples, rng, t):
    weights = rng.uniform(1.0, 20.0, len(samples))
    C, objective, converged = represent_sparsely(samples, weights, l1_ratio=t)
    assert converged
    found = values(samples, C.toarray(), weights, t)
    assert objective[-1] == pytest.approx(found.sum())
    Z = cp.Variable(C.shape)
    squares = cp.sum(cp.square(samples - Z @ samples), axis=1)
    target = t * cp.sum(cp.abs(Z)) + 0.5 * (1 - t) * cp.sum_squares(Z) + 0.5 * weights @ squares
    minimum = cp.Problem(cp.Minimize(target), [cp.diag(Z) == 0]).solve(solver=cp.CLARABEL)
    assert objective[-1] == pytest.approx(minimum, rel=1e-6)


@pytest.mark.parametrize("t", [1.0, 0.7])
def test_small_active_sets_lead_to_the_same_minimum(samples, monkeypatch, t):
    weights = np.full(len(samples), 10.0)
    expected = represent_sparsely(samples, weights, l1_ratio=t)[0]
    monkeypatch.setattr(active_set, "FIRST_ACTIVE", 3)
    C, objective, converged = represent_sparsely(samples, weights, l1_ratio=t)
    assert converged
    assert len(objective) > 2
    assert np.all(np.diff(objective) <= 1e-9)
    np.testing.assert_allclose(
        values(samples, C.toarray(), weights, t), values(samples, expected.toarray(), weights, t)
    )
    stopped = represent_sparsely(samples, weights, l1_ratio=t, max_iter=1)
    assert not stopped[2]
    # What is returned after a stop is what the objective is of.
    assert stopped[1][-1] == pytest.approx(values(samples, stopped[0].toarray(), weights, t).sum())


def test_equal_samples_represent_each_other(samples):
    # Of length one, no combination of others is as cheap as an equal one.
    X = np.vstack([samples, samples[:4]])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    C, _, converged = represent_sparsely(X, np.full(len(X), 1e6))
    assert converged
    for i in range(4):
        row = C.toarray()[i]
        assert row[len(samples) + i] == pytest.approx(1.0, abs=1e-2)


def test_only_the_largest_are_kept(samples):
    weights = np.full(len(samples), 50.0)
    whole = represent_sparsely(samples, weights)[0].toarray()
    few = represent_sparsely(samples, weights, max_nonzero=2)[0].toarray()
    assert np.count_nonzero(few, axis=1).max() == 2
    for all_of, kept in zip(whole, few, strict=True):
        np.testing.assert_array_equal(np.flatnonzero(kept), np.sort(np.argsort(-np.abs(all_of))[:2]))


def test_the_smallest_useful_weight(samples):
    """Below a fit weight of one no sample has coefficients; above, every one has."""
    for weight, count in ((0.99, 0), (1.01, len(samples))):
        model = ElasticNetSubspaceClustering(fit_weight=weight).fit(samples)
        assert np.sum(np.diff(model.representation_.indptr) > 0) == count


def test_largest_products(samples):
    products = np.abs(samples @ samples.T)
    np.fill_diagonal(products, 0.0)
    np.testing.assert_allclose(largest_products(samples), products.max(axis=1))
