"""Choice of parameters from a grid, on the error, as the paper chooses them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from rnlmf.reproduce.grids import Grid

Point = tuple[tuple[str, Any], ...]


def point(grid: Grid, position: dict[str, int]) -> Point:
    """Parameters at a position of the grid."""
    return tuple(sorted((name, grid[name].values[index]) for name, index in position.items()))


def next_points(grid: Grid, known: dict[Point, float]) -> list[Point]:
    """Points of the grid whose errors are needed next; none when the best is found.

    From the grid's start one goes to a better neighbour, one step along one axis after the other, until
    there is none: the same care for every method, at a fraction of the cost of the whole grid. It
    depends on nothing but the errors that are known, so that it can go on where it was stopped.
    """
    first = {name: choice.values.index(choice.start) for name, choice in grid.items()}
    if point(grid, first) not in known:
        return [point(grid, first)]
    position, unchanged = first, 0
    for axis in itertools.cycle(grid):
        around = {point(grid, other): other for other in _neighbours(grid, position, axis)}
        unknown = [other for other in around if other not in known]
        if unknown:
            return unknown
        best = min(around, key=known.__getitem__, default=point(grid, position))
        if known[best] < known[point(grid, position)]:
            position, unchanged = around[best], 0
        else:
            unchanged += 1
        if unchanged == len(grid):
            break
    return []


def best_point(known: dict[Point, float]) -> Point:
    """The point of the smallest error."""
    return min(known, key=known.__getitem__)


def _neighbours(grid: Grid, position: dict[str, int], axis: str) -> Iterator[dict[str, int]]:
    for other in (position[axis] - 1, position[axis] + 1):
        if 0 <= other < len(grid[axis].values):
            yield {**position, axis: other}
