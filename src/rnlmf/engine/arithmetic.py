"""The element-wise work of a pass between its matrix products, for a block of samples.

Two steps: the samples are extrapolated along their velocities and lifted, and, once the products
have given ``V [D, ., 1]``, they move to ``X - prox(X - P)``. :class:`NumpyArithmetic` does it with
NumPy and any penalty; :mod:`rnlmf.engine.fused` does the same in one sweep over memory where
numba is installed.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rnlmf.engine.rows import LEAST_WEIGHT
from rnlmf.engine.samples import Units
from rnlmf.penalties import L1, L2, L21, Penalty

Array = npt.NDArray[Any]

# Velocities are stored as whole multiples of a scale per sample, in 8 bits.
VELOCITY_STEPS = 127


@dataclass
class Motion:
    """State of some samples: where they are, and how they got there.

    The 8 bits of the velocities cost a quarter of the samples' memory, and their rounding is far
    below what matters to a momentum. A velocity is the last step, ``|speed| * velocity``; a speed
    below zero says that the step turned against the velocity, which is then not to be used.
    """

    Y: Array
    velocity: npt.NDArray[np.int8]
    speed: Array

    @classmethod
    def of_shape(cls, shape: tuple[int, int], dtype: np.dtype[Any], moving: bool) -> Motion:
        n = shape[0] if moving else 0
        return cls(np.empty(shape, dtype), np.zeros((n, shape[1]), np.int8), np.zeros(n, dtype))

    @classmethod
    def at_rest(cls, Y: Array) -> Motion:
        return cls(Y, np.zeros((0, Y.shape[1]), np.int8), np.zeros(0, Y.dtype))

    def __getitem__(self, rows: slice | Array) -> Motion:
        return Motion(self.Y[rows], self.velocity[rows], self.speed[rows])

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
        self, X: Array, VD: Array, lifted: Array, motion: Motion, weight: float, store: bool
    ) -> tuple[float, float]:
        """Move the samples to ``X - prox(X - P)``; return loss and penalty of where they were.

        The loss is without its term in ``C^T C``. `X` are raw samples. With `store` the velocities
        are kept, marked where a sample's move turned against its velocity.
        """


class NumpyArithmetic:
    """:class:`Arithmetic` in NumPy, with buffers for blocks of at most `rows` samples."""

    def __init__(self, penalty: Penalty, units: Units, rows: int, dtype: np.dtype[Any]) -> None:
        shape = (rows, len(units.center))
        self.penalty = penalty
        self.units = units
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
        self, X: Array, VD: Array, lifted: Array, motion: Motion, weight: float, store: bool
    ) -> tuple[float, float]:
        b, m = motion.Y.shape
        Y, Z, P = motion.Y, self.Z[:b], self.P[:b]
        X = self.units.load(X, self.X[:b])
        w = VD[:, m + 1]
        bounded = np.maximum(w, LEAST_WEIGHT)[:, None]
        np.divide(VD[:, :m], bounded, out=P)
        loss = 0.5 * b - float(w.sum(dtype=np.float64))
        loss -= float(np.maximum(LEAST_WEIGHT - w, 0.0) @ lifted[:, m + 1])
        noise = self.penalty.value(X - Z)
        X -= P
        new = self.penalty.remainder(X, weight / bounded, out=X)
        new += P
        if store:
            step = np.subtract(new, Y, out=P)
            Z -= new
            self._store(motion, step, turned=np.einsum("ij,ij->i", Z, step) > 0.0)
        np.copyto(Y, new)
        return loss, noise

    @staticmethod
    def _store(motion: Motion, step: Array, turned: Array) -> None:
        largest = np.maximum(step.max(axis=1), -step.min(axis=1))
        scale = np.maximum(largest / VELOCITY_STEPS, np.finfo(step.dtype).tiny)
        step /= scale[:, None]
        np.rint(step, out=step)
        np.copyto(motion.velocity, step, casting="unsafe")
        motion.speed[...] = np.where(turned, -scale, scale)


def choose_arithmetic(
    penalty: Penalty, units: Units, rows: int, dtype: np.dtype[Any], fused: bool
) -> Arithmetic:
    """The fused arithmetic where it is wanted and can be had, else NumPy's."""
    if fused and type(penalty) in (L1, L2, L21) and importlib.util.find_spec("numba"):
        from rnlmf.engine.fused import FusedArithmetic

        return FusedArithmetic(penalty, units, dtype)
    return NumpyArithmetic(penalty, units, rows, dtype)
