"""Columns that have a few values only."""

import numpy as np
import pytest

from rnlmf.opinions import Judge
from rnlmf.opinions.column_verdict import ColumnVerdict
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.densities import Values
from rnlmf.opinions.levels import with_levels
from rnlmf.opinions.verdict import Verdict

SHARE = 0.05


def of_rooms(rng, n=1000, m=8):
    """A table on a plane, and a column of few values that nobody predicts."""
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, m)) + 0.02 * rng.normal(size=(n, m))
    rooms = rng.choice([0.0, 1.0, 2.0], n, p=[0.8, 0.15, 0.05])
    return np.column_stack([X, rooms])


def spoiled(X, rng):
    wrong = rng.random(X.shape) < SHARE
    sizes = rng.choice([-1, 1], X.shape) * rng.uniform(1, 8, X.shape) * X.std(axis=0)
    return X + np.where(wrong, sizes, 0.0), wrong


def told(*last, m=8, dealt=0.0):
    values = Values.of(np.linspace(-1, 1, 100), 0.1) if dealt else None
    own = ColumnVerdict(credibility=np.ones(1), share=SHARE, size=3.0, dealt=dealt, values=values)
    return Verdict((own,) * m + last)


def test_where_most_columns_have_errors_what_never_returns_is_wrong(rng):
    X = of_rooms(rng)
    N, wrong = spoiled(X, rng)
    _, judgement = Judge.learn(N)
    assert judgement.wrong[wrong[:, -1], -1].mean() > 0.95
    assert not judgement.wrong[~wrong[:, -1], -1].any()


def test_new_rows_are_judged_by_the_same_levels(rng):
    judge, _ = Judge.learn(spoiled(of_rooms(rng), rng)[0])
    new = of_rooms(rng)[:50]
    # Another draw of the plane: only the last column is alike.
    new[0, -1], new[1, -1] = 0.437, 17.0
    found = judge.judge(new).wrong[:, -1]
    assert found[:2].all()
    assert not found[2:].any()


def test_without_errors_elsewhere_rare_values_are_events(rng):
    X = of_rooms(rng)
    X[:20, -1] = rng.uniform(0, 5, 20)
    _, judgement = Judge.learn(X)
    assert not judgement.wrong[:, -1].any()


@pytest.mark.parametrize(("share", "wrong"), [(0.04, True), (0.15, False)])
def test_more_than_the_usual_share_are_events(rng, share, wrong):
    X = of_rooms(rng)
    events = rng.random(len(X)) < share
    X[events, -1] = rng.uniform(0, 5, events.sum())
    columns = with_levels(Columns.of(X), X, told(ColumnVerdict()))
    assert np.array_equal(columns.codes(X)[:, -1], events & wrong)


def test_columns_that_tell_errors_themselves_are_left_to_their_verdict(rng):
    X = of_rooms(rng)
    X[:20, -1] = rng.uniform(0, 5, 20)
    assert not with_levels(Columns.of(X), X, told(m=9)).levels


def test_values_of_other_rows_are_no_new_ones(rng):
    X = of_rooms(rng)
    X[:20, -1] = rng.uniform(0, 5, 20)
    assert not with_levels(Columns.of(X), X, told(ColumnVerdict(), dealt=0.9)).levels
    assert with_levels(Columns.of(X), X, told(ColumnVerdict(), dealt=0.4)).levels


def test_rare_values_that_return_among_the_levels_are_kept_and_those_far_beyond_are_not(rng):
    X = of_rooms(rng)
    X[:4, -1], X[4:8, -1] = 3.0, 30.0
    columns = with_levels(Columns.of(X), X, told(ColumnVerdict()))
    assert np.flatnonzero(columns.codes(X)[:, -1]).tolist() == [4, 5, 6, 7]


def test_a_column_that_is_nearly_always_one_value_has_no_levels(rng):
    X = of_rooms(rng)
    X[:, -1] = np.where(rng.random(len(X)) < 0.02, rng.uniform(1, 5, len(X)), 0.0)
    assert not with_levels(Columns.of(X), X, told(ColumnVerdict())).levels
