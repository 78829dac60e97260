"""Algorithm 2: codes and noise of samples, new or old, with the dictionary fixed.

Every row is treated on its own and leaves the iteration when it has converged, so the result of a
row does not depend on which other rows are there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rnlmf.engine.arithmetic import Motion
from rnlmf.engine.corruption import SETTLED, Corruption, due, noise_of
from rnlmf.engine.missing import WHILE_ENCODING, fill_from_observed
from rnlmf.engine.problem import Problem
from rnlmf.engine.rows import (
    LEAST_WEIGHT,
    code_step,
    known_difference,
    noise_gradient,
    noise_step,
    row_objectives,
)
from rnlmf.engine.samples import Samples, block_rows, groups, threads
from rnlmf.engine.single_pass import Model, Workspace
from rnlmf.penalties import MinimaxConcave, Penalty

Array = npt.NDArray[Any]

# From samples, where they are without their noise, and the model's prediction to a better one.
Opinion = Callable[[Array, Array, Array], Array]

MOMENTUM = 0.9
# Rows that have converged are carried along until they are this share of a block.
COMPACT_SHARE = 0.25


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


def earliest_end(corruption: Corruption | None, missing: bool) -> int:
    """Iteration before which no row has converged: it may yet be released or filled."""
    if corruption is not None:
        return SETTLED
    return max(WHILE_ENCODING) + 1 if missing else 0


@dataclass
class Verdict:
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

    def hear(self, raw: Array, opinion: Opinion, penalty: Penalty) -> None:
        """Let a second opinion change the prediction, and with it the noise; it fills the gaps too."""
        self.prediction = opinion(raw, self.Y, self.prediction)
        self.noise = penalty.prox(known_difference(self.X, self.prediction), self.threshold)
        self.Y = np.where(np.isnan(self.X), self.prediction, self.X - self.noise)

    def residual(self) -> Array:
        return known_difference(self.X, self.prediction)


class FastRows:
    """Rows under the RBF kernel with linear codes: accelerated steps on what has not converged."""

    def __init__(
        self, samples: Samples, model: Model, rows: int, corruption: Corruption | None
    ) -> None:
        self.samples = samples
        self.model = model
        self.corruption = corruption
        self.atoms = model.lifted_atoms[:, : samples.shape[1]]
        self.earliest = earliest_end(corruption, samples.missing)
        self.workspace = Workspace(
            samples, model.noise_penalty, rows, len(model.lifted_atoms), fused=True
        )

    def step(self, X: Array, motion: Motion, penalty: Penalty, momentum: float) -> None:
        """One step of some samples, raw in `X`."""
        ws = self.workspace
        lifted, VD, K, C = (buffer[: len(X)] for buffer in (ws.lifted, ws.VD, ws.K, ws.C))
        ws.arithmetic.extrapolate(motion, momentum, lifted)
        np.matmul(self.model.weigh(lifted, K, C), self.model.lifted_atoms, out=VD)
        ws.arithmetic.move(X, VD, lifted, motion, penalty, self.model.noise_weight, store=True)

    def look(self, X: Array, motion: Motion) -> None:
        """Let the noise of every row set its own release."""
        if self.corruption is not None:
            noise = noise_of(self.samples.units.to_engine(X), motion.Y)
            motion.release[...] = self.corruption.release_of(noise, observed=~np.isnan(X))

    def solve(self, rows: slice, max_iter: int, tol: float) -> tuple[Array, Array, Array]:
        """Denoised rows in the engine's units, their release, and which of them converged."""
        X = self.samples.X[rows]
        motion = Motion.of_shape(X.shape, X.dtype, moving=True)
        self.samples.load_filled(rows, motion.Y)
        result, release = motion.Y.copy(), motion.release.copy()
        converged = np.zeros(len(X), dtype=bool)
        active = np.arange(len(X))
        adaptive = self.corruption is not None
        penalty = MinimaxConcave() if adaptive else self.model.noise_penalty

        def take(chosen: Array) -> None:
            result[active[chosen]], release[active[chosen]] = motion.Y[chosen], motion.release[chosen]

        for iteration in range(max_iter):
            if self.samples.missing and iteration in WHILE_ENCODING:
                fill_from_observed(motion.Y, np.isnan(X), self.atoms)
            if adaptive and due(iteration):
                self.look(X, motion)
                penalty = self.model.noise_penalty
            self.step(X, motion, penalty, min(MOMENTUM, iteration / (iteration + 3.0)))
            if iteration < self.earliest:
                continue
            fresh = (motion.largest_steps() <= tol) & ~converged[active]
            take(fresh)
            converged[active[fresh]] = True
            left = ~converged[active]
            if left.mean() <= 1.0 - COMPACT_SHARE:
                active, X, motion = active[left], X[left], motion[left]
                if len(active) == 0:
                    return result, release, converged
        take(~converged[active])
        return result, release, converged

    def finish(self, rows: slice, Y: Array, release: Array) -> Verdict:
        """What is known at `Y`; noise is exactly zero where none was found."""
        ws, model = self.workspace, self.model
        b, m = Y.shape
        lifted, C = ws.lifted[:b], np.empty((b, len(model.lifted_atoms)), Y.dtype)
        ws.arithmetic.extrapolate(Motion.at_rest(Y), 0.0, lifted)
        VD = model.weigh(lifted, ws.K[:b], C) @ model.lifted_atoms
        w = VD[:, m + 1]
        bounded = np.maximum(w, LEAST_WEIGHT)[:, None]
        X = self.samples.load(rows, np.empty_like(Y))
        threshold = model.noise_weight * release[:, None] / bounded
        prediction = VD[:, :m] / bounded
        E = model.noise_penalty.prox(known_difference(X, prediction), threshold)
        noise = release * model.noise_penalty.row_values(known_difference(X, Y))
        objective = 0.5 * (1.0 - w) + model.noise_weight * noise
        return Verdict(C, X, Y, E, objective, prediction, threshold)


