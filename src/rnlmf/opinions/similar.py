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
# What is gathered of so many distances stays in the cache.
CHUNK_CELLS = 1 << 20


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
        step = max(1, CHUNK_CELLS // max(GROUPS * len(self.rows), 1))
        for first in range(0, len(filled), step):
            part = slice(first, first + step)
            self._predict(filled[part], hidden[part], prediction[part], spread[part])
        return prediction, spread

    def _predict(self, filled: Array, hidden: Array, prediction: Array, spread: Array) -> None:
        count = min(NEIGHBOURS + 1, len(self.rows))
        if count < 2:
            prediction[...], spread[...] = 0.0, 1.0
            return
        columns = [np.flatnonzero(self.groups == group) for group in np.unique(self.groups)]
        parts = [self._distances(filled, hidden, some) for some in columns]
        known = np.where(hidden, np.nan, filled)
        references = np.where(self.hidden, np.nan, self.rows)
        both = (~hidden).astype(np.float32) @ (~self.hidden).astype(np.float32).T
        for k, asked in enumerate(columns):
            distances = np.zeros_like(both)
            for part in parts[:k] + parts[k + 1 :]:
                distances += part
            nearest = _nearest(distances, count)
            near = np.take_along_axis(distances, nearest, axis=1)
            weights = 1.0 / (near + 0.1 * near.sum(axis=1, keepdims=True) / (count - 1) + 1e-9)
            equal = np.count_nonzero(references[nearest] == known[:, None], axis=2)
            likeness = equal / np.maximum(np.take_along_axis(both, nearest, axis=1), 1.0)
            weights[np.arange(len(near)), _left_out(likeness, near)] = 0.0
            weights = weights[:, :, None] * (~self.hidden[:, asked] + 1e-6)[nearest]
            values = self.rows[:, asked][nearest]
            total = weights.sum(axis=1)
            mean = (weights * values).sum(axis=1) / total
            prediction[:, asked] = mean
            values -= mean[:, None]
            values *= values
            values *= weights
            spread[:, asked] = np.sqrt(values.sum(axis=1) / total)

    def _distances(self, filled: Array, hidden: Array, columns: Array) -> Array:
        """Squared distances of rows to those of reference, over some columns as far as known."""

        def bounded(rows: Array) -> Array:
            # Distances need no more than single precision.
            some: Array = rows[:, columns].astype(np.float32)
            return np.clip(some, -LARGEST_DIFFERENCE, LARGEST_DIFFERENCE, out=some)

        R, known = bounded(self.rows), (~hidden[:, columns]).astype(np.float32)
        A = bounded(filled) * known
        distances: Array = np.hstack([A, known]) @ np.hstack([-2.0 * R, R * R]).T
        distances += np.einsum("ij,ij->i", A, A)[:, None]
        return np.maximum(distances, 0.0, out=distances)


def _nearest(distances: Array, count: int) -> Array:
    """Places of the smallest values of every row.

    Floats that are not negative are in the order of their bits. With the place in the last ones numbers
    can be partitioned in place of places, several times as fast; what is equal but for these is told
    apart by its place.
    """
    places = np.uint32((1 << (distances.shape[1] - 1).bit_length()) - 1)
    packed = distances.view(np.uint32) & ~places
    packed |= np.arange(distances.shape[1], dtype=np.uint32)
    packed.partition(count - 1, axis=1)
    return (packed[:, :count] & places).astype(np.intp)


def _left_out(likeness: Array, near: Array) -> Array:
    """Which of the nearest rows has no say: the row itself, whatever was hidden in it, or the farthest.

    It is itself where more than half of the cells that are known in both are equal to the bit.
    """
    itself = likeness.argmax(axis=1)
    found = np.take_along_axis(likeness, itself[:, None], axis=1)[:, 0] > 0.5
    left_out: Array = np.where(found, itself, near.argmax(axis=1))
    return left_out
