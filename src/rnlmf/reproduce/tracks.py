"""A track is one method on one row of one experiment: its parameters are chosen, then the seeds run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from rnlmf.reproduce.cells import Cell, Outcome
from rnlmf.reproduce.choice import Point, best_point, next_points, point
from rnlmf.reproduce.experiment import QUICK_SEEDS, Experiment, Row, trials
from rnlmf.reproduce.grids import Candidates, Grid
from rnlmf.reproduce.methods import METHODS
from rnlmf.reproduce.tasks import TASKS

MODES = ("paper", "auto")
Lookup = Callable[[Cell], Outcome | None]

# Parameters are chosen on this seed.
TUNING_SEED = 0
# In a quick run nothing is chosen on these, neither on the error nor automatically.
LARGE = ("coil100",)
# Fits that a choice typically takes, for the estimate of the time left.
USUAL_CHOICE = 6


@dataclass(frozen=True)
class Track:
    """See the module; `mode` is "paper" or "auto"."""

    experiment: Experiment
    row: Row
    method: str
    mode: str
    seeds: int
    quick: bool = False

    @property
    def given(self) -> dict[str, Any]:
        """Parameters that the experiment gives, or the values from which it lets choose."""
        return {**self.experiment.given.get(self.method, {}), **dict(self.row.parameters)}

    def grid(self) -> Grid:
        """What there is to choose from; parameters that are given have one value."""
        if self.mode == "auto":
            return {}
        method = METHODS[self.method]
        make_grid = method.cluster_grid if self.experiment.task == "cluster" else method.grid
        assert make_grid is not None
        grid = make_grid(self.row.problem)
        searched = set(grid)
        if not self.experiment.tuned or (self.quick and self.row.problem.data in LARGE):
            searched = set()
        elif self.quick:
            # The last one is the weight of the noise, which matters most.
            searched = {list(grid)[-1]}
        grid = {
            name: choice if name in searched else Candidates((choice.start,), choice.start)
            for name, choice in grid.items()
        }
        for name, value in self.given.items():
            grid[name] = value if isinstance(value, Candidates) else Candidates((value,), value)
        if "noise_weight" in self.given:
            grid.pop("threshold", None)
        return grid

    def cell(self, task: str, parameters: Point, seed: int) -> Cell:
        """A cell of this track."""
        return Cell(task, self.row.problem, self.method, parameters, seed)

    def errors(self, lookup: Lookup) -> dict[Point, float]:
        """Errors, on the tuning seed, of all points of the grid that were tried."""
        known: dict[Point, float] = {}
        grid = self.grid()
        wanted = next_points(grid, known)
        while wanted:
            cells = {p: self.cell(self.experiment.choose_by, p, TUNING_SEED) for p in wanted}
            found = {p: lookup(cell) for p, cell in cells.items()}
            fresh = {p: o.metrics[self._criterion] for p, o in found.items() if o is not None}
            known |= fresh
            if len(fresh) < len(wanted):
                break
            wanted = next_points(grid, known)
        return known

    def chosen(self, lookup: Lookup) -> Point | None:
        """The chosen parameters, or None while the choice goes on."""
        grid = self.grid()
        if all(len(choice.values) == 1 for choice in grid.values()):
            return point(grid, dict.fromkeys(grid, 0))
        known = self.errors(lookup)
        if not known or next_points(grid, known):
            return None
        return best_point(known)

    def wanted(self, lookup: Lookup) -> list[Cell]:
        """Cells to do next; none when the track is done."""
        parameters = self.chosen(lookup)
        if parameters is None:
            points = next_points(self.grid(), self.errors(lookup))
            cells = [self.cell(self.experiment.choose_by, p, TUNING_SEED) for p in points]
        else:
            cells = self.final_cells(parameters)
        return [cell for cell in cells if lookup(cell) is None]

    def final_cells(self, parameters: Point) -> list[Cell]:
        """The cells that are shown."""
        return [self.cell(self.experiment.task, parameters, seed) for seed in range(self.seeds)]

    def expected(self, lookup: Lookup) -> int:
        """About how many cells are left."""
        parameters = self.chosen(lookup)
        if parameters is None:
            return self.seeds + max(2, USUAL_CHOICE - len(self.errors(lookup)))
        return len(self.wanted(lookup))

    @property
    def _criterion(self) -> str:
        return "error" if self.experiment.choose_by == "cluster" else "rmse"


def make_tracks(
    experiments: Iterable[Experiment], modes: Iterable[str], size: str, seeds: int | None
) -> list[Track]:
    """All tracks that can be run: those whose method and data are there."""
    tracks = []
    for mode in modes:
        for experiment in experiments:
            if mode == "auto" and not experiment.automatic:
                continue
            for row in experiment.rows:
                if (size == "quick" and not row.quick) or not row.problem.available():
                    continue
                if (size, mode) == ("quick", "auto") and row.problem.data in LARGE:
                    continue
                for method in experiment.methods:
                    if not runnable(method, experiment, mode):
                        continue
                    count = trials(method, row.problem, experiment, size, seeds)
                    if (size, mode, seeds) == ("quick", "auto", None):
                        # Every automatic fit is a search of its own.
                        count = min(count, QUICK_SEEDS)
                    if count:
                        tracks.append(Track(experiment, row, method, mode, count, size == "quick"))
    return tracks


def runnable(method: str, experiment: Experiment, mode: str) -> bool:
    """Whether the library has the method, for this task and in this mode."""
    entry = METHODS.get(method)
    if entry is None or experiment.task not in TASKS:
        return False
    if (entry.clusters if experiment.task == "cluster" else entry.build) is None:
        return False
    return mode == "paper" or entry.automatic
