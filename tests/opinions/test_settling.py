"""Stretches that are judged as a whole, by the fellows."""

from dataclasses import replace

import numpy as np
import pytest

from rnlmf.opinions import Judge, Sequence
from rnlmf.opinions.column_verdict import ColumnVerdict
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.densities import Witness
from rnlmf.opinions.settling import Stretches, among_errors, in_stretches
from rnlmf.opinions.verdict import Verdict


@pytest.fixture
def motion(rng):
    """Five columns that move together, and a little noise."""
    t = np.linspace(0.0, 20.0, 800)
    X = np.column_stack([np.sin(t), np.cos(t), np.sin(t + 1), np.sin(t + 2), np.cos(t + 1)])
    return X + 0.01 * rng.normal(size=X.shape)


# Errors in one column, and in all of them.
FEW, MANY = (
    Verdict(tuple(ColumnVerdict(share=0.05 * (some or j == 0)) for j in range(5)))
    for some in (False, True)
)


def nothing(Z):
    """Nothing is hidden: errors do not come in stretches."""
    return np.zeros(Z.shape, dtype=bool)


def stretches(Z, prediction, scale=0.1):
    sequence, columns = Sequence.of(len(Z)), Columns.of(Z)
    found = Stretches(Z, np.ones(Z.shape, dtype=bool), columns, sequence)
    return found, Witness(prediction, np.full(Z.shape, scale))


def test_a_stretch_elsewhere_is_wrong_if_the_fellows_say_so(motion):
    Z = motion.copy()
    Z[100:120, 1] += 5.0
    found, row = stretches(Z, motion)
    expected = np.zeros(Z.shape, dtype=bool)
    expected[100:120, 1] = True
    np.testing.assert_array_equal(found.away(Z, row, nothing(Z), FEW), expected)
    agreeing = Witness(Z, row.scale)
    assert not found.away(Z, agreeing, nothing(Z), FEW).any()
    unsure = Witness(motion, np.full(Z.shape, 2.0))
    assert not found.away(Z, unsure, nothing(Z), FEW).any()


def test_a_value_to_which_a_column_returns_may_be_one_at_which_it_is_off(motion):
    """A light meter that is off at night has the same value each time."""
    Z, at_rest = motion.copy(), np.arange(800) % 200 < 120
    Z[at_rest, 1] = 0.0
    expected = np.zeros(Z.shape, dtype=bool)
    for first in (40, 240, 440):
        expected[first : first + 20, 1] = True
    spoiled = Z + 5.0 * expected
    sequence, columns = Sequence.of(len(Z)), Columns.of(motion)
    # What returns to the letter is not judged cell by cell.
    found = Stretches(spoiled, ~expected, columns, sequence)
    row = Witness(Z, np.full(Z.shape, 0.1))
    np.testing.assert_array_equal(found.away(spoiled, row, expected, MANY), expected)
    # Where errors come one by one, or only few columns have any, it is a state.
    assert not found.away(spoiled, row, nothing(Z), MANY).any()
    assert not found.away(spoiled, row, expected, FEW).any()


def test_without_order_there_are_no_stretches(motion):
    Z = motion.copy()
    Z[100:120, 1] = Z[99, 1]
    found = Stretches(Z, np.ones(Z.shape, dtype=bool), Columns.of(Z), None)
    row = Witness(motion, np.full(Z.shape, 0.01))
    assert not found.stuck(Z, row).any()
    assert not found.away(Z, row, nothing(Z), FEW).any()


def test_offsets_of_whole_stretches_are_repaired(motion, rng):
    X = motion.copy()
    for first in range(40, 760, 120):
        X[first : first + 20, rng.integers(5)] += 3.0
    wrong = motion != X
    _, judgement = Judge.learn(X, Sequence.of(len(X)))
    assert np.mean(judgement.wrong[wrong]) > 0.9
    assert np.mean(judgement.wrong[~wrong]) < 0.01
    assert np.linalg.norm(judgement.repaired(X) - motion) < 0.2 * np.linalg.norm(X - motion)


def test_a_column_that_moves_by_steps_is_not_stuck(motion):
    """A setting that is changed now and then, whatever the others do."""
    steps = np.repeat(np.sin(np.arange(8.0) ** 2), 100)
    X = np.column_stack([motion, steps])
    assert not Sequence.of(len(X)).repeated(X)[:, 5].any()
    _, judgement = Judge.learn(X, Sequence.of(len(X)))
    np.testing.assert_array_equal(judgement.repaired(X), X)


def test_columns_that_stand_still_together_are_not_stuck(motion):
    """Rows of one town have its taxes and its schools in common, whatever else they are."""
    X = motion.copy()
    X[200:260, 1], X[200:260, 3] = 0.3, -0.2
    assert not Sequence.of(len(X)).repeated(X).any()
    _, judgement = Judge.learn(X, Sequence.of(len(X)))
    assert not judgement.stuck.any()


def test_a_stretch_is_not_elsewhere_if_all_around_it_is(motion):
    """Fellows that contradict what is before and after as well are wrong themselves."""
    Z = motion.copy()
    Z[100:120, 1] += 5.0
    found, row = stretches(Z, motion)
    elsewhere = motion.copy()
    elsewhere[60:160, 1] -= 8.0
    assert found.away(Z, row, nothing(Z), FEW).any()
    assert not found.away(Z, Witness(elsewhere, row.scale), nothing(Z), FEW).any()


