"""Suspects in similar rows that agree are no errors."""

import numpy as np
import pytest

from helpers import table_of
from rnlmf.opinions import Judge, Sequence, kindred
from rnlmf.opinions.kindred import with_kin


@pytest.fixture(scope="module")
def related():
    return table_of(800, 6)


def a_group(X):
    """Rows of one corner of the table."""
    return np.flatnonzero(X[:, 1] > np.quantile(X[:, 1], 0.95))


def spoiled(X, rows, off):
    wrong = np.zeros(X.shape, dtype=bool)
    wrong[rows, 0] = True
    return X + np.where(wrong, off, 0.0), wrong


def test_a_group_of_similar_rows_that_is_elsewhere_has_kin(related, rng):
    rows = a_group(related)
    Z, wrong = spoiled(related, rows, (4.0 + 0.1 * rng.normal(size=800))[:, None])
    found = with_kin(Z, wrong, related, None)
    assert found[rows, 0].mean() > 0.8
    assert not found[:, 1:].any()


@pytest.mark.parametrize("alike", [True, False])
def test_errors_anywhere_have_none(related, rng, alike):
    """Neither if they are all off by the same, nor otherwise."""
    rows = rng.permutation(800)[:60]
    off = 4.0 if alike else rng.normal(0.0, 4.0, size=(800, 1))
    Z, wrong = spoiled(related, rows, off)
    assert not with_kin(Z, wrong, related, None).any()


def test_errors_of_a_group_that_do_not_agree_have_none(related, rng):
    Z, wrong = spoiled(related, a_group(related), rng.normal(0.0, 4.0, size=(800, 1)))
    assert not with_kin(Z, wrong, related, None).any()


def test_the_order_of_rows_of_a_table_does_not_matter(related, rng):
    Z, wrong = spoiled(related, a_group(related), (4.0 + 0.3 * rng.normal(size=800))[:, None])
    order = rng.permutation(800)
    found = with_kin(Z, wrong, related, None)
    np.testing.assert_array_equal(with_kin(Z[order], wrong[order], related[order], None), found[order])


def test_rows_of_a_sequence_are_no_kin_of_those_beside_them(rng):
    """A sensor that is off for a while is wrong in rows that are alike."""
    t = np.linspace(0.0, 40.0, 1000)
    X = np.column_stack([np.sin(t), np.cos(t), np.sin(2 * t)])
    Z, wrong = spoiled(X, np.arange(300, 320), 5.0)
    assert not with_kin(Z, wrong, X, Sequence.of(1000)).any()


def test_a_short_sequence_has_no_row_far_enough_away(monkeypatch):
    """However few kin would do."""
    monkeypatch.setattr(kindred, "BEYOND_CHANCE", 0.0)
    monkeypatch.setattr(kindred, "CHANCE_CELLS", 0)
    t = np.linspace(0.0, 4.0, 60)
    X = np.column_stack([np.sin(t), np.cos(t), np.sin(2 * t)])
    Z, wrong = spoiled(X, np.arange(8), 5.0)
    assert not with_kin(Z, wrong, X, Sequence.of(60)).any()


def test_many_rows_are_judged_by_some_of_them(rng):
    X = table_of(5000, 5)
    rows = a_group(X)
    Z, wrong = spoiled(X, rows, (4.0 + 0.1 * rng.normal(size=5000))[:, None])
    assert with_kin(Z, wrong, X, None)[rows, 0].mean() > 0.8


def test_a_group_that_nobody_has_learned_comes_back_to_the_bit(related):
    X = related.copy()
    X[a_group(X), 0] += 4.0
    _, judgement = Judge.learn(X)
    np.testing.assert_array_equal(judgement.repaired(X), X)
