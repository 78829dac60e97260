import numpy as np
import pytest
from sklearn.linear_model import orthogonal_mp

from rnlmf.compared import pursuit
from rnlmf.compared.pursuit import matching_pursuit


@pytest.fixture
def atoms(rng):
    D = rng.standard_normal((40, 12))
    return D / np.linalg.norm(D, axis=1, keepdims=True)


@pytest.mark.parametrize("n_nonzero", [1, 3, 12])
def test_agrees_with_scikit_learn(atoms, rng, n_nonzero):
    targets = rng.standard_normal((25, 12))
    expected = orthogonal_mp(atoms.T, targets.T, n_nonzero_coefs=n_nonzero).T
    np.testing.assert_allclose(
        matching_pursuit(targets, atoms, n_nonzero).toarray(), expected, atol=1e-9
    )


def test_a_tolerance_ends_a_row(atoms, rng):
    targets = rng.standard_normal((25, 12))
    codes = matching_pursuit(targets, atoms, 12, tol=0.5)
    rest = np.linalg.norm(targets - codes @ atoms, axis=1) / np.linalg.norm(targets, axis=1)
    assert rest.max() <= 0.5
    # One entry less would not have been enough.
    counts = np.diff(codes.indptr)
    for i in range(25):
        shorter = matching_pursuit(targets[i : i + 1], atoms, counts[i] - 1 or 1)
        if counts[i] > 1:
            left = np.linalg.norm(targets[i] - (shorter @ atoms)[0])
            assert left > 0.5 * np.linalg.norm(targets[i])


def test_nobody_represents_itself(atoms):
    codes = matching_pursuit(atoms, atoms, 5, same=True)
    assert np.all(codes.diagonal() == 0.0)
    for i in (0, 17, 39):
        others = np.delete(atoms, i, axis=0)
        expected = orthogonal_mp(others.T, atoms[i], n_nonzero_coefs=5)
        np.testing.assert_allclose(np.delete(codes.toarray()[i], i), expected, atol=1e-9)


def test_sparse_combinations_are_found_exactly(rng):
    D = np.linalg.qr(rng.standard_normal((20, 20)))[0]
    truth = np.zeros((10, 20))
    for row in truth:
        row[rng.choice(20, 3, replace=False)] = rng.standard_normal(3)
    np.testing.assert_allclose(matching_pursuit(truth @ D, D, 5).toarray(), truth, atol=1e-9)


def test_equal_atoms_and_zero_targets(atoms, rng):
    twice = np.vstack([atoms, atoms])
    targets = np.vstack([rng.standard_normal((3, 12)), np.zeros((1, 12))])
    codes = matching_pursuit(targets, twice, 12)
    assert np.all(np.isfinite(codes.data))
    assert codes[[3]].nnz == 0
    np.testing.assert_allclose(codes[:3] @ twice, targets[:3], atol=1e-9)


def test_neither_blocks_nor_threads_matter(atoms, rng, monkeypatch):
    targets = rng.standard_normal((50, 12))
    whole = matching_pursuit(targets, atoms, 4, n_threads=1).toarray()
    monkeypatch.setattr(pursuit, "block_rows", lambda _: 7)
    np.testing.assert_allclose(
        matching_pursuit(targets, atoms, 4, n_threads=2).toarray(), whole, atol=1e-12
    )
