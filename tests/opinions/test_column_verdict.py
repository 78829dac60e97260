"""Errors of two sizes, one on either side of the predictions."""

import numpy as np

from rnlmf.opinions.column_verdict import ColumnVerdict
from rnlmf.opinions.densities import ColumnCells, Witness
from rnlmf.opinions.mixing import NORMAL_QUANTILE, QUANTILE
from rnlmf.opinions.verdict import MOST_OVER_USUAL, Verdict


def test_a_point_in_the_wrong_place(rng):
    """Ten times a value is far out, a tenth is not; it is no tail of the predictions either."""
    truth = 2.0 + 0.5 * rng.normal(size=3000)
    predicted = truth + 0.05 * rng.normal(size=3000)
    z = truth.copy()
    up, down = np.arange(0, 3000, 40), np.arange(20, 3000, 40)
    z[up], z[down] = 10.0 * truth[up], truth[down] / 10.0
    scale = np.full((1, 3000), 0.05)
    verdict, gain, gross = ColumnVerdict.learn(ColumnCells(z, predicted[None], scale))
    wrong = verdict.probability(ColumnCells(z, predicted[None], scale)) > 0.5
    assert gain > 0.0
    assert gross
    assert wrong[up].all()
    assert wrong[down].mean() > 0.98
    assert np.delete(wrong, np.r_[up, down]).mean() < 0.002


def test_no_column_has_far_more_errors_than_usual(rng):
    """One of six has surprises, a quarter of it, beside the errors that all have."""
    n, m = 2000, 6
    Z, scale = rng.normal(size=(n, m)) * 0.1, np.full((n, m), 0.1)
    wrong = rng.random((n, m)) < 0.05
    Z[wrong] += 4.0 * rng.normal(size=wrong.sum())
    surprises = rng.random(n) < 0.25
    Z[surprises, 0] += 2.0 * rng.normal(size=surprises.sum())
    verdict = Verdict.learn(Z, np.ones((n, m), dtype=bool), [Witness(np.zeros((n, m)), scale)])
    shares = np.array([column.share for column in verdict.columns])
    assert np.all(np.abs(shares[1:] - 0.05) < 0.02)
    assert shares[0] <= MOST_OVER_USUAL * np.median(shares) + 1e-9


def test_exact_predictions_are_no_tail(rng):
    """A sensor that repeats its value every other time: no tail that excuses every eighth error."""
    n = 2000
    right = np.where(rng.random(n) < 0.5, 0.0, 0.3 * rng.normal(size=n))
    wrong = rng.random(n) < 0.05
    z = right + wrong * rng.choice([-1.0, 1.0], n) * rng.uniform(2.0, 10.0, n)
    scale = np.full((1, n), np.quantile(np.abs(right), QUANTILE) / NORMAL_QUANTILE)
    cells = ColumnCells(z, np.zeros((1, n)), scale)
    peaked, *_ = ColumnVerdict.learn(cells)
    assert np.mean(peaked.probability(cells)[wrong] > 0.5) < 0.9
    verdict, _, gross = ColumnVerdict.learn(cells.without_peaks())
    assert gross
    found = verdict.probability(cells) > 0.5
    assert found[wrong].mean() > 0.95
    assert found[~wrong].mean() < 0.01


def test_peaks_are_those_of_no_tail(rng):
    """Normal and Cauchy residuals have none; half of them exact are one."""
    n = 2000
    nothing = np.zeros((1, n))
    for z in (rng.normal(size=n), rng.standard_cauchy(n)):
        scale = np.full((1, n), np.quantile(np.abs(z), QUANTILE) / NORMAL_QUANTILE)
        cells = ColumnCells(z, nothing, scale)
        assert cells.without_peaks() is cells
        cells = ColumnCells(np.where(rng.random(n) < 0.5, 0.0, z), nothing, scale)
        assert cells.without_peaks() is not cells
