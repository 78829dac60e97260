"""How far relations between columns hold where they were not learned.

Rows of a sequence resemble those before and after them. While a robot stands still, any relation that
holds for one row holds for the next hundred, and seems to be exact; when it turns, none does. So
relations are learned again without a stretch of rows and those around it, and asked about the stretch.
Where they are off by far more than those learned from all rows, the latter are too sure of themselves
by as much. Of many rows most things happen more than once, and relations are what they seem to be.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rnlmf.engine.batches import canonical_order
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.linear import LinearOpinion
from rnlmf.opinions.mixing import typical
from rnlmf.opinions.temporal import LONGEST_EXCURSION, Sequence
from rnlmf.typing import Array

# Rows are few if there are fewer for every column: a choice, several times what independent ones take.
FEW = 50
# So many stretches are left out, one after the other.
STRETCHES = 10
# Predictions of what was not seen are always off by somewhat more; up to here it is no optimism.
USUAL = 1.5


def with_optimism(
    columns: Columns, Z: Array, hidden: Array, used: Array, sequence: Sequence | None
) -> Columns:
    """Columns that know how many times too sure their fellows are, where few rows follow each other."""
    if sequence is None or len(Z) > FEW * Z.shape[1]:
        return columns
    width = max(1, min(LONGEST_EXCURSION, len(Z) // STRETCHES))
    inside, outside = Z - _predicted(Z, hidden, slice(None), Z, hidden), np.zeros(Z.shape)
    asked = np.zeros((len(Z), 1), dtype=bool)
    for first in np.linspace(0, len(Z) - width, STRETCHES).astype(np.intp):
        rows = slice(first, first + width)
        others = np.ones(len(Z), dtype=bool)
        others[max(first - width, 0) : first + 2 * width] = False
        outside[rows] = Z[rows] - _predicted(Z, hidden, others, Z[rows], hidden[rows])
        asked[rows] = True
    times = typical(outside, used & asked, columns.resolution) / typical(
        inside, used & asked, columns.resolution
    )
    return replace(columns, optimism=np.where(times > USUAL, times, 1.0))


def _predicted(Z: Array, hidden: Array, some: Array | slice, rows: Array, gaps: Array) -> Array:
    """What `rows` should be by relations learned from `some` others."""
    part, without = Z[some], hidden[some]
    linear = LinearOpinion.learn(part, without, canonical_order(np.where(without, 0.0, part)))
    return linear.predict(rows, gaps)[0]
