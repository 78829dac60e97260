"""How sure a result is, without the truth."""

import numpy as np
import pytest

from rnlmf.estimators.uncertainty import error_when_repeated, remaining_error


def test_errors_that_are_all_found_again_leave_nothing(rng):
    truth = rng.normal(size=(50, 4))
    noisy = np.where(rng.random(truth.shape) < 0.1, truth + 9.0, truth)
    assert error_when_repeated(noisy, truth, lambda again: truth) == 0.0


def test_errors_that_stay_leave_themselves(rng):
    """Put into rows farther down, those of a row together."""
    truth = rng.normal(size=(50, 4))
    noisy = truth.copy()
    noisy[7, 1:3] += 5.0
    seen = []
    left = error_when_repeated(noisy, truth, lambda again: seen.append(again) or again)
    assert left == pytest.approx(np.linalg.norm(noisy - truth) / np.linalg.norm(truth))
    (again,) = seen
    assert np.flatnonzero((again != truth).any(axis=1)).tolist() == [7 + 19]
    assert np.flatnonzero((again != truth).any(axis=0)).tolist() == [1, 2]


def test_gaps_move_along(rng):
    truth = rng.normal(size=(20, 3))
    noisy = truth.copy()
    noisy[4, 0] = np.nan
    seen = []
    error_when_repeated(noisy, truth, lambda again: seen.append(again) or truth)
    assert np.argwhere(np.isnan(seen[0])).tolist() == [[4 + 7, 0]]


def test_nothing_at_all_has_no_error():
    assert error_when_repeated(np.zeros((3, 2)), np.zeros((3, 2)), lambda again: again) == 0.0


def test_of_nothing_there_is_no_error_left():
    nothing = np.zeros((5, 3))
    assert remaining_error(nothing, nothing, lambda again: again + 1.0, np.random.RandomState(0)) == 0.0