def test_some_of_a_bad_row_fits_by_chance(rng):
    """Twelve columns of three factors: of a row of noise some always account for each other."""
    t = np.linspace(0.0, 40.0, 1500)
    factors = np.column_stack([np.sin(t), np.cos(1.7 * t), np.sin(0.6 * t + 1.0)])
    truth = factors @ rng.normal(size=(3, 12)) + 0.01 * rng.normal(size=(1500, 12))
    X = truth.copy()
    bad = rng.choice(1500, 75, replace=False)
    X[bad] = truth.mean(axis=0) + truth.std(axis=0) * rng.normal(size=(75, 12))
    _, judgement = Judge.learn(X, Sequence.of(len(X)))
    assert np.mean(judgement.bad_rows[bad]) > 0.95
    assert judgement.bad_rows.sum() <= 76
    left = np.linalg.norm(judgement.repaired(X) - truth) / np.linalg.norm(X - truth)
    assert left < 0.15


def test_what_is_dealt_out_comes_one_by_one(rng):
    hidden = rng.random((200, 5)) < 0.2
    assert not in_stretches(hidden, Sequence.of(200))
    stretches = np.zeros((200, 5), dtype=bool)
    stretches[40:60, 2] = stretches[90:110, 4] = True
    assert in_stretches(stretches, Sequence.of(200))
    # Rows without an order have none.
    assert not in_stretches(stretches, None)


@pytest.fixture
def known_by_fellows(rng):
    """A smooth sequence of columns that tell each other even better than neighbours in time do."""
    t = np.linspace(0.0, 30.0, 500)
    moves = np.column_stack([np.sin(t), np.cos(1.3 * t)]) + 0.02 * rng.normal(size=(500, 2))
    X = moves @ rng.normal(size=(2, 8))
    return X + 1e-3 * rng.normal(size=X.shape)


def test_order_counts_where_it_could_stand_for_the_fellows(known_by_fellows, rng):
    X = known_by_fellows
    rows = rng.permutation(len(X))[:25]
    noisy = X.copy()
    noisy[rows] = X.mean(axis=0) + X.std(axis=0) * rng.normal(size=(25, X.shape[1]))
    judge, judgement = Judge.learn(noisy, Sequence.of(len(X)))
    assert judge.ordered
    left = np.linalg.norm(judgement.repaired(noisy) - X) / np.linalg.norm(noisy - X)
    assert left < 0.3
    shuffled = noisy[rng.permutation(len(X))]
    assert not Judge.learn(shuffled, Sequence.of(len(X)))[0].ordered


def test_a_smooth_sequence_that_fellows_know_is_left_as_it_is(known_by_fellows):
    _, judgement = Judge.learn(known_by_fellows, Sequence.of(len(known_by_fellows)))
    assert not judgement.wrong.any()


def test_who_is_where_only_errors_are_is_one(rng):
    """Two slips of the point in a row vouch for each other; what others have such values?"""
    Z = rng.normal(size=(400, 3))
    wrong = np.zeros(Z.shape, dtype=bool)
    wrong[:20, 0] = True
    Z[:20, 0] = np.linspace(20.0, 40.0, 20)
    Z[30, :2] = 30.0
    wrong[30, 2] = True
    judged = np.ones(Z.shape, dtype=bool)
    expected = np.zeros(Z.shape, dtype=bool)
    # Nobody else was wrong in the second column.
    expected[30, 0] = True
    np.testing.assert_array_equal(among_errors(Z, wrong, judged), expected)
    # In a row without suspects it is a surprise.
    wrong[30, 2] = False
    assert not among_errors(Z, wrong, judged).any()
    # Where right cells are as many, it may be one of them.
    wrong[30, 2], Z[40:60, 0] = True, np.linspace(20.5, 39.5, 20)
    assert not among_errors(Z, wrong, judged).any()


def test_an_end_of_the_scale_of_all_sensors_is_no_place_at_which_one_is_off(motion):
    """Range finders have the same value where there is no echo, for as long as there is none."""
    Z, expected = motion.copy(), np.zeros(motion.shape, dtype=bool)
    expected[100:120, 1] = True
    Z[expected] = 5.0
    columns = replace(
        Columns.of(motion), center=np.zeros(5), spread=np.ones(5), common=(np.array([5.0]),) * 5
    )
    row = Witness(motion, np.full(Z.shape, 0.1))
    found = Stretches(Z, ~expected, columns, Sequence.of(len(Z)))
    assert not found.away(Z, row, expected, MANY).any()
    alone = replace(columns, common=(*(np.empty(0),) * 4, np.array([5.0])))
    found = Stretches(Z, ~expected, alone, Sequence.of(len(Z)))
    np.testing.assert_array_equal(found.away(Z, row, expected, MANY), expected)


def test_samples_measured_again_are_no_errors():
    """Two of another kind, each twice: all looks wrong in them, and nothing is so by chance twice."""
    false = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth = rng.normal(size=(400, 4)) @ rng.normal(size=(4, 40))
        truth += 0.05 * rng.normal(size=truth.shape)
        kinds = 12.0 * rng.normal(size=(2, 40))
        truth[-4:] = kinds.repeat(2, axis=0) + 0.05 * rng.normal(size=(4, 40))
        wrong = rng.random(truth.shape) < 0.05
        sizes = 6.0 * truth[:-4].std(axis=0) * rng.choice([-1, 1], truth.shape)
        judgement = Judge.learn(truth + np.where(wrong, sizes, 0.0))[1]
        false.append(np.mean(judgement.wrong[-4:][~wrong[-4:]]))
        assert np.mean(judgement.wrong[:-4][wrong[:-4]]) > 0.99
    assert np.mean(false) < 0.1
