"""The fast path: one iteration is one pass over blocks of samples.

For the RBF kernel and the squared penalty on the codes, a pass computes for each block, given ``D``,

    K = k(Y, D),   C = K R,   V = C * K,   w = V 1,   P = (V D) / w,   Y = X - prox(X - P)

and sums the statistics from which the dictionary takes its step once the pass has ended. ``P`` is
the model's prediction, a kernel-weighted mean of the atoms, and noise is what exceeds the threshold
``lambda_E / w`` in the residual to it: Table 2 of the paper with xi = 1 and a step of its own for
every sample. A sample that no atom sees (``w`` below a hundredth, as with a spike far outside the
data) would keep its noise for ever; the term ``(0.01 - w)_+ |y|^2 / 2`` in the objective draws it to
the data's centre, from where the atoms take over. Dictionary and noise are updated from the same
codes and kernel values, so a pass needs one kernel matrix where the paper's order needs two.

Two devices keep a pass close to its five matrix products. Blocks are *lifted* (see
:meth:`rnlmf.kernels.RBF.lift`), so that the products that give ``K``, ``V^T Y`` and ``V D`` also give
the squared distances and the sums ``V^T 1`` and ``V 1``. And the pass is accelerated: dictionary and
samples move with the same momentum (Nesterov's for the samples, restarted for each when it points
uphill).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rnlmf.engine.arithmetic import Motion, choose_arithmetic
from rnlmf.engine.corruption import SETTLED, Corruption, NoiseSums, due
from rnlmf.engine.dictionary import (
    DictionaryStep,
    Statistics,
    gradient_and_curvature,
    relative_change,
)
from rnlmf.engine.missing import WHILE_LEARNING, fill_from_observed
from rnlmf.engine.problem import Fit, IterationInfo, Options, Problem, has_converged
from rnlmf.engine.samples import Mapper, Samples, block_rows, groups, threads
from rnlmf.penalties import MinimaxConcave, Penalty

Array = npt.NDArray[Any]

# Momentum sets in once dictionary and samples have found the data.
DICTIONARY_REST = 5
SAMPLE_REST = 10
# A rise of the objective by more than this fraction is not the ripple of momentum.
TOLERATED_RISE = 1e-2


@dataclass(frozen=True)
class Model:
    """What stays fixed during a pass, in the samples' precision."""

    lifted_atoms: Array
    encoder: Array
    noise_penalty: Penalty
    noise_weight: float

    @classmethod
    def build(cls, problem: Problem, D: Array, encoder: Array, dtype: np.dtype[Any]) -> Model:
        return cls(
            lifted_atoms=problem.kernel.lift(D, atoms=True).astype(dtype),
            encoder=encoder.astype(dtype),
            noise_penalty=problem.noise_penalty,
            noise_weight=problem.noise_weight,
        )

    def weigh(self, lifted: Array, K: Array, C: Array) -> Array:
        """Kernel and codes of lifted samples into `K` and `C`; then ``V = C * K`` replaces ``K``."""
        np.matmul(lifted, self.lifted_atoms.T, out=K)
        np.exp(K, out=K)
        np.matmul(K, self.encoder, out=C)
        return np.multiply(C, K, out=K)


class Workspace(threading.local):
    """Buffers of one thread, for blocks of at most `rows` samples."""

    def __init__(
        self, samples: Samples, penalty: Penalty, rows: int, n_atoms: int, fused: bool
    ) -> None:
        m, dtype = samples.shape[1], samples.dtype
        self.arithmetic = choose_arithmetic(samples, penalty, rows, fused)
        self.lifted, self.VD = np.empty((rows, m + 2), dtype), np.empty((rows, m + 2), dtype)
        self.K, self.C = np.empty((rows, n_atoms), dtype), np.empty((rows, n_atoms), dtype)
        self.pull = np.empty((n_atoms, m + 2), dtype)
        self.gram = np.empty((n_atoms, n_atoms), dtype)


