"""The element-wise work of a pass between its matrix products, for a block of samples.

Two steps: the samples are extrapolated along their velocities and lifted, and, once the products
have given ``V [D, ., 1]``, they move to ``X - prox(X - P)``. Between passes the noise is looked at.
:class:`NumpyArithmetic` does it with NumPy and any penalty; :mod:`rnlmf.engine.fused` does the same in
one sweep over memory where numba is installed.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rnlmf.engine.corruption import NoiseSums, effective_counts, noise_of
from rnlmf.engine.rows import LEAST_WEIGHT
from rnlmf.engine.samples import Samples
from rnlmf.penalties import L1, L2, L21, MinimaxConcave, Penalty

Array = npt.NDArray[Any]

# Velocities are stored as whole multiples of a scale per sample, in 8 bits.
VELOCITY_STEPS = 127


@dataclass
class Motion:
    """State of some samples: where they are, and how they got there.

    The 8 bits of the velocities cost a quarter of the samples' memory, and their rounding is far
    below what matters to a momentum. A velocity is the last step, ``|speed| * velocity``; a speed
    below zero says that the step turned against the velocity, which is then not to be used. The
    penalty of a sample's noise is weighed by its `release`.
    """

    Y: Array
    velocity: npt.NDArray[np.int8]
    speed: Array
    release: Array

    @classmethod
    def of_shape(cls, shape: tuple[int, int], dtype: np.dtype[Any], moving: bool) -> Motion:
        n = shape[0] if moving else 0
        velocity, speed = np.zeros((n, shape[1]), np.int8), np.zeros(n, dtype)
        return cls(np.empty(shape, dtype), velocity, speed, np.ones(shape[0], dtype))

    @classmethod
    def at_rest(cls, Y: Array) -> Motion:
        n, m = Y.shape
        return cls(Y, np.zeros((0, m), np.int8), np.zeros(0, Y.dtype), np.ones(n, Y.dtype))

    def __getitem__(self, rows: slice | Array) -> Motion:
        return Motion(self.Y[rows], self.velocity[rows], self.speed[rows], self.release[rows])

    def largest_steps(self) -> Array:
        """Largest entry of every sample's last step."""
        steps: Array = np.abs(self.speed) * VELOCITY_STEPS
        return steps

    def rest(self) -> None:
        """No velocity."""
        self.speed[...] = 0.0


class Arithmetic(Protocol):
    """What a pass needs; `lifted` and `VD` have two columns more than there are features."""

    def extrapolate(self, motion: Motion, momentum: float, lifted: Array) -> None:
        """``z = y + momentum * velocity`` into `lifted`, as ``[z, 1, -|z|^2/2]``."""

    def move(
        self,
        X: Array,
        VD: Array,
        lifted: Array,
        motion: Motion,
        penalty: Penalty,
        weight: float,
        store: bool,
    ) -> tuple[float, float]:
        """Move the samples to ``X - prox(X - P)``; return loss and penalty of where they were.

        The loss is without its term in ``C^T C``. `X` are raw samples; where one is NaN, the sample
        moves to its prediction. With `store` the velocities are kept, marked where a sample's move
        turned against its velocity.
        """

    def noise_sums(self, X: Array, Y: Array) -> NoiseSums:
        """What :mod:`rnlmf.engine.corruption` sums of the noise."""

    def noise_counts(self, X: Array, Y: Array, size: float) -> Array:
        """Effective numbers ``o_i`` of corrupted entries, given the size of a typical corruption."""


class NumpyArithmetic:
    """:class:`Arithmetic` in NumPy, with buffers for blocks of at most `rows` samples."""

    def __init__(self, samples: Samples, rows: int) -> None:
        shape, dtype = (rows, samples.shape[1]), samples.dtype
        self.units = samples.units
        self.missing = samples.missing
        self.X, self.P, self.Z = (np.empty(shape, dtype) for _ in range(3))

    def extrapolate(self, motion: Motion, momentum: float, lifted: Array) -> None:
        b, m = motion.Y.shape
        Z = self.Z[:b]
        if momentum > 0.0:
            np.multiply(motion.velocity, (momentum * np.maximum(motion.speed, 0.0))[:, None], out=Z)
            Z += motion.Y
        else:
            np.copyto(Z, motion.Y)
        lifted[:, :m] = Z
        lifted[:, m] = 1.0
        lifted[:, m + 1] = -0.5 * np.einsum("ij,ij->i", Z, Z)

    def move(
        self,
        X: Array,
        VD: Array,
        lifted: Array,
        motion: Motion,
        penalty: Penalty,
        weight: float,
        store: bool,
    ) -> tuple[float, float]:
        b, m = motion.Y.shape
        Y, Z, P = motion.Y, self.Z[:b], self.P[:b]
        X = self.units.load(X, self.X[:b])
        w = VD[:, m + 1]
        bounded = np.maximum(w, LEAST_WEIGHT)[:, None]
        np.divide(VD[:, :m], bounded, out=P)
        loss = 0.5 * b - float(w.sum(dtype=np.float64))
        loss -= float(np.maximum(LEAST_WEIGHT - w, 0.0) @ lifted[:, m + 1])
        noise = float(motion.release @ penalty.row_values(self._known(X - Z)))
        residual = self._known(np.subtract(X, P, out=X))
        threshold = weight * motion.release[:, None] / bounded
        new = penalty.remainder(residual, threshold.astype(X.dtype, copy=False), out=residual)
        new += P
        if store:
            step = np.subtract(new, Y, out=P)
            Z -= new
            self._store(motion, step, turned=np.einsum("ij,ij->i", Z, step) > 0.0)
        np.copyto(Y, new)
        return loss, noise

    def noise_sums(self, X: Array, Y: Array) -> NoiseSums:
        return NoiseSums.of(noise_of(self.units.load(X, self.X[: len(Y)]), Y))

    def noise_counts(self, X: Array, Y: Array, size: float) -> Array:
        return effective_counts(noise_of(self.units.load(X, self.X[: len(Y)]), Y), size)

    def _known(self, difference: Array) -> Array:
        """Zero, in place, where there is no value."""
        if self.missing:
            difference[np.isnan(difference)] = 0.0
        return difference

    @staticmethod
    def _store(motion: Motion, step: Array, turned: Array) -> None:
        largest = np.maximum(step.max(axis=1), -step.min(axis=1))
        scale = np.maximum(largest / VELOCITY_STEPS, np.finfo(step.dtype).tiny)
        step /= scale[:, None]
        np.rint(step, out=step)
        np.copyto(motion.velocity, step, casting="unsafe")
        motion.speed[...] = np.where(turned, -scale, scale)


def choose_arithmetic(samples: Samples, penalty: Penalty, rows: int, fused: bool) -> Arithmetic:
    """The fused arithmetic where it is wanted and can be had, else NumPy's."""
    compiled = type(penalty) in (L1, L2, L21, MinimaxConcave)
    if fused and compiled and importlib.util.find_spec("numba"):
        from rnlmf.engine.fused import FusedArithmetic

        return FusedArithmetic(samples)
    return NumpyArithmetic(samples, rows)
