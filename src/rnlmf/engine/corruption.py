"""The noise model that adapts: how large corruptions are, and which samples seem to have few.

With one threshold for all, a clean sample pays for the corrupted ones: whatever the dictionary cannot
explain in it, beyond the threshold, is taken for noise. The penalty of ``noise_penalty="adaptive"``,

    lambda_E sum_i kappa_i sum_j rho(e_ij),     rho(e) = |e| - e^2 / (2 b) up to the knee b, then b / 2,

has two devices against that. *Threshold scales*: ``kappa_i >= 1`` raises the threshold of a sample
whose share of corrupted entries is credibly below average; where all samples are corrupted alike, every
``kappa_i`` is 1. *No bias*: corruptions beyond the knee are removed whole, as in
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

All that the data must give are sums over samples (:class:`NoiseSums`, :class:`ShareSums`), so that they
may be anywhere. ``S``, ``q``, ``p_0`` and ``alpha`` belong to the data and are kept for new samples; a
sample's own ``kappa_i`` depends on nothing else, so that samples are still treated one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rnlmf.typing import Array

# Iterations with equal thresholds before the first adaptation, and then between them (choices): the
# dictionary must have found the data, or its misfit is taken for noise.
FIRST_ADAPTATION = 30
ADAPT_EVERY = 5
# Nothing has converged before the thresholds were set so many times.
LEAST_ADAPTATIONS = 3
# The knee, in sizes of a typical corruption (a choice): what is larger is one, and removed whole.
KNEE = 3.0
# Differences up to so many units in the last place are no noise.
ROUNDING = 8.0
# In units of the kernel's width: no sparse corruption that a model can be learned beside is so large,
# and one value of 1e30 must not be the typical one.
LARGEST_NOISE = 10.0
# A sample in which nothing was found is still a sample: its threshold stays finite (a choice).
LARGEST_SCALE = 20.0
# Of the prior: from hardly any to practically equal shares.
STRENGTHS = (0.5, 1e6)
LEAST_VARIANCE = 1e-8


@dataclass(frozen=True)
class AdaptationSchedule:
    """At which iterations the noise found so far sets the penalty."""

    first: int = FIRST_ADAPTATION
    every: int = ADAPT_EVERY
    least: int = LEAST_ADAPTATIONS

    @classmethod
    def within(cls, max_iter: int) -> AdaptationSchedule:
        """The usual one, earlier where there are few iterations: half of them are left to adapt."""
        return cls(min(FIRST_ADAPTATION, max_iter // 2))

    @property
    def settled(self) -> int:
        """Iteration before which nothing has converged."""
        return self.first + (self.least - 1) * self.every

    def is_due(self, iteration: int) -> bool:
        """Whether the penalty is set anew before this iteration."""
        return iteration >= self.first and (iteration - self.first) % self.every == 0


def absolute_noise(X: Array, Y: Array) -> Array:
    """``|X - Y|`` up to a bound, zero where nothing was observed or the difference is rounding."""
    E: Array = np.abs(X - Y)
    rounding = ROUNDING * np.finfo(E.dtype).eps * np.maximum(np.abs(X), 1.0)
    E[np.isnan(E) | (rounding >= E)] = 0.0
    return np.minimum(E, LARGEST_NOISE, out=E)


def effective_counts(noise: Array, size: float) -> Array:
    """``o_i`` from absolute noise."""
    counts: Array = np.minimum(noise / size, 1.0).sum(axis=1, dtype=np.float64)
    return counts


class NoiseSums(NamedTuple):
    """Of absolute noise: its sum, the sum of its squares, and the number of entries that have any."""

    total: float = 0.0
    squares: float = 0.0
    entries: float = 0

    @classmethod
    def of(cls, noise: Array) -> NoiseSums:
        total = float(noise.sum(dtype=np.float64))
        return cls(total, float(np.vdot(noise, noise)), int(np.count_nonzero(noise)))

    def plus(self, other: NoiseSums) -> NoiseSums:
        """The sums over both."""
        return NoiseSums(
            self.total + other.total, self.squares + other.squares, self.entries + other.entries
        )

    def less(self, share: float) -> NoiseSums:
        """The sums without a share of all that is in them."""
        return NoiseSums(*(value * (1.0 - share) for value in self))

    @property
    def size(self) -> float:
        """Size ``S`` of a typical corruption."""
        return self.squares / self.total


class ShareSums(NamedTuple):
    """Of samples with a value: how many, and sums of ``p_i``, ``p_i^2``, ``1 / m_i`` and ``m_i``."""

    samples: float = 0
    shares: float = 0.0
    squares: float = 0.0
    inverse_observed: float = 0.0
    observed: float = 0

    @classmethod
    def of(cls, counts: Array, observed: Array) -> ShareSums:
        seen = observed > 0
        shares = counts[seen] / observed[seen]
        return cls(
            int(seen.sum()),
            float(shares.sum()),
            float(shares @ shares),
            float(np.sum(1.0 / observed[seen])),
            int(observed.sum()),
        )

    def plus(self, other: ShareSums) -> ShareSums:
        """The sums over both."""
        return ShareSums(
            self.samples + other.samples,
            self.shares + other.shares,
            self.squares + other.squares,
            self.inverse_observed + other.inverse_observed,
            self.observed + other.observed,
        )

    def less(self, share: float) -> ShareSums:
        """The sums without a share of all that is in them."""
        return ShareSums(*(value * (1.0 - share) for value in self))


@dataclass(frozen=True)
class Corruption:
    """Typical size, effective share of entries, how much it varies by sample, and share with noise."""

    size: float
    rate: float
    strength: float
    noisy: float = 0.0

    @classmethod
    def of_sums(cls, noise: NoiseSums, shares: ShareSums) -> Corruption:
        """The data's own, from sums over all samples."""
        rate = shares.shares / shares.samples
        spread = rate * (1.0 - rate)
        variance = shares.squares / shares.samples - rate**2
        variance -= spread * shares.inverse_observed / shares.samples
        strength = float(np.clip(spread / max(variance, LEAST_VARIANCE) - 1.0, *STRENGTHS))
        return cls(noise.size, rate, strength, noise.entries / shares.observed)

    @property
    def knee(self) -> float:
        """Size ``b`` from which on a corruption is removed whole."""
        sparse = max(1.0 - 2.0 * self.noisy, 0.0)
        return KNEE * self.size / sparse if sparse > 0.0 else np.inf

    def threshold_scales(self, counts: Array, observed: Array) -> Array:
        """``kappa_i`` from effective numbers of corrupted entries, and of values."""
        total = self.strength + observed
        mean = (self.strength * self.rate + counts) / total
        upper = mean + 2.0 * np.sqrt(mean * (1.0 - mean) / (total + 1.0))
        scales: Array = np.clip(self.rate / upper, 1.0, LARGEST_SCALE)
        return scales

    def threshold_scales_of(self, X: Array, Y: Array) -> Array:
        """``kappa_i`` of samples on their own, with the noise ``X - Y``."""
        counts = effective_counts(absolute_noise(X, Y), self.size)
        return self.threshold_scales(counts, np.sum(~np.isnan(X), axis=1))
