"""Rows of a sequence in which most is wrong."""

import numpy as np
import pytest

from rnlmf.opinions import Judge, Sequence
from rnlmf.opinions.bad_rows import ManyErrors, like_bad_rows
from rnlmf.opinions.column_verdict import ColumnVerdict
from rnlmf.opinions.densities import Witness
from rnlmf.opinions.verdict import Verdict

SHARE = 0.3


@pytest.fixture
def at_rest(rng):
    """Six columns that stay where they are, a verdict on them, and witnesses who know that."""
    Z = rng.normal(size=(400, 6))
    column = ColumnVerdict(10.0, np.array([0.9, 0.05, 0.05]), SHARE, 10.0)
    witness = Witness(np.zeros(Z.shape), np.ones(Z.shape))
    return Z, Verdict((column,) * 6), [witness] * 3


def among(Z, verdict, witnesses, wrong, hidden=None):
    nothing = np.zeros(Z.shape, dtype=bool)
    some = nothing if hidden is None else hidden
    return ManyErrors.among(Z, wrong, nothing, some, ~nothing, witnesses, verdict)


def test_a_row_is_wrong_as_a_whole_if_all_of_it_is(at_rest):
    Z, verdict, witnesses = at_rest
    Z[::20] = 30.0
    # One of the cells of each is right by chance.
    Z[::20, 2] = 3.0
    found = among(Z, verdict, witnesses, np.abs(Z) > 10.0)
    np.testing.assert_array_equal(np.flatnonzero(found.there), np.arange(0, 400, 20))
    assert found.wrong[::20].all()


def test_the_rest_of_a_row_with_many_errors_by_chance_is_right(at_rest):
    Z, verdict, witnesses = at_rest
    Z[::20, :4] = 30.0
    wrong = np.abs(Z) > 10.0
    found = among(Z, verdict, witnesses, wrong)
    np.testing.assert_array_equal(np.flatnonzero(found.there), np.arange(0, 400, 20))
    np.testing.assert_array_equal(found.wrong[::20], wrong[::20])
    # Nor does it stay wrong because all of it was hidden before.
    wrong[::20, 2:] = False
    hidden = np.zeros(Z.shape, dtype=bool)
    hidden[::20] = True
    found = among(Z, verdict, witnesses, wrong, hidden)
    np.testing.assert_array_equal(found.wrong[::20], np.abs(Z[::20]) > 10.0)


def test_without_order_no_row_is_wrong_as_a_whole(at_rest):
    Z, verdict, witnesses = at_rest
    Z[::20] = 30.0
    assert not among(Z, verdict, witnesses[:1], np.abs(Z) > 10.0).there.any()


def test_where_errors_are_many_right_cells_beside_them_come_back(rng):
    """Every tenth row of three columns has two errors or three by chance."""
    t = np.linspace(0.0, 40.0, 1500)
    truth = np.column_stack([np.sin(t), np.cos(1.3 * t), np.sin(0.7 * t)])
    truth += 0.1 * rng.normal(size=truth.shape)
    wrong = rng.random(truth.shape) < 0.2
    size = rng.choice([-1.0, 1.0], truth.shape) * rng.uniform(1.0, 8.0, truth.shape)
    X = truth + np.where(wrong, size, 0.0)
    _, judgement = Judge.learn(X, Sequence.of(len(X)))
    beside = ~wrong & (wrong.sum(axis=1, keepdims=True) == 2)
    assert np.mean(judgement.wrong[beside]) < 0.01
    assert np.mean(judgement.wrong[wrong]) > 0.9


def test_rows_as_far_off_as_bad_rows_are_bad_though_they_fit(rng):
    Z = rng.normal(size=(300, 4))
    time = Witness(np.zeros(Z.shape), np.ones(Z.shape))
    row = Witness(Z.copy(), np.ones(Z.shape))
    wrong = np.zeros(Z.shape, dtype=bool)
    Z[10:210:10] = 50.0 * (1.0 + rng.random((20, 4)))
    wrong[10:210:10] = True
    judged = np.ones(Z.shape, dtype=bool)
    assert not like_bad_rows(Z, wrong, judged, [row, time, row]).any()
    Z[[5, 15]] = 90.0
    found = like_bad_rows(Z, wrong, judged, [row, time, row])
    assert found[[5, 15]].all()
    assert found.sum() == 8
    # Where many rows are elsewhere and fit, they are events.
    Z[220:260:2] = 90.0
    assert not like_bad_rows(Z, wrong, judged, [row, time, row]).any()
    assert not like_bad_rows(Z, wrong, judged, [row]).any()
