import importlib.util

import numpy as np
import pytest

from rnlmf.opinions import similar
from rnlmf.opinions.similar import SimilarRows, _nearest


@pytest.fixture
def circle(rng):
    """Columns that say everything of each other, but not linearly."""
    angle = rng.uniform(0.0, 2 * np.pi, 400)
    return np.column_stack([f(k * angle) for k in (1, 2) for f in (np.cos, np.sin)])


def test_similar_rows_know_what_lines_cannot(circle):
    hidden = np.zeros(circle.shape, dtype=bool)
    model = SimilarRows.learn(circle, hidden, np.arange(len(circle)))
    prediction, spread = model.predict(circle, hidden)
    error = np.abs(prediction - circle)
    assert np.median(error) < 0.05
    # They know where they are unsure.
    sure = spread < np.median(spread)
    assert error[sure].mean() < error[~sure].mean()


def test_no_cell_is_a_witness_of_itself(circle):
    hidden = np.zeros(circle.shape, dtype=bool)
    order = np.arange(len(circle))
    before, _ = SimilarRows.learn(circle, hidden, order).predict(circle, hidden)
    other = circle.copy()
    other[11, 2] += 2.0
    after, _ = SimilarRows.learn(other, hidden, order).predict(other, hidden)
    assert after[11, 2] == pytest.approx(before[11, 2], abs=1e-6)


@pytest.mark.parametrize("then", [False, True])
def test_no_row_is_its_own_witness_whatever_was_hidden_in_it(circle, then):
    """Also where other cells were hidden, or had other values, when the rows were learned."""
    some, nothing = np.zeros(circle.shape, dtype=bool), np.zeros(circle.shape, dtype=bool)
    some[:, 0] = True
    first, second = (some, nothing) if then else (nothing, some)

    def predicted(X):
        rows = [np.where(hidden, 0.1, X) for hidden in (first, second)]
        return SimilarRows.learn(rows[0], first, np.arange(len(X))).predict(rows[1], second)[0]

    other = circle.copy()
    other[11, 2] += 2.0
    assert predicted(other)[11, 2] == pytest.approx(predicted(circle)[11, 2], abs=1e-6)


def test_hidden_cells_of_others_hardly_count(circle, rng):
    hidden = rng.random(circle.shape) < 0.1
    nonsense = np.where(hidden, 4.0, circle)
    order = np.arange(len(circle))
    prediction, _ = SimilarRows.learn(nonsense, hidden, order).predict(circle, hidden)
    clean, _ = SimilarRows.learn(circle, hidden, order).predict(circle, hidden)
    assert np.median(np.abs(prediction - circle)) < 2.0 * np.median(np.abs(clean - circle))


def test_new_rows_are_treated_one_by_one(circle):
    hidden = np.zeros(circle.shape, dtype=bool)
    model = SimilarRows.learn(circle[:300], hidden[:300], np.arange(300))
    whole, spread = model.predict(circle[300:], hidden[300:])
    for i in (0, 50):
        one = slice(300 + i, 301 + i)
        prediction, deviation = model.predict(circle[one], hidden[one])
        np.testing.assert_allclose(prediction[0], whole[i], atol=1e-6)
        np.testing.assert_allclose(deviation[0], spread[i], atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_rows(n, rng):
    Z = rng.normal(size=(n, 3))
    hidden = np.zeros(Z.shape, dtype=bool)
    prediction, spread = SimilarRows.learn(Z, hidden, np.arange(n)).predict(Z, hidden)
    assert np.all(np.isfinite(prediction))
    assert np.all(np.isfinite(spread))


def test_the_nearest_are_those_of_a_sort(rng):
    distances = rng.gamma(2.0, size=(50, 300)).astype(np.float32)
    found = _nearest(distances, 11)
    expected = np.argsort(distances, axis=1)[:, :11]
    np.testing.assert_array_equal(np.sort(found, axis=1), np.sort(expected, axis=1))
    # Of equal ones the first.
    assert sorted(_nearest(np.zeros((1, 40), np.float32), 5)[0]) == [0, 1, 2, 3, 4]


@pytest.mark.skipif(not importlib.util.find_spec("numba"), reason="numba is absent")
@pytest.mark.parametrize("shape", [(700, 9), (60, 3), (2, 4), (40, 1)])
def test_compiled_means_are_those_of_numpy(shape, rng, monkeypatch):
    X, hidden = np.round(rng.normal(size=shape), 1), rng.random(shape) < 0.2
    model = SimilarRows.learn(X, hidden, np.arange(len(X)))
    asked = np.vstack([X, X + rng.normal(size=shape) * (rng.random(shape) < 0.3)])
    gaps = np.vstack([hidden, rng.random(shape) < 0.2])
    compiled = model.predict(asked, gaps)
    monkeypatch.setattr(similar, "_compiled_means", lambda: None)
    for one, other in zip(compiled, model.predict(asked, gaps), strict=True):
        same = np.isclose(one, other, rtol=1e-4, atol=1e-4)
        # Who of several that are as near, or as alike, is left out is a matter of their order.
        assert same.mean() > 0.95
