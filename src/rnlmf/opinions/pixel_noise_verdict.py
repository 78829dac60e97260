"""The probability that a pixel is wrong where noise falls into all images alike.

Every pixel is wrong with the same probability ``pi``: the images, and what is around a pixel, tell
nothing. Values are as likely as in :mod:`~rnlmf.opinions.pixel_densities`, with two differences. Where
a third of the pixels is wrong, scales are calibrated by residuals of which most of the large ones are
errors: so scales have a factor of greatest likelihood. And errors that were added are mostly small.
What is off by too little to be worth a correction is not called wrong, but it is no right pixel's
residual either: with ``g`` what is gross, and ``A`` the posterior weight of added errors beyond it,

    pi_added = A / P(|e| > g),    S^2 = mean of r^2 beyond g / E(e^2 / S^2 | |e| > g),

as of a normal distribution ``e`` of which only the tails are seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import norm

from rnlmf.engine.batches import canonical_order
from rnlmf.opinions.densities import stretch
from rnlmf.opinions.pixel_densities import PixelDensities, no_values_yet, values_of
from rnlmf.opinions.pixel_scale import LEAST_ERROR, Scale
from rnlmf.typing import Array

# Right pixels have tails as heavy as they may be with a finite variance (a choice: the likelihood would
# have lighter ones, as errors have a part in it). What is lost by mistake is missing in the next round,
# so that more is lost; what is missed is found there.
FREEDOM = 3.0
STEPS = 20
# More cells do not change parameters that all of them share.
MOST_CELLS = 60_000
FIRST_SHARE, MOST_WRONG = 0.05, 0.5
# Values are beyond an end if more than this share of all are.
BEYOND = 1e-3
# What is added is of this share of the span at first.
FIRST_SIZE = 0.3


@dataclass(frozen=True, kw_only=True)
class NoiseVerdict(PixelDensities):
    """Beside how likely values are: the share of wrong pixels, and the factor of all scales.

    Where errors are `below` black or `above` white they are not cut off, and do not pile up there.
    """

    share: float = FIRST_SHARE
    factor: float = 1.0
    below: bool = False
    above: bool = False

    @classmethod
    def learn(
        cls, Z: Array, missing: Array, prediction: Array, deviation: Array, scale: Scale
    ) -> NoiseVerdict:
        """Of greatest likelihood for some of the cells that are not missing."""
        # The same cells in whatever order rows come.
        order = canonical_order(np.where(missing, 0.0, Z))
        some = np.random.RandomState(0).permutation(Z.size)[:MOST_CELLS]
        cells = order[some // Z.shape[1]], some % Z.shape[1]
        known = ~missing[cells]
        z, p, s = (values[cells][known] for values in (Z, prediction, deviation))
        size = FIRST_SIZE * scale.span
        verdict = cls(
            freedom=FREEDOM,
            values=no_values_yet(),
            scale=scale,
            size=size,
            below=float(np.mean(z < scale.low)) > BEYOND,
            above=float(np.mean(z > scale.high)) > BEYOND,
        )
        for _ in range(STEPS):
            verdict = verdict._better(z, p, s)
        return verdict

    def probability(self, Z: Array, missing: Array, prediction: Array, deviation: Array) -> Array:
        """That cells are wrong; zero where they are missing or not far from their prediction."""
        gross = ~missing & self.scale.gross(Z - prediction)
        wrong, right = self._odds(Z[gross], prediction[gross], deviation[gross])
        probability = np.zeros(Z.shape)
        probability[gross] = wrong / (wrong + right)
        return probability

    def bins(self, Z: Array) -> Array:
        """Black is a value like others if errors are darker than black; so is white."""
        bins, last = super().bins(Z), len(self.values) - 1
        bins[(bins == 0) & (self.scale.low <= Z) & self.below] = 1
        bins[(bins == last) & (self.scale.high >= Z) & self.above] = last - 1
        return bins

    def _odds(self, z: Array, p: Array, s: Array) -> tuple[Array, Array]:
        """Share and likelihood of wrong values, and of right ones."""
        anywhere, added = self._errors(z, p)
        return self.share * (anywhere + added), (1.0 - self.share) * self._likely(z, p, s)

    def _errors(self, z: Array, p: Array) -> tuple[Array, Array]:
        # Values of their own are only told where they are gross.
        anywhere, added = self.of_wrong(z - p, self.bins(z))
        return np.where(self.scale.gross(z - p), anywhere, 0.0), added

    def _likely(self, z: Array, p: Array, s: Array) -> Array:
        return self.of_right(z, p, self.factor * s)

    def _better(self, z: Array, p: Array, s: Array) -> NoiseVerdict:
        """After one step of expectation-maximisation."""
        off, gross = z - p, self.scale.gross(z - p)
        anywhere, added = self._errors(z, p)
        wrong = self.share * (anywhere + added)
        posterior = wrong / (wrong + (1.0 - self.share) * self._likely(z, p, s))
        P = np.where(gross, posterior, 0.0)
        A = P * added / (anywhere + added)
        least = LEAST_ERROR * self.scale.span
        beyond = least / self.size
        seen = 2.0 * norm.sf(beyond)
        of_added = float(A.sum()) / seen
        total = max(of_added + float((P - A).sum()), 1e-9)
        squares = float(A @ off**2 + 1e-9) / float(A.sum() + 1e-9)
        size = np.sqrt(squares / (1.0 + 2.0 * beyond * norm.pdf(beyond) / seen))
        # At the ends a right value is only known to be beyond.
        inside = (self.scale.low < z) & (self.scale.high > z)
        weights = np.where(inside, 1.0 - posterior, 0.0)
        relative = (off / (self.factor * s) * stretch(self.freedom)) ** 2
        pull = weights * (self.freedom + 1.0) / (self.freedom + relative)
        times = float(pull @ relative + 1e-9) / float(weights.sum() + 1e-9)
        return replace(
            self,
            share=min(total / max(len(z), 1), MOST_WRONG),
            added=of_added / total,
            # Smaller ones are not worth a correction.
            size=max(float(size), least),
            values=values_of(self.bins(z), P - A),
            factor=self.factor * float(np.sqrt(times)),
        )
