"""Stretches in which a column is elsewhere: it jumps away, and some rows later it jumps back.

Within such a stretch every cell has neighbours in time that speak for it, all wrong alike. Before
anything is learned two jumps that take each other back are suspicious (:func:`excursions`). Later the
fellows judge (:func:`contradicted`). A sensor that is off by ``delta`` from row ``a`` to row ``b``
takes a step of ``delta`` at ``a`` and of ``-delta`` at ``b``, each with what the column does by itself
in a row. With ``x_i`` the distance of its cells from what fellows predict, and ``s_i`` the scale of
that, the stretch is off by ``delta`` if

    mean_i [ rho(x_i / s_i) - rho((x_i - delta) / s_i) ]

is large, with ``rho`` the negative logarithm of Student's density. What lies between two such
stretches begins and ends with the same jumps, but it gains nothing by being moved. Of stretches that
overlap those are taken that gain most together.
"""

from __future__ import annotations

from bisect import bisect_right
from statistics import median
from typing import NamedTuple

import numpy as np

from rnlmf.opinions.column_verdict import LEAST_ERROR
from rnlmf.opinions.temporal import LONGEST_EXCURSION, SUSPICIOUS, Sequence
from rnlmf.typing import Array

# Jumps are told by steps of so many rows around; they take each other back but for this share, or for
# what is no jump. Where fellows judge, smaller ones will do.
STEP_ROWS, RETURNS, TRIP = 121, 0.5, 4.5
# Jumps of the same size that may lie between two that take each other back.
MOST_BETWEEN = 2
# No scale is known exactly.
FREEDOM = 4.0
# Stretches that might be contradicted are so many scales away, no cell counting for more.
LEAST_MEAN, FARTHEST = 2.0, 10.0


class Trips(NamedTuple):
    """Stretches of one column: first rows, those after the last, and by how much they are off.

    Some are `plain`: jumps alone tell them (:func:`excursions`).
    """

    first: Array
    last: Array
    shift: Array
    plain: Array

    def only_plain(self) -> Trips:
        """Those that jumps alone tell."""
        return Trips(*(part[self.plain] for part in self))


def excursions(sequence: Sequence, Z: Array, resolution: Array) -> Array:
    """Stretches between two jumps that take each other back: a column was elsewhere for a while.

    However long they are compared with the windows of running medians.
    """
    found = np.zeros(Z.shape, dtype=bool)
    step, usual = _steps(sequence, Z, resolution)
    size, group = np.abs(step), _groups(sequence)
    jumps = size > SUSPICIOUS * usual
    for j in np.flatnonzero(jumps.sum(axis=0) > 1):
        first, last = _there_and_back(np.flatnonzero(jumps[:, j]), step[:, j])
        least = RETURNS * np.minimum(size[first, j], size[last, j])
        # The steps before and after a jump are no jumps like it: a steep slope is none.
        slope = np.maximum(size[first - 1, j], size[np.minimum(last + 1, len(Z) - 1), j])
        inner = np.maximum(size[first + 1, j], size[last - 1, j])
        steep = np.maximum(slope, np.where(last > first + 1, inner, 0.0)) >= least
        back, good = -1, ~steep & (group[first] == group[last])
        column, places = Z[:, j].tolist(), (first[good].tolist(), last[good].tolist())
        for a, b, half in zip(*places, least[good].tolist(), strict=True):
            # What lies between two excursions is none; nor are two spikes far from each other one.
            home = (column[a - 1] + column[b]) / 2.0
            if a > back and abs(median(column[a:b]) - home) > half:
                found[a:b, j], back = True, b
    return found


def round_trips(sequence: Sequence, Z: Array, resolution: Array) -> dict[int, Trips]:
    """Of every column, all stretches of some rows between two jumps that take each other back."""
    steps, usual = _steps(sequence, Z, resolution)
    found, group = {}, _groups(sequence)
    count = np.cumsum(np.vstack([Z[:1] < -np.inf, excursions(sequence, Z, resolution)]), axis=0)
    for j, (step, most) in enumerate(zip(steps.T, TRIP * usual.T, strict=True)):
        places = np.flatnonzero(np.abs(step) > most)
        if not len(places):
            continue
        k, other = np.nonzero(_within_reach(places)[1])
        first, last = places[k], places[k + 1 + other]
        smaller = np.minimum(np.abs(step[first]), np.abs(step[last]))
        rest = np.maximum(RETURNS * smaller, np.maximum(most[first], most[last]))
        back = (step[first] * step[last] < 0.0) & (np.abs(step[first] + step[last]) < rest)
        # Beside a spike there is nothing that could speak for it.
        back &= (last > first + 1) & (group[first] == group[last - 1])
        if back.any():
            first, last = first[back], last[back]
            plain = count[last, j] - count[first, j] == last - first
            found[j] = Trips(first, last, (step[first] - step[last]) / 2.0, plain)
    return found


