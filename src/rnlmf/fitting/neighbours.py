"""A second opinion on every entry: what the nearest denoised samples have there.

The dictionary sees a sample whole, through few atoms; where samples lie densely on the structure (the
frames of a motion), the nearest ones know an entry better than the model's prediction ``P``. With

    q_ij = sum_k y_kj / |y_k - y_i|^2  /  sum_k 1 / |y_k - y_i|^2        over the 10 nearest samples,

the prediction becomes ``P + a (q - P)``, and noise is what exceeds the threshold in the residual to it.
The share ``a`` is the neighbours' part. It is chosen without clean data: single entries are hidden, and
the mixture that predicts them best, by the distance of :mod:`rnlmf.model_selection.held_out`, is taken.
Where it is not surely better with them (faces under changing light) the dictionary decides alone.
Averages over similar samples are the idea of non-local means (Buades, Coll and Morel 2005).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from rnlmf.engine import Encoding, Units, has_missing
from rnlmf.kernels import observed_distances
from rnlmf.model_selection.held_out import SCORED_SAMPLES, HeldOut
from rnlmf.typing import Array

# How many are asked, and what their part may be (choices).
COUNT = 10
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
# How often those that are kept denoise each other.
ROUNDS = 2
# At most so many training samples are kept to look for neighbours among.
REFERENCE_SAMPLES = 10_000
# Squared distance below which a neighbour does not count for more, in units of the kernel's width.
NEAREST = 1e-12


def reference_rows(n_samples: int) -> slice:
    """Training samples that are kept."""
    return slice(None, None, -(-n_samples // REFERENCE_SAMPLES))


def scored_rows(n_features: int) -> int:
    """Samples of which entries are hidden to choose the share: some thousand entries are enough."""
    return int(np.clip(50_000 // n_features, 250, SCORED_SAMPLES))


def same_sample(X: Array, others: Array) -> Array:
    """Which of the (n, k, m) `others` equal the (n, m) `X` in all values that both have."""
    there = X[:, None, :]
    same: Array = np.all((there == others) | np.isnan(there) | np.isnan(others), axis=2)
    return same


@dataclass(frozen=True)
class Neighbours:
    """Training samples to ask, and how much they have to say.

    Attributes
    ----------
    observed : (p, m) array
        Samples as they came; NaN is a missing value.
    denoised : (p, m) array
        The same without their noise, in the engine's units, and with their gaps.
    share : float
        ``a`` above.
    """

    observed: Array
    denoised: Array
    share: float = 1.0

    @classmethod
    def among(cls, observed: Array, denoised: Array) -> Neighbours:
        """Of samples that stand several times each is asked once.

        They are told apart by their values: copies of a sample would take the places of its neighbours,
        all to be passed over, and errors that recur would confirm each other.
        """
        first: dict[bytes, int] = {}
        for place, row in enumerate(observed):
            first.setdefault(row.tobytes(), place)
        if len(first) == len(observed):
            return cls(observed, denoised)
        rows = list(first.values())
        return cls(observed[rows], denoised[rows])

    def predict(self, X: Array, Y: Array) -> Array:
        """``q`` of samples `X`, denoised `Y`; NaN where no neighbour has a value.

        A sample is no neighbour of itself: one that agrees with `X` in every value is passed over. It
        need not be known by its place, and may have gaps, neither of which scikit-learn's
        ``NearestNeighbors`` can do.
        """
        if has_missing(X) or has_missing(self.denoised):
            squares = observed_distances(np.where(np.isnan(X), np.nan, Y), self.denoised)
        else:
            squares = euclidean_distances(Y, self.denoised, squared=True)
        count = min(COUNT + 1, len(self.denoised))
        nearest = np.argpartition(squares, count - 1, axis=1)[:, :count]
        squares = np.take_along_axis(squares, nearest, axis=1)
        weights = 1.0 / np.maximum(squares, NEAREST)
        same = same_sample(X, self.observed[nearest])
        weights[same] = 0.0
        if count > COUNT:
            # The place for the sample itself was not needed.
            strangers = np.flatnonzero(~same.any(axis=1))
            weights[strangers, weights[strangers].argmin(axis=1)] = 0.0
        values = self.denoised[nearest]
        known = ~np.isnan(values)
        total = np.einsum("ik,ikj->ij", weights, known)
        sums = np.einsum("ik,ikj->ij", weights, np.where(known, values, 0.0))
        with np.errstate(invalid="ignore"):
            mean: Array = np.where(total > 0.0, sums / total, np.nan)
        return mean.astype(Y.dtype)

    def mix(self, X: Array, Y: Array, P: Array) -> Array:
        """``P + a (q - P)``, and ``P`` where the neighbours know nothing."""
        q = self.predict(X, Y)
        mixed: Array = np.where(np.isnan(q), P, P + P.dtype.type(self.share) * (q - P))
        return mixed

    def residuals(self, held_out: HeldOut, encoding: Encoding, units: Units) -> list[Array]:
        """Of hidden entries, for every share; `encoding` has the model's own predictions."""
        assert encoding.filled is not None
        P, q = encoding.filled, self.predict(held_out.samples, encoding.filled)
        q = np.where(np.isnan(q), P, q)
        return [held_out.residuals(units.to_data(P + a * (q - P))) for a in SHARES]
