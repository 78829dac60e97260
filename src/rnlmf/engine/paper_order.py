"""Algorithm 1 in the paper's order: codes, dictionary, noise, each from the newest of the others.

It serves every kernel and every penalty, works on whole matrices in double precision, and checks each
step: without momentum the objective never rises. The single pass of
:mod:`rnlmf.engine.single_pass` is the fast path for the RBF kernel with the squared penalty on the
codes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rnlmf.engine.corruption import (
    SETTLED,
    Corruption,
    NoiseSums,
    due,
    effective_counts,
    noise_of,
)
from rnlmf.engine.dictionary import (
    DictionaryStep,
    Statistics,
    gradient_and_curvature,
    relative_change,
)
from rnlmf.engine.missing import WHILE_LEARNING, fill_from_observed
from rnlmf.engine.problem import Fit, IterationInfo, Options, Problem, has_converged
from rnlmf.engine.rows import code_step, code_value, known_difference, noise_step
from rnlmf.engine.samples import Samples
from rnlmf.penalties import L2, MinimaxConcave, Nuclear

Array = npt.NDArray[Any]

MAX_DAMPINGS = 20


class Iterate:
    """The variables of Algorithm 1 and its three updates."""

    def __init__(self, samples: Samples, D: Array, problem: Problem, options: Options) -> None:
        self.problem = problem
        self.momentum = options.momentum
        self.samples = samples
        every = slice(None)
        self.X = samples.load(every, np.empty(samples.shape))
        self.Y = samples.load_filled(every, np.empty(samples.shape))
        self.release = np.ones(len(self.X))
        self.step = DictionaryStep(
            D.shape, options.step_damping, options.curvature_shift, options.dictionary_step
        )
        self.set_dictionary(D.astype(np.float64))
        self.C = np.zeros((len(self.X), len(D)), dtype=self.X.dtype)

    def set_dictionary(self, D: Array) -> None:
        self.D64 = D
        self.D = D.astype(self.X.dtype)
        self.K_D = self.problem.atom_kernel(D)

    def loss(self, D: Array | None = None) -> float:
        """Loss and dictionary penalty, here or at another dictionary."""
        kernel = self.problem.kernel
        if D is None:
            D, K_D = self.D, self.K_D
        else:
            K_D = self.problem.atom_kernel(D)
            D = D.astype(self.X.dtype)
        own = kernel.f(kernel.self_argument(self.Y))
        cross = np.einsum("ij,ij->i", self.C, kernel(self.Y, D))
        gram = (self.C.T @ self.C).astype(np.float64)
        return (
            float(np.sum(0.5 * own - cross, dtype=np.float64))
            + 0.5 * float(np.sum(gram * K_D))
            + self.problem.dictionary_value(K_D)
        )

    def objective(self) -> float:
        """``J(D, C, E)``."""
        values = self.problem.noise_penalty.row_values(known_difference(self.X, self.Y))
        noise = self.problem.noise_weight * float(self.release @ values)
        return self.loss() + code_value(self.problem, self.C) + noise

    def update_codes(self, ridge: bool) -> None:
        """Table 1 of the paper; the closed form also while `ridge`, to start l1 and nuclear codes."""
        K = self.problem.kernel(self.Y, self.D)
        if ridge or isinstance(self.problem.code_penalty, L2):
            self.C = K @ self.problem.encoder(self.K_D).astype(K.dtype)
        else:
            self.C = code_step(self.problem, self.C, K, self.K_D)

    def update_dictionary(self) -> float:
        """Eqs. (D_sol_delta) and (D_sol_2); returns the relative change.

        When the loss would rise, the momentum is dropped, then the step is damped.
        """
        kernel = self.problem.kernel
        V = self.C * kernel.slope(kernel.argument(self.Y, self.D))
        statistics = Statistics(
            pull=(V.T @ self.Y).astype(np.float64),
            weight=V.sum(axis=0, dtype=np.float64),
            code_gram=(self.C.T @ self.C).astype(np.float64),
            loss=0.0,
            noise=0.0,
        )
        gradient, H = gradient_and_curvature(self.problem, self.D64, self.K_D, statistics)
        direction = self.step.direction(gradient, H)
        before = self.loss()
        momentum = self.momentum
        for _ in range(MAX_DAMPINGS):
            delta = self.step.propose(direction, momentum)
            trial = self.D64 - delta
            # A step too far may overflow; its loss is then no number, and it is refused.
            with np.errstate(over="ignore", invalid="ignore"):
                descends = bool(np.all(np.isfinite(trial))) and self.loss(trial) <= before
            if descends:
                self.set_dictionary(trial)
                self.step.relax()
                return relative_change(delta, trial, momentum)
            self.step.restart()
            if momentum == 0.0:
                self.step.damp()
            momentum = 0.0
        self.step.restart()
        return 0.0

    def update_noise(self) -> None:
        """Table 2 of the paper."""
        self.Y = noise_step(self.problem, self.X, self.Y, self.C, self.D, self.release)

    def look(self) -> Corruption | None:
        """Let the noise found so far set the penalty; None without noise."""
        E = noise_of(self.X, self.Y)
        if not E.any():
            return None
        sums = NoiseSums.of(E)
        counts, observed = effective_counts(E, sums.size), self.samples.observed(slice(None))
        corruption = Corruption.of_data(sums, counts, observed)
        self.release = corruption.release(counts, observed)
        self.problem = replace(self.problem, noise_penalty=MinimaxConcave(corruption.knee))
        return corruption


def fit(samples: Samples, D: Array, problem: Problem, options: Options) -> Fit:
    """Run Algorithm 1.

    With l1 or nuclear codes the first `options.warmup` iterations use the squared penalty, as the
    paper advises; they count as iterations, and the objective is recorded from the switch on.
    """
    iterate = Iterate(samples, D, problem, options)
    warmup = 0 if isinstance(problem.code_penalty, L2) else min(options.warmup, options.max_iter - 1)
    result = Fit(dictionary=D)
    for iteration in range(options.max_iter):
        if samples.missing and iteration in WHILE_LEARNING:
            fill_from_observed(iterate.Y, np.isnan(iterate.X), iterate.D)
        if problem.adaptive and due(iteration):
            result.corruption = iterate.look() or result.corruption
        iterate.update_codes(ridge=iteration < warmup)
        change = iterate.update_dictionary()
        iterate.update_noise()
        result.n_iter = iteration + 1
        objective = iterate.objective()
        if iteration >= warmup:
            result.objective.append(objective)
            settled = not problem.adaptive or iteration >= SETTLED
            result.converged = settled and has_converged(result.objective, change, options.tol)
        info = IterationInfo(iteration + 1, options.max_iter, objective, change)
        if options.callback is not None and options.callback(info) is True:
            break
        if result.converged:
            break
    result.dictionary = iterate.D64
    if isinstance(problem.code_penalty, Nuclear):
        squares, vectors = np.linalg.eigh((iterate.C.T @ iterate.C).astype(np.float64))
        result.code_metric = (vectors * np.sqrt(np.maximum(squares, 0.0))) @ vectors.T
    return result
