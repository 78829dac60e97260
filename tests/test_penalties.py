import numpy as np
import pytest

from helpers import numerical_gradient
from rnlmf.kernels import RBF
from rnlmf.penalties import (
    L1,
    L2,
    L21,
    FeatureL2,
    FeatureNuclear,
    MinimaxConcave,
    Nuclear,
    change_singular_values,
    singular_value_threshold,
    soft_threshold,
)

PENALTIES = [L1(), L2(), L21(), Nuclear()]


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("t", [0.0, 0.3, 2.0])
def test_prox_is_the_minimiser(penalty, t, rng):
    """No small or large move from the prox lowers its objective, which is convex."""
    M = rng.standard_normal((8, 5))
    Z = penalty.prox(M, t)

    def objective(Z):
        return 0.5 * np.sum((Z - M) ** 2) + t * penalty.value(Z)

    for size in (1e-4, 1e-2, 1.0):
        for _ in range(50):
            assert objective(Z) <= objective(Z + size * rng.standard_normal(M.shape)) + 1e-12
    assert objective(Z) <= min(objective(M), objective(np.zeros_like(M))) + 1e-12


@pytest.mark.parametrize("penalty", [L1(), L21(), Nuclear()])
def test_moreau_identity(penalty, rng):
    """``M - prox_R(M)`` is the projection on the dual ball: it is inside, and aligned with Z."""
    M = rng.standard_normal((6, 4))
    t = 0.5
    Z = penalty.prox(M, t)
    dual = {
        L1: lambda A: np.abs(A).max(),
        L21: lambda A: np.linalg.norm(A, axis=1).max(),
        Nuclear: lambda A: np.linalg.norm(A, 2),
    }[type(penalty)]
    assert dual(M - Z) <= t * (1 + 1e-9)
    assert np.sum((M - Z) * Z) == pytest.approx(t * penalty.value(Z))


@pytest.mark.parametrize("penalty", [L1(), L2(), L21()])
def test_rows_are_independent_and_sum_up(penalty, rng):
    M = rng.standard_normal((7, 3))
    t = rng.uniform(0.1, 1.0, (7, 1))
    together = penalty.prox(M, t)
    one_by_one = np.vstack([penalty.prox(M[i : i + 1], t[i : i + 1]) for i in range(7)])
    np.testing.assert_array_equal(together, one_by_one)
    assert penalty.row_values(M).sum() == pytest.approx(penalty.value(M))
    np.testing.assert_allclose(penalty.remainder(M, t, out=np.empty_like(M)), M - together)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_degree_is_the_homogeneity(penalty, rng):
    M = rng.standard_normal((6, 4))
    assert penalty.value(3.0 * M) == pytest.approx(3.0**penalty.degree * penalty.value(M))


@pytest.mark.parametrize("shape", [(20, 4), (4, 20)])
def test_singular_value_threshold_against_svd(shape, rng):
    M = rng.standard_normal(shape)
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    expected = (U * np.maximum(s - 1.5, 0)) @ Vt
    np.testing.assert_allclose(singular_value_threshold(M, 1.5), expected, atol=1e-10)
    assert Nuclear().value(M) == pytest.approx(s.sum())


@pytest.mark.parametrize("penalty", [L1(), L2(), L21(), Nuclear()])
def test_float32_stays_float32(penalty, rng):
    M = rng.standard_normal((5, 3)).astype(np.float32)
    assert penalty.prox(M, 0.1).dtype == np.float32


def test_zero_rows_do_not_divide_by_zero():
    np.testing.assert_array_equal(L21().prox(np.zeros((2, 3)), 0.5), np.zeros((2, 3)))
    np.testing.assert_array_equal(L21().prox(np.zeros((2, 3)), 0.0), np.zeros((2, 3)))


def test_soft_threshold_is_exactly_zero_inside():
    M = np.array([[-0.3, 0.2, 0.5, -0.50001]])
    assert np.array_equal(soft_threshold(M, 0.5) == 0.0, [[True, True, True, False]])


@pytest.mark.parametrize("penalty", [FeatureL2(), FeatureNuclear()])
def test_feature_penalty_gradient(penalty, rng):
    """``gram`` is twice the derivative with respect to the kernel matrix."""
    D = rng.standard_normal((5, 3))
    K = RBF()(D, D)
    numerical = numerical_gradient(lambda A: penalty.value((A + A.T) / 2), K)
    np.testing.assert_allclose(penalty.gram(K), 2 * numerical, atol=1e-6)