class SafeRows:
    """Rows under any kernel and row-wise penalty: steps with backtracking, in double precision."""

    def __init__(
        self,
        problem: Problem,
        D: Array,
        K_D: Array,
        encoder: Array,
        corruption: Corruption | None,
    ) -> None:
        self.problem = problem
        self.corruption = corruption
        self.D = D
        self.K_D = K_D
        self.encoder = encoder

    def codes(self, Y: Array, C: Array | None) -> Array:
        """Closed form, or one step from `C` (from the closed form of the squared penalty at first)."""
        K = self.problem.kernel(Y, self.D)
        if C is None or self.problem.linear_codes:
            return K @ self.encoder
        return code_step(self.problem, C, K, self.K_D)

    def solve(self, X: Array, Y: Array, max_iter: int, tol: float) -> tuple[Array, Array, Array, Array]:
        """Denoised rows from the start `Y`, codes, release, and which rows converged."""
        C = self.codes(Y, None)
        active = np.arange(len(X))
        converged = np.zeros(len(X), dtype=bool)
        release = np.ones(len(X))
        adaptive = self.corruption is not None
        problem = replace(self.problem, noise_penalty=MinimaxConcave()) if adaptive else self.problem
        missing = np.isnan(X)
        earliest = earliest_end(self.corruption, bool(missing.any()))
        for iteration in range(max_iter):
            if iteration in WHILE_ENCODING:
                filled = Y[active]
                fill_from_observed(filled, missing[active], self.D)
                Y[active] = filled
            if self.corruption is not None and due(iteration):
                noise = noise_of(X[active], Y[active])
                release[active] = self.corruption.release_of(noise, ~np.isnan(X[active]))
                problem = self.problem
            new_C = self.codes(Y[active], C[active])
            new_Y = noise_step(problem, X[active], Y[active], new_C, self.D, release[active])
            moved = np.abs(new_Y - Y[active]).max(axis=1) > tol
            moved |= np.abs(new_C - C[active]).max(axis=1) > tol
            moved |= iteration < earliest
            Y[active], C[active] = new_Y, new_C
            converged[active[~moved]] = True
            active = active[moved]
            if len(active) == 0:
                break
        return Y, C, release, converged

    def finish(self, X: Array, Y: Array, C: Array, release: Array) -> Verdict:
        """What is known at `Y`."""
        quadratic = 0.5 * np.einsum("ij,ij->i", C @ self.K_D.astype(C.dtype), C)
        penalty = self.problem.code_penalty
        if penalty.by_row:
            quadratic += self.problem.code_weight * penalty.row_values(C)
        # Rounding in X - (X - E) must not look like noise.
        E = np.where(noise_of(X, Y) > 0.0, X - Y, 0.0)
        gradient, curvature = noise_gradient(self.problem, Y, C, self.D)
        steepness = np.maximum(curvature, LEAST_WEIGHT)[:, None]
        threshold = self.problem.noise_weight * release[:, None] / steepness
        objective = quadratic + row_objectives(self.problem, X, Y, C, self.D, release)
        return Verdict(C, X, Y, E, objective, Y - gradient / steepness, threshold)


