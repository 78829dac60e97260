"""The probability that a pixel is wrong.

Values lie between two ends, where they pile up: black and white. A right value is Student's about its
prediction ``p`` with scale ``s``, cut off at the ends, so that an end has the whole tail beyond it as
its probability; nothing that is right lies beyond them. A wrong value has a distribution ``h`` of its
own over the ends and the bins between them, wherever it is: salt is white, a block is black. The share
``pi`` of wrong pixels is that of a pixel's neighbours, drawn to its row's own by a few pixels, as that
is to the share of all rows: the pixels of a block are wrong together. With ``F`` the probability of the
value's bin if right,

    P(wrong) = pi h / (pi h + (1 - pi) F),

``nu``, ``h`` and ``pi`` by expectation-maximisation, as in :mod:`~rnlmf.opinions.verdict`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import stdtr
from scipy.stats import t as student

from rnlmf.opinions.densities import student_density
from rnlmf.opinions.mixing import NORMAL_QUANTILE, QUANTILE
from rnlmf.opinions.pixel_scale import Scale
from rnlmf.typing import Array

FREEDOMS = (10.0, 4.0, 2.0, 1.0)
STEPS = 15
# Steps before a pixel's neighbours have a say.
OF_ROWS = 3
# These count as at most so many times the share of their row: a single stroke is no block.
MOST_BESIDE = 4.0
# Bins between the ends; their number is of no importance.
BINS = 16
# A row's own share of wrong pixels counts from so many pixels on. No row has more wrong than right.
OWN_PIXELS, MOST_WRONG = 10.0, 0.5
FIRST_SHARE = 0.05
# Every value is possible as an error, in this share of them.
ANYWHERE = 0.01
# Right values are not beyond the ends.
IMPOSSIBLE = 1e-9


@dataclass(frozen=True)
class PixelVerdict:
    """Degrees of freedom, shares of errors that lie in every bin, and of wrong pixels in all rows."""

    freedom: float
    values: Array
    share: float
    scale: Scale
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
        uniform = np.full(BINS + 2, 1.0 / (BINS + 2))
        best, likelihood = cls(FREEDOMS[0], uniform, FIRST_SHARE, scale, near), -np.inf
        for freedom in FREEDOMS:
            verdict = cls(freedom, uniform, FIRST_SHARE, scale, near)
            right = verdict._right(Z, prediction, deviation)
            gross = ~missing & scale.gross(Z - prediction)
            rows, bins, F = np.nonzero(gross)[0], verdict._bins(Z)[gross], right[gross]
            share, values = np.full(len(Z), FIRST_SHARE), uniform
            for _ in range(STEPS):
                P = _posterior(share[rows], values[bins], F)
                total, mean = float(P.sum()), float(P.sum()) / Z.size
                share = _shares(rows, P, mean, Z.shape)
                counts = np.bincount(bins, P, minlength=len(values)) + 1e-9
                values = (1.0 - ANYWHERE) * counts / counts.sum() + ANYWHERE * uniform
            value = float(np.log(share[rows] * values[bins] + (1.0 - share[rows]) * F).sum())
            value += float(np.log(right * (1.0 - share)[:, None])[~missing & ~gross].sum())
            if value > likelihood:
                best, likelihood = cls(freedom, values, total / Z.size, scale, near), value
        return best

    def probability(self, Z: Array, missing: Array, prediction: Array, deviation: Array) -> Array:
        """That cells are wrong; zero where they are missing or not far from their prediction."""
        gross = ~missing & self.scale.gross(Z - prediction)
        rows, values = np.nonzero(gross)[0], self.values[self._bins(Z)[gross]]
        right, share = self._right(Z, prediction, deviation)[gross], np.full(len(rows), FIRST_SHARE)
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

    def _bins(self, Z: Array) -> Array:
        """0 and the last are the ends."""
        low, high = self.scale.low, self.scale.high
        place = (np.nan_to_num(Z) - low) / max(high - low, 1e-12) * BINS
        inside = 1 + np.clip(place, 0, BINS - 1).astype(int)
        bins: Array = np.where(low >= Z, 0, np.where(high <= Z, BINS + 1, inside))
        return bins

    def _right(self, Z: Array, prediction: Array, deviation: Array) -> Array:
        """Probability of the bin of every value, if it is right."""
        stretch = float(student.ppf((1.0 + QUANTILE) / 2.0, self.freedom)) / NORMAL_QUANTILE
        relative = (Z - prediction) / deviation * stretch
        width = (self.scale.high - self.scale.low) / BINS
        right = student_density(relative, self.freedom) * (width * stretch / deviation)
        low, high = self.scale.low >= Z, self.scale.high <= Z
        right[low] = stdtr(self.freedom, relative[low])
        right[high] = stdtr(self.freedom, -relative[high])
        right[self.scale.beyond(Z)] = IMPOSSIBLE
        return np.maximum(right, 1e-300)


def _posterior(share: Array, wrong: Array, right: Array) -> Array:
    odds = share * wrong
    posterior: Array = odds / (odds + (1.0 - share) * right)
    return posterior


def _shares(rows: Array, P: Array, mean: float, shape: tuple[int, ...]) -> Array:
    """Every row's share of wrong pixels."""
    own = np.bincount(rows, P, minlength=shape[0])
    return np.clip((own + OWN_PIXELS * mean) / (shape[1] + OWN_PIXELS), 1e-6, MOST_WRONG)
