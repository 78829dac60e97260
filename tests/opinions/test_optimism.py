"""How far relations between columns hold where they were not learned."""

import numpy as np

from rnlmf.opinions.columns import Columns
from rnlmf.opinions.optimism import FEW, USUAL, with_optimism
from rnlmf.opinions.temporal import Sequence


def slow(rng, n, m):
    """Columns that have nothing to do with each other, and hardly move from row to row."""
    return np.cumsum(rng.normal(size=(n, m)), axis=0)


def sobered(X):
    columns = Columns.of(X)
    Z, hidden = columns.scaled(X), np.zeros(X.shape, dtype=bool)
    return with_optimism(columns, Z, hidden, ~hidden, Sequence.of(len(X))).optimism


def test_relations_of_slow_columns_do_not_hold_elsewhere(rng):
    assert np.median(sobered(slow(rng, 150, 10))) > USUAL


def test_relations_that_hold_everywhere_are_believed(rng):
    latent = slow(rng, 200, 2)
    X = latent @ rng.normal(size=(2, 10)) + 0.01 * rng.normal(size=(200, 10))
    np.testing.assert_array_equal(sobered(X), 1.0)


def test_of_many_rows_and_of_rows_without_an_order_nothing_is_asked(rng):
    assert sobered(rng.normal(size=(FEW * 2 + 1, 2))) is None
    X = slow(rng, 100, 5)
    columns, hidden = Columns.of(X), np.zeros(X.shape, dtype=bool)
    assert with_optimism(columns, columns.scaled(X), hidden, ~hidden, None) is columns
