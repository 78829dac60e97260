"""Algorithm 2: codes and noise of samples, new or old, with the dictionary fixed.

Every row is treated on its own and leaves the iteration when it has converged, so the result of a
row does not depend on which other rows are there. One loop (:func:`solve`) drives both kinds of steps:
the closed ones of the Gaussian kernel (:class:`ClosedSteps`) and those that search their length
(:class:`SearchedSteps`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rnlmf.engine.arithmetic import PassModel, ThreadArithmetic
from rnlmf.engine.array_api import device_in_use
from rnlmf.engine.corruption import AdaptationSchedule, Corruption, absolute_noise
from rnlmf.engine.missing import WHILE_ENCODING, fill_from_observed
from rnlmf.engine.problem import Problem
from rnlmf.engine.rows import (
    bounded_weight,
    code_step,
    known_difference,
    noise_gradient,
    noise_step,
    noise_target,
    row_objectives,
    row_target,
)
from rnlmf.engine.samples import Samples, block_rows, blocks, spans, threads
from rnlmf.engine.state import SampleState
from rnlmf.penalties import Penalty
from rnlmf.typing import Array

# From samples, where they are without their noise, and the model's prediction to a better one.
Opinion = Callable[[Array, Array, Array], Array]

# That of a row's steps; it grows to this from zero, as Nesterov's does.
MOMENTUM = 0.9
# Rows that have converged are carried along until they are this share of a block.
COMPACT_SHARE = 0.25


@dataclass(frozen=True)
class Pace:
    """How long rows may take, and when missing values and thresholds are set on the way."""

    max_iter: int
    tol: float
    fills: tuple[int, ...]
    schedule: AdaptationSchedule

    @classmethod
    def usual(cls, max_iter: int, tol: float) -> Pace:
        """That of Algorithm 2."""
        return cls(max_iter, tol, WHILE_ENCODING, AdaptationSchedule.within(max_iter))


@dataclass
class Encoding:
    """Codes, noise in the engine's units, and the objective of every sample.

    Where a value is missing the noise is NaN, and `filled` (there if any value is missing) has the
    prediction. `residual`, if wanted, is what is left after the prediction (0 where there is no value),
    and `threshold`, one for a sample, is above what size it is noise.
    """

    codes: Array | None
    noise: Array
    objective: Array
    converged: Array
    filled: Array | None
    residual: Array | None
    threshold: Array | None


@dataclass
class RowResult:
    """What has been found out of some samples, all in the engine's units.

    The `noise` is what exceeds the `threshold` in the residual of `X` to the `prediction`.
    """

    codes: Array
    X: Array
    Y: Array
    noise: Array
    objective: Array
    prediction: Array
    threshold: Array

    def predict_with(self, raw: Array, opinion: Opinion, penalty: Penalty) -> None:
        """Let a second opinion change the prediction, and with it the noise; it fills the gaps too."""
        self.prediction = opinion(raw, self.Y, self.prediction)
        self.noise = penalty.prox(known_difference(self.X, self.prediction), self.threshold)
        self.Y = np.where(np.isnan(self.X), self.prediction, self.X - self.noise)

    def residual(self) -> Array:
        return known_difference(self.X, self.prediction)


@dataclass
class RowState:
    """Some samples, raw and in the engine's units, on their way; codes where steps start from them."""

    raw: Array
    X: Array
    samples: SampleState
    codes: Array | None = None

    def __getitem__(self, rows: Array) -> RowState:
        codes = None if self.codes is None else self.codes[rows]
        return RowState(self.raw[rows], self.X[rows], self.samples[rows], codes)

    def put(self, rows: Array, other: RowState, chosen: Array) -> None:
        """Take the `chosen` rows of another state as the given rows of this one."""
        self.samples.Y[rows] = other.samples.Y[chosen]
        self.samples.threshold_scale[rows] = other.samples.threshold_scale[chosen]
        if self.codes is not None and other.codes is not None:
            self.codes[rows] = other.codes[chosen]


class RowSteps(ABC):
    """How rows move, and what is known of them where they end."""

    def __init__(self, samples: Samples, problem: Problem, D: Array) -> None:
        self.samples = samples
        self.problem = problem
        self.D = D

    @abstractmethod
    def start(self, rows: slice) -> RowState:
        """The state before the first step."""

    @abstractmethod
    def step(self, state: RowState, penalty: Penalty, iteration: int) -> Array:
        """One step of all rows, in place; returns how far each has moved."""

    @abstractmethod
    def finish(self, state: RowState) -> RowResult:
        """What is known at the end; noise is exactly zero where none was found."""


