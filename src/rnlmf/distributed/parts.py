"""What is on a worker: chunks of rows with the state of their samples.

A part is a task's result that changes. It knows how many questions it has had, its version; whoever
asks says which question it is. A part that was lost is built again by Dask from its chunks, has heard
nothing yet, and says so: it is then asked everything once more, which brings it to the very state that
was lost. One that has answered already, but whose answer was lost, gives the same answer again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rnlmf.engine import Options, Problem, Samples, SinglePass, SolverState, Units
from rnlmf.engine.shard import Shard
from rnlmf.typing import Array

# The version of a part of which nothing was asked.
FRESH = 0


@dataclass(frozen=True)
class Question:
    """What goes out to all parts.

    Attributes
    ----------
    asked : callable of a Shard
    start : sums or None
        Of nothing; None if there is no answer.
    number : int
        Of the question: the version that a part should have.
    """

    asked: Callable[[Shard], Any]
    start: Any
    number: int


@dataclass(frozen=True)
class Behind:
    """The answer of parts that have not heard all questions before.

    Attributes
    ----------
    version : int
        The least of theirs.
    places : dict
        The workers that they are on, by the parts' first rows.
    """

    version: int
    places: dict[int, str]

    def plus(self, other: Behind) -> Behind:
        return Behind(min(self.version, other.version), self.places | other.places)


class Part:
    """Chunks of rows on one worker.

    Parameters
    ----------
    chunks : list of array
        Rows.
    starts : list of int
        The number of each chunk's first row.
    units, missing
        Of :class:`Samples`.
    problem, options
        Of the solver.
    n_atoms : int
        Of the dictionary.
    """

    def __init__(
        self,
        chunks: list[Array],
        starts: list[int],
        units: Units,
        missing: bool,
        problem: Problem,
        options: Options,
        n_atoms: int,
    ) -> None:
        self.chunks, self.starts = chunks, starts
        self.units, self.missing = units, missing
        self.problem, self.options, self.n_atoms = problem, options, n_atoms
        self.version = FRESH
        self.latest: Any = None
        self.lock = threading.Lock()

    @cached_property
    def solvers(self) -> list[tuple[SinglePass, SolverState]]:
        """One for every chunk, with the state of its samples."""
        options = replace(self.options, n_threads=worker_threads())
        found = []
        for chunk in self.chunks:
            samples = Samples(np.ascontiguousarray(chunk), self.units, self.missing)
            solver = SinglePass(samples, self.problem, options)
            found.append((solver, solver.init(np.zeros((self.n_atoms, chunk.shape[1])))))
        return found

    def __getstate__(self) -> dict[str, Any]:
        """What goes to another worker: rows, from which the state is made anew there."""
        kept = {name: value for name, value in vars(self).items() if name not in ("solvers", "lock")}
        return {**kept, "version": FRESH, "latest": None}

    def __setstate__(self, content: dict[str, Any]) -> None:
        vars(self).update(content, lock=threading.Lock())

    def __sizeof__(self) -> int:
        """What Dask goes by when it thinks of doing a part's work elsewhere."""
        return sum(chunk.nbytes for chunk in self.chunks)

    def answer(self, question: Question) -> Any:
        """The sum of the answers of all shards."""
        with self.lock:
            if self.version < question.number:
                return self.behind()
            if self.version == question.number:
                self.latest = self.total(question)
                self.version += 1
            return None if question.start is None else self.latest

    def total(self, question: Question) -> Any:
        # Another part may be here, and start from it as well.
        total = deepcopy(question.start)
        for solver, state in self.solvers:
            with solver.running():
                if total is None:
                    solver.tell(state, question.asked)
                else:
                    total = solver.total(state, question.asked, total)
        return total

    def denoised(self, version: int, rows: slice) -> list[tuple[int, Array]] | Behind:
        """Some samples without their noise: for every chunk its first row, and the samples."""
        if self.version < version:
            return self.behind()
        found = []
        for start, (_, state) in zip(self.starts, self.solvers, strict=True):
            Y = state.samples.Y
            wanted = np.arange(*rows.indices(start + len(Y)))
            found.append((start, Y[wanted[wanted >= start] - start]))
        return found

    def behind(self) -> Behind:
        return Behind(self.version, {self.starts[0]: worker_address()})


def answer(part: Part, question: Question) -> Any:
    """On a worker."""
    return part.answer(question)


def itself(question: Question) -> Question:
    """On a worker, from which the others fetch it."""
    return question


def denoised(part: Part, version: int, rows: slice) -> list[tuple[int, Array]] | Behind:
    """On a worker."""
    return part.denoised(version, rows)


def worker_address() -> str:
    """Of the worker that this runs on."""
    from distributed import get_worker

    return str(get_worker().address)


def worker_threads() -> int:
    """Threads of the worker that this runs on."""
    from distributed import get_worker

    return int(get_worker().state.nthreads)
