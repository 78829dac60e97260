"""Errors that are all alike fit each other wherever two of them meet."""

import numpy as np

from rnlmf.opinions import Judge


def tied_columns(rng, n=1000):
    """Two columns of which one is twice the other, and three that tell them less well."""
    level = 10.0 + rng.normal(size=n)
    others = level[:, None] * [1.0, -1.0, 0.5] + 0.7 * rng.normal(size=(n, 3))
    return np.column_stack([level, 2.0 * level + 0.01 * rng.normal(size=n), others])


def test_zeros_that_meet_by_chance_do_not_vouch_for_each_other(rng):
    X = tied_columns(rng)
    noisy = np.where(rng.random(X.shape) < 0.1, 0.0, X)
    both = (noisy[:, 0] == 0.0) & (noisy[:, 1] == 0.0)
    assert both.sum() >= 3
    _, judgement = Judge.learn(noisy)
    assert judgement.wrong[both, :2].mean() > 0.9


def test_a_movement_of_two_columns_is_no_error(rng):
    X = tied_columns(rng)
    X[::50, 0] += 6.0
    X[::50, 1] += 12.0
    noisy = X + np.where(rng.random(X.shape) < 0.03, rng.uniform(20.0, 40.0, X.shape), 0.0)
    moved = np.zeros(X.shape, dtype=bool)
    moved[::50, :2] = True
    _, judgement = Judge.learn(noisy)
    assert judgement.wrong[moved & (noisy == X)].mean() < 0.1
