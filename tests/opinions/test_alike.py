"""Errors that are all alike fit each other wherever two of them meet."""

import numpy as np

from rnlmf.opinions.columns import Columns
from rnlmf.opinions.panel import Panel
from rnlmf.opinions.settling import vouched_for
from rnlmf.opinions.verdict import Verdict


def excused(X, suspects):
    columns = Columns.of(X)
    Z, judged = columns.scaled(X), np.ones(X.shape, dtype=bool)
    panel, witnesses = Panel.learn(Z, suspects, judged, columns, None)
    verdict = Verdict.learn(Z, judged, witnesses)
    some = suspects.astype(float), judged, ~judged, witnesses, verdict, None
    return vouched_for(panel.fellows, Z, *some)


def tied_columns(rng, n=600):
    """Two columns of which one is nearly the other, and three of which none tells much."""
    X = rng.normal(size=(n, 5))
    X[:, :2] = 10.0 + X[:, :1] + 0.01 * X[:, 1:2]
    return X


def test_zeros_that_meet_by_chance_do_not_vouch_for_each_other(rng):
    X, suspects = tied_columns(rng), np.zeros((600, 5), dtype=bool)
    suspects[:, :2] = rng.random((600, 2)) < 0.12
    assert suspects[:, :2].all(axis=1).sum() > 3
    assert not excused(np.where(suspects, 0.0, X), suspects).any()
