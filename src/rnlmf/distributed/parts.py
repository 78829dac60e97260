"""What is on a worker: chunks of rows with the state of their samples.

A part is a task's result that changes. It knows how many orders it has had, its version; whoever asks
says which version is expected. A part that was lost is built again by Dask from its chunks, has another
version, and makes its state anew at the model that comes with the question. So is one that has done
what it was told already, but whose answer was lost.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rnlmf.engine import Options, Problem, Samples, SinglePass, SolverState, Units
from rnlmf.engine.settle import Settling
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
    version : int
        That the part should have.
    settling : Settling
        Where samples go whose state is not there.
    """

    asked: Callable[[Shard], Any]
    start: Any
    version: int
    settling: Settling


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
        content = {name: value for name, value in vars(self).items() if name != "solvers"}
        return {**content, "version": FRESH}

    def answer(self, question: Question) -> Any:
        """The sum of the answers of all shards."""
        self.catch_up(question)
        # Another part may be here, and start from it as well.
        total = deepcopy(question.start)
        for solver, state in self.solvers:
            with solver.running():
                if total is None:
                    solver.tell(state, question.asked)
                else:
                    total = solver.total(state, question.asked, total)
        self.version += 1
        return total

    def denoised(self, question: Question, rows: slice) -> list[tuple[int, Array]]:
        """Some samples without their noise: for every chunk its first row, and the samples."""
        self.catch_up(question)
        found = []
        for start, (_, state) in zip(self.starts, self.solvers, strict=True):
            Y = state.samples.Y
            wanted = np.arange(*rows.indices(start + len(Y)))
            found.append((start, Y[wanted[wanted >= start] - start]))
        return found

    def catch_up(self, question: Question) -> None:
        """Make the state anew if it is not the one that is asked for."""
        if self.version == question.version:
            return
        for solver, state in self.solvers:
            with solver.running():
                if question.version == FRESH:
                    solver.tell(state, Shard.reset)
                else:
                    solver.tell(state, lambda shard: shard.settle(question.settling))
        self.version = question.version


def answer(part: Part, question: Question) -> Any:
    """On a worker."""
    return part.answer(question)


def itself(question: Question) -> Question:
    """On a worker, from which the others fetch it."""
    return question


def denoised(part: Part, question: Question, rows: slice) -> list[tuple[int, Array]]:
    """On a worker."""
    return part.denoised(question, rows)


def worker_threads() -> int:
    """Threads of the worker that this runs on."""
    from distributed import get_worker

    return int(get_worker().state.nthreads)