class Passes:
    """The samples in motion, and a pass over them."""

    def __init__(self, samples: Samples, problem: Problem, n_atoms: int, options: Options) -> None:
        n, m = samples.shape
        self.samples = samples
        self.rows = block_rows(m, n_atoms, samples.dtype.itemsize)
        self.workspace = Workspace(samples, problem.noise_penalty, self.rows, n_atoms, options.fused)
        self.motion = Motion.of_shape((n, m), samples.dtype, moving=options.momentum > 0.0)
        self.reset()

    def reset(self) -> None:
        """``Y = X``, at rest."""
        for group in groups(self.samples.shape[0], self.rows):
            for rows in group:
                self.samples.load_filled(rows, self.motion.Y[rows])
        self.motion.rest()

    def run(self, run_map: Mapper[Any, Any], model: Model, momentum: float, store: bool) -> Statistics:
        """One pass; `momentum` extrapolates the samples, `store` keeps their velocities."""
        d, lifted_width = model.lifted_atoms.shape
        m = lifted_width - 2

        def work(group: list[slice]) -> Statistics:
            ws = self.workspace
            pull = np.zeros((d, lifted_width), self.samples.dtype)
            gram = np.zeros((d, d), self.samples.dtype)
            loss = noise = 0.0
            for rows in group:
                block_loss, block_noise = self.block(rows, ws, model, momentum, store)
                pull += ws.pull
                gram += ws.gram
                loss += block_loss
                noise += block_noise
            return Statistics(pull[:, :m], pull[:, m], gram, loss, noise)

        total = Statistics(np.zeros((d, m)), np.zeros(d), np.zeros((d, d)), 0.0, 0.0)
        for part in run_map(work, groups(self.samples.shape[0], self.rows)):
            total.pull += part.pull
            total.weight += part.weight
            total.code_gram += part.code_gram
            total.loss += part.loss
            total.noise += part.noise
        return total

    def block(
        self, rows: slice, ws: Workspace, model: Model, momentum: float, store: bool
    ) -> tuple[float, float]:
        """One block: its statistics into the workspace, its samples moved; loss and noise."""
        motion = self.motion[rows]
        lifted, VD, K, C = (buffer[: len(motion.Y)] for buffer in (ws.lifted, ws.VD, ws.K, ws.C))
        ws.arithmetic.extrapolate(motion, momentum, lifted)
        V = model.weigh(lifted, K, C)
        np.matmul(V.T, lifted, out=ws.pull)
        np.matmul(C.T, C, out=ws.gram)
        np.matmul(V, model.lifted_atoms, out=VD)
        X = self.samples.X[rows]
        return ws.arithmetic.move(X, VD, lifted, motion, model.noise_penalty, model.noise_weight, store)

    def fill(self, run_map: Mapper[Any, Any], D: Array) -> None:
        """Missing values from what was observed."""
        D = D.astype(self.samples.dtype)

        def work(group: list[slice]) -> None:
            for rows in group:
                fill_from_observed(self.motion.Y[rows], np.isnan(self.samples.X[rows]), D)

        for _ in run_map(work, groups(self.samples.shape[0], self.rows)):
            pass
        self.motion.rest()

    def look(self, run_map: Mapper[Any, Any]) -> Corruption | None:
        """Corruption in the noise found so far (None without noise); sets the samples' release."""
        samples, motion = self.samples, self.motion

        def add(group: list[slice]) -> list[NoiseSums]:
            noise_sums = self.workspace.arithmetic.noise_sums
            return [noise_sums(samples.X[rows], motion.Y[rows]) for rows in group]

        def all_groups() -> Iterator[list[slice]]:
            return groups(samples.shape[0], self.rows)

        blocks = [block for group in run_map(add, all_groups()) for block in group]
        sums = NoiseSums(*map(sum, zip(*blocks, strict=True)))
        if not sums.total > 0.0:
            return None

        def count(group: list[slice]) -> list[tuple[Array, Array]]:
            counts = self.workspace.arithmetic.noise_counts
            return [
                (counts(samples.X[rows], motion.Y[rows], sums.size), samples.observed(rows))
                for rows in group
            ]

        parts = [part for group in run_map(count, all_groups()) for part in group]
        counts, observed = (np.concatenate(list(column)) for column in zip(*parts, strict=True))
        corruption = Corruption.of_data(sums, counts, observed)
        motion.release[...] = corruption.release(counts, observed)
        return corruption


