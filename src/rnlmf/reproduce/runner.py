"""Runs the cells of the tracks, in parallel, and says how long it will take."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from joblib import Parallel, cpu_count, delayed, parallel_config

from rnlmf.reproduce.cells import Cache, Cell, Outcome
from rnlmf.reproduce.tasks import perform
from rnlmf.reproduce.tracks import Track

# Seconds between two lines where there is no terminal to draw a bar in.
QUIET_SECONDS = 30.0


class Store:
    """What is known of the cells: read from the cache once, then kept."""

    def __init__(self, cache: Cache):
        self.cache = cache
        self.known: dict[Cell, Outcome] = {}
        self.failed: dict[Cell, str] = {}

    def lookup(self, cell: Cell) -> Outcome | None:
        """What a cell gave."""
        if cell not in self.known:
            outcome = self.cache.get(cell)
            if outcome is None:
                return None
            self.known[cell] = outcome
        return self.known[cell]


class Costs:
    """Mean seconds of a cell, by what it does, from those that were done."""

    def __init__(self) -> None:
        self.seconds: dict[tuple[str, str, str], list[float]] = defaultdict(list)

    def add(self, cell: Cell, seconds: float) -> None:
        """Learn from a cell."""
        self.seconds[self._kind(cell)].append(seconds)

    def of(self, cell: Cell) -> float:
        """Estimate for a cell: as others of its kind, of its data, or of all."""
        task, data, method = self._kind(cell)
        kinds = (
            [(task, data, method)],
            [kind for kind in self.seconds if kind[1:] == (data, method)],
            [kind for kind in self.seconds if kind[1] == data],
            list(self.seconds),
        )
        for group in kinds:
            values = [value for kind in group for value in self.seconds.get(kind, [])]
            if values:
                return sum(values) / len(values)
        return 1.0

    @staticmethod
    def _kind(cell: Cell) -> tuple[str, str, str]:
        return cell.task, cell.problem.data, cell.method


class Progress:
    """A bar in a terminal, a line now and then elsewhere."""

    def __init__(self, visible: bool):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        self.console = Console(stderr=True, quiet=not visible, highlight=False)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("about {task.fields[left]} left"),
        )
        self.bar = Bar(*columns, console=self.console) if self.console.is_terminal and visible else None
        self.task = None if self.bar is None else self.bar.add_task("cells", total=None, left="?")
        self.last = 0.0

    def __enter__(self) -> Self:
        if self.bar is not None:
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def show(self, done: int, left: int, seconds: float, cell: Cell | None) -> None:
        """Say what was done and what is left."""
        about = duration(seconds)
        label = "" if cell is None else f"{cell.problem.data}, {cell.problem.noise}, {cell.method}"
        if self.bar is not None and self.task is not None:
            self.bar.update(
                self.task, completed=done, total=done + left, left=about, description=label or "cells"
            )
        elif time.monotonic() - self.last >= QUIET_SECONDS:
            self.last = time.monotonic()
            self.console.print(f"{done} of about {done + left} cells, {about} left; last: {label}")

    def say(self, text: str) -> None:
        """A line of its own."""
        self.console.print(text)


def duration(seconds: float) -> str:
    """Seconds in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def work(cell: Cell, folder: Path) -> tuple[Cell, Outcome | None, str]:
    """Do a cell and keep what it gave; an error is reported and the cell stays undone.

    A cell that cannot be kept is no error of the cell: then the run ends.
    """
    try:
        outcome, arrays = perform(cell)
    except Exception as error:
        return cell, None, f"{type(error).__name__}: {error}"
    Cache(folder).put(cell, outcome, arrays)
    return cell, outcome, ""


def complete(tracks: Iterable[Track], store: Store, jobs: int | None, visible: bool) -> None:
    """Run until no track wants anything; those that measure time come last and alone."""
    tracks = list(tracks)
    with Progress(visible) as progress:
        _complete([t for t in tracks if not t.experiment.alone], store, jobs or cpu_count(), progress)
        _complete([t for t in tracks if t.experiment.alone], store, 1, progress)
        for cell, reason in store.failed.items():
            progress.say(f"failed: {cell.method} on {cell.problem}: {reason}")


def _complete(tracks: list[Track], store: Store, jobs: int, progress: Progress) -> None:
    costs = Costs()
    done = 0
    wanted = {track: track.wanted(store.lookup) for track in tracks}
    for cell, outcome in store.known.items():
        costs.add(cell, outcome.seconds)
    while True:
        # Cells of several tracks can be the same.
        cells = list(
            dict.fromkeys(c for group in wanted.values() for c in group if c not in store.failed)
        )
        if not cells:
            return
        # Long ones first, so that no core waits for them in the end.
        cells.sort(key=costs.of, reverse=True)
        later = sum(
            (track.expected(store.lookup) - len(group)) * costs.of(group[0])
            for track, group in wanted.items()
            if group
        )
        later_count = sum(t.expected(store.lookup) - len(group) for t, group in wanted.items() if group)
        pending = dict.fromkeys(cells)
        for cell, outcome, reason in _parallel(cells, store.cache.folder, jobs):
            done += 1
            del pending[cell]
            if outcome is None:
                store.failed[cell] = reason
            else:
                store.known[cell] = outcome
                costs.add(cell, outcome.seconds)
            left = (sum(costs.of(other) for other in pending) + later) / jobs
            progress.show(done, len(pending) + later_count, left, cell)
        wanted = {track: track.wanted(store.lookup) for track in tracks}


def _parallel(cells: list[Cell], folder: Path, jobs: int) -> Iterator[Any]:
    with parallel_config(backend="loky", inner_max_num_threads=1):
        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        yield from parallel(delayed(work)(cell, folder) for cell in cells)
