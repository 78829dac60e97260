"""What a cell should be by its neighbours in time.

They give four predictions of different smoothness. Their uncertainty is local: between two neighbours
that disagree, nobody can say what is right; see :class:`Surroundings`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from itertools import combinations

import numpy as np
from scipy.ndimage import binary_closing, maximum_filter1d, median_filter, uniform_filter1d

from rnlmf.typing import Array

# Rows in the running means.
MEANS = (5, 11)
# A cubic through four neighbours that span more rows than this is a guess.
LONGEST_CUBIC = 10
# Chance often puts fewer rows in line. A shorter stretch is strange if so many are expected by chance.
EVENT_ROWS, SHORTEST, CHANCE = 5, 3, 0.05
# First suspicion, before anything is learned: beyond so many running deviations of a running median, in
# rows. The longer one is for bursts, whose errors would be a short one's median.
WINDOWS, SUSPICIOUS = ((7, 31), (31, 121)), 6.0
# A column is elsewhere for at most so many rows.
LONGEST_EXCURSION = 60
# A value that is repeated fewer times is nothing strange.
SHORTEST_REPEAT, MOST_REPEATED = 5, 0.4
# Rows between two suspects of a burst that are not told from it.
SHORT_GAP = 2
# Suspects return to where a column was within so many rows, but for this share of what they are off,
# and for so many usual steps.
BRANCH_ROWS, AGREES, STEPS = 10, 0.1, 3.0
# So many may do so by chance in any column.
CHANCE_RETURNS = 4
# Multiples of it, without the whole part, are as far apart as can be.
GOLDEN = 0.618034


@dataclass(frozen=True)
class Sequence:
    """Rows in order: where one sequence ends and the next begins, and the times of rows."""

    starts: tuple[int, ...]
    times: Array

    @classmethod
    def of(cls, n: int, groups: Array | None = None, times: Array | None = None) -> Sequence:
        """Rows of a group follow each other; without times they are evenly spaced."""
        breaks = [] if groups is None else list(np.flatnonzero(groups[1:] != groups[:-1]) + 1)
        steps = np.arange(n, dtype=float) if times is None else np.asarray(times, dtype=float)
        return cls((0, *(int(b) for b in breaks)), steps)

    def runs(self, chosen: Array) -> Iterator[tuple[int, int]]:
        """First row, and the one after the last, of stretches of chosen rows within a sequence."""
        breaks = np.zeros(len(chosen), dtype=bool)
        breaks[list(self.starts)] = True
        return _runs(chosen, breaks)

    def part(self, rows: Array) -> Sequence:
        """Some of the rows, ascending: where one is left out, another sequence begins."""
        first = np.zeros(len(self.times), dtype=bool)
        first[list(self.starts)] = True
        begins = first[rows] | (np.diff(rows, prepend=-2) != 1)
        return Sequence(tuple(int(i) for i in np.flatnonzero(begins)), self.times[rows])

    def apply(self, function: Callable[[slice], Array], shape: tuple[int, int]) -> Array:
        """What `function` says of every sequence, one below the other."""
        out = np.empty(shape)
        for first, last in zip(self.starts, (*self.starts[1:], len(self.times)), strict=True):
            out[first:last] = function(slice(first, last))
        return out

    def smooth(self, values: Array, width: int) -> Array:
        """Running medians; of one column after the other, which SciPy does ten times as fast.

        Beyond its ends a sequence goes on as a line through the rows there: their medians, so that a
        spike in the first row does not make its surroundings, nor a slope a spike.
        """
        half = width // 2

        def medians(rows: slice) -> Array:
            columns = [
                np.concatenate([_before(c, half), c, _before(c[::-1], half)[::-1]])
                for c in np.ascontiguousarray(values[rows].T)
            ]
            count = len(values[rows])
            return np.stack(
                [median_filter(c, size=width, mode="nearest")[half : half + count] for c in columns],
                axis=1,
            )

        return self.apply(medians, values.shape)

    def largest(self, values: Array, width: int) -> Array:
        """Running maxima."""
        return self.apply(
            lambda rows: maximum_filter1d(values[rows], width, axis=0, mode="nearest"), values.shape
        )

    def events(
        self, Z: Array, wrong: Array, prediction: Array, share: float, contradicted: Array
    ) -> Array:
        """Stretches of suspects that continue each other, far as they are from all else.

        Errors are independent: each is as far from its neighbours, wrong ones too, as from the truth.
        A movement, a step or a drift is not: its cells are usually off from the line through the two
        beside them by less than a `share` of their distance from the prediction. In short stretches
        half the distance to the next one beside will do; these count where there are hardly others, and
        where so many errors one after the other would be a strange chance. A stretch that is equal to
        the letter is no event; nor is one that begins and ends with a jump of more than half its
        distance and is mostly `contradicted` by its fellows: movements begin and end where they are.
        """
        found = np.zeros(wrong.shape, dtype=bool)
        if len(Z) < EVENT_ROWS:
            return found
        step = np.abs(np.diff(Z, axis=0, prepend=np.nan, append=np.nan))
        nearest = np.fmin(step[:-1], step[1:])
        inner = np.full(Z.shape, np.nan)
        inner[1:-1] = np.abs(Z[1:-1] - (Z[:-2] + Z[2:]) / 2.0)
        distance = np.abs(Z - prediction)
        for j in np.flatnonzero(wrong.any(axis=0)):
            often = wrong[:, j].mean()
            runs = list(self.runs(wrong[:, j]))
            stretches = sum(last - first for first, last in runs if last - first >= SHORTEST)
            alone = stretches < often * len(Z) / 2.0
            for first, last in runs:
                length, rows = last - first, slice(first, last)
                middle, off = slice(first + 1, last - 1), inner
                if length < EVENT_ROWS:
                    if not alone or length < SHORTEST or len(Z) * often**length > CHANCE:
                        continue
                    middle, off = rows, nearest / 2.0
                if np.ptp(Z[rows, j]) > 0.0:
                    far = np.nanmedian(distance[middle, j])
                    ends = step[first, j], step[last, j]
                    if np.nanmin(ends) > far / 2.0 and np.mean(contradicted[rows, j]) > 0.5:
                        continue
                    found[rows, j] = np.nanmedian(off[middle, j]) < share * far
        return found

    def branches(self, Z: Array, wrong: Array, prediction: Array) -> Array:
        """Suspects that are where the column was shortly before or after: a second branch, no errors.

        An echo, a load or a light that is switched on and off has two or more levels, each of which
        goes on where it was. Errors return to other values no more than if they were exchanged.
        """
        found = np.zeros(wrong.shape, dtype=bool)
        for j in np.flatnonzero(wrong.sum(axis=0) > 1):
            rows, column = np.flatnonzero(wrong[:, j]), Z[:, j]
            expected, off = prediction[rows, j], column[rows] - prediction[rows, j]
            order = np.argsort(np.arange(1, len(rows) + 1) * GOLDEN % 1.0)
            exchanged = off[order]
            most = STEPS * float(np.median(np.abs(np.diff(column[~np.isnan(column)]))))
            agree = self._returns(column, rows, np.minimum(AGREES * np.abs(off), most))
            # By chance as many do with the errors of others, or, if errors are all alike (zeros), with
            # their values.
            by_chance = 0
            for values in (expected + exchanged, column[rows][order]):
                made_up = column.copy()
                made_up[rows] = values
                near = np.minimum(AGREES * np.abs(exchanged), most)
                by_chance = max(by_chance, int(self._returns(made_up, rows, near).sum()))
            if agree.sum() > 2 * by_chance + CHANCE_RETURNS:
                found[rows, j] = agree
        return found

    def _returns(self, column: Array, rows: Array, near: Array) -> Array:
        """Which of the rows are near another one at most `BRANCH_ROWS` away."""
        found = np.zeros(len(rows), dtype=bool)
        group = np.searchsorted(np.array(self.starts), np.arange(len(column)), side="right")
        for lag in (*range(-BRANCH_ROWS, 0), *range(1, BRANCH_ROWS + 1)):
            other = np.clip(rows + lag, 0, len(column) - 1)
            beside = (other == rows + lag) & (group[other] == group[rows])
            found |= beside & (np.abs(column[rows] - column[other]) <= near)
        return found

    def suspicious(self, Z: Array, resolution: Array) -> Array:
        """Cells far from a running median of their column, by its running deviation."""
        V, found = np.nan_to_num(Z), np.zeros(Z.shape, dtype=bool)
        for median_rows, deviation_rows in WINDOWS:
            distance = np.abs(V - self.smooth(V, median_rows))
            usual = np.maximum(0.3 * np.median(distance, axis=0), np.maximum(resolution, 1e-9))
            deviation = 1.4826 * np.maximum(self.smooth(distance, deviation_rows), usual)
            found |= distance > SUSPICIOUS * deviation
        return found

    def without_short_gaps(self, suspects: Array) -> Array:
        """Suspects, and the few cells between two of them in columns where they come in bursts.

        An error of a burst that is near the truth by chance looks right. Left between hidden ones it
        speaks for the whole burst.
        """
        together = suspects[1:] & suspects[:-1]
        in_bursts = together.sum(axis=0) > suspects[1:].sum(axis=0) / 2.0
        if not in_bursts.any():
            return suspects
        around = np.ones((SHORT_GAP + 1, 1), dtype=bool)
        closed = self.apply(lambda rows: binary_closing(suspects[rows], around), suspects.shape)
        found: Array = suspects | (in_bursts & (closed > 0.0))
        return found

    def repeated(self, Z: Array) -> Array:
        """Numbers of stretches in which a column repeats a value to the letter, from 1 on; 0 elsewhere.

        A stretch is longer than chance makes one: of `n` rows, of which the share ``q`` of the others
        equals the row before, ``n q^(length - 1)`` stretches of a length are expected. The first row,
        whose value is repeated, is not of it. A value to which the column returns for another such
        stretch, after as many rows elsewhere, is a level or an end of its range. Where such stretches
        fill much of a column, it moves by steps; so it does if another one stands still just as long.
        """
        numbers = np.zeros(Z.shape, dtype=np.int64)
        same = np.diff(Z, axis=0, prepend=np.nan) == 0.0
        same[list(self.starts)] = False
        still = {
            int(j): list(self.runs(same[:, j]))
            for j in np.flatnonzero(same.sum(axis=0) >= SHORTEST_REPEAT)
        }
        together = Counter(run for runs in still.values() for run in runs)
        for j, all_runs in still.items():
            runs = np.array(all_runs)
            lengths = runs[:, 1] - runs[:, 0]
            for least in np.unique(lengths[lengths >= SHORTEST_REPEAT]):
                long = lengths >= least
                others = len(Z) - lengths[long].sum()
                share = lengths[~long].sum() / max(others, 1)
                if len(Z) * share ** float(least) < CHANCE:
                    if lengths[long].sum() > MOST_REPEATED * len(Z):
                        break
                    for first, last in runs[long][~_returned_to(runs[long], Z[:, j])]:
                        if together[first, last] == 1:
                            numbers[first:last, j] = first + 1
                    break
        return numbers

    def near(self, Z: Array, hidden: Array) -> Surroundings:
        """Predictions from the nearest cells in time that are not hidden, itself left out."""
        parts = []
        for first, last in zip(self.starts, (*self.starts[1:], len(self.times)), strict=True):
            parts.append(_near(Z[first:last], hidden[first:last], self.times[first:last]))
        return Surroundings(
            **{
                f.name: np.concatenate([getattr(p, f.name) for p in parts], axis=-2)
                for f in fields(Surroundings)
            }
        )


@dataclass(frozen=True)
class Surroundings:
    """Near predictions (one below the other), disagreement of the neighbours, and how far they are.

    Neighbours disagree by what the trend around them does not account for.
    """

    predictions: Array
    gap: Array
    distance: Array


def _before(column: Array, count: int) -> Array:
    """What so many rows before the first would be, on a line through as many after it."""
    first = column[: count + 1]
    slope = float(np.median(np.diff(first))) if len(first) > 1 else 0.0
    level = float(np.median(first - slope * np.arange(len(first))))
    return level - slope * np.arange(count, 0, -1.0)


def _runs(chosen: Array, breaks: Array) -> Iterator[tuple[int, int]]:
    """First row, and the one after the last, of stretches of chosen rows."""
    starts = np.flatnonzero(chosen & (breaks | ~np.r_[False, chosen[:-1]]))
    ends = np.flatnonzero(chosen & np.r_[breaks[1:] | ~chosen[1:], True]) + 1
    yield from zip(starts, ends, strict=True)


def _returned_to(runs: Array, values: Array) -> Array:
    """Stretches (first row, and the one after the last) whose value another has that is not near."""
    first, last = runs.T
    same = values[first][:, None] == values[first]
    apart = np.maximum(first[:, None] - last, first - last[:, None])
    shorter = np.minimum.outer(last - first, last - first)
    returned: Array = np.any(same & (apart > shorter), axis=1)
    return returned


def _near(Z: Array, hidden: Array, times: Array) -> Surroundings:
    n, m = Z.shape
    rows, columns, known = np.arange(n)[:, None], np.arange(m)[None, :], ~hidden
    V = np.where(hidden, 0.0, Z)

    latest = np.maximum.accumulate(np.where(known, rows, -1), axis=0)
    latest = np.vstack([np.full((1, m), -1), latest])
    next_ = np.minimum.accumulate(np.where(known, rows, n)[::-1], axis=0)[::-1]
    next_ = np.vstack([next_, np.full((1, m), n)])
    L1, R1 = latest[:-1], next_[1:]
    # A row before the first, -1, and one after the last, n, stay where they are.
    L2 = np.where(L1 >= 0, latest[np.maximum(L1, 0), columns], -1)
    R2 = np.where(n > R1, next_[np.minimum(R1, n - 1) + 1, columns], n)
    left, right = L1 >= 0, n > R1
    nearest = [np.clip(index, 0, n - 1) for index in (L2, L1, R1, R2)]
    points = [times[index] - times[:, None] for index in nearest]
    values = [V[index, columns] for index in nearest]
    (_, zl, zr, _), dl, dr = values, -points[1], points[2]
    span = np.where(dl + dr > 0.0, dl + dr, 1.0)
    line = np.where(
        left & right, (zl * dr + zr * dl) / span, np.where(left, zl, np.where(right, zr, 0))
    )
    # Lagrange's polynomials at the row itself.
    weights = [np.ones((n, m)) for _ in points]
    for a, b in combinations(range(4), 2):
        apart = points[a] - points[b]
        same = apart == 0.0
        weights[a] *= points[b] / np.where(same, -1.0, -apart)
        weights[b] *= points[a] / np.where(same, -1.0, apart)
    cubic = np.sum([weight * value for weight, value in zip(weights, values, strict=True)], axis=0)
    whole = (L2 >= 0) & (n > R2) & (R2 - L2 <= LONGEST_CUBIC)
    predictions = [line, np.where(whole, cubic, line)]
    for width in MEANS:
        total = uniform_filter1d(V, width, axis=0, mode="constant") * width - V
        count = uniform_filter1d(known.astype(float), width, axis=0, mode="constant") * width - known
        predictions.append(np.where(count > 0.5, total / np.maximum(count, 0.5), line))
    # A steady rise is no disagreement: what the slope between the next two accounts for is none.
    wide = points[3] - points[0]
    outer = (L2 >= 0) & (n > R2) & (wide > 0.0)
    slope = np.where(outer, values[3] - values[0], 0.0) / np.where(outer, wide, 1.0)
    gap = np.where(left & right, np.abs(zr - zl - slope * span), np.nan)
    usual, some = np.zeros(m), np.any(~np.isnan(gap), axis=0)
    usual[some] = np.nanmedian(gap[:, some], axis=0) if some.any() else 0.0
    gap = np.where(np.isnan(gap), usual, gap)
    step = float(np.median(np.diff(times))) if n > 1 else 1.0
    distance = np.where(left & right, dl + dr, 2.0 * np.maximum(dl * left, dr * right)) / (step or 1.0)
    return Surroundings(np.stack(predictions), gap, np.log(np.maximum(distance, 1.0) / 2.0))
