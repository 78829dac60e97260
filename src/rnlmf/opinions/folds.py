"""Which rows an opinion was learned from: they are asked of what was learned without them.

A cell that is not seen by its prediction is no witness of its own. But the others of its row may have
helped to learn what vouches for it: a few errors in one row make a relation of their own. So samples
that were learned from are known, by keys, in folds, and are asked of the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rnlmf.typing import Array

# Cells are told from each other by so many steps in a spread.
STEPS_PER_SPREAD = 1024.0


def row_keys(Z: Array) -> Array:
    """A number by which a row is known: the least of its cells' hashes (Broder 1997).

    It is the same wherever the row stands, and nearly always also when a few of its cells are changed.
    """
    # Rounding, after a change of units, say, must not make another row of it.
    cells: Array = np.rint(np.nan_to_num(Z) * STEPS_PER_SPREAD).astype(np.int64).view(np.uint64)
    # Steele, Lea and Flood 2014: a finaliser that mixes all bits.
    mixed: Array = cells + np.arange(1, Z.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    keys: Array = np.where(np.isnan(Z), np.uint64(2**64 - 1), mixed).min(axis=1)
    return keys


@dataclass(frozen=True)
class Folds:
    """Keys of the rows that were learned from, in order; a fold has those of one remainder."""

    known: Array
    count: int

    @classmethod
    def of(cls, Z: Array, count: int) -> tuple[Folds, Array]:
        """And the fold of every row."""
        keys = row_keys(Z)
        return cls(np.unique(keys).view(np.int64), count), cls._remainders(keys, count)

    def __call__(self, Z: Array) -> Array:
        """The fold of every row that was learned from; `count` for others."""
        keys, known = row_keys(Z), self.known.view(np.uint64)
        new = known[np.minimum(np.searchsorted(known, keys), len(known) - 1)] != keys
        return np.where(new, self.count, self._remainders(keys, self.count))

    @staticmethod
    def _remainders(keys: Array, count: int) -> Array:
        fold: Array = (keys % np.uint64(count)).astype(np.intp)
        return fold
