"""Columns that have a few values only: what is none of them is seldom right.

A number of rooms, a grade, a count that is nearly always zero: each value returns again and again. Of a
value that does not, nobody knows by the column alone whether it is a rare event or an error, and no
scale tells how far off it is, for right cells are hardly ever off. But where most columns have errors,
this one has its share, too. If values that no other row has, or far beyond those that return, are no
more than that share of its cells, they are the errors; if they are more, rare events are among them.
Errors that have the value of another row make no new ones, and do not count; where nearly all are of
that kind, nobody knows that any is new.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rnlmf.opinions.columns import COMMON_SHARE, FEWEST_COMMON, Columns
from rnlmf.opinions.evidence import ERRORS
from rnlmf.opinions.verdict import Verdict
from rnlmf.typing import Array

# The least share of the errors, in the middle of the columns, that must be new.
LEAST_NEW = 0.25


def with_levels(columns: Columns, X: Array, verdict: Verdict) -> Columns:
    """With levels where the others of a column are as many as its errors should be; else the same.

    Columns that tell errors themselves are left to their own verdict, those with levels keep them.
    """
    told = [c for c in verdict.columns if c.share > 0.0]
    if not verdict.in_company or np.median([c.new for c in told]) < LEAST_NEW:
        return columns
    usual = float(np.median([c.share * c.new for c in told]))
    levels = list(columns.levels or [np.empty(0)] * X.shape[1])
    asked = [j for j, own in enumerate(verdict.columns) if own.share == 0.0 and not len(levels[j])]
    for j in asked:
        levels[j] = _levels(X[~np.isnan(X[:, j]), j], usual)
    return replace(columns, levels=tuple(levels)) if any(len(levels[j]) for j in asked) else columns


def _levels(values: Array, usual: float) -> Array:
    """Values that return, or are seen twice among them, unless too many are neither."""
    distinct, counts = np.unique(values, return_counts=True)
    often = distinct[counts >= max(COMMON_SHARE * len(values), FEWEST_COMMON)]
    if len(often) < 2:
        return np.empty(0)
    beyond = np.maximum(often[0] - distinct, distinct - often[-1])
    found = (counts > 1) & (beyond <= often[-1] - often[0])
    most = usual * len(values) + ERRORS * np.sqrt(usual * (1.0 - usual) * len(values))
    return distinct[found] if 0 < counts[~found].sum() <= most else np.empty(0)
