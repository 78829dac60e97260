"""Values that return: states stay, errors dealt at random do not."""

from dataclasses import replace

import numpy as np
import pytest

from helpers import table_of
from rnlmf.opinions import Judge
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.returning import without_errors
from rnlmf.opinions.temporal import Sequence


def kept(X, sequence=None):
    """Returning values of every column that are taken for states."""
    columns = Columns.of(X)
    return without_errors(columns, X, columns.scaled(X), sequence).common


@pytest.fixture(scope="module")
def related():
    return table_of(600, 6)


def test_a_value_dealt_at_random_is_an_error(related, rng):
    X = related.copy()
    X[rng.random(X.shape) < 0.05] = 4.0
    assert all(len(values) == 1 for values in Columns.of(X).common)
    assert not any(len(values) for values in kept(X))


def test_the_end_of_a_range_is_a_state(related):
    X = np.minimum(related, np.quantile(related, 0.93, axis=0))
    common = kept(X)
    np.testing.assert_array_equal([c[-1] for c in common], X.max(axis=0))


def test_what_several_columns_have_together_is_a_state(related, rng):
    """At night nothing is measured, and nobody could have told from the other columns."""
    X = related.copy()
    X[rng.random(600) < 0.06, :4] = 4.0
    assert all(4.0 in values for values in kept(X)[:4])


def test_a_column_that_nobody_predicts_is_left_alone(rng):
    X = rng.normal(size=(600, 4))
    X[rng.random(600) < 0.05, 1] = 0.0
    assert 0.0 in kept(X)[1]


def test_a_state_that_stays_for_a_while_is_no_error(rng):
    """Scattered, the same value would be."""
    t = np.linspace(0.0, 30.0, 900)
    X = np.column_stack([np.sin(t), np.cos(t), np.sin(t + 1.0)]) + 0.02 * rng.normal(size=(900, 3))
    scattered = X.copy()
    scattered[rng.random(900) < 0.06, 0] = 3.0
    assert 3.0 not in kept(scattered, Sequence.of(900))[0]
    for first in range(30, 900, 90):
        X[first : first + 12, 0] = 0.0
    assert 0.0 in kept(np.where(np.abs(X) < 0.15, 0.0, X), Sequence.of(900))[0]


def thermometer(rng, n=1500):
    """A smooth temperature in steps of half a degree, and three others that follow it."""
    t = np.arange(n) / 60.0
    base = np.column_stack([np.sin(t), np.sin(t + 0.3), np.cos(t), np.sin(2 * t)])
    X = 5.0 * base + 0.03 * rng.normal(size=base.shape)
    X[:, 0] = np.round(2.0 * X[:, 0]) / 2.0
    return X


def test_steps_of_a_scale_are_no_states(rng):
    """A value to which a thermometer returns is predicted like any other: it may be judged."""
    X = thermometer(rng)
    inner = X[(X[:, 0] > -4.0) & (X[:, 0] < 4.0), 0]
    columns = Columns.of(X)
    sequence = Sequence.of(len(X))
    wrong = rng.random(len(X)) < 0.05
    X[wrong, 0] = rng.permutation(inner)[: wrong.sum()]
    common = np.array([*columns.common[0], 0.5, 1.0])
    forced = replace(columns, common=(common, *columns.common[1:]))
    Z = columns.scaled(X)
    found = without_errors(forced, X, Z, sequence)
    assert {0.5, 1.0} <= set(found.fine[0])
    steps = np.isin(X[:, 0], (0.5, 1.0))
    assert found.recurring(X, Z)[steps, 0].all()
    assert not found.recurring(X, Z, fine=True)[steps, 0].any()


def lamp(rng, n=2000):
    """A light that is off at night, to the letter, and drops out for a moment in the day."""
    day = np.maximum(np.sin(np.arange(n) / 50.0), 0.0)
    X = day[:, None] * np.array([10.0, 1.0, -2.0, 3.0]) + 0.02 * rng.normal(size=(n, 4))
    night = day < 0.05
    X[night, 0] = 0.0
    dropped = ~night & (rng.random(n) < 0.06)
    dropped[1:] &= ~dropped[:-1]
    return X, night, dropped


