"""Algorithm 2: codes and noise of samples, new or old, with the dictionary fixed.

Every row is treated on its own and leaves the iteration when it has converged, so the result of a
row does not depend on which other rows are there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rnlmf.engine.arithmetic import Motion
from rnlmf.engine.problem import Problem
from rnlmf.engine.rows import LEAST_WEIGHT, code_step, noise_step, row_objectives
from rnlmf.engine.samples import Samples, block_rows, groups, threads
from rnlmf.engine.single_pass import Model, Workspace

Array = npt.NDArray[Any]

MOMENTUM = 0.9
# Rows that have converged are carried along until they are this share of a block.
COMPACT_SHARE = 0.25


@dataclass
class Encoding:
    """Codes, noise in the engine's units, and the objective of every sample."""

    codes: Array | None
    noise: Array
    objective: Array
    converged: Array


class FastRows:
    """Rows under the RBF kernel with linear codes: accelerated steps on what has not converged."""

    def __init__(self, samples: Samples, model: Model, rows: int) -> None:
        self.samples = samples
        self.model = model
        self.workspace = Workspace(
            samples, model.noise_penalty, rows, len(model.lifted_atoms), fused=True
        )

    def step(self, X: Array, motion: Motion, momentum: float) -> None:
        """One step of some samples, raw in `X`."""
        ws = self.workspace
        lifted, VD, K, C = (buffer[: len(X)] for buffer in (ws.lifted, ws.VD, ws.K, ws.C))
        ws.arithmetic.extrapolate(motion, momentum, lifted)
        np.matmul(self.model.weigh(lifted, K, C), self.model.lifted_atoms, out=VD)
        ws.arithmetic.move(X, VD, lifted, motion, self.model.noise_weight, store=True)

    def solve(self, rows: slice, max_iter: int, tol: float) -> tuple[Array, Array]:
        """Denoised rows in the engine's units, and which of them converged."""
        X = self.samples.X[rows]
        motion = Motion.of_shape(X.shape, X.dtype, moving=True)
        result = self.samples.load(rows, motion.Y).copy()
        converged = np.zeros(len(X), dtype=bool)
        active = np.arange(len(X))
        for iteration in range(max_iter):
            self.step(X, motion, min(MOMENTUM, iteration / (iteration + 3.0)))
            fresh = (motion.largest_steps() <= tol) & ~converged[active]
            result[active[fresh]] = motion.Y[fresh]
            converged[active[fresh]] = True
            left = ~converged[active]
            if left.mean() <= 1.0 - COMPACT_SHARE:
                active, X, motion = active[left], X[left], motion[left]
                if len(active) == 0:
                    return result, converged
        left = ~converged[active]
        result[active[left]] = motion.Y[left]
        return result, converged

    def finish(self, rows: slice, Y: Array) -> tuple[Array, Array, Array]:
        """Codes, noise and objective at `Y`; noise is exactly zero where nothing was removed."""
        ws, model = self.workspace, self.model
        b, m = Y.shape
        lifted, C = ws.lifted[:b], np.empty((b, len(model.lifted_atoms)), Y.dtype)
        ws.arithmetic.extrapolate(Motion.at_rest(Y), 0.0, lifted)
        VD = model.weigh(lifted, ws.K[:b], C) @ model.lifted_atoms
        w = VD[:, m + 1]
        bounded = np.maximum(w, LEAST_WEIGHT)[:, None]
        X = self.samples.load(rows, np.empty_like(Y))
        E = model.noise_penalty.prox(X - VD[:, :m] / bounded, model.noise_weight / bounded)
        noise = model.noise_penalty.row_values(X - Y)
        return C, E, 0.5 * (1.0 - w) + model.noise_weight * noise


class SafeRows:
    """Rows under any kernel and row-wise penalty: steps with backtracking, in double precision."""

    def __init__(self, problem: Problem, D: Array, K_D: Array, encoder: Array) -> None:
        self.problem = problem
        self.D = D
        self.K_D = K_D
        self.encoder = encoder

    def codes(self, Y: Array, C: Array | None) -> Array:
        """Closed form, or one step from `C` (from the closed form of the squared penalty at first)."""
        K = self.problem.kernel(Y, self.D)
        if C is None or self.problem.linear_codes:
            return K @ self.encoder
        return code_step(self.problem, C, K, self.K_D)

    def solve(self, X: Array, max_iter: int, tol: float) -> tuple[Array, Array, Array]:
        """Denoised rows, codes, and which rows converged."""
        Y, C = X.copy(), self.codes(X, None)
        active = np.arange(len(X))
        converged = np.zeros(len(X), dtype=bool)
        for _ in range(max_iter):
            new_C = self.codes(Y[active], C[active])
            new_Y = noise_step(self.problem, X[active], Y[active], new_C, self.D)
            moved = np.abs(new_Y - Y[active]).max(axis=1) > tol
            moved |= np.abs(new_C - C[active]).max(axis=1) > tol
            Y[active], C[active] = new_Y, new_C
            converged[active[~moved]] = True
            active = active[moved]
            if len(active) == 0:
                break
        return Y, C, converged

    def finish(self, X: Array, Y: Array, C: Array) -> tuple[Array, Array, Array]:
        """Codes, noise and objective at `Y`."""
        quadratic = 0.5 * np.einsum("ij,ij->i", C @ self.K_D.astype(C.dtype), C)
        penalty = self.problem.code_penalty
        if penalty.by_row:
            quadratic += self.problem.code_weight * penalty.row_values(C)
        E = X - Y
        # Rounding in X - (X - E) must not look like noise.
        E[np.abs(E) <= 8.0 * np.finfo(E.dtype).eps * np.maximum(np.abs(X), 1.0)] = 0.0
        return C, E, quadratic + row_objectives(self.problem, X, Y, C, self.D)


def encode(
    samples: Samples,
    D: Array,
    problem: Problem,
    *,
    code_metric: Array | None = None,
    max_iter: int = 300,
    tol: float = 3e-4,
    n_threads: int = 1,
    with_codes: bool = True,
) -> Encoding:
    """Run Algorithm 2 on all samples; `tol` is in units of the kernel's length scale."""
    n, m = samples.shape
    d, dtype = len(D), samples.dtype
    K_D = problem.atom_kernel(D)
    encoder = problem.encoder(K_D, code_metric)
    result = Encoding(
        codes=np.empty((n, d), dtype) if with_codes else None,
        noise=np.empty((n, m), dtype),
        objective=np.empty(n),
        converged=np.empty(n, dtype=bool),
    )
    rows_of_a_block = block_rows(m, d, dtype.itemsize)
    model = Model.build(problem, D, encoder, dtype) if problem.fast_rows else None
    fast_rows = FastRows(samples, model, rows_of_a_block) if model is not None else None
    safe_rows = SafeRows(problem, D, K_D, encoder)

    def work(group: list[slice]) -> None:
        for rows in group:
            if fast_rows is not None:
                Y, result.converged[rows] = fast_rows.solve(rows, max_iter, tol)
                codes, noise, objective = fast_rows.finish(rows, Y)
            else:
                X = samples.units.to_engine(samples.X[rows]).astype(np.float64)
                Y, C, result.converged[rows] = safe_rows.solve(X, max_iter, tol)
                codes, noise, objective = safe_rows.finish(X, Y, C)
            result.noise[rows], result.objective[rows] = noise, objective
            if result.codes is not None:
                result.codes[rows] = codes

    with threads(n_threads, n) as run_map:
        for _ in run_map(work, groups(n, rows_of_a_block)):
            pass
    return result