class ClosedSteps(RowSteps):
    """Accelerated closed steps, under the Gaussian kernel with linear codes."""

    def __init__(self, samples: Samples, problem: Problem, D: Array, encoder: Array, rows: int) -> None:
        super().__init__(samples, problem, D.astype(samples.dtype))
        self.model = PassModel.build(problem, D, encoder, samples.dtype, keep_velocity=True)
        self.arithmetic = ThreadArithmetic(
            samples, problem.noise_penalty, len(D), rows, device=device_in_use()
        )

    def start(self, rows: slice) -> RowState:
        raw = self.samples.X[rows]
        Y = self.samples.load_filled(rows, np.empty_like(raw))
        X = self.samples.load(rows, np.empty_like(raw))
        return RowState(raw, X, SampleState.at(Y, moving=True))

    def step(self, state: RowState, penalty: Penalty, iteration: int) -> Array:
        momentum = min(MOMENTUM, iteration / (iteration + 3.0))
        model = replace(self.model, noise_penalty=penalty, momentum=momentum)
        self.arithmetic.here.row_step(state.raw, state.samples, model)
        return state.samples.largest_steps()

    def finish(self, state: RowState) -> RowResult:
        problem, arithmetic = self.problem, self.arithmetic.here
        X, Y, scale = state.X, state.samples.Y, state.samples.threshold_scale
        b, m = Y.shape
        arithmetic.weigh(SampleState.at(Y), replace(self.model, momentum=0.0))
        VD = arithmetic.VD[:b]
        w = VD[:, m + 1].copy()
        target = row_target(VD[:, :m], w, problem.noise_weight * scale)
        E = problem.noise_penalty.prox(known_difference(X, target.prediction), target.threshold)
        noise = scale * problem.noise_penalty.row_values(known_difference(X, Y))
        objective = 0.5 * (1.0 - w) + problem.noise_weight * noise
        return RowResult(arithmetic.C[:b].copy(), X, Y, E, objective, *target)


class SearchedSteps(RowSteps):
    """Steps whose length is searched, under any kernel and penalty, in double precision."""

    def __init__(
        self, samples: Samples, problem: Problem, D: Array, K_D: Array, encoder: Array
    ) -> None:
        super().__init__(samples, problem, D)
        self.K_D = K_D
        self.encoder = encoder

    def codes(self, Y: Array, C: Array | None) -> Array:
        """Closed form, or one step from `C` (from the closed form of the squared penalty at first)."""
        K = self.problem.kernel(Y, self.D)
        if C is None or self.problem.code_penalty.linear_codes:
            return K @ self.encoder
        return code_step(self.problem, C, K, self.K_D)

    def start(self, rows: slice) -> RowState:
        raw = self.samples.X[rows]
        X = self.samples.load(rows, np.empty(raw.shape))
        Y = self.samples.load_filled(rows, np.empty(raw.shape))
        return RowState(raw, X, SampleState.at(Y), self.codes(Y, None))

    def step(self, state: RowState, penalty: Penalty, iteration: int) -> Array:
        problem = replace(self.problem, noise_penalty=penalty)
        samples, C = state.samples, state.codes
        assert C is not None
        state.codes = self.codes(samples.Y, C)
        Y = noise_step(problem, state.X, samples.Y, state.codes, self.D, samples.threshold_scale)
        moved = np.abs(Y - samples.Y).max(axis=1)
        samples.Y = Y
        steps: Array = np.maximum(moved, np.abs(state.codes - C).max(axis=1))
        return steps

    def finish(self, state: RowState) -> RowResult:
        problem, X, Y, C = self.problem, state.X, state.samples.Y, state.codes
        assert C is not None
        scale = state.samples.threshold_scale
        objective = 0.5 * np.einsum("ij,ij->i", C @ self.K_D, C)
        if problem.code_penalty.by_row:
            objective += problem.code_weight * problem.code_penalty.row_values(C)
        objective += row_objectives(problem, X, Y, C, self.D, scale)
        # Rounding in X - (X - E) must not look like noise.
        E = np.where(absolute_noise(X, Y) > 0.0, X - Y, 0.0)
        gradient, curvature = noise_gradient(problem, Y, C, self.D)
        target = noise_target(problem, Y, gradient, bounded_weight(curvature), scale)
        return RowResult(C, X, Y, E, objective, *target)


