"""Black and white: the ends of the scale that pixels share.

Right values pile up at the ends. So an end is the farthest value that is more common than all values
beyond it together: these are errors. Where nothing piles up, it is the farthest value there is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rnlmf.typing import Array

# A value piles up if this share of all cells has it.
PILE = 0.01
# An error is gross: what is off by less than this share of the span is not worth a correction.
LEAST_ERROR = 0.1
# The span is that of all cells but this share, half of it at either end where nothing piles up.
MOST = 0.1


@dataclass(frozen=True)
class Scale:
    """From black to white."""

    low: float
    high: float
    span: float

    @classmethod
    def of(cls, values: Array) -> Scale:
        """Of cells that are not missing."""
        distinct, counts = np.unique(values, return_counts=True)
        total = np.cumsum(counts)
        piles = counts > PILE * len(values)
        low = distinct[np.argmax(np.r_[piles & (counts > total - counts), True]) % len(distinct)]
        above = len(values) - total
        upper = (piles & (counts > above))[::-1]
        high = distinct[::-1][np.argmax(np.r_[upper, True]) % len(distinct)]
        if not low < high:
            low, high = distinct[0], distinct[-1]
        # Where nothing piles up, the farthest values may be errors: most are not.
        between = values[(values > low) & (values < high)]
        usual = np.quantile(between, (MOST / 2.0, 1.0 - MOST / 2.0)) if len(between) else (low, high)
        first = low if np.sum(values == low) > PILE * len(values) else usual[0]
        last = high if np.sum(values == high) > PILE * len(values) else usual[1]
        return cls(float(low), float(high), float(last - first) or float(high - low))

    def clipped(self, prediction: Array) -> Array:
        """Nothing is predicted beyond black and white."""
        return np.clip(prediction, self.low, self.high)

    def gross(self, off: Array) -> Array:
        """What is off by enough to be an error."""
        far: Array = np.abs(off) > LEAST_ERROR * self.span
        return far

    def beyond(self, Z: Array) -> Array:
        """Darker than black or brighter than white, by enough to be an error."""
        return self.gross(Z - self.clipped(Z))
