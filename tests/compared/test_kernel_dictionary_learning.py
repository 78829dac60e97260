import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import orthogonal_mp_gram
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers import numerical_gradient
from rnlmf import KernelDictionaryLearning
from rnlmf.compared import base
from rnlmf.compared.feature_dictionaries import EquiangularDictionary, SpannedDictionary
from rnlmf.compared.feature_space import FeatureSpace
from rnlmf.kernels import KERNELS, RBF

METHODS = {
    "ksvd": KernelDictionaryLearning(random_state=0),
    "mod": KernelDictionaryLearning(update="mod", random_state=0),
    "outliers": KernelDictionaryLearning(outlier_weight=0.2, random_state=0),
    "equiangular": KernelDictionaryLearning(structure="equiangular", random_state=0),
    "polynomial": KernelDictionaryLearning(kernel="polynomial", random_state=0),
    "equiangular, polynomial": KernelDictionaryLearning(
        structure="equiangular", kernel="polynomial", random_state=0
    ),
}
every = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


@pytest.fixture(scope="module")
def curve():
    t = np.random.default_rng(0).uniform(0, 2 * np.pi, 120)
    return np.column_stack([f(k * t) for k in range(1, 5) for f in (np.cos, np.sin)])


@parametrize_with_checks([METHODS[name] for name in ("ksvd", "mod", "outliers", "equiangular")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@every
def test_the_objective_never_rises_and_is_that_of_the_codes(method, curve):
    model = clone(method).set_params(n_components=8, n_nonzero=3).fit(curve)
    assert np.all(np.diff(model.objective_) <= 1e-9)
    assert model.objective_[-1] < 0.9 * model.objective_[0]
    # New codes of the same samples can be better, and are not much worse.
    limit = np.inf if model.outlier_weight is None else model.outlier_weight
    halves = np.minimum(0.5 * model.distances(curve) ** 2, limit)
    assert halves.sum() == pytest.approx(model.objective_[-1], rel=0.15)


@every
def test_codes_are_sparse_and_rows_independent(method, curve):
    model = clone(method).set_params(n_components=8, n_nonzero=3).fit(curve)
    codes = model.transform(curve)
    assert codes.shape == (120, 8)
    assert np.count_nonzero(codes, axis=1).max() <= 3
    np.testing.assert_allclose(model.transform(curve[7:9]), codes[7:9], atol=1e-9)


@every
def test_scale_does_not_matter(method, curve):
    model = clone(method).set_params(n_components=8, max_iter=3)
    np.testing.assert_allclose(
        clone(model).fit(1024.0 * curve).transform(1024.0 * curve),
        clone(model).fit(curve).transform(curve),
        atol=1e-8,
    )


@every
def test_the_order_of_samples_does_not_matter(method, curve, rng):
    model = clone(method).set_params(n_components=8, max_iter=5)
    shuffled = clone(model).fit(curve[rng.permutation(120)])
    np.testing.assert_allclose(
        shuffled.distances(curve), clone(model).fit(curve).distances(curve), atol=1e-6
    )


@pytest.mark.parametrize("update", ["ksvd", "mod"])
def test_codes_and_distances_in_the_dual_form(curve, update):
    """The formulas of the paper, in the kernel matrix and the dual coefficients alone."""
    model = KernelDictionaryLearning(10, n_nonzero=3, update=update, random_state=0).fit(curve)
    A = model.dual_components_
    kernel, new = RBF(), curve[:20] + 0.1
    K = kernel(curve / model.sigma_, curve / model.sigma_)
    k = kernel(new / model.sigma_, curve / model.sigma_)
    gram = A @ K @ A.T
    np.testing.assert_allclose(np.diag(gram), 1.0, atol=1e-6)
    expected = orthogonal_mp_gram(gram, A @ k.T, n_nonzero_coefs=3).T
    codes = model.transform(new)
    np.testing.assert_allclose(codes, expected, atol=1e-5)
    cross = np.einsum("ij,ij->i", codes, k @ A.T)
    squares = 1.0 - 2.0 * cross + np.einsum("ij,jk,ik->i", codes, gram, codes)
    np.testing.assert_allclose(model.distances(new) ** 2, squares, atol=1e-6)


def test_optimal_directions_are_the_pseudo_inverse(curve, rng):
    space = FeatureSpace.of(curve, "rbf", 1.0)
    dictionary = SpannedDictionary(space, curve, np.arange(6), "mod")
    C = rng.standard_normal((120, 6)) * (rng.random((120, 6)) < 0.5)
    new = dictionary.update(C, np.ones(120, dtype=bool))
    A = np.linalg.pinv(C)
    K = space.gram(curve)
    lengths = np.sqrt(np.einsum("ij,jk,ik->i", A, K, A))
    np.testing.assert_allclose(dictionary.dual() @ K, (A / lengths[:, None]) @ K, atol=1e-6)
    np.testing.assert_allclose(new, C * lengths, atol=1e-8)


def test_an_atom_of_ksvd_is_the_best_of_rank_one(curve, rng):
    space = FeatureSpace.of(curve, "rbf", 1.0)
    dictionary = SpannedDictionary(space, curve, np.arange(1), "ksvd")
    users = rng.random(120) < 0.4
    C = np.where(users, rng.standard_normal(120), 0.0)[:, None]
    new = dictionary.update(C, np.ones(120, dtype=bool))
    K = space.gram(curve)[np.ix_(users, users)]
    left_over = np.linalg.eigvalsh(K)[:-1].sum()
    assert 2.0 * dictionary.halves(new)[users].sum() == pytest.approx(left_over, rel=1e-8)
    np.testing.assert_array_equal(new[:, 0] != 0.0, users)


@pytest.fixture
def spoilt(curve, rng):
    """The curve with ten samples that are nowhere near it, and which they are."""
    X, wrong = curve.copy(), np.zeros(120, dtype=bool)
    wrong[::12] = True
    X[wrong] = 2.0 * rng.standard_normal((10, 8))
    return X, wrong


def test_samples_that_are_far_from_all_others_are_given_up(curve, spoilt):
    X, wrong = spoilt
    found = 0
    for seed in range(4):
        model = KernelDictionaryLearning(12, n_nonzero=3, outlier_weight=0.1, random_state=seed).fit(X)
        found += model.outliers_[wrong].sum()
        assert not model.outliers_[~wrong].any()
        plain = KernelDictionaryLearning(12, n_nonzero=3, random_state=seed).fit(X)
        assert not plain.outliers_.any()
        assert model.distances(curve).mean() < plain.distances(curve).mean()
    # One that is a first atom is represented by itself.
    assert found >= 38


def test_atoms_to_spare_are_spent_on_outliers(spoilt):
    """It is the model that keeps some: giving up all of them is not cheaper."""
    X, wrong = spoilt
    for seed in range(4):
        model = KernelDictionaryLearning(16, n_nonzero=3, outlier_weight=0.15, random_state=seed).fit(X)
        assert not model.outliers_[wrong].all()
        kernel = RBF(sigma=model.sigma_)
        rest = KernelDictionaryLearning(16, n_nonzero=3, kernel=kernel, random_state=seed).fit(
            X[~wrong]
        )
        assert model.objective_[-1] < rest.objective_[-1] + 10 * 0.15


@pytest.mark.parametrize("coherence", [-0.1, 0.0, 0.4])
def test_equiangular_atoms_have_one_angle(curve, coherence):
    model = KernelDictionaryLearning(
        6, structure="equiangular", coherence=coherence, random_state=0
    ).fit(curve)
    expected = np.full((6, 6), coherence)
    np.fill_diagonal(expected, 1.0)
    np.testing.assert_allclose(model.components_ @ model.components_.T, expected, atol=1e-10)


def test_the_projection_is_the_nearest(curve, rng):
    space = FeatureSpace.of(curve, "rbf", 1.0)
    dictionary = EquiangularDictionary(space, curve, np.arange(5), 0.2)
    M = rng.standard_normal((5, 8))
    nearest = np.linalg.norm(dictionary.project(M) - M)
    for _ in range(50):
        other = dictionary.project(dictionary.project(M) + 0.3 * rng.standard_normal((5, 8)))
        assert nearest <= np.linalg.norm(other - M) + 1e-12


@pytest.mark.parametrize("kernel", ["rbf", "polynomial"])
def test_gradient_of_the_equiangular_dictionary(curve, rng, kernel):
    """Of ``-sum c k(x, d)``, the part that changes, as the steps take it."""
    X, D = curve[:15], 0.5 * rng.standard_normal((4, 8))
    C = rng.standard_normal((15, 4))
    k = KERNELS[kernel]()
    pull = C * k.slope(k.argument(X, D))
    gradient = -pull.T @ X + k.stationary * pull.sum(axis=0)[:, None] * D
    numerical = numerical_gradient(lambda Z: -float(np.sum(C * k(X, Z))), D)
    np.testing.assert_allclose(gradient, numerical, atol=1e-6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 121}, "n_components=121"),
        ({"n_components": 9, "structure": "equiangular"}, "n_components=9"),
        ({"n_components": 5, "structure": "equiangular", "coherence": -0.25}, "coherence=-0.25"),
        ({"update": "svd"}, "update"),
        ({"outlier_weight": 0.0}, "outlier_weight"),
    ],
)
def test_bad_parameters_are_named(curve, parameters, message):
    with pytest.raises(ValueError, match=message):
        KernelDictionaryLearning(**parameters).fit(curve)


def test_matrices_that_are_too_large_are_refused(curve, monkeypatch):
    monkeypatch.setattr(base, "MOST_BYTES", 8 * 119**2)
    with pytest.raises(ValueError, match="120 samples need"):
        KernelDictionaryLearning().fit(curve)
    KernelDictionaryLearning(structure="equiangular").fit(curve)


@pytest.mark.parametrize("method", ["ksvd", "mod"])
def test_an_atom_that_nobody_uses_becomes_the_sample_that_is_represented_worst(method, curve):
    dictionary = SpannedDictionary(FeatureSpace.of(curve, "rbf", 0.5), curve, np.arange(3), method)
    codes = np.zeros((120, 3))
    # All but one sample are near the two atoms that are used, or nowhere.
    codes[:, :2] = dictionary.Y @ np.linalg.pinv(dictionary.D[:2])
    codes[90] = 0.0
    new = dictionary.update(codes, np.ones(120, dtype=bool))
    assert not new[:, 2].any()
    worst = dictionary.halves(new).argmax()
    image = dictionary.Y[worst] / np.linalg.norm(dictionary.Y[worst])
    np.testing.assert_allclose(dictionary.D[2], image)
