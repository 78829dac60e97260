"""Rows of which nothing fits."""

import numpy as np
import pytest

from rnlmf.opinions import Judge, Sequence
from rnlmf.opinions.rows import RowVerdict


def table(rng, n=600, m=8):
    """Columns of two things that vary, and a little noise."""
    return rng.normal(size=(n, 2)) @ rng.normal(size=(2, m)) + 0.1 * rng.normal(size=(n, m))


def with_bad_rows(X, rng):
    """Every twentieth row is noise of each column's mean and deviation."""
    spoiled, bad = X.copy(), np.arange(len(X)) % 20 == 7
    spoiled[bad] = X.mean(axis=0) + X.std(axis=0) * rng.normal(size=(bad.sum(), X.shape[1]))
    return spoiled, bad


def found(Z):
    nothing = np.isnan(Z)
    return RowVerdict.learn(Z, nothing).bad(Z, nothing)


def test_rows_of_noise_are_named_and_become_what_columns_usually_are(rng):
    X = table(rng)
    spoiled, bad = with_bad_rows(X, rng)
    _, judgement = Judge.learn(spoiled)
    assert np.mean(judgement.bad_rows[bad]) > 0.8
    assert np.mean(judgement.bad_rows[~bad]) < 0.02
    repaired = judgement.repaired(spoiled)
    np.testing.assert_array_equal(repaired[~judgement.bad_rows], spoiled[~judgement.bad_rows])
    left, there = np.linalg.norm(repaired - X), np.linalg.norm(spoiled - X)
    assert left < 0.8 * there
    assert 0.5 < judgement.error_left(spoiled) / (left / np.linalg.norm(X)) < 2.0


def test_new_rows_of_noise_are_told_one_by_one(rng):
    X = table(rng, 1200)
    spoiled, bad = with_bad_rows(X, rng)
    judge, _ = Judge.learn(spoiled[:800])
    new = judge.judge(spoiled[800:])
    assert np.mean(new.bad_rows[bad[800:]]) > 0.8
    assert np.mean(new.bad_rows[~bad[800:]]) < 0.02
    alone = np.concatenate([judge.judge(row[None]).bad_rows for row in spoiled[800:840]])
    np.testing.assert_array_equal(alone, new.bad_rows[:40])


def test_with_as_many_columns_as_bad_rows_relations_do_not_remember_them(rng):
    spoiled, bad = with_bad_rows(table(rng, 500, 60), rng)
    assert found(spoiled)[bad].all()
    assert np.mean(found(spoiled)[~bad]) < 0.01


def test_nothing_is_bad_in_clean_rows(rng):
    X = table(rng)
    _, judgement = Judge.learn(X)
    assert not judgement.bad_rows.any()
    assert np.isnan(judgement.error_left(X))


def test_hard_rows_that_go_together_are_not_bad(rng):
    """A small group with relations of its own is hard for those of the others."""
    X = table(rng)
    X[:40] = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 8)) * 3.0 + 1.0
    assert not found(X).any()


def test_hard_rows_without_a_gap_are_not_bad(rng):
    """Their residuals are of all sizes: nobody can say where bad ones begin."""
    X = rng.normal(size=(1000, 2)) @ rng.normal(size=(2, 6))
    assert not found(X + 0.3 * np.exp(rng.normal(size=(1000, 1))) * rng.normal(size=X.shape)).any()


def test_columns_that_have_nothing_to_do_with_each_other_have_no_bad_rows(rng):
    assert not found(rng.standard_t(3, size=(1000, 8))).any()


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
def test_units_and_gaps_do_not_count(rng, factor):
    spoiled, bad = with_bad_rows(table(rng), rng)
    gaps = rng.random(spoiled.shape) < 0.05
    spoiled[gaps] = np.nan
    _, judgement = Judge.learn(factor * spoiled)
    assert np.mean(judgement.bad_rows[bad]) > 0.8
    assert np.mean(judgement.bad_rows[~bad]) < 0.02


@pytest.mark.parametrize("shape", [(99, 8), (600, 4)])
def test_too_few_rows_or_columns_say_nothing(rng, shape):
    assert not found(with_bad_rows(table(rng, *shape), rng)[0]).any()


def test_a_single_error_does_not_make_a_row_bad(rng):
    """Of two columns that are tied by an equation both are far off wherever one is wrong."""
    X = rng.normal(size=(1000, 6))
    X[:, 1] = 2.0 * X[:, 0] + 1e-4 * rng.normal(size=1000)
    wrong = rng.random(1000) < 0.15
    X[wrong, 0] = rng.permutation(X[:, 0])[wrong]
    assert not found(X).any()


def test_few_rows_of_noise_are_enough_where_columns_go_together(rng):
    X = rng.normal(size=(140, 2)) @ rng.normal(size=(2, 100)) + 0.01 * rng.normal(size=(140, 100))
    spoiled, bad = with_bad_rows(X, rng)
    assert bad.sum() < 10
    np.testing.assert_array_equal(found(spoiled), bad)


def test_errors_that_make_all_of_their_row_hard_are_not_the_row(rng):
    """Who hides the worst cell of such a row finds the others in order; a row of noise stays hard."""
    X = table(rng, 400, 8)
    X[np.arange(0, 400, 16), rng.integers(8, size=25)] = 30.0
    assert not found(X).any()


def test_rows_far_out_in_which_all_goes_together_are_not_bad(rng):
    """Samples of another kind are hard, and agree: rows of noise of the same size do not."""
    X = table(rng, 600, 30)
    spoiled, _ = with_bad_rows(X, rng)
    verdict = RowVerdict.learn(spoiled, np.isnan(spoiled))
    far, noise = 40.0 * X[:5] + rng.normal(size=(5, 30)), 40.0 * rng.normal(size=(50, 30))
    assert not verdict.bad(far, np.isnan(far)).any()
    assert verdict.bad(noise, np.isnan(noise)).mean() > 0.7


def test_in_a_sequence_neighbours_in_time_tell_what_a_bad_row_should_be(rng):
    """As much as the columns vary from row to row, nobody would tell without the relations."""
    steps = rng.normal(size=(800, 2)).cumsum(axis=0)
    X = steps @ rng.normal(size=(2, 10)) + 0.2 * rng.normal(size=(800, 10))
    spoiled, bad = with_bad_rows(X, rng)
    judge, judgement = Judge.learn(spoiled, Sequence.of(800), force_order=True)
    assert judge.rows.relations is not None
    assert judgement.bad_rows[bad].mean() > 0.9
    assert judgement.bad_rows[~bad].mean() < 0.01
    left = np.linalg.norm(judgement.repaired(spoiled) - X) / np.linalg.norm(spoiled - X)
    assert left < 0.3


def test_who_is_where_neighbours_in_time_are_is_not_noise(rng):
    """A stretch in which columns leave their relations, slowly, is a movement."""
    t = np.linspace(0.0, 40.0, 800)
    X = np.column_stack([np.sin(t + k) + 0.02 * rng.normal(size=800) for k in range(8)])
    smooth = rng.normal(size=(8, 8)).cumsum(axis=0)
    for k in range(8):
        X[400:440, k] += np.interp(np.arange(40), np.linspace(0, 40, 8), smooth[:, k] - smooth[0, k])
    _, judgement = Judge.learn(X, Sequence.of(800), force_order=True)
    assert not judgement.bad_rows.any()
