"""What a cell should be by the dictionary: the paper's Algorithm 2 with the cell missing.

Columns are asked about in a few groups; while a group is asked about, all of its cells are missing. The
dictionary is learned once, from the noisy data (Algorithm 1); no refit is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rnlmf.fitting.model import FittedModel
from rnlmf.opinions.similar import column_groups
from rnlmf.typing import Array

# No scaled cell is farther than so many spreads: none rules the distances.
FARTHEST = 4.0
# A prediction need not be more exact than the dictionary is.
MOST_STEPS, TOLERANCE = 60, 3e-3


def bounded(Z: Array) -> Array:
    """Scaled cells as the dictionary takes them."""
    return np.clip(Z, -FARTHEST, FARTHEST)


@dataclass(frozen=True)
class DictionaryOpinion:
    """A model of scaled and bounded cells, and how many threads it may use."""

    model: FittedModel
    n_threads: int = 1

    def __call__(self, Z: Array, hidden: Array) -> Array:
        """Predictions of all cells, none of which sees its cell; none of rows that were cut (NaN)."""
        groups = column_groups(Z.shape[1])
        prediction, V = np.empty(Z.shape), bounded(Z).astype(np.float32)
        for group in np.unique(groups):
            asked = groups == group
            encoding = self.model.encode(
                np.where(hidden | asked, np.float32(np.nan), V),
                alone=True,
                with_codes=False,
                max_iter=MOST_STEPS,
                tol=TOLERANCE,
                n_threads=self.n_threads,
            )
            assert encoding.filled is not None
            prediction[:, asked] = self.model.units.to_data(encoding.filled)[:, asked]
        prediction[np.any(~hidden & (np.abs(Z) > FARTHEST), axis=1)] = np.nan
        return prediction
