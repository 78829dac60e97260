"""Rows of a sequence in which most is wrong: as a whole, or by chance.

A gust of interference, or another sensor's record, spoils a row as a whole: of such a row only its
neighbours in time know what it should be, and what happens to look right in it is as wrong as the rest.
But where errors are dealt to cells, and columns are few, some rows have many by chance, and the rest of
these is right. Neighbours in time judge every cell by itself: with probability ``P_ij`` it is wrong.
If that is so of the share ``pi_j`` of a column, and ``rho`` of the rows are wrong as a whole, the odds
that row ``i`` is one of them are

    rho / (1 - rho) prod_j P_ij / pi_j

with ``rho`` of greatest likelihood. In the other rows, too, so few right cells are left that fellows
mislead: those are wrong that neighbours in time call wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from rnlmf.opinions.densities import Witness, distance_in_scales
from rnlmf.opinions.panel import BAD_ROW, BY_TIME, mostly_hidden
from rnlmf.opinions.verdict import Verdict
from rnlmf.typing import Array

# Steps in which the share of rows that are wrong as a whole is found, and the smallest.
STEPS, SMALLEST = 10, 1e-6
# Where so many rows are wrong as a whole, others as far from their neighbours are, too; unless they are
# more than this share of them.
FEWEST_BAD_ROWS, FIT_BY_CHANCE = 5, 0.25
# Fellows do not vouch for what neighbours in time are so many scales away from.
CONTRADICTED = 6.0


class ManyErrors(NamedTuple):
    """Rows in which most is wrong, and which of their cells are."""

    there: Array
    wrong: Array

    @classmethod
    def among(
        cls,
        Z: Array,
        wrong: Array,
        always: Array,
        hidden: Array,
        judged: Array,
        witnesses: list[Witness],
        verdict: Verdict,
    ) -> ManyErrors:
        """Of rows with `wrong` cells; some are `always`, and rows may be `hidden` as a whole by now."""
        if len(witnesses) == 1:
            return cls(np.zeros(len(Z), dtype=bool), wrong)
        # Right cells that are hidden yet blur the verdict: to stay bad, half as much must be wrong.
        still = hidden.all(axis=1) & (wrong.mean(axis=1) > BAD_ROW / 2.0)
        there, missing = mostly_hidden(wrong) | still, mostly_hidden(always)
        if not np.any(there & ~missing):
            return cls(there, wrong | there[:, None])
        alone = verdict.probability(Z, judged, [witnesses[BY_TIME]] * len(witnesses))
        evidence, share = verdict.evidence_of_rows(alone, judged), float(there.mean())
        for _ in range(STEPS):
            whole = np.where(there, expit(evidence + logit(share)), 0.0)
            share = min(max(float(whole.mean()), SMALLEST), BAD_ROW)
        all_of_it = ((whole > 0.5) | missing)[:, None]
        return cls(there, all_of_it | always | (alone > 0.5))


def like_bad_rows(Z: Array, wrong: Array, judged: Array, witnesses: list[Witness]) -> Array:
    """Cells of rows that leave their neighbours in time as far as rows do that are wrong as a whole.

    Of such rows a few fit what fellows know by chance. Where many do, they are events.
    """
    found = np.zeros(wrong.shape, dtype=bool)
    bad = mostly_hidden(wrong)
    if len(witnesses) == 1 or bad.sum() < FEWEST_BAD_ROWS:
        return found
    distance = np.where(judged, distance_in_scales(Z, witnesses[BY_TIME]), 0.0)
    of_rows = np.median(distance, axis=1)
    farther = of_rows > np.quantile(of_rows[bad], 0.5)
    alike = farther & ~bad
    if alike.sum() <= FIT_BY_CHANCE * np.sum(farther & bad):
        found[alike] = judged[alike] & (distance[alike] > CONTRADICTED)
    return found
