"""The noise model that adapts: how large corruptions are, and which samples seem to have few.

With one threshold for all, a clean sample pays for the corrupted ones: whatever the dictionary cannot
explain in it, beyond the threshold, is taken for noise. The penalty of ``noise_penalty="adaptive"``,

    lambda_E sum_i kappa_i sum_j rho(e_ij),     rho(e) = |e| - e^2 / (2 b) up to the knee b, then b / 2,

has two devices against that. *Release*: ``kappa_i >= 1`` raises the threshold of a sample whose share
of corrupted entries is credibly below average; where all samples are corrupted alike, every ``kappa_i``
is 1. *No bias*: corruptions beyond the knee are removed whole, as in
:class:`rnlmf.penalties.MinimaxConcave`. Both follow from the noise found so far:

    S = sum e^2 / sum |e|                        size of a typical corruption
    b = 3 S / (1 - 2 q)_+                        with q the share of entries that have noise
    o_i = sum_j min(|e_ij| / S, 1)               effective number of corrupted entries, of m_i observed
    p_i = o_i / m_i,  p_0 = mean p_i,  v = var p_i - mean p_0 (1 - p_0) / m_i
    alpha = p_0 (1 - p_0) / v - 1                strength of a Beta prior of the p_i, by moments
    mu_i = (alpha p_0 + o_i) / (alpha + m_i),  U_i = mu_i + 2 sqrt(mu_i (1 - mu_i) / (alpha + m_i + 1))
    kappa_i = p_0 / U_i, between 1 and 20

Noise is taken to be sparse. The nearer ``q`` comes to a half, the more of what was found must be the
model's misfit, which is better shrunk than removed whole; from a half on the penalty is plain l1.

``S``, ``q``, ``p_0`` and ``alpha`` belong to the data and are kept for new samples; a sample's own
``kappa_i`` depends on nothing else, so that samples are still treated one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# Iterations with equal thresholds before the first look at the noise, and between looks.
FIRST_LOOK = 30
NEXT_LOOK = 5
# Before this iteration nothing has converged.
SETTLED = FIRST_LOOK + 2 * NEXT_LOOK
KNEE = 3.0
# Differences up to so many units in the last place are no noise.
ROUNDING = 8.0
LARGEST_RELEASE = 20.0


def due(iteration: int) -> bool:
    """Whether the noise is looked at before this iteration."""
    return iteration >= FIRST_LOOK and (iteration - FIRST_LOOK) % NEXT_LOOK == 0


def noise_of(X: Array, Y: Array) -> Array:
    """``|X - Y|``, zero where nothing was observed or the difference is rounding."""
    E: Array = np.abs(X - Y)
    rounding = ROUNDING * np.finfo(E.dtype).eps * np.maximum(np.abs(X), 1.0)
    E[np.isnan(E) | (rounding >= E)] = 0.0
    return E


def effective_counts(noise: Array, size: float) -> Array:
    """``o_i`` from absolute noise."""
    counts: Array = np.minimum(noise / size, 1.0).sum(axis=1, dtype=np.float64)
    return counts


class NoiseSums(NamedTuple):
    """Of absolute noise: its sum, the sum of its squares, and the number of entries that have any."""

    total: float
    squares: float
    entries: int

    @classmethod
    def of(cls, noise: Array) -> NoiseSums:
        total = float(noise.sum(dtype=np.float64))
        return cls(total, float(np.vdot(noise, noise)), int(np.count_nonzero(noise)))

    @property
    def size(self) -> float:
        """``S``."""
        return self.squares / self.total


@dataclass(frozen=True)
class Corruption:
    """Typical size, effective share of entries, how much it varies by sample, and share with noise."""

    size: float
    rate: float
    strength: float
    noisy: float = 0.0

    @property
    def knee(self) -> float:
        """``b``."""
        sparse = max(1.0 - 2.0 * self.noisy, 0.0)
        return KNEE * self.size / sparse if sparse > 0.0 else np.inf

    def release(self, counts: Array, observed: Array) -> Array:
        """``kappa_i``."""
        total = self.strength + observed
        mean = (self.strength * self.rate + counts) / total
        upper = mean + 2.0 * np.sqrt(mean * (1.0 - mean) / (total + 1.0))
        factors: Array = np.clip(self.rate / upper, 1.0, LARGEST_RELEASE)
        return factors

    def release_of(self, noise: Array, observed: Array) -> Array:
        """``kappa_i`` of samples on their own, from absolute noise and which entries have a value."""
        return self.release(effective_counts(noise, self.size), observed.sum(axis=1))

    @classmethod
    def of_data(cls, sums: NoiseSums, counts: Array, observed: Array) -> Corruption:
        """The data's own, from all samples; those without a value do not count."""
        seen = observed > 0
        shares = counts[seen] / observed[seen]
        rate = float(shares.mean())
        binomial = float(np.mean(rate * (1.0 - rate) / observed[seen]))
        variance = max(float(shares.var()) - binomial, 1e-8)
        strength = float(np.clip(rate * (1.0 - rate) / variance - 1.0, 0.5, 1e6))
        return cls(sums.size, rate, strength, sums.entries / float(observed.sum()))
