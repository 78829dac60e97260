import math

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import nan_euclidean_distances

from rnlmf.kernels import RBF, Linear, Polynomial, mean_distance, observed_distances

KERNELS = [RBF(), Polynomial(2, 1.0), Polynomial(3, 0.5), Linear()]


def test_values_are_those_of_the_definition(rng):
    X, D = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    squares = ((X[:, None] - D) ** 2).sum(axis=2)
    np.testing.assert_allclose(RBF()(X, D), np.exp(-squares / 2))
    np.testing.assert_allclose(Polynomial(3, 0.5)(X, D), (X @ D.T + 0.5) ** 3)
    np.testing.assert_allclose(Linear()(X, D), X @ D.T)


@pytest.mark.parametrize("kernel", KERNELS)
def test_slope_is_the_derivative(kernel):
    u = np.linspace(-1.5, -0.1, 7) if kernel.stationary else np.linspace(-0.9, 1.5, 7)
    numerical = (kernel.f(u + 1e-6) - kernel.f(u - 1e-6)) / 2e-6
    np.testing.assert_allclose(kernel.slope(u), numerical, atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS)
def test_slope_of_value_agrees_with_slope(kernel):
    u = np.linspace(-2.0, -0.1, 7) if kernel.stationary else np.linspace(0.1, 2.0, 7)
    np.testing.assert_allclose(kernel.slope_of_value(kernel.f(u)), kernel.slope(u))


@pytest.mark.parametrize("kernel", KERNELS)
def test_self_argument_is_the_diagonal(kernel, rng):
    X = rng.standard_normal((6, 3))
    np.testing.assert_allclose(kernel.self_argument(X), np.diag(kernel.argument(X, X)), atol=1e-12)


@pytest.mark.parametrize("c", [0.0, 0.7])
def test_rbf_is_a_weighted_series_of_polynomial_kernels(c, rng):
    """Lemma 1."""
    X = rng.standard_normal((4, 3))
    sigma = 1.3
    norms = (X**2).sum(axis=1)
    s = np.exp(-(norms[:, None] + norms + 2 * c) / (2 * sigma**2))
    terms = [(X @ X.T + c) ** u / (sigma ** (2 * u) * math.factorial(u)) for u in range(60)]
    np.testing.assert_allclose(RBF()(X / sigma, X / sigma), s * sum(terms))


@pytest.mark.parametrize("q", [0, 1, 2, 4])
def test_remainder_of_the_series_is_bounded(q, rng):
    """Lemma 2: the loss under the RBF kernel is near that under polynomial kernels up to q."""
    X, D = 0.4 * rng.standard_normal((20, 3)), 0.4 * rng.standard_normal((6, 3))
    C = rng.standard_normal((20, 6))
    c, n, d = 0.1, 20, 6
    kappa_2 = max((X**2).sum(axis=1).max(), (D**2).sum(axis=1).max())
    sigma = 1.1 * np.sqrt(kappa_2 + c)
    s_x = np.exp(-((X**2).sum(axis=1) + c) / (2 * sigma**2))
    s_d = np.exp(-((D**2).sum(axis=1) + c) / (2 * sigma**2))

    def loss(kernel_xx, kernel_xd, kernel_dd):
        return 0.5 * np.trace(kernel_xx) - (C * kernel_xd).sum() + 0.5 * ((C @ kernel_dd) * C).sum()

    def polynomial_loss(u):
        k = Polynomial(u, c) if u else None
        parts = [
            np.outer(a, b) * (k(A, B) if k else 1.0)
            for A, B, a, b in ((X, X, s_x, s_x), (X, D, s_x, s_d), (D, D, s_d, s_d))
        ]
        return loss(*parts) / (sigma ** (2 * u) * math.factorial(u))

    rbf = RBF()
    exact = loss(rbf(X / sigma, X / sigma), rbf(X / sigma, D / sigma), rbf(D / sigma, D / sigma))
    remainder = exact - sum(polynomial_loss(u) for u in range(q + 1))
    kappa_1 = max(
        0.5 * n,
        np.sqrt(d * n) * np.linalg.norm(C),
        0.5 * d * np.linalg.norm(C, 2) * np.linalg.norm(C),
    )
    ratio = (kappa_2 + c) / sigma**2
    bound = 3 * kappa_1 * np.exp(-c / sigma**2) / math.factorial(q) * ratio**q
    assert abs(remainder) <= bound


def test_mean_distance_matches_scipy(rng):
    X = rng.standard_normal((30, 4)) + 1e3
    expected = 2 * pdist(X).sum() / 30**2
    assert mean_distance(X) == pytest.approx(expected)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_mean_distance_survives_extreme_scales(scale, rng):
    X = rng.standard_normal((10, 3))
    assert mean_distance(scale * X) == pytest.approx(scale * mean_distance(X))


@pytest.mark.parametrize(
    "kernel", [RBF(sigma=0.0), Polynomial(degree=0), Polynomial(degree=1.5), Polynomial(offset=-1)]
)
def test_bad_parameters_are_named(kernel):
    with pytest.raises(ValueError, match=r"sigma|degree|offset"):
        kernel.validate()


@pytest.mark.parametrize("gaps", [(0.0, 0.0), (0.3, 0.0), (0.0, 0.3), (0.3, 0.3)])
def test_observed_distances_are_those_of_scikit_learn(gaps, rng):
    X, Y = (
        np.where(rng.random((n, 4)) < share, np.nan, rng.standard_normal((n, 4)))
        for n, share in zip((30, 50), gaps, strict=True)
    )
    expected = nan_euclidean_distances(X, Y, squared=True)
    expected[np.isnan(expected)] = np.inf
    np.testing.assert_allclose(observed_distances(X, Y), expected, atol=1e-12)


def test_what_follows_from_the_gaussian_alone_is_not_inherited():
    class Other(RBF):
        """Another function of the distance, for all that is known."""

    class Same(RBF):
        gaussian = True

    assert RBF.gaussian
    assert not Other.gaussian
    assert Same.gaussian
    assert Other.stationary


def test_a_polynomial_is_of_the_second_degree_by_default():
    x, y = np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]])
    assert Polynomial()(x, y).item() == pytest.approx((5.0 + 1.0) ** 2)
