"""Values that are dealt out are told by all columns together, and by nothing else."""

import numpy as np
import pytest

from rnlmf.opinions import Judge
from rnlmf.opinions.densities import ColumnCells, Witness
from rnlmf.opinions.together import dealt_together
from rnlmf.opinions.verdict import Dealing, Verdict


def weakly_related(n, m, noise, seed=0):
    """Each column is predicted by the others with an error of about half its deviation."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, 3))
    return factors @ rng.normal(size=(3, m)) + noise(rng, (n, m))


def normal(rng, shape):
    return 0.6 * rng.normal(size=shape)


def heavy(rng, shape):
    return 0.4 * rng.standard_t(3.0, size=shape)


def stepped(rng, shape):
    return rng.choice([-0.8, 0.0, 0.8], size=shape)


def swapped(X, share, rng):
    others = np.stack([rng.permutation(column) for column in X.T], axis=1)
    return np.where(rng.random(X.shape) < share, others, X)


def anywhere(X, share, rng):
    values = rng.uniform(X.min(axis=0), X.max(axis=0), X.shape)
    return np.where(rng.random(X.shape) < share, values, X)


@pytest.mark.parametrize("noise", [normal, heavy, stepped])
@pytest.mark.parametrize("seed", [0, 1])
def test_right_cells_of_any_shape_come_back_to_the_bit(noise, seed):
    X = weakly_related(500, 12, noise, seed)
    np.testing.assert_array_equal(Judge.learn(X)[1].repaired(X), X)


@pytest.mark.parametrize("seed", [0, 1])
def test_values_of_other_rows_are_found_though_no_column_tells_them(seed):
    X = weakly_related(500, 16, normal, seed)
    N = swapped(X, 0.1, np.random.default_rng(seed))
    judgement = Judge.learn(N)[1]
    wrong = N != X
    gross = np.abs(N - X) > 2.0 * X.std(axis=0)
    assert np.mean(judgement.wrong[gross]) > 0.4
    assert np.mean(judgement.wrong[~wrong]) < 0.01
    assert np.std(judgement.repaired(N) - X) < 0.8 * np.std(N - X)


def test_one_share_for_all_columns():
    X = weakly_related(600, 10, normal)
    rng = np.random.default_rng(3)
    N = np.where(rng.random(X.shape) < 0.1, rng.permutation(X.ravel()).reshape(X.shape), X)
    cells = [
        ColumnCells(z, (x - 0.3 * e)[None], np.full((1, 600), 0.3))
        for z, x, e in zip(N.T, X.T, rng.normal(size=X.shape).T, strict=True)
    ]
    found = dealt_together(cells, list(N.T))
    assert found is not None
    assert len({column.share for column in found}) == 1
    assert 0.05 <= found[0].share <= 0.14


def test_a_few_columns_of_an_odd_shape_decide_nothing():
    rng = np.random.default_rng(4)
    prediction = rng.normal(size=(600, 12))
    X = prediction + 0.3 * rng.normal(size=prediction.shape)
    X[:, :2] = anywhere(X[:, :2], 0.3, rng)
    cells = [
        ColumnCells(z, p[None], np.full((1, 600), 0.3)) for z, p in zip(X.T, prediction.T, strict=True)
    ]
    assert dealt_together(cells, list(X.T)) is None
    X = anywhere(X, 0.1, rng)
    cells = [
        ColumnCells(z, p[None], np.full((1, 600), 0.3)) for z, p in zip(X.T, prediction.T, strict=True)
    ]
    found = dealt_together(cells, list(X.T))
    assert found is not None
    assert all(column is not None and column.values.flat for column in found[2:])
    # They have far more than the others, of another kind.
    assert found[:2] == [None, None]


def test_few_columns_are_not_judged_together():
    rng = np.random.default_rng(5)
    prediction = rng.normal(size=(600, 4))
    X = anywhere(prediction + 0.2 * rng.normal(size=prediction.shape), 0.2, rng)
    cells = [
        ColumnCells(z, p[None], np.full((1, 600), 0.2)) for z, p in zip(X.T, prediction.T, strict=True)
    ]
    assert dealt_together(cells, list(X.T)) is None


def test_columns_with_far_more_errors_tell_them_by_themselves():
    """A slip of the point is plain where values are far from zero."""
    rng = np.random.default_rng(6)
    prediction = rng.normal(size=(600, 12))
    X = prediction + 0.3 * rng.normal(size=prediction.shape)
    X[:, 2:] = anywhere(X[:, 2:], 0.1, rng)
    plain = rng.random((600, 2)) < 0.2
    X[:, :2] += np.where(plain, 20.0, 0.0)
    judged = np.ones(X.shape, dtype=bool)
    witnesses = [Witness(prediction, np.full(X.shape, 0.3))]
    verdict = Verdict.learn(X, judged, witnesses, dealing=Dealing.TOGETHER)
    assert verdict.together
    probability = verdict.probability(X, judged, witnesses)
    assert np.all(probability[:, :2][plain] > 0.5)
    assert np.mean(probability[:, :2][~plain] > 0.5) < 0.02
