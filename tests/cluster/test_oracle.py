"""Algorithm 3 beside an implementation that holds the (n, n) matrices."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from oracle import algorithm_3_affinity, algorithm_3_labels
from rnlmf.cluster.affinity import gram, least_squares_factor, neighbour_graph
from rnlmf.cluster.assign import assign
from rnlmf.cluster.labels import spectrum


@pytest.fixture
def codes(rng):
    """Of samples of three groups, each with two codes of its own."""
    C = 0.02 * rng.normal(size=(36, 6))
    for group in range(3):
        rows = slice(12 * group, 12 * group + 12)
        C[rows, 2 * group : 2 * group + 2] += rng.uniform(0.5, 1.5, (12, 2))
    return C


@pytest.mark.parametrize("weight", [1e-3, 1e-2, 1.0])
@pytest.mark.parametrize("n_neighbors", [1, 5, 15])
def test_affinity(codes, weight, n_neighbors):
    expected = algorithm_3_affinity(codes, weight, n_neighbors)
    found = neighbour_graph(codes @ least_squares_factor(gram(codes), weight), n_neighbors)
    np.testing.assert_allclose(found.toarray(), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("assign_labels", ["kmeans", "cluster_qr"])
def test_labels(codes, assign_labels):
    # More neighbours than a group has, so that the graph hangs together.
    affinity = algorithm_3_affinity(codes, 1e-2, 15)
    expected, eigenvalues = algorithm_3_labels(affinity, 3)
    graph = neighbour_graph(codes @ least_squares_factor(gram(codes), 1e-2), 15)
    rng = np.random.RandomState(0)
    _, found = spectrum(graph, codes, 3, rng)
    np.testing.assert_allclose(1 - found.embedding.eigenvalues[:3], eigenvalues[:3], rtol=0, atol=1e-8)
    assert eigenvalues[1] > 1e-6
    labels, _ = assign(found.embedding.vectors, assign_labels, 5, rng)
    assert adjusted_rand_score(expected, labels) == 1.0
    assert adjusted_rand_score(np.repeat(range(3), 12), labels) == 1.0
