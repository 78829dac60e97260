"""One protocol for all ways of iterating, and one loop that drives them.

A solver is ``init`` (a first state from a first dictionary), ``step`` (one iteration) and ``terminate``
(whether to stop, and why) over a visible state (:mod:`rnlmf.engine.state`). So every way of iterating
can be watched, interrupted, stored and taken up again: :func:`run` goes on from any state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import partial

from rnlmf.engine.corruption import AdaptationSchedule, Corruption, NoiseSums, ShareSums
from rnlmf.engine.missing import WHILE_LEARNING
from rnlmf.engine.problem import Problem
from rnlmf.engine.samples import Samples
from rnlmf.engine.state import SampleState, SolverState
from rnlmf.typing import Array

# Iterations over which the change of the objective is averaged: momentum and rounding make it ripple.
WINDOW = 10
# Iterations in a row without a finite objective, each with half the step of the one before.
MOST_FAILURES = 20


class StopReason(Enum):
    """Why an iteration ended."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    CALLBACK = "stopped by callback"
    DIVERGED = "objective not finite"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Options:  # numpydoc ignore=PR02
    """How to iterate.

    Parameters
    ----------
    max_iter : int
        Most iterations.
    tol : float
        Relative change of objective and dictionary per iteration at which it has converged.
    momentum : float
        ``eta`` in [0, 1).
    step_damping, curvature_shift : float
        ``tau_D >= 1`` and ``mu >= 0`` of the dictionary step.
    dictionary_step : {"auto", "newton", "spectral"}
        See :mod:`rnlmf.engine.dictionary`.
    n_threads : int
        Threads of a pass.
    fused : bool
        Whether to use compiled arithmetic where there is some.
    warmup : int
        Iterations with the squared penalty on the codes, in the paper's order, before l1 or nuclear.
    sample_state : {"memory", "map", "anew"}
        Where the state of the samples is: in memory, in temporary files, or made anew in each pass from
        the samples (:mod:`rnlmf.engine.settle`), which takes several times as long.
    """

    max_iter: int = 300
    tol: float = 3e-4
    momentum: float = 0.9
    step_damping: float = 1.0
    curvature_shift: float = 0.0
    dictionary_step: str = "auto"
    n_threads: int = 1
    fused: bool = True
    warmup: int = 20
    sample_state: str = "memory"


@dataclass(frozen=True)
class IterationInfo:
    """What a callback is told after every iteration."""

    iteration: int
    max_iter: int
    objective: float
    dictionary_change: float


Callback = Callable[[IterationInfo], object]


@dataclass
class Fit:
    """Outcome of a fit, in the engine's units.

    Attributes
    ----------
    dictionary : (d, m) array
        The one with the lowest objective.
    objective : list of float
        At every iteration.
    n_iter : int
    reason : StopReason
    samples : SampleState
        The training samples without their noise, as the last iteration left them.
    corruption : Corruption or None
        Of an adaptive penalty.
    code_metric : (d, d) array or None
        What codes of new samples need of those of the fit, see :meth:`Problem.encoder`.
    denoised : callable
        Training samples without their noise, by a slice of their rows.
    """

    dictionary: Array
    objective: list[float]
    n_iter: int
    reason: StopReason
    samples: SampleState
    denoised: Callable[[slice], Array]
    corruption: Corruption | None = None
    code_metric: Array | None = None

    @property
    def converged(self) -> bool:
        return self.reason is StopReason.CONVERGED


