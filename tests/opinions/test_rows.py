"""Rows of which nothing fits."""

import numpy as np
import pytest

from rnlmf.opinions import Judge
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