def test_feature_penalties_are_norms_in_feature_space(rng):
    """With a linear kernel feature space is data space."""
    D = rng.standard_normal((4, 6))
    assert FeatureL2().value(D @ D.T) == pytest.approx(0.5 * np.sum(D**2))
    assert FeatureNuclear().value(D @ D.T) == pytest.approx(np.linalg.norm(D, "nuc"))


def test_lemma_3_product_bounds_the_nuclear_norm(rng):
    """``|B|_F^2 / 2 + |C|_F^2 / 2 >= |B C|_*``, with equality at the balanced factors."""
    for _ in range(20):
        B, C = rng.standard_normal((6, 4)), rng.standard_normal((4, 9))
        assert 0.5 * np.sum(B**2) + 0.5 * np.sum(C**2) >= np.linalg.norm(B @ C, "nuc") - 1e-12
    U, s, Vt = np.linalg.svd(B @ C, full_matrices=False)
    B, C = U * np.sqrt(s), np.sqrt(s)[:, None] * Vt
    assert 0.5 * np.sum(B**2) + 0.5 * np.sum(C**2) == pytest.approx(s.sum())


def test_lemma_4_codes_bound_the_nuclear_norm_in_feature_space(rng):
    """``|C|_F >= |phi(D) C|_* / sqrt(d)`` for the RBF kernel."""
    for _ in range(20):
        D, C = rng.standard_normal((5, 3)), rng.standard_normal((12, 5))
        K = RBF()(D, D)
        nuclear = np.sqrt(np.maximum(np.linalg.eigvalsh(C @ K @ C.T), 0.0)).sum()
        assert np.linalg.norm(C) >= nuclear / np.sqrt(5) - 1e-7


@pytest.mark.parametrize("t", [0.0, 0.3, 1.0, 2.5])
@pytest.mark.parametrize("knee", [0.5, 1.0, 2.0])
def test_minimax_concave_prox_is_the_minimiser(knee, t):
    penalty = MinimaxConcave(knee)
    grid = np.linspace(-4.0, 4.0, 40001)[:, None]
    for value in (-3.1, -1.07, -0.2, 0.0, 0.45, 0.9, 1.7, 3.3):
        costs = 0.5 * (grid[:, 0] - value) ** 2 + t * penalty.row_values(grid)
        found = penalty.prox(np.array([[value]]), t)
        cost = 0.5 * (found[0, 0] - value) ** 2 + t * penalty.row_values(found)[0]
        assert cost <= costs.min() + 1e-6


def test_minimax_concave_is_l1_without_a_knee(rng):
    M = rng.standard_normal((5, 4))
    np.testing.assert_array_equal(MinimaxConcave().prox(M, 0.3), L1().prox(M, 0.3))
    np.testing.assert_allclose(MinimaxConcave().row_values(M), L1().row_values(M))


def test_nuclear_norm_of_a_dictionary_with_equal_atoms():
    """Its kernel matrix is singular: rounding may make an eigenvalue negative."""
    for atoms in ([[0.0, 0.0]] * 3, [[0.1, 0.3], [0.1, 0.3], [2.0, 1.0], [0.1, 0.3]]):
        K_D = RBF()(np.array(atoms), np.array(atoms))
        singular = np.linalg.svd(K_D, compute_uv=False)
        assert FeatureNuclear().value(K_D) == pytest.approx(np.sqrt(singular).sum(), abs=1e-6)
        # The derivative is infinite there, and bounded by what rounding resolves.
        bound = 1.0 / np.sqrt(singular[0] * len(K_D) * np.finfo(float).eps)
        assert np.abs(FeatureNuclear().gram(K_D)).max() <= bound * (1.0 + 1e-9)


@pytest.mark.parametrize("shape", [(9, 6), (6, 9), (7, 7)])
@pytest.mark.parametrize("kept", [0, 1, 5, 6])
@pytest.mark.parametrize("loss", [0.0, 0.1])
def test_singular_values_are_changed(shape, kept, loss, rng):
    """Whether few or many are left, and whether those that are left change."""
    M = rng.standard_normal(shape)
    left, values, right = np.linalg.svd(M, full_matrices=False)
    limit = np.append(values, 0.0)[kept] * (1 + 1e-9)
    changed, rest = change_singular_values(M, lambda s: np.where(s > limit, (1 - loss) * s, 0.0))
    expected = np.where(np.arange(len(values)) < kept, (1 - loss) * values, 0.0)
    np.testing.assert_allclose(changed, (left * expected) @ right, atol=1e-9)
    np.testing.assert_allclose(rest, expected[:kept], atol=1e-9)
