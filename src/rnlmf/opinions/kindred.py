"""Suspects that are alike in rows that are alike: no errors, but something that no opinion has learned.

Errors fall anywhere. A row like that of an error is as seldom wrong as any other, and then by
another amount. Flights that land after midnight, patients on a drug or the stations of one county
are not: where one of them is far from what was expected, so are others like it, and to the same
place. With all suspects replaced by their predictions, a suspect has kin if several of the rows
most similar to its own have a suspect in the same column, too, that is near it compared with how
far both are off. By chance, with suspects in the share ``q`` of the rows, on one side of what they
should be, the number of them among the nearest rows is binomial: no more have kin than have several
of them there.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from rnlmf.engine.batches import canonical_order
from rnlmf.opinions.similar import LARGEST_DIFFERENCE, NEIGHBOURS
from rnlmf.opinions.temporal import LONGEST_EXCURSION, Sequence
from rnlmf.typing import Array

# Of the nearest rows so many must agree, to within this share of what the suspect is off.
FEWEST_KIN, NEAR = 2, 0.25
# Suspects have kin if these are so many times as many as by chance, and more than a few.
BEYOND_CHANCE, CHANCE_CELLS = 2.0, 4
# Whether they are is seen from so many rows.
MOST_ROWS = 2000


def with_kin(Z: Array, wrong: Array, prediction: Array, sequence: Sequence | None) -> Array:
    """Suspects that are where those of similar rows are, in columns where that is no chance.

    In a sequence rows that follow each other are similar anyhow, and may be wrong together (an offset,
    a sensor that is stuck): kin are farther apart than that.
    """
    found = np.zeros(wrong.shape, dtype=bool)
    rows = _some_rows(Z, wrong, prediction, sequence)
    kin = _Kin(Z, wrong, prediction, rows, sequence)
    several = np.flatnonzero(kin.wrong.sum(axis=0) > CHANCE_CELLS)
    columns = [j for j in map(int, several) if _no_chance(kin, j)]
    if columns and len(rows) < len(Z):
        rows = np.arange(len(Z))
        kin = _Kin(Z, wrong, prediction, rows, sequence)
    for j in columns:
        found[rows[kin.agree(j)[0]], j] = True
    return found


def _no_chance(kin: _Kin, j: int) -> bool:
    found, by_chance = kin.agree(j)
    return len(found) > BEYOND_CHANCE * by_chance + CHANCE_CELLS


def _some_rows(Z: Array, wrong: Array, prediction: Array, sequence: Sequence | None) -> Array:
    """Rows that are looked at; of a table in an order that does not depend on that of its rows."""
    step = -(-len(Z) // MOST_ROWS)
    if sequence is not None:
        return np.arange(0, len(Z), step)
    return canonical_order(np.where(wrong | np.isnan(Z), prediction, Z))[::step]


class _Kin:
    """The nearest of some rows.

    Parameters
    ----------
    Z, wrong, prediction : arrays of shape (n, m)
        Cells, which of them are suspects, and what they should be.
    rows : array of int
        Those that are looked at.
    sequence : Sequence, optional
        Their order.
    """

    def __init__(
        self, Z: Array, wrong: Array, prediction: Array, rows: Array, sequence: Sequence | None
    ) -> None:
        self.Z, self.wrong, self.prediction = Z[rows], wrong[rows], prediction[rows]
        self._times = None if sequence is None else rows
        filled = np.where(self.wrong | np.isnan(self.Z), self.prediction, self.Z).astype(np.float32)
        self._filled = np.clip(filled, -LARGEST_DIFFERENCE, LARGEST_DIFFERENCE)

    def nearest(self, j: int, rows: Array) -> tuple[Array, Array]:
        """The rows most similar to some, but for column `j`, and which of them may be kin.

        What suspects should be lies closer together than what others are: in their own column they
        would be each other's nearest.
        """
        filled = np.delete(self._filled, j, axis=1)
        squares = np.einsum("ij,ij->i", filled, filled)
        count = min(NEIGHBOURS, len(filled) - 1)
        found = np.empty((len(rows), count), dtype=np.intp)
        others = np.empty(found.shape, dtype=bool)
        for first in range(0, len(rows), MOST_ROWS // 4):
            part = slice(first, first + MOST_ROWS // 4)
            asked = rows[part]
            distances = squares - 2.0 * filled[asked] @ filled.T
            distances[np.arange(len(asked)), asked] = np.inf
            if self._times is not None:
                apart = np.abs(self._times[asked][:, None] - self._times)
                distances[apart <= LONGEST_EXCURSION] = np.inf
            found[part] = np.argpartition(distances, count - 1, axis=1)[:, :count]
            others[part] = np.isfinite(np.take_along_axis(distances, found[part], axis=1))
        return found, others

    def agree(self, j: int) -> tuple[Array, float]:
        """Which of the suspects of a column have kin, and how many would by chance."""
        wrong, off = self.wrong[:, j], self.Z[:, j] - self.prediction[:, j]
        rows = np.flatnonzero(wrong)
        near, others = self.nearest(j, rows)
        apart = np.abs(self.Z[near, j] - self.Z[rows, j][:, None])
        alike = others & wrong[near] & (apart <= NEAR * np.abs(off[rows])[:, None])
        # Errors of similar rows may well be alike (a point in the wrong place); but they are as rare.
        sides = np.array([np.sum(off[rows] < 0.0), np.sum(off[rows] > 0.0)])
        by_chance = sides @ binom.sf(FEWEST_KIN - 1, near.shape[1], sides / len(self.Z))
        return rows[alike.sum(axis=1) >= FEWEST_KIN], float(by_chance)