def solve(
    steps: RowSteps, rows: slice, corruption: Corruption | None, pace: Pace
) -> tuple[RowState, Array]:
    """Step until every row has moved by no more than the tolerance; its state, and which converged."""
    whole = steps.start(rows)
    active = np.arange(len(whole.X))
    state = whole[active]
    converged = np.zeros(len(whole.X), dtype=bool)
    schedule, problem = pace.schedule, steps.problem
    penalty = problem.noise_penalty.relaxation()
    # A row that may yet be filled, or get another threshold, has not converged.
    earliest = max(
        max(pace.fills) + 1 if steps.samples.missing else 0,
        schedule.settled if problem.relaxes else 0,
    )
    for iteration in range(pace.max_iter):
        if steps.samples.missing and iteration in pace.fills:
            fill_from_observed(state.samples.Y, np.isnan(state.raw), steps.D)
        if problem.relaxes and schedule.is_due(iteration):
            penalty = problem.noise_penalty
            if corruption is not None:
                scales = corruption.threshold_scales_of(state.X, state.samples.Y)
                state.samples.threshold_scale[...] = scales
        moved = steps.step(state, penalty, iteration)
        if iteration < earliest:
            continue
        fresh = (moved <= pace.tol) & ~converged[active]
        whole.put(active[fresh], state, fresh)
        converged[active[fresh]] = True
        left = ~converged[active]
        if left.mean() <= 1.0 - COMPACT_SHARE:
            active, state = active[left], state[left]
            if len(active) == 0:
                return whole, converged
    left = ~converged[active]
    whole.put(active[left], state, left)
    return whole, converged


def encode(
    samples: Samples,
    D: Array,
    problem: Problem,
    *,
    code_metric: Array | None = None,
    known: tuple[Array, Array] | None = None,
    corruption: Corruption | None = None,
    max_iter: int = 300,
    tol: float = 3e-4,
    n_threads: int = 1,
    with_codes: bool = True,
    with_residual: bool = False,
    opinion: Opinion | None = None,
    closed: bool = True,
    pace: Pace | None = None,
) -> Encoding:
    """Run Algorithm 2 on all samples; `tol` is in units of the kernel's length scale.

    What is `known` of the dictionary, ``K_D`` and the encoder, is not found again. A `pace` says when
    to do what in place of `max_iter` and `tol`.

    With a second `opinion` the noise is told from its predictions; codes and objective are the model's.
    Without `closed` steps, lengths are searched also where they need not be.
    """
    n, m = samples.shape
    d, dtype = len(D), samples.dtype
    K_D, encoder = known or problem.encoders(D, code_metric)
    result = Encoding(
        codes=np.empty((n, d), dtype) if with_codes else None,
        noise=np.empty((n, m), dtype),
        objective=np.empty(n),
        converged=np.empty(n, dtype=bool),
        filled=np.empty((n, m), dtype) if samples.missing else None,
        residual=np.empty((n, m), dtype) if with_residual else None,
        threshold=np.empty(n, dtype) if with_residual else None,
    )
    most_rows = block_rows(m, d, dtype.itemsize)
    pace = pace or Pace.usual(max_iter, tol)
    steps: RowSteps
    if closed and problem.closed_row_steps:
        steps = ClosedSteps(samples, problem, D, encoder, most_rows)
    else:
        steps = SearchedSteps(samples, problem, D, K_D, encoder)

    def work(span: slice) -> None:
        for rows in blocks(span, most_rows):
            state, result.converged[rows] = solve(steps, rows, corruption, pace)
            found = steps.finish(state)
            if opinion is not None:
                found.predict_with(samples.X[rows], opinion, problem.noise_penalty)
            result.noise[rows], result.objective[rows] = found.noise, found.objective
            if result.residual is not None and result.threshold is not None:
                result.residual[rows] = found.residual()
                result.threshold[rows] = found.threshold[:, 0]
            if result.filled is not None:
                result.filled[rows] = found.Y
                result.noise[rows][np.isnan(samples.X[rows])] = np.nan
            if result.codes is not None:
                result.codes[rows] = found.codes

    with threads(n_threads, n) as run_map:
        for _ in run_map(work, spans(n)):
            pass
    return result
