import tracemalloc
import weakref

import numpy as np
import pytest

from rnlmf.engine import batches
from rnlmf.engine.batches import canonical_order, drawn, evenly_drawn, shuffled_batches, some_rows
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


def test_rows_that_wait_to_be_shuffled_keep_nothing_else_in_memory(monkeypatch):
    """A file is decoded in groups of rows, and what is read is a part of one."""
    monkeypatch.setattr(batches, "RUN_BYTES", 800)
    monkeypatch.setattr(batches, "BUFFER_BYTES", 80_000)
    alive, most = weakref.WeakSet(), 0

    class Group(np.ndarray):
        __hash__ = object.__hash__

    class Grouped(Rows):
        def read(self, rows):
            nonlocal most
            group = self.X[rows].copy().view(Group)
            alive.add(group)
            most = max(most, len(alive))
            return group

    X = np.arange(20_000.0).reshape(-1, 10)
    found = np.concatenate(list(shuffled_batches(Grouped(X), 100, np.random.RandomState(0))))
    np.testing.assert_array_equal(np.sort(found[:, 0]), X[:, 0])
    assert most <= 2


@pytest.mark.parametrize("n", [500, 5_000_000])
def test_numbers_that_are_drawn_are_different_and_from_anywhere(n):
    rows = drawn(n, 400, np.random.RandomState(0))
    assert len(rows) == 400
    assert (np.diff(rows) > 0).all()
    assert rows[0] >= 0
    assert rows[-1] < n
    assert abs(rows.mean() / n - 0.5) < 0.05


def test_a_few_of_very_many_take_no_memory():
    tracemalloc.start()
    drawn(20_000_000, 2000, np.random.RandomState(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


@pytest.mark.parametrize(("n", "left"), [(9, 9), (10, 10), (11, 6), (20, 10), (21, 7), (100, 10)])
def test_rows_are_drawn_evenly_whatever_their_order(n, left, rng):
    X = rng.normal(size=(n, 3))
    some = evenly_drawn(X, 10)
    assert len(some) == left
    # In their own order, and the same ones from any order.
    places = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in some]
    assert places == sorted(places)
    others = evenly_drawn(X[rng.permutation(n)], 10)
    np.testing.assert_array_equal(np.sort(others, axis=0), np.sort(some, axis=0))
