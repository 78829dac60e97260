"""Rows of a table of which nothing fits: noise, or another table's.

The scale of a prediction depends on how hard its row is to predict altogether, so that no cell of such
a row is strange: the row is. Its hardness is the mean logarithm of its residuals in typical ones,

    h_i = mean_j log(|z_ij - p_ij| / u_j + 0.1).

Some rows are harder than others, and that is no error. Bad ones are a group of their own: of the normal
components of greatest likelihood (by the Bayesian information criterion), the hardest is that of bad
rows if it is apart from the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.mixture import GaussianMixture

from rnlmf.opinions.column_verdict import MOST_WRONG
from rnlmf.opinions.densities import Witness
from rnlmf.opinions.mixing import logarithm
from rnlmf.typing import Array

# With fewer cells that can be judged nothing can be said of a row, nor with fewer rows of a group.
FEWEST_CELLS, FEWEST_ROWS = 4, 30
# Normal components of the hardness of rows, at most.
COMPONENTS = 4
# Two groups are apart if their means are, by so many deviations (Ashman et al. 1994: from 2 on).
APART = 3.0


@dataclass(frozen=True)
class RowVerdict:
    """The least hardness of bad rows: infinite where there are none."""

    least: float = np.inf

    @classmethod
    def learn(cls, Z: Array, judged: Array, witness: Witness, unit: Array) -> RowVerdict:
        """From the cells of all rows, and what they should be."""
        hardness = _hardness(Z, judged, witness, unit)
        known = np.sort(hardness[~np.isnan(hardness)])[:, None]
        if len(known) < FEWEST_ROWS or np.ptp(known) == 0.0:
            return cls()
        fits = [GaussianMixture(k + 1, random_state=0).fit(known) for k in range(COMPONENTS)]
        best = min(fits, key=lambda fit: float(fit.bic(known)))
        order = np.argsort(best.means_[:, 0])
        means, deviations = best.means_[order, 0], np.sqrt(best.covariances_[order, 0, 0])
        if len(means) < 2 or best.weights_[order[-1]] > MOST_WRONG:
            return cls()
        wide = np.sqrt((deviations[:-1] ** 2 + deviations[-1] ** 2) / 2.0)
        if np.any(means[-1] - means[:-1] < APART * wide):
            return cls()
        bad = known[best.predict(known) == order[-1], 0]
        return cls(float(bad[bad > means[-2]].min(initial=np.inf)))

    def bad(self, Z: Array, judged: Array, witness: Witness, unit: Array) -> Array:
        """Rows that are more likely bad than hard."""
        found: Array = _hardness(Z, judged, witness, unit) >= self.least
        return found


def _hardness(Z: Array, judged: Array, witness: Witness, unit: Array) -> Array:
    """Of every row; NaN where too few cells can be judged."""
    logs = np.where(judged, logarithm(np.abs(Z - witness.prediction), unit), 0.0)
    counts = judged.sum(axis=1)
    return np.where(counts >= FEWEST_CELLS, logs.sum(axis=1) / np.maximum(counts, 1), np.nan)
