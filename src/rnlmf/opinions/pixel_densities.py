"""How likely the value of a pixel is if it is right, and if it is wrong.

Values lie between two ends, where they pile up: black and white. A right value is Student's about its
prediction ``p`` with scale ``s``, cut off at the ends, so that an end has the whole tail beyond it as
its probability; nothing that is right lies beyond them. A wrong value has a distribution of its own
over the ends and the bins between them, wherever it is: salt is white, a block is black. Or something
was added to what is right: then it is normal about its prediction, with a deviation ``S`` that all
pixels share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, stdtr

from rnlmf.opinions.densities import stretch, student_density
from rnlmf.opinions.pixel_scale import Scale
from rnlmf.typing import Array

# Bins between the ends; their number is of no importance.
BINS = 16
# Every value is possible as an error, in this share of them.
ANYWHERE = 0.01
# Right values are not beyond the ends.
IMPOSSIBLE = 1e-9


def no_values_yet() -> Array:
    """Shares of errors in the ends and the bins between them, as long as nothing is known."""
    return np.full(BINS + 2, 1.0 / (BINS + 2))


def values_of(bins: Array, weights: Array) -> Array:
    """The same for errors that were found, with weights."""
    counts = np.bincount(bins, weights, minlength=BINS + 2) + 1e-9
    values: Array = (1.0 - ANYWHERE) * counts / counts.sum() + ANYWHERE * no_values_yet()
    return values


@dataclass(frozen=True, kw_only=True)
class PixelDensities:
    """Degrees of freedom, and shares of errors that lie in every bin.

    Of the errors the share `added` is added to what is right, with the deviation `size`.
    """

    freedom: float
    values: Array
    scale: Scale
    added: float = 0.5
    size: float = 1.0

    def bins(self, Z: Array) -> Array:
        """0 and the last are the ends."""
        low, high = self.scale.low, self.scale.high
        place = (np.nan_to_num(Z) - low) / max(high - low, 1e-12) * BINS
        inside = 1 + np.clip(place, 0, BINS - 1).astype(int)
        bins: Array = np.where(low >= Z, 0, np.where(high <= Z, BINS + 1, inside))
        return bins

    def of_wrong(self, off: Array, bins: Array) -> tuple[Array, Array]:
        """Probability of the bins of wrong values that lie anywhere, and of those that were added."""
        width = (self.scale.high - self.scale.low) / BINS
        relative = off / self.size
        added = np.exp(-0.5 * relative**2) * width / (self.size * np.sqrt(2.0 * np.pi))
        low, high = bins == 0, bins == BINS + 1
        added[low], added[high] = ndtr(relative[low]), ndtr(-relative[high])
        return (1.0 - self.added) * self.values[bins], self.added * added

    def of_right(self, Z: Array, prediction: Array, deviation: Array) -> Array:
        """Probability of the bin of every value, if it is right."""
        relative = (Z - prediction) / deviation * stretch(self.freedom)
        width = (self.scale.high - self.scale.low) / BINS
        right = student_density(relative, self.freedom) * (width * stretch(self.freedom) / deviation)
        low, high = self.scale.low >= Z, self.scale.high <= Z
        right[low] = stdtr(self.freedom, relative[low])
        right[high] = stdtr(self.freedom, -relative[high])
        right[self.scale.beyond(Z)] = IMPOSSIBLE
        return np.maximum(right, 1e-300)