class Iteration:
    """The loop around the passes: dictionary steps, momentum, and what to do when things go wrong.

    With momentum the objective ripples; the outcome is the dictionary at which it was lowest.
    """

    def __init__(self, samples: Samples, D: Array, problem: Problem, options: Options) -> None:
        self.problem = problem
        self.options = options
        self.D = self.best_D = D.astype(np.float64)
        self.best = np.inf
        self.step = DictionaryStep(
            D.shape, options.step_damping, options.curvature_shift, options.dictionary_step
        )
        self.passes = Passes(samples, problem, len(D), options)
        self.rested = 0
        self.adapted = False
        self.result = Fit(dictionary=self.D)

    def one_pass(
        self, run_map: Mapper[Any, Any], momentum: float, store: bool
    ) -> tuple[Statistics, float]:
        """A pass with the current dictionary, and the objective where it started."""
        self.K_D = self.problem.atom_kernel(self.D)
        model = Model.build(
            self.problem, self.D, self.problem.encoder(self.K_D), self.passes.samples.dtype
        )
        statistics = self.passes.run(run_map, model, momentum, store)
        # From the codes as they are, not as they should be: their rounding then counts squared.
        gram = statistics.code_gram
        objective = (
            statistics.loss
            + 0.5 * float(np.vdot(gram, self.K_D) + self.problem.code_weight * np.trace(gram))
            + self.problem.noise_weight * statistics.noise
            + self.problem.dictionary_value(self.K_D)
        )
        return statistics, objective

    def recover(self) -> None:
        """After a rise: drop the momentum; without any, go back to the best dictionary, damped."""
        if self.rested < DICTIONARY_REST:
            self.step.damp()
            self.D = self.best_D
        self.step.restart()
        self.passes.motion.rest()
        self.rested = 0

    def advance(self, statistics: Statistics, objective: float) -> float:
        """Take the dictionary's step, or recover; returns the relative change."""
        path = self.result.objective
        if not np.isfinite(objective):
            self.passes.reset()
            self.recover()
            return np.inf
        risen = (
            len(path) > 0 and not self.adapted and objective > path[-1] + TOLERATED_RISE * abs(path[-1])
        )
        self.adapted = False
        path.append(objective)
        if objective < self.best:
            self.best, self.best_D = objective, self.D
        if risen:
            self.recover()
            return np.inf
        self.step.relax()
        change = self.move_dictionary(statistics)
        self.rested += 1
        return change

    def run(self) -> Fit:
        """Pass after pass, until nothing changes."""
        options, result = self.options, self.result
        with threads(options.n_threads, self.passes.samples.shape[0]) as run_map:
            for iteration in range(options.max_iter):
                momentum = options.momentum if self.rested >= SAMPLE_REST else 0.0
                store = options.momentum > 0.0 and self.rested >= SAMPLE_REST - 1
                if self.passes.samples.missing and iteration in WHILE_LEARNING:
                    self.passes.fill(run_map, self.D)
                if self.problem.adaptive and due(iteration):
                    self.adapt(run_map)
                statistics, objective = self.one_pass(run_map, momentum, store)
                change = self.advance(statistics, objective)
                result.n_iter = iteration + 1
                settled = not self.problem.adaptive or iteration >= SETTLED
                result.converged = settled and has_converged(result.objective, change, options.tol)
                info = IterationInfo(iteration + 1, options.max_iter, objective, change)
                stop = options.callback is not None and options.callback(info) is True
                if stop or result.converged:
                    break
        result.dictionary = self.best_D
        return result

    def adapt(self, run_map: Mapper[Any, Any]) -> None:
        """Let the noise found so far set the penalty; the objective is another from here on."""
        corruption = self.passes.look(run_map)
        if corruption is not None:
            self.problem = replace(self.problem, noise_penalty=MinimaxConcave(corruption.knee))
            self.result.corruption = corruption
            self.adapted, self.best = True, np.inf

    def move_dictionary(self, statistics: Statistics) -> float:
        """Eqs. (D_sol_delta) and (D_sol_2); returns the relative change."""
        gradient, H = gradient_and_curvature(self.problem, self.D, self.K_D, statistics)
        momentum = self.options.momentum if self.rested >= DICTIONARY_REST else 0.0
        delta = self.step.propose(self.step.direction(gradient, H), momentum)
        if not np.all(np.isfinite(delta)):
            self.step.restart()
            self.step.damp()
            return np.inf
        self.D = self.D - delta
        return relative_change(delta, self.D, momentum)


def fit(samples: Samples, D: Array, problem: Problem, options: Options) -> Fit:
    """Run Algorithm 1 in single passes."""
    return Iteration(samples, D, problem, options).run()
