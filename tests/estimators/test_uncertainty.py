"""How sure a result is, without the truth."""

import numpy as np
import pytest

from rnlmf.estimators.uncertainty import error_when_repeated, remaining_error


def no_codes(X):
    return np.zeros(X.shape, dtype=bool)


def test_errors_that_are_all_found_again_leave_nothing(rng):
    truth = rng.normal(size=(50, 4))
    noisy = np.where(rng.random(truth.shape) < 0.1, truth + 9.0, truth)
    assert error_when_repeated(noisy, truth, lambda again: truth, no_codes(noisy)) == 0.0


def test_errors_that_stay_leave_themselves(rng):
    """Put into rows farther down, those of a row together."""
    truth = rng.normal(size=(50, 4))
    noisy = truth.copy()
    noisy[7, 1:3] += 5.0
    seen = []
    left = error_when_repeated(noisy, truth, lambda again: seen.append(again) or again, no_codes(noisy))
    assert left == pytest.approx(np.linalg.norm(noisy - truth) / np.linalg.norm(truth))
    (again,) = seen
    assert np.flatnonzero((again != truth).any(axis=1)).tolist() == [7 + 19]
    assert np.flatnonzero((again != truth).any(axis=0)).tolist() == [1, 2]


def test_gaps_move_along(rng):
    truth = rng.normal(size=(20, 3))
    noisy = truth.copy()
    noisy[4, 0] = np.nan
    seen = []
    error_when_repeated(noisy, truth, lambda again: seen.append(again) or truth, no_codes(noisy))
    assert np.argwhere(np.isnan(seen[0])).tolist() == [[4 + 7, 0]]


def test_codes_keep_their_value(rng):
    """A zero is a zero, whatever it is in the place of."""
    truth = rng.normal(size=(20, 3))
    noisy = truth.copy()
    noisy[4, 0] = 0.0
    seen = []
    error_when_repeated(noisy, truth, lambda again: seen.append(again) or truth, noisy == 0.0)
    assert np.argwhere(seen[0] == 0.0).tolist() == [[4 + 7, 0]]


def test_nothing_at_all_has_no_error():
    nothing = np.zeros((3, 2))
    assert error_when_repeated(nothing, nothing, lambda again: again, no_codes(nothing)) == 0.0


def test_of_nothing_there_is_no_error_left():
    nothing = np.zeros((5, 3))
    assert remaining_error(nothing, nothing, lambda again: again + 1.0, np.random.RandomState(0)) == 0.0
