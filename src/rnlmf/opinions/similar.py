"""What a cell should be by the most similar rows: nearest samples over the cells not asked about.

Columns are asked about in a few groups; while a group is asked about, none of its cells counts.
Averages over similar samples are the idea of non-local means (Buades, Coll and Morel 2005).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rnlmf.typing import Array

# More neighbours blur, fewer repeat each other's errors: a choice.
NEIGHBOURS = 10
GROUPS = 4
# More rows of reference hardly predict better, and cost as much as all else together.
REFERENCE_ROWS = 500
# No cell makes two rows more different than so many spreads.
LARGEST_DIFFERENCE = 5.0
CHUNK_CELLS = 1 << 22


def column_groups(m: int) -> Array:
    """Which columns are asked about together."""
    return np.random.RandomState(0).permutation(m) % min(GROUPS, m)


@dataclass(frozen=True)
class SimilarRows:
    """Rows to be similar to, without their hidden cells, and the groups of columns."""

    rows: Array
    hidden: Array
    groups: Array

    @classmethod
    def learn(
        cls, filled: Array, hidden: Array, order: Array, most: int = REFERENCE_ROWS
    ) -> SimilarRows:
        """Some of the rows, at `most` so many, spread evenly over an `order` of them."""
        chosen = order[:: -(-len(filled) // most)]
        return cls(filled[chosen], hidden[chosen], column_groups(filled.shape[1]))

    def predict(self, filled: Array, hidden: Array) -> tuple[Array, Array]:
        """Weighted means of the most similar rows, and how much these differ."""
        prediction, spread = np.empty(filled.shape), np.empty(filled.shape)
        step = max(1, CHUNK_CELLS // max(len(self.rows), 1))
        for first in range(0, len(filled), step):
            part = slice(first, first + step)
            self._predict(filled[part], hidden[part], prediction[part], spread[part])
        return prediction, spread

    def _predict(self, filled: Array, hidden: Array, prediction: Array, spread: Array) -> None:
        # Distances need no more than single precision.
        Z = np.clip(filled, -LARGEST_DIFFERENCE, LARGEST_DIFFERENCE).astype(np.float32)
        R = np.clip(self.rows, -LARGEST_DIFFERENCE, LARGEST_DIFFERENCE).astype(np.float32)
        count = min(NEIGHBOURS + 1, len(R))
        if count < 2:
            prediction[...], spread[...] = 0.0, 1.0
            return
        for group in np.unique(self.groups):
            asked = self.groups == group
            known = (~hidden & ~asked).astype(np.float32)
            A = Z * known
            distances = (-2.0 * A) @ R.T
            distances += known @ (R**2).T
            distances += (A**2).sum(axis=1, keepdims=True)
            np.maximum(distances, 0.0, out=distances)
            nearest = np.argpartition(distances, count - 1, axis=1)[:, :count]
            near = np.take_along_axis(distances, nearest, axis=1)
            weights = 1.0 / (near + 0.1 * near.sum(axis=1, keepdims=True) / (count - 1) + 1e-9)
            weights[np.arange(len(near)), _left_out(filled, hidden, self, nearest, near)] = 0.0
            weights = weights[:, :, None] * (~self.hidden[nearest][:, :, asked] + 1e-6)
            values = self.rows[nearest][:, :, asked]
            total = weights.sum(axis=1)
            mean = (weights * values).sum(axis=1) / total
            prediction[:, asked] = mean
            spread[:, asked] = np.sqrt((weights * (values - mean[:, None]) ** 2).sum(axis=1) / total)


def _left_out(
    filled: Array, hidden: Array, reference: SimilarRows, nearest: Array, near: Array
) -> Array:
    """Which of the nearest rows has no say: the row itself, whatever was hidden in it, or the farthest.

    It is itself where more than half of the cells that are known in both are equal to the bit.
    """
    both = ~reference.hidden[nearest] & ~hidden[:, None]
    equal = np.sum(both & (reference.rows[nearest] == filled[:, None]), axis=2)
    likeness = equal / np.maximum(both.sum(axis=2), 1)
    itself = likeness.argmax(axis=1)
    found = np.take_along_axis(likeness, itself[:, None], axis=1)[:, 0] > 0.5
    left_out: Array = np.where(found, itself, near.argmax(axis=1))
    return left_out
