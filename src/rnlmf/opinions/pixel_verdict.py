"""The probability that a pixel is wrong.

Right and wrong values have the distributions ``F`` and ``h`` of
:mod:`~rnlmf.opinions.pixel_densities`. The share ``pi`` of wrong pixels is that of a pixel's
neighbours, drawn to its row's own by a few pixels, as that is to the share of all rows: the pixels of a
block are wrong together. With ``F`` the probability of the value's bin if right,

    P(wrong) = pi h / (pi h + (1 - pi) F),

``nu``, ``h`` and ``pi`` by expectation-maximisation, as in :mod:`~rnlmf.opinions.verdict`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix

from rnlmf.opinions.pixel_densities import PixelDensities, no_values_yet, values_of
from rnlmf.opinions.pixel_scale import Scale
from rnlmf.typing import Array

# Deviations in which errors have a part are too large, and make right cells look like a sharp peak with
# heavy tails: heavier ones are made of errors.
FREEDOMS = (10.0, 4.0)
STEPS = 15
# Steps before a pixel's neighbours have a say.
OF_ROWS = 3
# These count as at most so many times the share of their row: a single stroke is no block.
MOST_BESIDE = 4.0
# A row's own share of wrong pixels counts from so many pixels on. No row has more wrong than right.
OWN_PIXELS, MOST_WRONG = 10.0, 0.5
FIRST_SHARE = 0.05
# What is added is of this share of the span at first.
FIRST_SIZE = 0.3


@dataclass(frozen=True, kw_only=True)
class PixelVerdict(PixelDensities):
    """Beside how likely values are: the share of wrong pixels in all rows, and who is near whom."""

    share: float
    near: Array

    @classmethod
    def learn(
        cls,
        Z: Array,
        missing: Array,
        prediction: Array,
        deviation: Array,
        scale: Scale,
        near: Array,
    ) -> PixelVerdict:
        """Of greatest likelihood for cells that are not missing, with rows' shares."""
        first = cls(
            freedom=FREEDOMS[0],
            values=no_values_yet(),
            share=FIRST_SHARE,
            scale=scale,
            near=near,
            size=FIRST_SIZE * scale.span,
        )
        best, likelihood = first, -np.inf
        gross = ~missing & scale.gross(Z - prediction)
        rows, bins, off = np.nonzero(gross)[0], first.bins(Z)[gross], (Z - prediction)[gross]
        for freedom in FREEDOMS:
            verdict, share = replace(first, freedom=freedom), np.full(len(Z), FIRST_SHARE)
            right = verdict.of_right(Z, prediction, deviation)
            F = right[gross]
            for _ in range(STEPS):
                of_value, added = verdict.of_wrong(off, bins)
                P = _posterior(share[rows], of_value + added, F)
                total = float(P.sum())
                share = _shares(rows, P, total / Z.size, Z.shape)
                A = P * added / (of_value + added)
                size = float(np.sqrt((A @ off**2 + 1e-9) / (A.sum() + 1e-9)))
                part = float(A.sum()) / max(total, 1e-9)
                verdict = replace(verdict, values=values_of(bins, P - A), added=part, size=size)
            wrong = np.sum(verdict.of_wrong(off, bins), axis=0)
            value = float(np.log(share[rows] * wrong + (1.0 - share[rows]) * F).sum())
            value += float(np.log(right * (1.0 - share)[:, None])[~missing & ~gross].sum())
            if value > likelihood:
                best, likelihood = replace(verdict, share=total / Z.size), value
        return best

    def probability(self, Z: Array, missing: Array, prediction: Array, deviation: Array) -> Array:
        """That cells are wrong; zero where they are missing or not far from their prediction."""
        gross = ~missing & self.scale.gross(Z - prediction)
        rows = np.nonzero(gross)[0]
        values = np.sum(self.of_wrong((Z - prediction)[gross], self.bins(Z)[gross]), axis=0)
        right, share = self.of_right(Z, prediction, deviation)[gross], np.full(len(rows), FIRST_SHARE)
        m, count = Z.shape[1], self.near.shape[1]
        beside = csr_matrix(
            (np.ones(self.near.size), self.near.ravel(), np.arange(0, self.near.size + 1, count)),
            shape=(m, m),
        )
        probability = np.zeros(Z.shape)
        for step in range(STEPS):
            P = _posterior(share, values, right)
            probability[gross] = P
            share = _shares(rows, P, self.share, Z.shape)[rows]
            if step >= OF_ROWS:
                around = (beside @ probability.T).T[gross]
                beside_it = np.minimum(around, MOST_BESIDE * count * share)
                share = (beside_it + OWN_PIXELS * share) / (count + OWN_PIXELS)
                share = np.clip(share, 1e-6, MOST_WRONG)
        return probability


def _posterior(share: Array, wrong: Array, right: Array) -> Array:
    odds = share * wrong
    posterior: Array = odds / (odds + (1.0 - share) * right)
    return posterior


def _shares(rows: Array, P: Array, mean: float, shape: tuple[int, ...]) -> Array:
    """Every row's share of wrong pixels."""
    own = np.bincount(rows, P, minlength=shape[0])
    return np.clip((own + OWN_PIXELS * mean) / (shape[1] + OWN_PIXELS), 1e-6, MOST_WRONG)
