"""A search on a grid of parameters, each of them judged by a loss of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rnlmf.typing import Array

Index = tuple[int, ...]

# Enough to tell a confidence to a few per cent.
BOOTSTRAPS = 200
# So many standard errors leave no doubt.
SURE = 3.0
# Share of a loss that needs to be beyond doubt.
LITTLE = 0.05


def redraws(n_samples: int, rng: np.random.RandomState) -> Array:
    """How often every sample is there, (n_samples, BOOTSTRAPS), when samples are redrawn."""
    draws: Array = rng.multinomial(n_samples, np.full(n_samples, 1.0 / n_samples), size=BOOTSTRAPS).T
    return draws


def credibly_positive(values: Array, errors: float) -> bool:
    """Whether the mean is above zero by more than so many of its standard errors."""
    return float(values.mean()) > errors * float(values.std()) / len(values) ** 0.5


class Axis(NamedTuple):
    """Values of a parameter, in order; where the search starts; and the loss that decides."""

    values: tuple[float, ...]
    start: int
    loss: str


@dataclass
class GridWalk:  # numpydoc ignore=PR02
    """Search on a grid from a start, one axis after the other, step by step, while the loss falls.

    Parameters
    ----------
    evaluate : callable
        From a point to the losses of all samples, by the losses' names.
    axes : dict of str to Axis
        The parameters; they are searched in this order.
    """

    evaluate: Callable[[dict[str, float]], Mapping[str, Array]]
    axes: Mapping[str, Axis]
    table: dict[Index, Mapping[str, Array]] = field(default_factory=dict)
    refused: set[tuple[int, int, int]] = field(default_factory=set)

    def point(self, index: Index) -> dict[str, float]:
        return {name: axis.values[i] for (name, axis), i in zip(self.axes.items(), index, strict=True)}

    def axis(self, number: int) -> Axis:
        return list(self.axes.values())[number]

    def losses(self, index: Index, axis: int) -> Array:
        """Of a point, by what decides on an axis."""
        if index not in self.table:
            self.table[index] = self.evaluate(self.point(index))
        return self.table[index][self.axis(axis).loss]

    def mean_loss(self, index: Index, axis: int) -> float:
        return float(self.losses(index, axis).mean())

    def run(self) -> Index:
        """Index of a point that is better than its neighbours, as far as they were tried."""
        best = tuple(axis.start for axis in self.axes.values())
        seen: set[Index] = set()
        # Losses that disagree could lead in a circle.
        while best not in seen:
            seen.add(best)
            for axis in range(len(self.axes)):
                for direction in (-1, 1):
                    best = self.descend(best, axis, direction)
        return best

    def descend(self, index: Index, axis: int, direction: int) -> Index:
        """Step along one axis for as long as the loss falls.

        A step that was credibly bad from elsewhere on the grid is not tried again.
        """
        while True:
            neighbour = self.neighbour(index, axis, direction)
            if neighbour is None:
                return index
            step = (axis, index[axis], neighbour[axis])
            if neighbour not in self.table and step in self.refused:
                return index
            if self.mean_loss(neighbour, axis) >= self.mean_loss(index, axis):
                if self.credibly_worse(neighbour, index, axis):
                    self.refused.add(step)
                return index
            index = neighbour

    def neighbour(self, index: Index, axis: int, direction: int) -> Index | None:
        """The next point along an axis, if there is one."""
        moved = index[axis] + direction
        if not 0 <= moved < len(self.axis(axis).values):
            return None
        return (*index[:axis], moved, *index[axis + 1 :])

    def largest_as_good(self, best: Index, name: str) -> Index:
        """The point with the largest value of a parameter that is not credibly worse than the best.

        Credibly: the losses differ by more than the standard error of their difference. The end of
        the axis is tried first, where this must be by many of them or by a large part of the loss;
        then the next values, one by one.
        """
        axis = list(self.axes).index(name)
        end = (*best[:axis], len(self.axes[name].values) - 1, *best[axis + 1 :])
        little = self.mean_loss(end, axis) < (1.0 + LITTLE) * self.mean_loss(best, axis)
        if not self.credibly_worse(end, best, axis, SURE if little else 1.0):
            return end
        point = best
        while (larger := self.neighbour(point, axis, 1)) is not None:
            if self.credibly_worse(larger, best, axis):
                break
            point = larger
        return point

    def credibly_worse(self, index: Index, best: Index, axis: int, errors: float = 1.0) -> bool:
        return credibly_positive(self.losses(index, axis) - self.losses(best, axis), errors)

    def between(self, best: Index, name: str) -> float:
        """Value of a parameter at the vertex of the parabola through the best point's neighbours.

        In the logarithm of the value; it costs no further evaluation, and stays within half a step.
        """
        axis = list(self.axes).index(name)
        values = self.axes[name].values
        sides = [self.neighbour(best, axis, direction) for direction in (-1, 1)]
        if None in sides:
            return values[best[axis]]
        points = (sides[0], best, sides[1])
        low, middle, high = (self.mean_loss(i, axis) for i in points if i is not None)
        curvature = low - 2.0 * middle + high
        shift = 0.5 * (low - high) / curvature if curvature > 0.0 else 0.0
        side = values[best[axis] + (1 if shift > 0.0 else -1)]
        return float(values[best[axis]] * (side / values[best[axis]]) ** min(abs(shift), 0.5))

    def ranking(self, best: Index) -> list[Index]:
        """All points that were tried: the nearer to the best, the earlier, then by the last loss."""
        last = len(best) - 1

        def rank(index: Index) -> tuple[Any, ...]:
            return (*(index[a] != best[a] for a in range(last)), self.mean_loss(index, last))

        return sorted(self.table, key=rank)

    def confidence(self, best: Index, rng: np.random.RandomState) -> float:
        """How often, when the samples are redrawn, every parameter's loss points to the best value."""
        indices = np.array(list(self.table))
        draws = redraws(len(self.losses(best, 0)), rng)
        left = np.ones((len(indices), draws.shape[1]), dtype=bool)
        for axis in range(len(best)):
            totals = np.stack([self.losses(index, axis) for index in self.table]) @ draws
            chosen = indices[np.argmin(np.where(left, totals, np.inf), axis=0), axis]
            left &= indices[:, axis, None] == chosen
        return float(np.mean(left[list(self.table).index(best)]))
