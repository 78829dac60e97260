"""The work on a block of samples: the seam behind which NumPy, compiled code or another device may be.

Under the Gaussian kernel with codes ``C = K R``, and given the atoms, a block is

    K = k(Z, D),   C = K R,   V = C * K,   w = V 1,   P = (V D) / w,   Y = X - prox(X - P)

at the extrapolated samples ``Z = Y + momentum * velocity``. :meth:`BlockArithmetic.row_step` is that;
:meth:`BlockArithmetic.pass_block` is that and the sums from which the dictionary takes its step. The
samples are *lifted* (see :meth:`rnlmf.kernels.RBF.lift`), so that the products that give ``K``,
``V^T Y`` and ``V D`` also give the squared distances and the sums ``V^T 1`` and ``V 1``.

A sample that no atom sees (``w`` below a hundredth, as with a spike far outside the data) would keep
its noise for ever; the term ``(0.01 - w)_+ |y|^2 / 2`` in the objective draws it to the data's centre,
from where the atoms take over.

:class:`NumpyArithmetic` serves any penalty; :mod:`rnlmf.engine.fused` does the element-wise work in one
sweep over memory where numba is installed.
"""

from __future__ import annotations

import importlib.util
import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnlmf.engine.corruption import NoiseSums, absolute_noise, effective_counts
from rnlmf.engine.problem import Problem
from rnlmf.engine.rows import LEAST_WEIGHT, row_target
from rnlmf.engine.samples import Samples
from rnlmf.engine.state import VELOCITY_STEPS, SampleState
from rnlmf.penalties import Penalty
from rnlmf.typing import Array


@dataclass(frozen=True)
class PassModel:
    """What stays fixed during a pass, in the samples' precision.

    `momentum` extrapolates the samples; with `keep_velocity` their steps are kept for the next pass.
    """

    lifted_atoms: Array
    encoder: Array
    noise_penalty: Penalty
    noise_weight: float
    momentum: float = 0.0
    keep_velocity: bool = False

    @classmethod
    def build(
        cls, problem: Problem, D: Array, encoder: Array, dtype: np.dtype[Any], **motion: Any
    ) -> PassModel:
        return cls(
            lifted_atoms=problem.kernel.lift(D, atoms=True).astype(dtype),
            encoder=encoder.astype(dtype),
            noise_penalty=problem.noise_penalty,
            noise_weight=problem.noise_weight,
            **motion,
        )


class BlockArithmetic(ABC):
    """Buffers for blocks of at most `rows` samples, and the work on them.

    After a step the buffers hold, for the block: `lifted` samples ``[Z, 1, -|Z|^2/2]``, `V`, `C` and
    `VD`, which is ``V [D, ., 1]``.
    """

    def __init__(self, samples: Samples, n_atoms: int, rows: int) -> None:
        m, dtype = samples.shape[1], samples.dtype
        self.lifted, self.VD = np.empty((rows, m + 2), dtype), np.empty((rows, m + 2), dtype)
        self.V, self.C = np.empty((rows, n_atoms), dtype), np.empty((rows, n_atoms), dtype)
        self.weighted_samples = np.empty((n_atoms, m + 2), dtype)
        self.code_gram = np.empty((n_atoms, n_atoms), dtype)

    def weigh(self, state: SampleState, model: PassModel) -> None:
        """Fill the buffers for the extrapolated samples."""
        b = len(state.Y)
        lifted, K, C = self.lifted[:b], self.V[:b], self.C[:b]
        self.extrapolate(state, model.momentum, lifted)
        np.matmul(lifted, model.lifted_atoms.T, out=K)
        np.exp(K, out=K)
        np.matmul(K, model.encoder, out=C)
        V = np.multiply(C, K, out=K)
        np.matmul(V, model.lifted_atoms, out=self.VD[:b])

    def row_step(self, X: Array, state: SampleState, model: PassModel) -> tuple[float, float]:
        """Move samples, raw in `X`; return loss (less its term in ``C^T C``) and penalty before."""
        b = len(state.Y)
        self.weigh(state, model)
        return self.move(X, self.VD[:b], self.lifted[:b], state, model)

    def pass_block(self, X: Array, state: SampleState, model: PassModel) -> tuple[float, float]:
        """The same, and the sums `weighted_samples` and `code_gram` of the block."""
        b = len(state.Y)
        result = self.row_step(X, state, model)
        np.matmul(self.V[:b].T, self.lifted[:b], out=self.weighted_samples)
        np.matmul(self.C[:b].T, self.C[:b], out=self.code_gram)
        return result

    @abstractmethod
    def extrapolate(self, state: SampleState, momentum: float, lifted: Array) -> None:
        """``z = y + momentum * velocity`` into `lifted`, as ``[z, 1, -|z|^2/2]``."""

    @abstractmethod
    def move(
        self, X: Array, VD: Array, lifted: Array, state: SampleState, model: PassModel
    ) -> tuple[float, float]:
        """Move the samples to ``X - prox(X - P)``; return loss and penalty of where they were.

        `X` are raw samples; where one is NaN, the sample moves to its prediction. Velocities that are
        kept are marked where a sample's move turned against its velocity.
        """

    @abstractmethod
    def noise_sums(self, X: Array, Y: Array) -> NoiseSums:
        """What :mod:`rnlmf.engine.corruption` sums of the noise."""

    @abstractmethod
    def noise_counts(self, X: Array, Y: Array, size: float) -> Array:
        """Effective numbers ``o_i`` of corrupted entries, given the size of a typical corruption."""


