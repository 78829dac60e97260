import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from rnlmf import LeastSquaresSubspaceClustering


@parametrize_with_checks(
    [
        LeastSquaresSubspaceClustering(random_state=0),
        LeastSquaresSubspaceClustering(n_clusters=3, random_state=0),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def samples(rng):
    return rng.standard_normal((30, 5)) + 1.0


def test_without_constraint_it_is_the_ridge_solution(samples):
    model = LeastSquaresSubspaceClustering(weight=0.7, zero_diagonal=False).fit(samples)
    V, U = model.representation_
    gram = samples @ samples.T
    Z = np.linalg.solve(gram + 0.7 * np.eye(30), gram)
    np.testing.assert_allclose(V @ U.T, Z, atol=1e-10)
    value = np.sum((samples - Z @ samples) ** 2) + 0.7 * np.sum(Z**2)
    assert model.objective_[0] == pytest.approx(value)
    np.testing.assert_allclose(model.noise_, samples - Z @ samples, atol=1e-10)


def test_with_zero_diagonal_every_row_solves_its_own_ridge_problem(samples):
    model = LeastSquaresSubspaceClustering(weight=0.7).fit(samples)
    V, U = model.representation_
    Z = V @ U.T
    np.fill_diagonal(Z, 0.0)
    for i in range(30):
        others = np.delete(samples, i, axis=0)
        solution = np.linalg.solve(others @ others.T + 0.7 * np.eye(29), others @ samples[i])
        np.testing.assert_allclose(np.delete(Z[i], i), solution, atol=1e-10)
    value = np.sum((samples - Z @ samples) ** 2) + 0.7 * np.sum(Z**2)
    assert model.objective_[0] == pytest.approx(value)
    np.testing.assert_allclose(model.noise_, samples - Z @ samples, atol=1e-10)


def test_scale_does_not_matter(samples):
    model = LeastSquaresSubspaceClustering(n_clusters=2, random_state=0)
    labels = clone(model).fit_predict(samples)
    np.testing.assert_array_equal(clone(model).fit_predict(1e3 * samples), labels)


@pytest.mark.parametrize(
    ("parameter", "value"), [("weight", 0.0), ("zero_diagonal", 2), ("affinity_scaling", "min")]
)
def test_bad_parameters_are_named(samples, parameter, value):
    with pytest.raises(ValueError, match=parameter):
        LeastSquaresSubspaceClustering(**{parameter: value}).fit(samples)
