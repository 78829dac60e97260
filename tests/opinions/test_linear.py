from dataclasses import replace

import numpy as np
import pytest

from rnlmf.opinions.folds import row_keys
from rnlmf.opinions.linear import LinearOpinion, row_weights


def conditional(opinion, row, hidden, j):
    """Mean and deviation of cell j given the others of its row that are not hidden."""
    covariance = np.linalg.inv(opinion.precision) * np.outer(opinion.scale, opinion.scale)
    others = [k for k in range(len(row)) if k != j and not hidden[k]]
    if not others:
        return opinion.mean[j], np.sqrt(covariance[j, j])
    weights = np.linalg.solve(covariance[np.ix_(others, others)], covariance[others, j])
    mean = opinion.mean[j] + weights @ (row[others] - opinion.mean[others])
    return mean, np.sqrt(covariance[j, j] - weights @ covariance[others, j])


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_predictions_are_conditional_normal_distributions(rng, share):
    n, m = 40, 5
    A = rng.normal(size=(m, m))
    far = np.full(m, 1e3)
    opinion = LinearOpinion(
        rng.normal(size=m), rng.uniform(0.5, 2.0, m), A @ A.T + 0.5 * np.eye(m), -far, far
    )
    Z = rng.normal(size=(n, m))
    hidden = rng.random((n, m)) < share
    if share:
        hidden[0] = True
    prediction, deviation = opinion.predict(Z, hidden)
    for i, j in np.ndindex(n, m):
        mean, size = conditional(opinion, Z[i], hidden[i], j)
        assert prediction[i, j] == pytest.approx(mean, abs=1e-8)
        assert deviation[i, j] == pytest.approx(size, rel=1e-6)


def test_a_prediction_sees_neither_its_cell_nor_hidden_ones(related, rng):
    hidden = rng.random(related.shape) < 0.2
    opinion = LinearOpinion.learn(related, hidden, np.arange(len(related)))
    before, _ = opinion.predict(related, hidden)
    other = np.where(hidden, related + 100.0, related)
    other[7, 2] += 3.0
    same = row_keys(other) == row_keys(related)
    assert same[7]
    after, _ = opinion.predict(other, hidden)
    assert after[7, 2] == pytest.approx(before[7, 2], abs=1e-9)
    same[7] = False
    np.testing.assert_array_equal(after[same], before[same])


def test_errors_in_a_row_do_not_make_a_relation_that_vouches_for_them(rng):
    """Forty columns that are exact but for a thousandth; one row has four errors."""
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 40)) + 1e-3 * rng.normal(size=(200, 40))
    X[0, :4] += [1.0, -1.0, 2.0, 1.5]
    hidden = np.zeros(X.shape, dtype=bool)
    opinion = LinearOpinion.learn(X, hidden, np.arange(len(X)))
    prediction, _ = opinion.predict(X, hidden)
    assert np.abs(prediction - X)[0, :4].min() > 0.2
    # Of new rows all relations are asked, which would not have known better here.
    whole = replace(opinion, folds=None, without=())
    assert np.abs(whole.predict(X, hidden)[0] - X)[0, :4].max() < 0.2


def test_rows_are_predicted_as_well_as_new_ones(rng):
    """With half as many columns as rows, relations know the rows that they were learned from."""
    X = rng.normal(size=(120, 30)) @ rng.normal(size=(30, 30))
    hidden = np.zeros((60, 30), dtype=bool)
    opinion = LinearOpinion.learn(X[:60], hidden, np.arange(60))
    own, others = (np.median(np.abs(opinion.predict(x, hidden)[0] - x)) for x in (X[:60], X[60:]))
    assert 0.7 < own / others < 1.4


def test_learns_the_regressions_also_where_cells_are_hidden(related, rng):
    nothing = np.zeros(related.shape, dtype=bool)
    order = np.arange(len(related))
    whole, _ = LinearOpinion.learn(related, nothing, order).predict(related, nothing)
    for j in range(related.shape[1]):
        others = np.column_stack([np.delete(related, j, axis=1), np.ones(len(related))])
        by_squares = others @ np.linalg.lstsq(others, related[:, j], rcond=None)[0]
        assert np.std(whole[:, j] - related[:, j]) < 1.1 * np.std(by_squares - related[:, j])
    gaps = rng.random(related.shape) < 0.2
    partly, _ = LinearOpinion.learn(related, gaps, order).predict(related, nothing)
    assert np.std(partly - related) < 1.15 * np.std(whole - related)


