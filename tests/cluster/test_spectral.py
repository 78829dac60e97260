import builtins
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

from rnlmf.cluster import spectral
from rnlmf.cluster.affinity import symmetrize
from rnlmf.cluster.spectral import spectral_embedding


def chains(lengths, links, rng):
    """Nearly disconnected parts: rings of samples, with few and very weak links between them."""
    blocks = []
    for length in lengths:
        ring = scipy.sparse.eye_array(length, k=1) + scipy.sparse.eye_array(length, k=2)
        ring = ring.tolil()
        ring[0, length - 1] = 1.0
        blocks.append(ring.tocsr() * rng.uniform(0.5, 1.0))
    W = scipy.sparse.block_diag(blocks, format="lil")
    ends = np.cumsum(lengths)
    for weight, i in zip(links, range(len(lengths) - 1), strict=True):
        W[ends[i] - 1, ends[i]] = weight
    return symmetrize(scipy.sparse.csr_array(W))


def dense_eigenvalues(W, k):
    root = np.sqrt(W.sum(axis=1))
    return np.linalg.eigvalsh(W.toarray() / np.outer(root, root))[::-1][:k]


def check(W, result, k):
    np.testing.assert_allclose(result.eigenvalues, dense_eigenvalues(W, k), atol=1e-7)
    np.testing.assert_allclose(result.vectors.T @ result.vectors, np.eye(k), atol=1e-6)
    root = np.sqrt(result.degrees)
    residual = (W @ (result.vectors / root[:, None])) / root[:, None]
    assert np.abs(residual - result.vectors * result.eigenvalues).max() < 1e-4


@pytest.fixture(params=["dense", "multigrid", "factorized"])
def solver(request, monkeypatch):
    """Every way to solve, on small graphs."""
    if request.param != "dense":
        monkeypatch.setattr(spectral, "DENSE_SAMPLES", 50)
    if request.param == "multigrid":
        pytest.importorskip("pyamg")
    if request.param == "factorized":
        monkeypatch.setattr(spectral, "_multigrid", lambda: None)
    return request.param


@pytest.mark.parametrize(
    "links", [[0.0, 0.0, 0.0], [1e-8, 0.0, 1e-9], [1e-3, 1e-4, 1e-5], [0.3, 0.2, 0.1]]
)
def test_agrees_with_a_dense_solver(solver, links, rng):
    W = chains([150, 150, 120, 150], links, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = spectral_embedding(W, 8, np.random.RandomState(0))
    assert result.converged
    assert result.n_components == 1 + links.count(0.0)
    check(W, result, 8)


@pytest.mark.parametrize("sizes", [[80, 80], [80, 3]])
def test_two_components_give_two_constant_vectors_without_a_warning(solver, sizes, rng):
    W = chains(sizes, [0.0], rng) if min(sizes) > 3 else None
    if W is None:
        W = scipy.sparse.block_diag([np.ones((size, size)) for size in sizes], format="csr")
        W = symmetrize(scipy.sparse.csr_array(W))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = spectral_embedding(W, 2, np.random.RandomState(0))
    np.testing.assert_array_equal(result.eigenvalues, 1.0)
    part = np.repeat([0, 1], sizes)
    assert np.all((result.vectors != 0.0) == np.eye(2, dtype=bool)[part])


def test_multiplicities_of_one_are_not_missed(solver, rng):
    """Twelve equal parts, not quite apart: twelve eigenvalues of one, to rounding."""
    W = chains([60] * 12, [1e-12] * 11, rng)
    result = spectral_embedding(W, 12, np.random.RandomState(0))
    assert result.eigenvalues.min() > 1.0 - 1e-9


def test_same_seed_same_result(solver, rng):
    W = chains([150, 150, 100], [0.01, 0.02], rng)
    first, second = (spectral_embedding(W, 4, np.random.RandomState(3)).vectors for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_the_global_generator_is_left_alone(monkeypatch, rng):
    pytest.importorskip("pyamg")
    monkeypatch.setattr(spectral, "DENSE_SAMPLES", 50)
    W = chains([150, 150], [0.01], rng)
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.rand()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    spectral_embedding(W, 3, np.random.RandomState(0))
    assert np.random.rand() == expected  # noqa: NPY002


def test_order_of_samples_does_not_matter(solver, rng):
    W = chains([150, 150, 100], [0.01, 0.02], rng)
    order = rng.permutation(400)
    result = spectral_embedding(W, 3, np.random.RandomState(0))
    mixed = spectral_embedding(scipy.sparse.csr_array(W[order][:, order]), 3, np.random.RandomState(0))
    np.testing.assert_allclose(mixed.eigenvalues, result.eigenvalues, atol=1e-8)
    projector = result.vectors[order] @ result.vectors[order].T
    np.testing.assert_allclose(mixed.vectors @ mixed.vectors.T, projector, atol=1e-3)


def test_more_components_than_vectors_takes_the_largest():
    W = scipy.sparse.block_diag([np.ones((size, size)) for size in (3, 9, 5)], format="csr")
    result = spectral_embedding(symmetrize(scipy.sparse.csr_array(W)), 2, np.random.RandomState(0))
    assert result.n_components == 3
    np.testing.assert_array_equal(
        np.any(result.vectors != 0.0, axis=1), np.repeat([0, 1, 1], (3, 9, 5))
    )


def test_a_sample_without_neighbours_is_a_component():
    W = scipy.sparse.csr_array(np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    result = spectral_embedding(W, 3, np.random.RandomState(0))
    np.testing.assert_allclose(result.eigenvalues, [1.0, 1.0, -1.0])
    np.testing.assert_array_equal(result.vectors[2] != 0.0, [False, True, False])


def test_it_says_when_it_did_not_converge(monkeypatch, rng):
    monkeypatch.setattr(spectral, "DENSE_SAMPLES", 50)
    monkeypatch.setattr(spectral, "ROUNDS", 1)
    monkeypatch.setattr(spectral, "STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        result = spectral_embedding(chains([300, 300], [0.01], rng), 5, np.random.RandomState(0))
    assert not result.converged
    # What is found so far is in order and within the range of a normalised graph.
    assert np.all(np.diff(result.eigenvalues) <= 0.0)
    assert np.all(np.abs(result.eigenvalues) <= 1.0 + 1e-12)


def test_without_pyamg(monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "pyamg":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert spectral._multigrid() is None


@pytest.mark.parametrize("k", [0, 5])
def test_bad_numbers_of_vectors_are_refused(k):
    with pytest.raises(ValueError, match="k="):
        spectral_embedding(scipy.sparse.csr_array(np.ones((4, 4))), k, np.random.RandomState(0))


def test_a_graph_too_large_to_be_factorized_is_solved_without(monkeypatch, rng):
    monkeypatch.setattr(spectral, "DENSE_SAMPLES", 50)
    monkeypatch.setattr(spectral, "FACTORIZED_SAMPLES", 50)
    monkeypatch.setattr(spectral, "_multigrid", lambda: None)
    W = symmetrize(scipy.sparse.csr_array(rng.random((90, 90)) * (rng.random((90, 90)) < 0.3)))
    result = spectral_embedding(W, 3, np.random.RandomState(0))
    check(W, result, 3)