def test_a_state_may_be_visited_by_errors(rng):
    X, night, dropped = lamp(rng)
    clean, sequence = Columns.of(X), Sequence.of(len(X))
    assert not any(map(len, without_errors(clean, X, clean.scaled(X), sequence).brief))
    X[dropped, 0] = 0.0
    columns = Columns.of(X)
    Z = columns.scaled(X)
    found = without_errors(columns, X, Z, sequence)
    assert 0.0 in found.common[0]
    assert 0.0 in found.brief[0]
    single = dropped & ~np.r_[True, night[:-1]] & ~np.r_[night[1:], True]
    recurring = found.recurring(X, Z, ordered=True)[:, 0]
    assert not recurring[single].any()
    assert recurring[night & np.r_[night[1:], False]].all()
    assert found.recurring(X, Z)[single, 0].all()


def test_a_state_that_comes_and_goes_is_no_error(rng):
    """Visits of one row beside others of two, three and more: it flickers."""
    X, night, _ = lamp(rng)
    state, first = False, np.zeros(len(X), dtype=bool)
    for i in range(len(X)):
        state = rng.random() < (0.5 if state else 0.05)
        first[i] = state
    X[first & ~night, 0] = 0.0
    columns = Columns.of(X)
    found = without_errors(columns, X, columns.scaled(X), Sequence.of(len(X)))
    assert not any(map(len, found.brief))


def judged(X, sequence=None):
    """Columns with what is known of their returning values."""
    columns = Columns.of(X)
    return without_errors(columns, X, columns.scaled(X), sequence)


def test_a_code_is_one_wherever_it_is(related, rng):
    """Also where it is as near to the truth as any right value."""
    X, wrong = related.copy(), rng.random(related.shape) < 0.05
    X[wrong] = 0.5
    columns = judged(X)
    np.testing.assert_array_equal(columns.absurd(columns.scaled(X)), wrong)
    found, judgement = Judge.learn(X)
    np.testing.assert_array_equal(judgement.wrong, wrong)
    assert np.all(judgement.probability[wrong] == 1.0)
    # Of new rows, too.
    assert found.judge(X[:50] + 0.0).wrong[wrong[:50]].all()


def test_a_code_elsewhere_is_a_state_where_it_comes_far_more_often(related, rng):
    X, wrong = related.copy(), rng.random(related.shape) < 0.05
    X[wrong] = 4.0
    X[rng.random(600) < 0.4, 2] = 4.0
    columns = judged(X)
    assert not len(columns.nothing[2])
    assert all(len(columns.nothing[j]) == 1 for j in (0, 1, 3, 4, 5))


def test_a_code_of_columns_that_are_without_light_together_is_one_alone(rng):
    X = table_of(900, 12)
    night = rng.random(900) < 0.02
    X[night, :4] = 4.0
    wrong = (rng.random(X.shape) < 0.05) & ~night[:, None]
    X[wrong] = 4.0
    columns = judged(X)
    assert all(4.0 in values for values in columns.alone[:4])
    found = columns.absurd(columns.scaled(X))
    assert not found[night, :4].any()
    single = wrong[:, :4].sum(axis=1) == 1
    np.testing.assert_array_equal(found[single], wrong[single])


def test_what_is_dealt_more_often_to_some_columns_is_no_code(related, rng):
    """None of a kind in a shop, no garage: independent of all else, but not as often everywhere."""
    X = related.copy()
    for j, share in enumerate((0.05, 0.12, 0.2, 0.3)):
        X[rng.random(600) < share, j] = 4.0
    columns = judged(X)
    assert not any(map(len, columns.nothing)), columns.nothing
    assert not any(map(len, columns.alone)), columns.alone


def test_the_end_of_all_scales_is_a_state_where_nobody_can_tell_either(rng):
    """Range finders: some see nothing when others see nothing, some whenever they like."""
    X = table_of(1500, 12)
    X[:, :6] = np.minimum(X[:, :6], 1.5)
    for j, share in enumerate(np.linspace(0.02, 0.2, 6), start=6):
        X[rng.random(1500) < share, j] = 1.5
    assert all(1.5 in values for values in kept(X))
    # Those to which it is dealt equally often have errors.
    X[:, 6:] = table_of(1500, 12)[:, 6:]
    X[:, 6:][rng.random((1500, 6)) < 0.05] = 1.5
    assert not any(1.5 in values for values in kept(X)[6:])
