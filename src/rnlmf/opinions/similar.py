"""What a cell should be by the most similar rows: nearest samples over the cells not asked about.

Columns are asked about in a few groups; while a group is asked about, none of its cells counts.
Averages over similar samples are the idea of non-local means (Buades, Coll and Morel 2005).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

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
        count = min(NEIGHBOURS + 1, len(self.rows))
        if count < 2:
            prediction[...], spread[...] = 0.0, 1.0
            return prediction, spread
        columns, lifted, references = self._prepared
        known = np.where(hidden, np.nan, filled)
        means = _compiled_means() or self._means
        step = max(1, CHUNK_CELLS // (GROUPS * len(self.rows)))
        parts = np.empty((len(columns), min(step, len(filled)), len(self.rows)), dtype=np.float32)
        order, starts = np.concatenate(columns), np.cumsum([0, *map(len, columns)])
        for first in range(0, len(filled), step):
            part = slice(first, first + step)
            distances = parts[:, : len(filled[part])]
            for some, atoms, out in zip(columns, lifted, distances, strict=True):
                _distances(filled[part, some], hidden[part, some], atoms, out)
            out = prediction[part], spread[part]
            means(distances, known[part], references, self.rows, count, order, starts, *out)
        return prediction, spread

    @cached_property
    def _prepared(self) -> tuple[list[Array], list[Array], Array]:
        """Once for all rows that come one by one: groups, what they need for distances, known cells."""
        columns = [np.flatnonzero(self.groups == group) for group in np.unique(self.groups)]
        lifted = [_lifted(self.rows[:, some]) for some in columns]
        return columns, lifted, np.where(self.hidden, np.nan, self.rows)

    @staticmethod
    def _means(
        parts: Array,
        known: Array,
        references: Array,
        values: Array,
        count: int,
        order: Array,
        starts: Array,
        prediction: Array,
        spread: Array,
    ) -> None:
        """What :func:`rnlmf.opinions.fused.weighted_means` does, in NumPy."""
        told = ~np.isnan(references)
        both = (~np.isnan(known)).astype(np.float32) @ told.astype(np.float32).T
        for k in range(len(parts)):
            asked = order[starts[k] : starts[k + 1]]
            distances = np.zeros_like(both)
            for part in (*parts[:k], *parts[k + 1 :]):
                distances += part
            nearest = _nearest(distances, count)
            near = np.take_along_axis(distances, nearest, axis=1)
            weights = 1.0 / (near + 0.1 * near.sum(axis=1, keepdims=True) / (count - 1) + 1e-9)
            equal = np.count_nonzero(references[nearest] == known[:, None], axis=2)
            likeness = equal / np.maximum(np.take_along_axis(both, nearest, axis=1), 1.0)
            weights[np.arange(len(near)), _left_out(likeness, near)] = 0.0
            weights = weights[:, :, None] * (told[:, asked] + 1e-6)[nearest]
            others = values[:, asked][nearest]
            total = weights.sum(axis=1)
            mean = (weights * others).sum(axis=1) / total
            prediction[:, asked] = mean
            others -= mean[:, None]
            others *= others
            others *= weights
            spread[:, asked] = np.sqrt(others.sum(axis=1) / total)


@cache
def _compiled_means() -> Callable[..., None] | None:
    """The same compiled, where numba is installed."""
    if importlib.util.find_spec("numba") is None:
        return None
    from rnlmf.opinions.fused import weighted_means

    means: Callable[..., None] = weighted_means
    return means


def _bounded(rows: Array) -> Array:
    # Distances need no more than single precision.
    some: Array = rows.astype(np.float32)
    return np.clip(some, -LARGEST_DIFFERENCE, LARGEST_DIFFERENCE, out=some)


def _lifted(references: Array) -> Array:
    """What rows are multiplied with for their distances to those of reference."""
    R = _bounded(references)
    return np.hstack([-2.0 * R, R * R]).T


def _distances(filled: Array, hidden: Array, lifted: Array, out: Array) -> None:
    """Squared distances of rows to those of reference, over some columns as far as known."""
    known = (~hidden).astype(np.float32)
    A = _bounded(filled) * known
    np.matmul(np.hstack([A, known]), lifted, out=out)
    out += np.einsum("ij,ij->i", A, A)[:, None]
    np.maximum(out, 0.0, out=out)


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
