import numpy as np
import pytest

from rnlmf import EnsembleKSubspaces
from rnlmf.compared.ensemble import nearest_subspaces


@pytest.fixture
def samples(rng):
    X = np.vstack([rng.standard_normal((20, 2)) @ rng.standard_normal((2, 10)) for _ in range(3)])
    return X + 0.1 * rng.standard_normal(X.shape)


def shares(labels):
    """How often two samples are together, pair by pair."""
    n = labels.shape[1]
    A = np.array([[np.mean(labels[:, i] == labels[:, j]) for j in range(n)] for i in range(n)])
    np.fill_diagonal(A, 0.0)
    return A


@pytest.mark.parametrize("rule", ["average", "union"])
def test_affinities_are_shares_of_the_runs(samples, rule):
    model = EnsembleKSubspaces(3, n_runs=25, n_neighbors=None, symmetrize=rule, random_state=0).fit(
        samples
    )
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), shares(model.run_labels_), atol=1e-12)


def test_an_edge_of_one_list_counts_half_or_whole(samples):
    pair = [
        EnsembleKSubspaces(3, n_runs=25, n_neighbors=10, symmetrize=rule, random_state=0)
        .fit(samples)
        .affinity_matrix_.toarray()
        for rule in ("average", "union")
    ]
    average, union = pair
    A = shares(EnsembleKSubspaces(3, n_runs=25, random_state=0).fit(samples).run_labels_)
    edges = union > 0.0
    np.testing.assert_allclose(union[edges], A[edges], atol=1e-12)
    np.testing.assert_array_equal(average > 0.0, edges)
    ratio = average[edges] / union[edges]
    assert np.all(np.isclose(ratio, 0.5) | np.isclose(ratio, 1.0))
    assert np.isclose(ratio, 0.5).any()
    # Nobody keeps fewer than ten, nor loses a larger share than one that is kept.
    assert edges.sum(axis=1).min() >= 10
    for row, kept in zip(A, edges, strict=True):
        assert np.sort(row)[-10] >= row[~kept].max() - 1e-12


def test_samples_go_to_the_nearest_subspace(samples, rng):
    bases = np.linalg.qr(rng.standard_normal((4, 10, 2)))[0]
    labels, held = nearest_subspaces(samples, bases)
    distances = np.stack([np.sum((samples - samples @ U @ U.T) ** 2, axis=1) for U in bases])
    np.testing.assert_array_equal(labels, distances.argmin(axis=0))
    np.testing.assert_allclose(np.sum(samples**2, axis=1) - held, distances.min(axis=0))


def test_fits_lower_the_distance(samples):
    means = [
        EnsembleKSubspaces(3, n_runs=40, n_refits=refits, random_state=0).fit(samples).objective_.mean()
        for refits in (0, 1, 5)
    ]
    assert means[0] > means[1] > means[2]


def test_threads_do_not_matter(samples):
    one, two = (
        EnsembleKSubspaces(3, n_runs=20, n_jobs=jobs, random_state=0).fit(samples) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.run_labels_, two.run_labels_)
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_more_subspaces_than_clusters(samples):
    model = EnsembleKSubspaces(3, n_subspaces=9, n_runs=10, random_state=0).fit(samples)
    assert model.run_labels_.max() > 2
    assert model.labels_.max() == 2
