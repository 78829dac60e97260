import numpy as np
import pytest
import scipy.sparse

from rnlmf.cluster import assign as module
from rnlmf.cluster.assign import aligned, assign, by_size, cut, eigengap, join_small, kmeans
from rnlmf.cluster.spectral import spectral_embedding
from rnlmf.metrics import clustering_error


@pytest.fixture
def indicators(rng):
    """Rotated, slightly noisy indicators of four clusters."""
    truth = np.repeat(np.arange(4), [60, 50, 40, 30])
    rotation = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    vectors = np.eye(4)[truth] + 0.05 * rng.standard_normal((180, 4))
    return vectors @ rotation, truth


@pytest.mark.parametrize("method", ["weighted", "kmeans", "cluster_qr"])
def test_recovers_rotated_indicators(indicators, method):
    vectors, truth = indicators
    labels, centers = assign(vectors, method, 5, np.random.RandomState(0))
    assert clustering_error(truth, labels) == 0.0
    assert centers.shape == (4, 4)


def test_aligned_rows_are_rotated_to_the_axes(indicators):
    vectors, _ = indicators
    rows = aligned(vectors)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), np.linalg.norm(vectors, axis=1))
    assert np.all(np.abs(rows).max(axis=1) > 0.8)


def test_samples_between_clusters_do_not_make_one_of_their_own(rng):
    """Five clusters, two of them near each other, and many samples that lie between all five."""
    truth = np.repeat(np.arange(5), 40)
    corners = np.eye(5)
    corners[4] = [0, 0, 0, 0.6, 0.8]
    between = np.ones((60, 5)) / 5**0.5
    rows = np.vstack([corners[truth], between]) + 0.03 * rng.standard_normal((260, 5))
    plain, weighted = (
        clustering_error(truth, assign(rows, method, 20, np.random.RandomState(0))[0][:200])
        for method in ("kmeans", "weighted")
    )
    assert weighted == 0.0
    assert plain > 0.1


def test_many_rows_start_from_a_sample(indicators, monkeypatch):
    vectors, truth = indicators
    monkeypatch.setattr(module, "KMEANS_ROWS", 100)
    weights = np.ones(len(vectors))
    labels, _ = kmeans(vectors, 4, 5, np.random.RandomState(0), weights)
    assert clustering_error(truth, labels) == 0.0


def test_eigengap():
    assert eigengap(np.array([1.0, 1.0, 0.99, 0.2, 0.1]))[0] == 3
    assert eigengap(np.array([1.0, 1.0, 0.0, 0.0])) == (2, 1.0)
    assert eigengap(np.array([1.0])) == (1, 1.0)
    # Two numbers that are as good as each other, and three clusters that are long chains.
    assert eigengap(np.array([1.0, 0.9, -9.1]))[1] == pytest.approx(0.0, abs=0.01)
    assert eigengap(np.array([1.0, 1.0, 1.0, 0.99, 0.99, 0.96, 0.96, 0.91]))[0] == 3
    assert eigengap(np.ones(4))[1] == 0.0


def test_join_small():
    table = np.array([[9.0, 1, 0, 0], [1, 8, 0, 2], [0, 0, 3, 0], [0, 2, 0, 1]])
    labels = join_small(table, np.array([50, 40, 20, 3]), 3)
    assert labels[3] == labels[1]
    assert len(set(labels)) == 3
    np.testing.assert_array_equal(join_small(table, np.array([50, 40, 20, 3]), 4), range(4))
    # Nothing says where the third part belongs: it joins the smaller of the others.
    labels = join_small(table, np.array([50, 40, 20, 3]), 2)
    assert labels[2] == labels[1]


def test_cut_joins_small_parts_and_makes_room_for_a_true_cluster():
    """Clusters 1 and 2 have links; six samples of cluster 0 have fewer, and so take their vector."""
    sizes = [60, 60, 60, 6]
    strength = np.eye(4)
    strength[0, 3] = strength[3, 0] = 1e-3
    strength[1, 2] = strength[2, 1] = 0.2
    strength[0, 1] = strength[1, 0] = 0.01
    truth = np.repeat([0, 1, 2, 3], sizes)
    W = scipy.sparse.csr_array(strength[truth][:, truth])
    vectors = spectral_embedding(W, 6, np.random.RandomState(0)).vectors

    def table(parts, count):
        member = np.eye(count)[parts]
        return member.T @ W @ member

    def run(share):
        rng = np.random.RandomState(0)
        return cut(vectors, 3, table, method="kmeans", n_init=10, min_relative_size=share, rng=rng)

    expected = np.where(truth == 3, 0, truth)
    plain, joined = run(0.0), run(0.3)
    assert len(plain.centers) == 3
    assert clustering_error(expected, plain.labels) > 0.3
    assert len(joined.centers) == 4
    assert clustering_error(expected, joined.labels) == 0.0
    np.testing.assert_array_equal(np.bincount(joined.labels), [66, 60, 60])


def test_labels_go_by_size():
    labels, rank = by_size(np.array([2, 2, 0, 2, 0, 3]), 4)
    np.testing.assert_array_equal(labels, [0, 0, 1, 0, 1, 2])
    np.testing.assert_array_equal(rank, [1, 3, 0, 2])