def contradicted(trips: Trips, off: Array, scale: Array, least: float) -> list[tuple[int, int]]:
    """Stretches, first row and that after the last, that fellows account for only if they are off.

    `off` are the cells' distances from what fellows predict with these scales; these must gain as if
    every cell were at `least` so many scales away. Where they are as far from the rows before and
    after, it is they who are elsewhere.
    """
    relative = off / scale
    total = np.r_[0.0, np.cumsum(np.clip(relative, -FARTHEST, FARTHEST))]
    mean = (total[trips.last] - total[trips.first]) / (trips.last - trips.first)
    some = np.flatnonzero(mean * np.sign(trips.shift) > LEAST_MEAN)
    # Of those that end not later than here: what the best of them gain together, and which they are.
    ends, gains = [0], [0.0]
    taken: list[list[tuple[int, int]]] = [[]]
    for k in some[np.argsort(trips.last[some], kind="stable")]:
        first, last = int(trips.first[k]), int(trips.last[k])
        rows, length = slice(first, last), last - first
        gain = _loss(relative[rows]) - _loss(relative[rows] - trips.shift[k] / scale[rows])
        distance = np.median(np.abs(off[rows]))
        if gain.mean() < _loss(least) or distance < LEAST_ERROR:
            continue
        beside = np.r_[off[max(first - length, 0) : first], off[last : last + length], 0.0]
        if np.median(np.abs(beside)) > distance / 2.0:
            continue
        before = bisect_right(ends, first) - 1
        if gains[before] + gain.sum() > gains[-1]:
            ends.append(last)
            gains.append(gains[before] + float(gain.sum()))
            taken.append([*taken[before], (first, last)])
    return taken[-1]


def _loss(relative: Array | float) -> Array:
    """Minus the logarithm of Student's density, but for a constant."""
    return np.asarray((FREEDOM + 1.0) / 2.0 * np.log1p(np.square(relative) / FREEDOM))


def _steps(sequence: Sequence, Z: Array, resolution: Array) -> tuple[Array, Array]:
    """From row to row, and how large they usually are thereabouts."""
    step = np.diff(Z, axis=0, prepend=Z[:1])
    step[list(sequence.starts)] = 0.0
    size = np.abs(step)
    least = np.maximum(0.3 * np.median(size, axis=0), np.maximum(resolution, 1e-9))
    return step, 1.4826 * np.maximum(sequence.smooth(size, STEP_ROWS), least)


def _groups(sequence: Sequence) -> Array:
    """The number of the sequence that every row belongs to."""
    return np.searchsorted(np.array(sequence.starts), np.arange(len(sequence.times)), side="right")


def _within_reach(places: Array) -> tuple[Array, Array]:
    """The next jumps of each, and which of them are near enough to be the way back."""
    next_ = np.arange(len(places))[:, None] + np.arange(1, LONGEST_EXCURSION + 1)
    other = places[np.minimum(next_, len(places) - 1)]
    return other, (next_ < len(places)) & (other - places[:, None] <= LONGEST_EXCURSION)


def _there_and_back(places: Array, step: Array) -> tuple[Array, Array]:
    """Jumps, and for each the next that takes it back, unless a far larger one is between them.

    Far smaller ones between them are what a column does meanwhile, and so is a single spike: two jumps
    of its size. Where there are more, spikes are so many that any two may take each other back.
    """
    other, near = _within_reach(places)
    sizes = np.abs(step[places])[:, None], np.abs(step[other])
    opposite = np.abs(step[places][:, None] + step[other]) < RETURNS * np.minimum(*sizes)
    larger = np.logical_or.accumulate(RETURNS * sizes[1] > sizes[0], axis=1)
    alike = np.cumsum(RETURNS * sizes[0] < sizes[1], axis=1)
    back = near & opposite & ~larger & (alike <= MOST_BETWEEN + 1)
    some = back.any(axis=1)
    return places[some], other[some, back[some].argmax(axis=1)]