class Solver(ABC):
    """How to iterate on some samples; all that changes is in the state."""

    def __init__(self, samples: Samples, problem: Problem, options: Options) -> None:
        self.samples = samples
        self.problem = problem
        self.options = options
        self.schedule = AdaptationSchedule.within(options.max_iter)

    @abstractmethod
    def init(self, D: Array) -> SolverState:
        """The state before the first iteration."""

    def step(self, state: SolverState) -> None:
        """One iteration, in place."""
        if self.samples.missing and state.iteration in WHILE_LEARNING:
            self.fill(state)
        if self.problem.adaptive and self.schedule.is_due(state.iteration):
            self.adapt(state)
        elif self.problem.relaxes and state.iteration == self.schedule.first:
            state.start_anew()
        self.update(state)
        state.iteration += 1

    def problem_at(self, state: SolverState) -> Problem:
        """The problem with the noise penalty that is due."""
        if state.iteration < self.schedule.first:
            return self.problem.relaxed()
        return self.problem.adapted_to(state.corruption)

    @abstractmethod
    def update(self, state: SolverState) -> None:
        """New dictionary, codes and noise; the objective is recorded."""

    @abstractmethod
    def fill(self, state: SolverState) -> None:
        """Missing values from what was observed."""

    @abstractmethod
    def noise_sums(self, state: SolverState) -> NoiseSums:
        """Of the noise found so far."""

    @abstractmethod
    def share_sums(self, state: SolverState, size: float) -> ShareSums:
        """Of the effective shares of corrupted entries, given the size of a typical corruption."""

    @abstractmethod
    def scale_thresholds(self, state: SolverState, corruption: Corruption) -> None:
        """Give every sample the threshold that its noise asks for."""

    def adapt(self, state: SolverState) -> None:
        """Let the noise found so far set the penalty; the objective is another from here on."""
        sums = self.noise_sums(state)
        if not sums.total > 0.0:
            return
        state.corruption = Corruption.of_sums(sums, self.share_sums(state, sums.size))
        self.scale_thresholds(state, state.corruption)
        state.start_anew()

    def terminate(self, state: SolverState) -> StopReason | None:
        """Why to stop now, if there is a reason."""
        changes = self.problem.adaptive or self.problem.relaxes
        settled = not changes or state.iteration > self.schedule.settled
        if settled and has_converged(state.objective, state.dictionary_change, self.options.tol):
            return StopReason.CONVERGED
        if state.failures >= MOST_FAILURES:
            return StopReason.DIVERGED
        return StopReason.MAX_ITER if state.iteration >= self.options.max_iter else None

    def code_metric(self, state: SolverState) -> Array | None:
        """What codes of new samples need of those here."""
        return None

    def denoised(self, state: SolverState, rows: slice) -> Array:
        """Samples without their noise."""
        return state.samples.Y[rows]

    @contextmanager
    def running(self) -> Iterator[None]:
        """What must be there while steps are taken, such as threads."""
        yield


def run(
    solver: Solver,
    state: SolverState,
    callback: Callback | None = None,
    keep: Callable[[SolverState], None] | None = None,
) -> Fit:
    """Iterate from `state` until there is a reason to stop; `callback` may give one by True.

    So does Ctrl-C, once there is a first model. What has come out of every iteration goes to `keep`.
    """
    reason = solver.terminate(state)
    with solver.running():
        while reason is None:
            try:
                solver.step(state)
                if keep is not None:
                    keep(state)
                info = IterationInfo(
                    state.iteration,
                    solver.options.max_iter,
                    state.latest_objective,
                    state.dictionary_change,
                )
                stop = callback is not None and callback(info) is True
                reason = solver.terminate(state) or (StopReason.CALLBACK if stop else None)
            except KeyboardInterrupt:
                if not state.objective:
                    raise
                reason = StopReason.INTERRUPTED
    return Fit(
        dictionary=state.best_dictionary,
        objective=state.objective,
        n_iter=state.iteration,
        reason=reason,
        samples=state.samples,
        denoised=partial(solver.denoised, state),
        corruption=state.corruption,
        code_metric=solver.code_metric(state),
    )


def has_converged(objective: list[float], dictionary_change: float, tol: float) -> bool:
    """Relative change per iteration of objective and dictionary at most `tol`."""
    if len(objective) <= WINDOW or dictionary_change > tol:
        return False
    return abs(objective[-1] - objective[-1 - WINDOW]) <= WINDOW * tol * abs(objective[-1])
