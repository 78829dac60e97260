"""Rows of which nothing fits."""

import numpy as np
import pytest

from rnlmf.opinions import Judge
from rnlmf.opinions.densities import Witness
from rnlmf.opinions.rows import RowVerdict


@pytest.fixture(scope="module")
def related():
    """Eight columns of two things that vary, and a little noise."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(600, 2)) @ rng.normal(size=(2, 8)) + 0.1 * rng.normal(size=(600, 8))


def test_rows_of_noise_are_named_left_alone_and_counted(related, rng):
    X, bad = related.copy(), np.arange(600) % 20 == 7
    X[bad] = X.mean(axis=0) + X.std(axis=0) * rng.normal(size=(30, 8))
    _, judgement = Judge.learn(X)
    assert np.mean(judgement.bad_rows[bad]) > 0.8
    assert np.mean(judgement.bad_rows[~bad]) < 0.02
    np.testing.assert_array_equal(judgement.repaired(X), X)
    truth = np.linalg.norm(X - related) / np.linalg.norm(related)
    assert 0.5 * truth < judgement.error_left(X) < 2.0 * truth


def test_nothing_is_bad_in_clean_rows(related):
    _, judgement = Judge.learn(related)
    assert not judgement.bad_rows.any()
    assert np.isnan(judgement.error_left(related))


def test_hard_rows_without_a_gap_are_not_bad(rng):
    """Their residuals are of all sizes: nobody can say where bad ones begin."""
    Z = rng.normal(size=(1000, 6)) * np.exp(rng.normal(size=(1000, 1)))
    judged, witness = np.ones(Z.shape, dtype=bool), Witness(np.zeros(Z.shape), np.ones(Z.shape))
    assert RowVerdict.learn(Z, judged, witness, np.ones(6)).least == np.inf


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
def test_units_do_not_count(rng, factor):
    Z = rng.normal(size=(400, 6))
    Z[::20] *= 20.0
    judged, witness = np.ones(Z.shape, dtype=bool), Witness(np.zeros(Z.shape), np.ones(Z.shape))
    unit = np.full(6, factor)
    found = RowVerdict.learn(factor * Z, judged, witness, unit).bad(factor * Z, judged, witness, unit)
    np.testing.assert_array_equal(np.flatnonzero(found), np.arange(0, 400, 20))


def test_too_few_cells_say_nothing():
    Z = np.zeros((100, 3))
    judged, witness = np.ones(Z.shape, dtype=bool), Witness(Z, Z + 1.0)
    rows = RowVerdict.learn(Z, judged, witness, np.ones(3))
    assert rows.least == np.inf
    assert not rows.bad(Z, judged, witness, np.ones(3)).any()
