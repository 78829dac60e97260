from itertools import permutations

import numpy as np
import pytest

from rnlmf.metrics import clustering_error, relative_mae, relative_rmse


def test_values():
    truth = np.array([[3.0, 4.0], [0.0, 0.0]])
    recovered = np.array([[3.0, 4.0], [0.0, 2.0]])
    assert relative_rmse(truth, recovered) == pytest.approx(2 / 5)
    assert relative_mae(truth, recovered) == pytest.approx(2 / 7)


def test_bad_input():
    with pytest.raises(ValueError, match="shape"):
        relative_rmse(np.ones((2, 3)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="truth is zero"):
        relative_mae(np.zeros((2, 2)), np.ones((2, 2)))


def test_clustering_error_is_that_of_the_best_match(rng):
    truth, labels = rng.integers(0, 4, 60), rng.integers(0, 4, 60)
    best = min(np.mean(np.array(order)[labels] != truth) for order in permutations(range(4)))
    assert clustering_error(truth, labels) == pytest.approx(best)


def test_clustering_error_takes_names_and_other_numbers_of_clusters():
    assert clustering_error(["a", "b", "b"], [7, 7, 7]) == pytest.approx(1 / 3)
    assert clustering_error(["a", "a", "a"], [0, 1, 1]) == pytest.approx(1 / 3)
    assert clustering_error([0, 1, 2], [2, 0, 1]) == 0.0


def test_clustering_error_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="inconsistent"):
        clustering_error([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match="empty"):
        clustering_error([], [])