def test_a_hidden_cell_has_no_say_in_what_is_learned(related, rng):
    hidden = rng.random(related.shape) < 0.1
    order = np.arange(len(related))
    plain = LinearOpinion.learn(related, hidden, order)
    wild = LinearOpinion.learn(np.where(hidden, 1e6, related), hidden, order)
    np.testing.assert_allclose(wild.precision, plain.precision)
    np.testing.assert_allclose(wild.mean, plain.mean)


def test_constant_columns_and_a_column_that_is_hidden_altogether(related):
    Z = np.column_stack([related, np.zeros(len(related)), related[:, 0]])
    hidden = np.zeros(Z.shape, dtype=bool)
    hidden[:, -1] = True
    opinion = LinearOpinion.learn(Z, hidden, np.arange(len(Z)))
    prediction, deviation = opinion.predict(Z, hidden)
    assert np.all(np.isfinite(prediction))
    assert np.all(np.isfinite(deviation))
    np.testing.assert_allclose(prediction[:, -2:], 0.0, atol=1e-9)


def test_predictions_stay_near_what_a_column_has_shown(rng):
    Z = rng.normal(size=(300, 3))
    Z[:, 2] = Z[:, 0] + 0.1 * Z[:, 2]
    nothing = np.zeros(Z.shape, dtype=bool)
    opinion = LinearOpinion.learn(Z, nothing, np.arange(300))
    far = np.array([[1e6, 0.0, 0.0]])
    low, high = Z[:, 2].min(), Z[:, 2].max()
    assert high < opinion.predict(far, nothing[:1])[0][0, 2] <= high + 0.5 * (high - low) + 1e-9


def test_a_row_far_out_counts_as_a_usual_one(rng):
    """As a direction of its own it would predict what is wrong of it."""
    A = rng.normal(size=(200, 30))
    A[0] *= 50.0
    weights = row_weights(A, np.ones(A.shape))[:, 0]
    length = np.linalg.norm(A, axis=1) * np.sqrt(weights)
    np.testing.assert_array_equal(weights[1:], 1.0)
    assert length[0] == pytest.approx(2.0 * np.median(length), rel=0.05)
    assert np.all(row_weights(np.zeros((5, 3)), np.ones((5, 3))) == 1.0)


def test_hidden_large_values_do_not_spoil_the_relation(rng):
    """Where gaps are no chance, what is known of a column has another centre and spread."""
    a = rng.standard_normal(1000)
    Z = np.stack([a, a + 0.01 * rng.standard_normal(1000), *rng.standard_normal((3, 1000))], axis=1)
    hidden = np.zeros(Z.shape, dtype=bool)
    hidden[:, 1] = a > 1.0
    opinion = LinearOpinion.learn(Z, hidden, np.arange(1000))
    off = (opinion.predict(Z, hidden)[0] - Z)[hidden[:, 1], 1]
    assert np.sqrt(np.mean(off**2)) < 0.05


def test_what_is_missing_is_wanted(rng):
    """Of three cells tied by an equation two do not know each other, unless all know much better."""
    u, v = rng.normal(size=(2, 400))
    X = np.column_stack([u, v, u + v]) + 0.05 * rng.normal(size=(400, 3))
    opinion = LinearOpinion.learn(X, np.zeros(X.shape, dtype=bool), np.arange(400))
    gap = X[:2].copy()
    gap[0, 2] = np.nan
    _, usual = replace(opinion, folds=None, without=()).predict(X[:1], np.zeros((1, 3), dtype=bool))
    want = opinion.for_want(gap, usual[0])
    np.testing.assert_array_equal(want[1], 0.0)
    np.testing.assert_allclose(want[0, :2], X[:, :2].std(axis=0), rtol=0.1)
    np.testing.assert_array_equal(opinion.for_want(gap, 9.0 * usual[0]), want)
    np.testing.assert_allclose(opinion.for_want(gap, 0.1 * usual[0]), 0.1 * want)


def test_a_row_is_extreme_if_most_of_it_is(related):
    nothing = np.zeros(related.shape, dtype=bool)
    opinion = LinearOpinion.learn(related, nothing, np.arange(len(related)))
    far = np.full((1, related.shape[1]), 5.0)
    row = related[:1].copy()
    row[0, 2] = 50.0
    usual = opinion.extremity(related, nothing, related)
    assert np.all(opinion.extremity(row, nothing[:1], far) <= usual.max())
    extreme = opinion.extremity(far, nothing[:1], far)
    assert np.all(extreme > np.quantile(usual, 0.95))
    # What is hidden says nothing.
    hidden = np.zeros_like(nothing[:1])
    hidden[0, 2] = True
    row[0, 2] = np.nan
    assert np.all(np.isfinite(opinion.extremity(row, hidden, far)))
