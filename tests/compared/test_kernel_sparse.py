import cvxpy as cp
import numpy as np
import pytest

from rnlmf import KernelSparseSubspaceClustering, SparseSubspaceClustering
from rnlmf.compared.feature_space import Coordinates, FeatureSpace
from rnlmf.kernels import RBF, Polynomial


@pytest.fixture
def samples(rng):
    return rng.standard_normal((20, 2)) @ rng.standard_normal((2, 6)) + 0.1 * rng.standard_normal(
        (20, 6)
    )


def test_the_linear_kernel_is_sparse_subspace_clustering(samples):
    linear = KernelSparseSubspaceClustering(kernel="linear").fit(samples)
    plain = SparseSubspaceClustering(fit_weight=20.0, noise_penalty=None).fit(samples)
    assert linear.objective_[-1] == pytest.approx(plain.objective_[-1], rel=1e-9)
    np.testing.assert_allclose(
        linear.representation_.toarray(), plain.representation_.toarray(), atol=1e-6
    )


@pytest.mark.parametrize(
    "kernel", [RBF(sigma=2.0), Polynomial(degree=3, sigma=1.5)], ids=["rbf", "cubic"]
)
def test_agrees_with_a_generic_convex_solver(samples, kernel):
    model = KernelSparseSubspaceClustering(kernel=kernel, fit_weight=15.0).fit(samples)
    scaled = samples / kernel.sigma
    K = kernel(scaled, scaled)
    others = np.abs(K - np.diag(np.diag(K)))
    assert model.fit_weight_ == pytest.approx(15.0 / others.max(axis=1).min())
    C = cp.Variable((20, 20))
    rest = np.eye(20) - C
    fit = sum(cp.quad_form(rest[i], cp.psd_wrap(K)) for i in range(20))
    target = cp.sum(cp.abs(C)) + 0.5 * model.fit_weight_ * fit
    minimum = cp.Problem(cp.Minimize(target), [cp.diag(C) == 0]).solve(solver=cp.CLARABEL)
    assert model.objective_[-1] == pytest.approx(minimum, rel=1e-5)


def test_a_width_of_its_own_is_kept(samples):
    assert KernelSparseSubspaceClustering(kernel=RBF(sigma=3.0)).fit(samples).sigma_ == 3.0


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "linear"])
def test_coordinates_have_the_kernels_products(samples, kernel):
    space = FeatureSpace.of(samples, kernel, 1.0)
    K = space.gram(samples)
    coordinates = Coordinates.of(K)
    np.testing.assert_allclose(coordinates.of_samples @ coordinates.of_samples.T, K, atol=1e-8)
    np.testing.assert_allclose(np.diag(K), space.squares(samples))
    projected = space.products(samples[:5], samples) @ coordinates.projection
    np.testing.assert_allclose(projected, coordinates.of_samples[:5], atol=1e-6)
