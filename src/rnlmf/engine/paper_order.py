"""Algorithm 1 in the paper's order: codes, dictionary, noise, each from the newest of the others.

It serves every kernel and every penalty, works on whole matrices in double precision, and checks each
step: without momentum the objective never rises. The single pass of
:mod:`rnlmf.engine.single_pass` is the fast path for the Gaussian kernel with the squared penalty on the
codes.
"""

from __future__ import annotations

import numpy as np

from rnlmf.engine.corruption import (
    Corruption,
    NoiseSums,
    ShareSums,
    absolute_noise,
    effective_counts,
)
from rnlmf.engine.dictionary import Statistics, direction, gradient_and_curvature, relative_change
from rnlmf.engine.missing import fill_from_observed
from rnlmf.engine.problem import Problem
from rnlmf.engine.rows import code_step, code_value, known_difference, noise_step
from rnlmf.engine.samples import Samples
from rnlmf.engine.solver import Callback, Fit, Options, Solver, run
from rnlmf.engine.state import SampleState, SolverState
from rnlmf.typing import Array

# Half the step so often is no step.
MAX_DAMPINGS = 20


class PaperOrder(Solver):
    """Algorithm 1.

    With l1 or nuclear codes the first `options.warmup` iterations use the squared penalty, as the
    paper advises; they count as iterations, and the objective is recorded from the switch on.
    """

    def __init__(self, samples: Samples, problem: Problem, options: Options) -> None:
        super().__init__(samples, problem, options)
        self.X = samples.load(slice(None), np.empty(samples.shape))
        self.warmup = 0 if problem.code_penalty.ridge else min(options.warmup, options.max_iter - 1)

    def init(self, D: Array) -> SolverState:
        Y = self.samples.load_filled(slice(None), np.empty(self.samples.shape))
        state = SolverState.start(D, SampleState.at(Y), self.options.step_damping)
        state.codes = np.zeros((len(Y), len(D)))
        return state

    def update(self, state: SolverState) -> None:
        warming_up = state.iteration < self.warmup
        self.update_codes(state, ridge=warming_up)
        state.dictionary_change = self.update_dictionary(state)
        self.update_noise(state)
        state.latest_objective = self.objective(state)
        if warming_up:
            state.best_dictionary = state.dictionary
        else:
            state.record(state.latest_objective, state.dictionary)

    def update_codes(self, state: SolverState, ridge: bool = False) -> None:
        """Table 1 of the paper; the closed form also while `ridge`, to start l1 and nuclear codes."""
        assert state.codes is not None
        K, K_D = self.problem.kernel(state.samples.Y, state.dictionary), self._atom_kernel(state)
        if ridge or self.problem.code_penalty.ridge:
            state.codes = K @ self.problem.encoder(K_D)
        else:
            state.codes = code_step(self.problem, state.codes, K, K_D)

    def update_dictionary(self, state: SolverState) -> float:
        """Eqs. (D_sol_delta) and (D_sol_2); returns the relative change.

        When the loss would rise, the momentum is dropped, then the step is damped.
        """
        kernel, options, step = self.problem.kernel, self.options, state.step
        Y, C = state.samples.Y, state.codes
        assert C is not None
        V = C * kernel.slope(kernel.argument(Y, state.dictionary))
        statistics = Statistics(V.T @ Y, V.sum(axis=0), C.T @ C)
        gradient, H = gradient_and_curvature(
            self.problem, state.dictionary, self._atom_kernel(state), statistics
        )
        downhill = direction(gradient, H, options.dictionary_step, options.curvature_shift)
        before = self.loss(state, state.dictionary)
        momentum = options.momentum
        for _ in range(MAX_DAMPINGS):
            delta = step.propose(downhill, momentum)
            trial = state.dictionary - delta
            # A step too far may overflow; its loss is then no number, and it is refused.
            with np.errstate(over="ignore", invalid="ignore"):
                descends = bool(np.all(np.isfinite(trial))) and self.loss(state, trial) <= before
            if descends:
                state.dictionary = trial
                step.relax(options.step_damping)
                return relative_change(delta, trial, momentum)
            step.restart()
            if momentum == 0.0:
                step.damp()
            momentum = 0.0
        step.restart()
        return 0.0

    def update_noise(self, state: SolverState) -> None:
        """Table 2 of the paper."""
        samples, problem = state.samples, self.problem_at(state)
        assert state.codes is not None
        samples.Y = noise_step(
            problem, self.X, samples.Y, state.codes, state.dictionary, samples.threshold_scale
        )

    def loss(self, state: SolverState, D: Array) -> float:
        """Loss and dictionary penalty at a dictionary."""
        kernel, Y, C = self.problem.kernel, state.samples.Y, state.codes
        assert C is not None
        K_D = self.problem.atom_kernel(D)
        own = kernel.f(kernel.self_argument(Y))
        cross = np.einsum("ij,ij->i", C, kernel(Y, D))
        return (
            float(np.sum(0.5 * own - cross))
            + 0.5 * float(np.sum((C.T @ C) * K_D))
            + self.problem.dictionary_value(K_D)
        )

    def objective(self, state: SolverState) -> float:
        """``J(D, C, E)``."""
        problem, samples = self.problem_at(state), state.samples
        assert state.codes is not None
        values = problem.noise_penalty.row_values(known_difference(self.X, samples.Y))
        noise = problem.noise_weight * float(samples.threshold_scale @ values)
        return self.loss(state, state.dictionary) + code_value(problem, state.codes) + noise

    def fill(self, state: SolverState) -> None:
        fill_from_observed(state.samples.Y, np.isnan(self.X), state.dictionary)

    def noise_sums(self, state: SolverState) -> NoiseSums:
        return NoiseSums.of(absolute_noise(self.X, state.samples.Y))

    def share_sums(self, state: SolverState, size: float) -> ShareSums:
        counts = effective_counts(absolute_noise(self.X, state.samples.Y), size)
        return ShareSums.of(counts, self.samples.observed(slice(None)))

    def scale_thresholds(self, state: SolverState, corruption: Corruption) -> None:
        state.samples.threshold_scale = corruption.threshold_scales_of(self.X, state.samples.Y)

    def code_metric(self, state: SolverState) -> Array | None:
        assert state.codes is not None
        return self.problem.code_penalty.code_metric(state.codes.T @ state.codes)

    def _atom_kernel(self, state: SolverState) -> Array:
        return self.problem.atom_kernel(state.dictionary)


def fit(
    samples: Samples, D: Array, problem: Problem, options: Options, callback: Callback | None = None
) -> Fit:
    """Run Algorithm 1 in the paper's order."""
    solver = PaperOrder(samples, problem, options)
    return run(solver, solver.init(D), callback)
