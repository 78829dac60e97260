import numpy as np
import pytest

from rnlmf.engine import batches
from rnlmf.engine.batches import canonical_order, evenly_drawn, shuffled_batches, some_rows
from rnlmf.engine.source import RowSource


class Rows(RowSource):
    """An array that is read by slices only."""

    def __init__(self, X):
        self.X, self.shape, self.dtype = X, X.shape, X.dtype

    def read(self, rows):
        return self.X[rows].copy()


@pytest.mark.parametrize("kind", [np.asarray, Rows])
def test_every_row_comes_once(kind, monkeypatch, rng):
    monkeypatch.setattr(batches, "BUFFER_BYTES", 8 * 2 * 100)
    monkeypatch.setattr(batches, "RUN_BYTES", 8 * 2 * 7)
    X = np.arange(2000.0).reshape(1000, 2)
    found = list(shuffled_batches(kind(X), 30, np.random.RandomState(0)))
    assert {len(batch) for batch in found[:-1]} == {30}
    rows = np.concatenate(found)[:, 0]
    # The last ten are less than half a batch.
    assert len(rows) == 990
    assert len(np.unique(rows)) == 990
    assert abs(np.corrcoef(rows, np.arange(len(rows)))[0, 1]) < 0.2


@pytest.mark.parametrize("kind", [np.asarray, Rows])
def test_less_than_a_batch_is_one(kind):
    X = np.arange(20.0).reshape(10, 2)
    (batch,) = shuffled_batches(kind(X), 64, np.random.RandomState(0))
    np.testing.assert_array_equal(np.sort(batch[:, 0]), X[:, 0])


def test_some_rows_are_the_same_from_anywhere():
    X = np.arange(2000.0).reshape(1000, 2)
    found = [some_rows(kind(X), 50, np.random.RandomState(3)) for kind in (np.asarray, Rows)]
    np.testing.assert_array_equal(*found)
    assert found[0].shape == (50, 2)


def test_the_canonical_order_is_that_of_the_rows_content(rng):
    Z = rng.normal(size=(40, 3))
    Z[5, 1] = np.nan
    shuffled = rng.permutation(40)
    np.testing.assert_array_equal(Z[canonical_order(Z)], Z[shuffled][canonical_order(Z[shuffled])])


def test_small_sources_are_shuffled_as_a_whole():
    """Of rows in the order of their runs the first batch would be of few runs."""
    X = np.arange(6000.0).reshape(3000, 2)
    source = Rows(X)
    source.pieces = lambda: [slice(a, a + 100) for a in range(0, 3000, 100)]
    first = next(shuffled_batches(source, 100, np.random.RandomState(0)))
    assert len(np.unique(first[:, 0] // 200)) > 15


@pytest.mark.parametrize(("n", "left"), [(9, 9), (10, 10), (11, 6), (20, 10), (21, 7), (100, 10)])
def test_rows_are_drawn_evenly_whatever_their_order(n, left, rng):
    X = rng.normal(size=(n, 3))
    drawn = evenly_drawn(X, 10)
    assert len(drawn) == left
    # In their own order, and the same ones from any order.
    places = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in drawn]
    assert places == sorted(places)
    others = evenly_drawn(X[rng.permutation(n)], 10)
    np.testing.assert_array_equal(np.sort(others, axis=0), np.sort(drawn, axis=0))