def encode(
    samples: Samples,
    D: Array,
    problem: Problem,
    *,
    code_metric: Array | None = None,
    corruption: Corruption | None = None,
    max_iter: int = 300,
    tol: float = 3e-4,
    n_threads: int = 1,
    with_codes: bool = True,
    with_residual: bool = False,
    opinion: Opinion | None = None,
) -> Encoding:
    """Run Algorithm 2 on all samples; `tol` is in units of the kernel's length scale.

    With a second `opinion` the noise is told from its predictions; codes and objective are the model's.
    """
    n, m = samples.shape
    d, dtype = len(D), samples.dtype
    K_D = problem.atom_kernel(D)
    encoder = problem.encoder(K_D, code_metric)
    result = Encoding(
        codes=np.empty((n, d), dtype) if with_codes else None,
        noise=np.empty((n, m), dtype),
        objective=np.empty(n),
        converged=np.empty(n, dtype=bool),
        filled=np.empty((n, m), dtype) if samples.missing else None,
        residual=np.empty((n, m), dtype) if with_residual else None,
        threshold=np.empty(n, dtype) if with_residual else None,
    )
    rows_of_a_block = block_rows(m, d, dtype.itemsize)
    model = Model.build(problem, D, encoder, dtype) if problem.fast_rows else None
    fast_rows = None if model is None else FastRows(samples, model, rows_of_a_block, corruption)
    safe_rows = SafeRows(problem, D, K_D, encoder, corruption)

    def work(group: list[slice]) -> None:
        for rows in group:
            if fast_rows is not None:
                Y, release, result.converged[rows] = fast_rows.solve(rows, max_iter, tol)
                verdict = fast_rows.finish(rows, Y, release)
            else:
                shape = samples.X[rows].shape
                X = samples.load(rows, np.empty(shape))
                Y = samples.load_filled(rows, np.empty(shape))
                Y, C, release, result.converged[rows] = safe_rows.solve(X, Y, max_iter, tol)
                verdict = safe_rows.finish(X, Y, C, release)
            if opinion is not None:
                verdict.hear(samples.X[rows], opinion, problem.noise_penalty)
            result.noise[rows], result.objective[rows] = verdict.noise, verdict.objective
            if result.residual is not None and result.threshold is not None:
                result.residual[rows] = verdict.residual()
                result.threshold[rows] = verdict.threshold[:, 0]
            if result.filled is not None:
                result.filled[rows] = verdict.Y
                result.noise[rows][np.isnan(samples.X[rows])] = np.nan
            if result.codes is not None:
                result.codes[rows] = verdict.codes

    with threads(n_threads, n) as run_map:
        for _ in run_map(work, groups(n, rows_of_a_block)):
            pass
    return result
