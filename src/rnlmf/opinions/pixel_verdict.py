"""The probability that a pixel is wrong.

Values lie between two ends, where they pile up: black and white. A right value is Student's about its
prediction ``p`` with scale ``s``, cut off at the ends, so that an end has the whole tail beyond it as
its probability; nothing that is right lies beyond them. A wrong value has a distribution of its own
over the ends and the bins between them, wherever it is: salt is white, a block is black. Or something
was added to what is right: then it is normal about its prediction, with a deviation ``S`` that all
pixels share. ``h`` is a mixture of both. The share ``pi`` of wrong pixels is that of a pixel's
neighbours, drawn to its row's own by a few pixels, as that is to the share of all rows: the pixels of a
block are wrong together. With ``F`` the probability of the value's bin if right,

    P(wrong) = pi h / (pi h + (1 - pi) F),

``nu``, ``h`` and ``pi`` by expectation-maximisation, as in :mod:`~rnlmf.opinions.verdict`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import ndtr, stdtr
from scipy.stats import t as student

from rnlmf.opinions.densities import student_density
from rnlmf.opinions.mixing import NORMAL_QUANTILE, QUANTILE
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
# Bins between the ends; their number is of no importance.
BINS = 16
# A row's own share of wrong pixels counts from so many pixels on. No row has more wrong than right.
OWN_PIXELS, MOST_WRONG = 10.0, 0.5
FIRST_SHARE = 0.05
# What is added is of this share of the span at first.
FIRST_SIZE = 0.3
# Every value is possible as an error, in this share of them.
ANYWHERE = 0.01
# Right values are not beyond the ends.
IMPOSSIBLE = 1e-9


@dataclass(frozen=True)
class PixelVerdict:
    """Degrees of freedom, shares of errors that lie in every bin, and of wrong pixels in all rows.

    Of the errors the share `added` is added to what is right, with the deviation `size`.
    """

    freedom: float
    values: Array
    share: float
    scale: Scale
    near: Array
    added: float = 0.5
    size: float = 1.0

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
        first = cls(FREEDOMS[0], uniform, FIRST_SHARE, scale, near, size=FIRST_SIZE * scale.span)
        best, likelihood = first, -np.inf
        gross = ~missing & scale.gross(Z - prediction)
        rows, bins, off = np.nonzero(gross)[0], first._bins(Z)[gross], (Z - prediction)[gross]
        for freedom in FREEDOMS:
            verdict, share = replace(first, freedom=freedom), np.full(len(Z), FIRST_SHARE)
            right = verdict._right(Z, prediction, deviation)
            F = right[gross]
            for _ in range(STEPS):
                of_value, added = verdict._wrong(off, bins)
                P = _posterior(share[rows], of_value + added, F)
                total = float(P.sum())
                share = _shares(rows, P, total / Z.size, Z.shape)
                A = P * added / (of_value + added)
                counts = np.bincount(bins, P - A, minlength=len(uniform)) + 1e-9
                values = (1.0 - ANYWHERE) * counts / counts.sum() + ANYWHERE * uniform
                size = float(np.sqrt((A @ off**2 + 1e-9) / (A.sum() + 1e-9)))
                verdict = replace(
                    verdict, values=values, added=float(A.sum()) / max(total, 1e-9), size=size
                )
            wrong = np.sum(verdict._wrong(off, bins), axis=0)
            value = float(np.log(share[rows] * wrong + (1.0 - share[rows]) * F).sum())
            value += float(np.log(right * (1.0 - share)[:, None])[~missing & ~gross].sum())
            if value > likelihood:
                best, likelihood = replace(verdict, share=total / Z.size), value
        return best

    def probability(self, Z: Array, missing: Array, prediction: Array, deviation: Array) -> Array:
        """That cells are wrong; zero where they are missing or not far from their prediction."""
        gross = ~missing & self.scale.gross(Z - prediction)
        rows = np.nonzero(gross)[0]
        values = np.sum(self._wrong((Z - prediction)[gross], self._bins(Z)[gross]), axis=0)
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

    def _wrong(self, off: Array, bins: Array) -> tuple[Array, Array]:
        """Probability of the bins of wrong values that lie anywhere, and of those that were added."""
        width = (self.scale.high - self.scale.low) / BINS
        relative = off / self.size
        added = np.exp(-0.5 * relative**2) * width / (self.size * np.sqrt(2.0 * np.pi))
        low, high = bins == 0, bins == BINS + 1
        added[low], added[high] = ndtr(relative[low]), ndtr(-relative[high])
        return (1.0 - self.added) * self.values[bins], self.added * added

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
