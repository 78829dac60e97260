"""Learning from a stream: batches come once, and memory does not depend on how many there were.

A batch has no state from before. Its samples settle at the dictionary as it is
(:mod:`rnlmf.engine.settle`), their sums join those of earlier batches, of which a share is forgotten,

    S <- (1 - forgetting) S + S_batch,

and the dictionary takes one relaxed Newton step with momentum from ``S``. Sums belong to the dictionary
that they were taken at: on motion capture, sums that remember seven batches lead nowhere (the error
stays at 18% where the fit to all data has 9.5%), and those that remember two take twice as many batches
as those that remember one. What is averaged over batches are therefore the steps, by their momentum,
which forgets by itself. The noise model (:mod:`rnlmf.engine.corruption`) depends on the dictionary far
less, and is forgotten ten times more slowly.

A stream whose distribution drifts is followed for the same reason; without forgetting the old
sums hold the dictionary back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rnlmf.engine.corruption import AdaptationSchedule, Corruption, NoiseSums, ShareSums
from rnlmf.engine.dictionary import Statistics
from rnlmf.engine.problem import Problem
from rnlmf.engine.samples import Samples, Units
from rnlmf.engine.settle import Settling
from rnlmf.engine.single_pass import SinglePass
from rnlmf.engine.solver import Options
from rnlmf.engine.state import SampleState, SolverState
from rnlmf.typing import Array

# Of the noise model, relative to that of the dictionary's sums (a choice).
NOISE_FORGETTING = 0.1
# Batches whose objectives are remembered.
RECENT = 60
# An objective so many times the usual one is a step that went wrong, or other data.
TOLERATED_FACTOR = 2.0


@dataclass
class StreamState:
    """What is left of all batches.

    Attributes
    ----------
    dictionary : (d, m) array
    delta : (d, m) array
        The dictionary's last step.
    damping : float
        ``tau_D`` of the next one.
    sums : Statistics
    noise : NoiseSums
    shares : ShareSums
    corruption : Corruption or None
    batches, samples : int
        How many there were.
    recent : list of float
        Mean objectives of the last batches, each at the dictionary before it.
    steady : int
        Batches since something went wrong.
    """

    dictionary: Array
    delta: Array
    damping: float
    sums: Statistics
    noise: NoiseSums = field(default_factory=NoiseSums)
    shares: ShareSums = field(default_factory=ShareSums)
    corruption: Corruption | None = None
    batches: int = 0
    samples: int = 0
    recent: list[float] = field(default_factory=list)
    steady: int = 0

    def __post_init__(self) -> None:
        # Files know tuples without names.
        self.noise, self.shares = NoiseSums(*self.noise), ShareSums(*self.shares)

    @classmethod
    def start(cls, D: Array, damping: float) -> StreamState:
        D = D.astype(np.float64)
        return cls(D, np.zeros_like(D), damping, Statistics.none(*D.shape))

    def change_units(self, old: Units, new: Units) -> None:
        """Say the same in other units."""
        ratio = old.width / new.width
        shift = (old.center.astype(np.float64) - new.center) / new.width
        self.dictionary = self.dictionary * ratio + shift
        self.delta = self.delta * ratio
        sums = self.sums
        sums.weighted_samples = sums.weighted_samples * ratio + np.outer(sums.weight, shift)
        total, squares, entries = self.noise
        self.noise = NoiseSums(total * ratio, squares * ratio**2, entries)


class Stream:
    """How batches are learned from; all that changes is in the state.

    Parameters
    ----------
    options : Options
        Of the dictionary's step, and threads.
    row_steps : int
        Steps of a batch's samples before their sums are taken.
    forgetting : float
        Share of earlier sums that a batch makes forgotten, between 0 and 1.
    """

    def __init__(self, options: Options, row_steps: int, forgetting: float) -> None:
        self.options = options
        self.row_steps = row_steps
        self.forgetting = forgetting
        self.schedule = AdaptationSchedule()

    def start(self, D: Array) -> StreamState:
        """The state before the first batch."""
        return StreamState.start(D, self.options.step_damping)

    def absorb(self, state: StreamState, batch: Samples, problem: Problem) -> float:
        """Learn from a batch, in place; its mean objective before is returned."""
        adapted = problem.adapted_to(state.corruption)
        solver = SinglePass(batch, adapted, self.options)
        K_D = adapted.atom_kernel(state.dictionary)
        settling = Settling(adapted, state.dictionary, state.corruption, self.row_steps)
        now = self.solver_state(state, batch)
        n = batch.shape[0]
        with solver.running():
            solver.tell(now, lambda shard: shard.settle(settling))
            if problem.adaptive:
                self.look_at_noise(state, solver, now)
            sums, objective = solver.one_pass(now, K_D, 0.0, False)
        objective /= n
        state.batches, state.samples = state.batches + 1, state.samples + n
        if self.went_wrong(state, objective):
            self.step_back(state)
        else:
            self.move(state, solver, now, K_D, sums)
        state.recent = [*state.recent[1 - RECENT :], objective]
        return objective

    def solver_state(self, state: StreamState, batch: Samples) -> SolverState:
        """The state as an iteration on the batch alone has it; it shares the dictionary's step."""
        samples = SampleState.at(np.empty(batch.shape, batch.dtype))
        now = SolverState.start(state.dictionary, samples, state.damping)
        now.step.delta = state.delta
        # The penalty is the adapted one whenever there is one.
        now.iteration, now.steady = self.options.max_iter, state.steady
        return now

    def look_at_noise(self, state: StreamState, solver: SinglePass, now: SolverState) -> None:
        """Keep the noise model up to date, once the dictionary has found the data."""
        if state.batches < self.schedule.first // 2:
            return
        share = NOISE_FORGETTING * self.forgetting
        state.noise = state.noise.less(share).plus(solver.noise_sums(now))
        if not state.noise.total > 0.0:
            return
        state.shares = state.shares.less(share).plus(solver.share_sums(now, state.noise.size))
        if state.batches >= self.schedule.first:
            state.corruption = Corruption.of_sums(state.noise, state.shares)

    def went_wrong(self, state: StreamState, objective: float) -> bool:
        """Whether the last step led astray."""
        if not np.isfinite(objective):
            return True
        usual = float(np.median(state.recent)) if state.recent else np.inf
        return objective > TOLERATED_FACTOR * usual

    def step_back(self, state: StreamState) -> None:
        """Take the last step back, and go on more carefully."""
        state.dictionary = state.dictionary + state.delta
        state.delta = np.zeros_like(state.delta)
        state.sums.forget(1.0)
        state.damping *= 2.0
        state.steady = 0

    def move(
        self, state: StreamState, solver: SinglePass, now: SolverState, K_D: Array, sums: Statistics
    ) -> None:
        """Add the sums, and take the dictionary's step."""
        state.sums.forget(self.forgetting)
        state.sums.plus(sums)
        now.step.relax(self.options.step_damping)
        solver.move_dictionary(now, K_D, state.sums)
        state.dictionary, state.delta, state.damping = (
            now.dictionary,
            now.step.delta,
            now.step.damping,
        )
        state.steady += 1


def has_settled(recent: list[float], window: int, tol: float) -> bool:
    """Whether the objectives of the last `window` batches are not below those of the window before.

    By less than `tol`, relatively, or by less than the error of the difference.
    """
    if len(recent) < 2 * window:
        return False
    old, new = np.array(recent[-2 * window : -window]), np.array(recent[-window:])
    error = float(np.sqrt((old.var() + new.var()) / (window - 1)))
    return bool(old.mean() - new.mean() <= max(tol * abs(old.mean()), error))
