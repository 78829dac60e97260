"""The fast path: one iteration is one pass over shards of samples.

For the Gaussian kernel and the squared penalty on the codes, a pass moves every sample to
``X - prox(X - P)``, where ``P`` is the model's prediction, a kernel-weighted mean of the atoms
(:mod:`rnlmf.engine.arithmetic`): Table 2 of the paper with xi = 1 and a step of its own for every
sample. It also sums the statistics from which the dictionary takes its step once the pass has ended.
Dictionary and noise are updated from the same codes and kernel values, so a pass needs one kernel
matrix where the paper's order needs two.

The pass is accelerated: dictionary and samples move with the same momentum (Nesterov's for the samples,
restarted for each when it points uphill). With momentum the objective ripples; the outcome is the
dictionary at which it was lowest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from typing import TypeVar

import numpy as np

from rnlmf.engine.arithmetic import PassModel, ThreadArithmetic
from rnlmf.engine.array_api import device_in_use
from rnlmf.engine.corruption import Corruption, NoiseSums, ShareSums
from rnlmf.engine.dictionary import Statistics, direction, gradient_and_curvature, relative_change
from rnlmf.engine.problem import Problem
from rnlmf.engine.samples import Mapper, Samples, block_rows, spans, threads
from rnlmf.engine.settle import Settling
from rnlmf.engine.shard import Shard
from rnlmf.engine.solver import Callback, Fit, Options, Solver, run
from rnlmf.engine.state import SampleState, SolverState
from rnlmf.typing import Array

Answer = TypeVar("Answer")
Sums = TypeVar("Sums", Statistics, NoiseSums, ShareSums)

# Momentum sets in once dictionary and samples have found the data, after so many iterations (choices).
DICTIONARY_REST = 5
SAMPLE_REST = 10
# Steps of samples whose state is made anew (a choice): more of them cost time and hardly help.
SETTLING_STEPS = 10
# A rise of the objective by more than this fraction is not the ripple of momentum.
TOLERATED_RISE = 1e-2


class SinglePass(Solver):
    """Algorithm 1 in single passes."""

    def __init__(self, samples: Samples, problem: Problem, options: Options) -> None:
        super().__init__(samples, problem, options)
        self.shards: list[Shard] = []
        self.state: SampleState | None = None
        self.map: Mapper[Shard, object] = map

    @contextmanager
    def running(self) -> Iterator[None]:
        """Threads for the shards."""
        try:
            with threads(self.options.n_threads, self.samples.shape[0]) as self.map:
                yield
        finally:
            self.map = map

    def init(self, D: Array) -> SolverState:
        shape, dtype, moving = self.samples.shape, self.samples.dtype, self.options.momentum > 0.0
        if self.options.sample_state == "memory":
            samples = SampleState.at(np.empty(shape, dtype), moving=moving)
        elif self.options.sample_state == "map":
            samples = SampleState.mapped(shape, dtype, moving=moving)
        else:
            samples = SampleState.at(np.empty((0, shape[1]), dtype))
        state = SolverState.start(D, samples, self.options.step_damping)
        self.tell(state, Shard.reset)
        return state

    @property
    def fleeting(self) -> bool:
        """Whether the samples' state is made anew in each pass."""
        return self.options.sample_state == "anew"

    def settling(self, state: SolverState) -> Settling:
        """At what a state is made anew."""
        problem = self.problem_at(state)
        return Settling(problem, state.dictionary, state.corruption, SETTLING_STEPS)

    def denoised(self, state: SolverState, rows: slice) -> Array:
        if not self.fleeting:
            return super().denoised(state, rows)
        some = Samples.of(self.samples.X[rows], self.samples.units)
        found = SampleState.at(np.empty(some.shape, some.dtype))
        self.settling(state).settle(some, found)
        return found.Y

    def tell(self, state: SolverState, order: Callable[[Shard], None]) -> None:
        """Have all shards do something to their state, if they keep one."""
        if not self.fleeting:
            deque(self.answers(state, order), maxlen=0)

    def total(self, state: SolverState, question: Callable[[Shard], Sums], start: Sums) -> Sums:
        """The sum of what all shards answer, in their order."""
        return reduce(lambda sums, answer: sums.plus(answer), self.answers(state, question), start)

    def answers(self, state: SolverState, question: Callable[[Shard], Answer]) -> Iterable[Answer]:
        """The answers one by one: not more of them than there are threads take memory."""
        if self.state is not state.samples:
            self.share_out(state)
        asked = question
        if self.fleeting:
            settling = self.settling(state)

            def asked(shard: Shard) -> Answer:
                return question(shard.made_anew(settling))

        answers: Iterable[Answer] = self.map(asked, self.shards)  # type: ignore[assignment]
        return answers

    def share_out(self, state: SolverState) -> None:
        """Give every shard its part of the samples and of their state."""
        n, m = self.samples.shape
        rows, d = (
            block_rows(m, len(state.dictionary), self.samples.dtype.itemsize),
            len(state.dictionary),
        )
        penalty, fused = self.problem.noise_penalty, self.options.fused
        arithmetic = ThreadArithmetic(self.samples, penalty, d, rows, fused, device_in_use())
        self.shards = [
            Shard(self.samples[span], state.samples[span], arithmetic, rows) for span in spans(n)
        ]
        self.state = state.samples

    def update(self, state: SolverState) -> None:
        moving = self.options.momentum > 0.0 and not self.fleeting
        momentum = self.options.momentum if moving and state.steady >= SAMPLE_REST else 0.0
        keep = moving and state.steady >= SAMPLE_REST - 1
        K_D = self.problem.atom_kernel(state.dictionary)
        statistics, objective = self.one_pass(state, K_D, momentum, keep)
        state.latest_objective = objective
        state.dictionary_change = self.advance(state, K_D, statistics, objective)

    def one_pass(
        self, state: SolverState, K_D: Array, momentum: float, keep_velocity: bool
    ) -> tuple[Statistics, float]:
        """A pass with the current dictionary, and the objective where it started."""
        problem = self.problem_at(state)
        model = PassModel.build(
            problem,
            state.dictionary,
            problem.encoder(K_D),
            self.samples.dtype,
            momentum=momentum,
            keep_velocity=keep_velocity,
        )
        nothing = Statistics.none(*state.dictionary.shape)
        total = self.total(state, lambda shard: shard.step(model), nothing)
        # From the codes as they are, not as they should be: their rounding then counts squared.
        gram = total.code_gram
        objective = (
            total.loss
            + 0.5 * float(np.vdot(gram, K_D) + problem.code_weight * np.trace(gram))
            + problem.noise_weight * total.noise
            + problem.dictionary_value(K_D)
        )
        return total, objective

    def advance(
        self, state: SolverState, K_D: Array, statistics: Statistics, objective: float
    ) -> float:
        """Take the dictionary's step, or recover; returns the relative change."""
        if not np.isfinite(objective):
            state.failures += 1
            self.tell(state, Shard.reset)
            self.recover(state)
            return np.inf
        state.failures = 0
        previous = state.objective[-1] if state.objective else np.inf
        risen = not state.new_objective and objective > previous + TOLERATED_RISE * abs(previous)
        state.new_objective = False
        state.record(objective, state.dictionary)
        if risen:
            self.recover(state)
            return np.inf
        state.step.relax(self.options.step_damping)
        change = self.move_dictionary(state, K_D, statistics)
        state.steady += 1
        return change

    def recover(self, state: SolverState) -> None:
        """After a rise: drop the momentum; without any, go back to the best dictionary, damped."""
        if state.steady < DICTIONARY_REST:
            state.step.damp()
            state.dictionary = state.best_dictionary
        state.step.restart()
        self.tell(state, Shard.rest)
        state.steady = 0

    def move_dictionary(self, state: SolverState, K_D: Array, statistics: Statistics) -> float:
        """Eqs. (D_sol_delta) and (D_sol_2); returns the relative change."""
        options = self.options
        gradient, H = gradient_and_curvature(self.problem, state.dictionary, K_D, statistics)
        momentum = options.momentum if state.steady >= DICTIONARY_REST else 0.0
        downhill = direction(gradient, H, options.dictionary_step, options.curvature_shift)
        delta = state.step.propose(downhill, momentum)
        if not np.all(np.isfinite(delta)):
            state.step.restart()
            state.step.damp()
            return np.inf
        state.dictionary = state.dictionary - delta
        return relative_change(delta, state.dictionary, momentum)

    def fill(self, state: SolverState) -> None:
        D = state.dictionary.astype(self.samples.dtype)
        self.tell(state, lambda shard: shard.fill(D))

    def noise_sums(self, state: SolverState) -> NoiseSums:
        return self.total(state, Shard.noise_sums, NoiseSums())

    def share_sums(self, state: SolverState, size: float) -> ShareSums:
        return self.total(state, lambda shard: shard.share_sums(size), ShareSums())

    def scale_thresholds(self, state: SolverState, corruption: Corruption) -> None:
        self.tell(state, lambda shard: shard.scale_thresholds(corruption))


def fit(
    samples: Samples, D: Array, problem: Problem, options: Options, callback: Callback | None = None
) -> Fit:
    """Run Algorithm 1 in single passes."""
    solver = SinglePass(samples, problem, options)
    return run(solver, solver.init(D), callback)
