import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from rnlmf.cluster import affinity
from rnlmf.cluster.affinity import (
    between_parts,
    connect,
    gram,
    keep_mass,
    largest_of_rows,
    least_squares_factor,
    neighbour_graph,
    scale_rows,
    shared_neighbours,
    strongest,
    symmetrize,
    unit_rows,
)


@pytest.fixture
def codes(rng):
    return rng.standard_normal((300, 12))


def paper_graph(C, gamma, kappa, scaling):
    """Algorithm 3, lines 2 to 5, as printed: dense, and with an n x n inverse."""
    n = len(C)
    A = np.abs(np.linalg.solve(C @ C.T + gamma * np.eye(n), C @ C.T))
    np.fill_diagonal(A, 0.0)
    for i in range(n):
        A[i, np.argsort(A[i])[: n - kappa]] = 0.0
    A /= (A.max(axis=1) if scaling == "max" else A.sum(axis=1))[:, None]
    return (A + A.T) / 2


@pytest.mark.parametrize("scaling", ["max", "sum"])
@pytest.mark.parametrize("kappa", [1, 7])
def test_the_papers_affinity(codes, scaling, kappa):
    B = codes @ least_squares_factor(gram(codes), 0.3)
    graph = neighbour_graph(B, kappa, scaling=scaling)
    expected = paper_graph(codes, 0.3, kappa, scaling)
    np.testing.assert_array_equal(graph.toarray() > 0.0, expected > 0.0)
    np.testing.assert_allclose(graph.toarray(), expected, rtol=1e-9)


@pytest.mark.parametrize("block_bytes", [1, 100_000, 1 << 25])
def test_blocks_do_not_change_the_affinity(codes, monkeypatch, block_bytes):
    dense = np.abs(codes @ codes.T)
    monkeypatch.setattr(affinity, "BLOCK_BYTES", block_bytes)
    np.fill_diagonal(dense, -1.0)
    columns, _ = largest_of_rows(dense, 5)
    blocked = strongest(codes, codes, 5, same=True, n_threads=2)
    np.testing.assert_array_equal(blocked.indices.reshape(-1, 5), columns)
    np.testing.assert_allclose(
        blocked.data.reshape(-1, 5), np.take_along_axis(dense, columns, axis=1), rtol=1e-13
    )


def test_memory_is_linear_in_the_samples(rng):
    """No array of n x n numbers, nor a tenth of one, is made."""
    import tracemalloc

    B = rng.standard_normal((20_000, 4)).astype(np.float32)
    tracemalloc.start()
    neighbour_graph(B, 5, n_threads=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < len(B) ** 2 * 4 / 10


@pytest.mark.parametrize("n", [20, 6000])
def test_largest_of_rows_are_those_of_a_full_sort(rng, n):
    values = rng.integers(0, 50, (30, n)).astype(float)
    columns, found = largest_of_rows(values, 7)
    order = np.lexsort((np.broadcast_to(np.arange(n), values.shape), -values), axis=1)[:, :7]
    np.testing.assert_array_equal(columns, order)
    np.testing.assert_array_equal(found, np.take_along_axis(values, order, axis=1))


def test_all_equal_samples_have_a_graph():
    graph = neighbour_graph(np.ones((50, 3)), 4)
    assert np.all(graph.sum(axis=1) > 0.0)
    assert np.all(neighbour_graph(np.zeros((50, 3)), 4).data >= 0.0)


def test_a_graph_is_symmetric_without_diagonal(codes):
    graph = neighbour_graph(codes, 4)
    assert abs(graph - graph.T).max() == 0.0
    assert np.all(graph.diagonal() == 0.0)
    assert graph.nnz <= 2 * 4 * len(codes)


def test_scale_rows(rng):
    A = scipy.sparse.csr_array(rng.random((6, 5)) * (rng.random((6, 5)) < 0.7))
    np.testing.assert_allclose(scale_rows(A, "max").max(axis=1).toarray(), 1.0)
    np.testing.assert_allclose(scale_rows(A, "sum").sum(axis=1), 1.0)
    np.testing.assert_array_equal(scale_rows(A, None).toarray(), A.toarray())


@pytest.mark.parametrize("share", [0.3, 0.8, 1.0])
def test_keep_mass_takes_the_fewest_largest(rng, share):
    A = rng.standard_normal((20, 15))
    kept = keep_mass(scipy.sparse.csr_array(A), share).toarray()
    for row, left in zip(np.abs(A), np.abs(kept), strict=True):
        falling = np.sort(row)[::-1]
        count = np.count_nonzero(left)
        np.testing.assert_array_equal(np.sort(left)[::-1][:count], falling[:count])
        assert falling[:count].sum() >= share * row.sum() * (1 - 1e-9)
        assert falling[: count - 1].sum() < share * row.sum()


def test_shared_neighbours(rng):
    A = rng.random((8, 5))
    W = shared_neighbours(scipy.sparse.csr_array(A)).toarray()
    np.testing.assert_allclose(W, A @ np.diag(1 / A.sum(axis=0)) @ A.T)
    np.testing.assert_allclose(W.sum(axis=1), A.sum(axis=1))


def test_connect_links_the_nearest_parts(rng):
    """Four lines of samples, at 0, 10, 11 and 30: those at 10 and 11 are joined first."""
    angles = np.repeat([0.0, 1.0, 1.1, 2.5], 20) + 0.01 * rng.standard_normal(80)
    B = np.column_stack([np.cos(angles / 2), np.sin(angles / 2)])
    graph = symmetrize(scipy.sparse.csr_array(np.kron(np.eye(4), np.ones((20, 20)))))
    assert connect(graph, B, 4) is graph
    assert connect(graph, B, 7) is graph
    count, part = connected_components(connect(graph, B, 3), directed=False)
    assert count <= 3
    assert part[25] == part[45]
    assert connected_components(connect(graph, B, 1), directed=False)[0] == 1


def test_connect_joins_parts_that_have_nothing_in_common():
    B = np.eye(4)
    graph = scipy.sparse.csr_array((4, 4))
    assert connected_components(connect(graph, B, 1), directed=False)[0] == 1


def test_between_parts(rng):
    W, parts = rng.random((9, 9)), rng.integers(0, 3, 9)
    found = between_parts(scipy.sparse.csr_array(W), parts, 3).toarray()
    np.testing.assert_allclose(found, [W[parts == p].sum(axis=0) for p in range(3)])


def test_unit_rows():
    np.testing.assert_allclose(unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0.0, 0.0]])
