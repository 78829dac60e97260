"""Errors of a single column are believed if they fall anywhere."""

import numpy as np
import pytest

from helpers import table_of
from rnlmf.opinions import Judge, Sequence
from rnlmf.opinions.anywhere import lives_elsewhere, not_anywhere
from rnlmf.opinions.densities import Witness

ROWS = 800


@pytest.fixture(scope="module")
def related():
    return table_of(ROWS, 6)


def found(X, rows, off, sequence=None, suspects=None):
    wrong, Z = np.zeros(X.shape, dtype=bool), X.copy()
    wrong[rows if suspects is None else suspects, 0] = True
    Z[rows, 0] += off
    return not_anywhere(Z, wrong, Witness(X, np.full(X.shape, 0.1)), sequence)


def both_sides(rng, count):
    return 4.0 * rng.permutation(np.where(np.arange(count) % 2, 1.0, -1.0))


def test_errors_are_anywhere(related):
    """But for the chance of being taken for something else, twice: by rows, and by sides."""
    draws = [np.random.default_rng(seed) for seed in range(100)]
    hits = [found(related, r.permutation(ROWS)[:40], r.normal(0.0, 3.0, 40)).any() for r in draws]
    assert sum(hits) <= 8


def test_suspects_where_another_column_is_high_are_not(related, rng):
    rows = np.argsort(related[:, 3])[-40:]
    assert found(related, rows, both_sides(rng, 40)).tolist() == [True, *[False] * 5]


def test_suspects_at_both_ends_of_another_column_are_not(related, rng):
    order = np.argsort(related[:, 3])
    assert found(related, np.r_[order[:20], order[-20:]], both_sides(rng, 40))[0]


@pytest.mark.parametrize("sequence", [None, Sequence.of(ROWS)])
def test_a_tail_on_one_side_is_none_of_errors(related, rng, sequence):
    rows = rng.permutation(ROWS)[:80]
    off = rng.exponential(size=80)
    assert found(related, rows, off, sequence, suspects=rows[off > 0.5])[0]


def test_errors_on_one_side_with_a_gap_are_no_tail(related, rng):
    assert not found(related, rng.permutation(ROWS)[:40], 5.0 + rng.random(40))[0]


def test_a_value_that_returns_is_no_tail(related, rng):
    rows = rng.permutation(ROWS)[:40]
    assert not found(related, rows, 9.0 - related[rows, 0])[0]


def test_a_stretch_of_a_sequence_is_one_place(rng):
    t = np.linspace(0.0, 40.0, ROWS)
    X = np.column_stack([np.sin(t), np.cos(t), np.sin(2 * t)])
    assert not found(X, np.arange(300, 340), both_sides(rng, 40), Sequence.of(ROWS)).any()


@pytest.mark.parametrize(("off", "few_are_no_errors"), [(4.0, False), (0.6, True)])
def test_a_few_suspects_are_errors_if_there_is_a_gap(related, rng, off, few_are_no_errors):
    """Others are off by less than three scales."""
    X, rows = related.copy(), rng.permutation(ROWS)
    noise = np.clip(0.1 * rng.normal(size=ROWS), -0.3, 0.3)
    suspects, Z = np.zeros(X.shape, dtype=bool), X.copy()
    Z[:, 0] += noise
    Z[rows[:3], 0] += off
    suspects[rows[:3], 0] = True
    witness = Witness(X, np.full(X.shape, 0.1))
    assert not_anywhere(Z, suspects, witness, None)[0] == few_are_no_errors


def test_a_column_that_is_hard_to_predict_in_certain_rows_is_left_alone(related, rng):
    """Gusts turn the wind where it is weak."""
    X = related.copy()
    weak = (X[:, 0] < np.quantile(X[:, 0], 0.1)) & (rng.random(ROWS) < 0.5)
    X[weak, 5] += 3.0 * X[:, 5].std() * rng.normal(size=weak.sum())
    judge, judgement = Judge.learn(X)
    np.testing.assert_array_equal(judgement.repaired(X), X)
    assert "certain rows" in judge.left_alone[5]


def test_errors_of_one_column_that_are_anywhere_are_repaired(related, rng):
    X = related.copy()
    rows = rng.permutation(ROWS)[:40]
    X[rows, 5] += 3.0 * X[:, 5].std() * both_sides(rng, 40)
    _, judgement = Judge.learn(X)
    assert judgement.wrong[rows, 5].mean() > 0.9


@pytest.mark.parametrize(("n", "m"), [(300, 20), (300, 5)])
def test_columns_that_switch_by_themselves_stay_as_they_are(rng, n, m):
    switched = np.cumsum(rng.random((n, m)) < 0.05, axis=0) % 2
    X = 1.0 + 2.0 * switched + 0.02 * np.cumsum(rng.normal(size=(n, m)), axis=0)
    judge, judgement = Judge.learn(X + 0.002 * rng.normal(size=(n, m)), Sequence.of(n))
    assert judgement.wrong.mean() < 0.01
    assert any("states" in reason for reason in judge.left_alone.values())


def test_a_sensor_that_is_off_now_and_then_lives_nowhere_else(rng):
    Z = 0.1 * rng.normal(size=(1000, 2))
    witness = Witness(np.zeros(Z.shape), np.full(Z.shape, 0.1))
    suspects = np.zeros(Z.shape, dtype=bool)
    for first in (100, 400, 700):
        suspects[first : first + 20, 0] = True
    Z[suspects] += 5.0
    sequence = Sequence.of(1000)
    assert not lives_elsewhere(Z, suspects, witness, sequence).any()
    suspects[np.arange(1000) % 100 < 20, 0] = True
    Z[suspects] += 5.0
    assert lives_elsewhere(Z, suspects, witness, sequence).any()
    # Errors of bursts differ from row to row.
    Z[suspects] = 5.0 * rng.normal(size=suspects.sum())
    assert not lives_elsewhere(Z, suspects, witness, sequence).any()


def test_where_all_columns_are_off_now_and_then_one_is_so_twice_by_chance(rng):
    Z = 0.1 * rng.normal(size=(400, 8))
    witness = Witness(np.zeros(Z.shape), np.full(Z.shape, 0.1))
    suspects = np.zeros(Z.shape, dtype=bool)
    for j in range(8):
        suspects[40 * j : 40 * j + 25, j] = True
    suspects[350:375, 0] = True
    Z[suspects] += 5.0
    assert not lives_elsewhere(Z, suspects, witness, Sequence.of(400)).any()
    suspects[:, 1:] = False
    assert lives_elsewhere(Z, suspects, witness, Sequence.of(400)).any()


def test_of_many_columns_that_are_off_now_and_then_one_is_so_most(rng):
    """The most often of fifteen is often by chance: more than a tenth of it may be off."""
    Z = 0.1 * rng.normal(size=(4000, 15))
    witness = Witness(np.zeros(Z.shape), np.full(Z.shape, 0.1))
    suspects = np.zeros(Z.shape, dtype=bool)
    for j in range(15):
        for first in 185 * np.arange(21 if j == 3 else 8) + 10 * j:
            suspects[first : first + 20, j] = True
    Z[suspects] += 5.0
    assert suspects[:, 3].mean() > 0.1
    assert not lives_elsewhere(Z, suspects, witness, Sequence.of(4000)).any()