class NumpyArithmetic(BlockArithmetic):
    """In NumPy, for any penalty."""

    def __init__(self, samples: Samples, n_atoms: int, rows: int) -> None:
        super().__init__(samples, n_atoms, rows)
        shape, dtype = (rows, samples.shape[1]), samples.dtype
        self.units = samples.units
        self.missing = samples.missing
        self.X, self.P, self.Z = (np.empty(shape, dtype) for _ in range(3))

    def extrapolate(self, state: SampleState, momentum: float, lifted: Array) -> None:
        b, m = state.Y.shape
        Z = self.Z[:b]
        if momentum > 0.0:
            np.multiply(state.velocity, (momentum * np.maximum(state.speed, 0.0))[:, None], out=Z)
            Z += state.Y
        else:
            np.copyto(Z, state.Y)
        lifted[:, :m] = Z
        lifted[:, m] = 1.0
        lifted[:, m + 1] = -0.5 * np.einsum("ij,ij->i", Z, Z)

    def move(
        self, X: Array, VD: Array, lifted: Array, state: SampleState, model: PassModel
    ) -> tuple[float, float]:
        b, m = state.Y.shape
        penalty, scale = model.noise_penalty, state.threshold_scale
        Y, Z, w = state.Y, self.Z[:b], VD[:, m + 1]
        X = self.units.load(X, self.X[:b])
        P, threshold = row_target(VD[:, :m], w, model.noise_weight * scale, out=self.P[:b])
        loss = 0.5 * b - float(w.sum(dtype=np.float64))
        loss -= float(np.maximum(LEAST_WEIGHT - w, 0.0) @ lifted[:, m + 1])
        values = penalty.row_values(self._known(X - Z))
        if not np.all(np.isfinite(values)):
            # Momentum has led out of where the penalty is finite; without it, they are there.
            values = penalty.row_values(self._known(X - Y))
        noise = float(scale @ values)
        residual = self._known(np.subtract(X, P, out=X))
        new = penalty.remainder(residual, threshold, out=residual)
        new += P
        if model.keep_velocity:
            step = np.subtract(new, Y, out=P)
            Z -= new
            self._keep(state, step, turned=np.einsum("ij,ij->i", Z, step) > 0.0)
        np.copyto(Y, new)
        return loss, noise

    def noise_sums(self, X: Array, Y: Array) -> NoiseSums:
        return NoiseSums.of(absolute_noise(self.units.load(X, self.X[: len(Y)]), Y))

    def noise_counts(self, X: Array, Y: Array, size: float) -> Array:
        return effective_counts(absolute_noise(self.units.load(X, self.X[: len(Y)]), Y), size)

    def _known(self, difference: Array) -> Array:
        """Zero, in place, where there is no value."""
        if self.missing:
            difference[np.isnan(difference)] = 0.0
        return difference

    @staticmethod
    def _keep(state: SampleState, step: Array, turned: Array) -> None:
        largest = np.maximum(step.max(axis=1), -step.min(axis=1))
        scale = np.maximum(largest / VELOCITY_STEPS, np.finfo(step.dtype).tiny)
        step /= scale[:, None]
        np.rint(step, out=step)
        np.copyto(state.velocity, step, casting="unsafe")
        state.speed[...] = np.where(turned, -scale, scale)


def choose_arithmetic(
    samples: Samples,
    penalty: Penalty,
    n_atoms: int,
    rows: int,
    fused: bool = True,
    device: Any = None,
) -> BlockArithmetic:
    """That of the device in use; else the fused one where it is wanted and can be had, or NumPy's."""
    if device is not None:
        from rnlmf.engine.array_api import ArrayApiArithmetic

        return ArrayApiArithmetic(samples, n_atoms, rows, device)
    if fused and penalty.compiled_form and importlib.util.find_spec("numba"):
        from rnlmf.engine.fused import FusedArithmetic

        return FusedArithmetic(samples, n_atoms, rows)
    return NumpyArithmetic(samples, n_atoms, rows)


class ThreadArithmetic(threading.local):
    """An arithmetic, with its buffers, for every thread that asks."""

    def __init__(
        self,
        samples: Samples,
        penalty: Penalty,
        n_atoms: int,
        rows: int,
        fused: bool = True,
        device: Any = None,
    ) -> None:
        self.here = choose_arithmetic(samples, penalty, n_atoms, rows, fused, device)
