"""Values that return: states stay, errors dealt at random do not."""

import numpy as np
import pytest

from helpers import table_of
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
