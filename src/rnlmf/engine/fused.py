"""The arithmetic of :mod:`rnlmf.engine.arithmetic` in one sweep over memory, compiled by numba.

NumPy reads and writes a block some twenty times; at a few dozen features that costs as much as the
matrix products. Compiled code is cached on disk.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from rnlmf.engine.arithmetic import VELOCITY_STEPS, Motion
from rnlmf.engine.rows import LEAST_WEIGHT
from rnlmf.engine.samples import Units
from rnlmf.penalties import L1, L2, L21, Penalty

Array = npt.NDArray[Any]

ENTRIES, ROWS, SQUARES = 0, 1, 2
CODES: dict[type[Penalty], int] = {L1: ENTRIES, L21: ROWS, L2: SQUARES}

# Sums may be reordered. No NaN gets here: samples are checked, and so is every new dictionary.
compiled = numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz", "nnan"})


@compiled
def _extrapolate(Y, velocity, speed, momentum, lifted):  # type: ignore[no-untyped-def]
    n, m = Y.shape
    for i in range(n):
        square = Y.dtype.type(0)
        if momentum > 0:
            scale = momentum * max(speed[i], Y.dtype.type(0))
            for j in range(m):
                z = Y[i, j] + scale * velocity[i, j]
                lifted[i, j] = z
                square += z * z
        else:
            for j in range(m):
                z = Y[i, j]
                lifted[i, j] = z
                square += z * z
        lifted[i, m] = 1
        lifted[i, m + 1] = -square / 2


@compiled
def _move(  # type: ignore[no-untyped-def]
    X, center, inverse_width, VD, lifted, Y, velocity, speed, weight, least, kind, store, step
):
    n, m = Y.shape
    one = Y.dtype.type(1)
    zero = Y.dtype.type(0)
    steps = Y.dtype.type(VELOCITY_STEPS)
    loss = 0.0
    noise = 0.0
    for i in range(n):
        w = VD[i, m + 1]
        loss += 0.5 - w
        if w < least:
            loss -= (least - w) * lifted[i, m + 1]
            w = least
        shrink = one / w
        threshold = weight * shrink
        # How much of the residual is kept: all within the threshold (entries), or a factor.
        factor = one
        if kind == ROWS:
            square = zero
            for j in range(m):
                r = (X[i, j] - center[j]) * inverse_width - VD[i, j] * shrink
                square += r * r
            norm = math.sqrt(square)
            if norm > threshold:
                factor = Y.dtype.type(threshold / norm)
        elif kind == SQUARES:
            factor = threshold / (one + threshold)
        total = zero
        turn = zero
        largest = zero
        # Two loops, each without a branch: they become vector instructions.
        if kind == ENTRIES:
            for j in range(m):
                x = (X[i, j] - center[j]) * inverse_width
                z = lifted[i, j]
                p = VD[i, j] * shrink
                total += abs(x - z)
                new = p + min(max(x - p, -threshold), threshold)
                u = new - Y[i, j]
                turn += (z - new) * u
                largest = max(largest, abs(u))
                step[j] = u
                Y[i, j] = new
            noise += total
        else:
            for j in range(m):
                x = (X[i, j] - center[j]) * inverse_width
                z = lifted[i, j]
                p = VD[i, j] * shrink
                total += (x - z) * (x - z)
                new = p + (x - p) * factor
                u = new - Y[i, j]
                turn += (z - new) * u
                largest = max(largest, abs(u))
                step[j] = u
                Y[i, j] = new
            noise += math.sqrt(total) if kind == ROWS else total / 2.0
        if store:
            speed[i] = -largest / steps if turn > 0 else largest / steps
            if turn <= 0 and largest > 0:
                scale = steps / largest
                for j in range(m):
                    velocity[i, j] = np.int8(np.rint(step[j] * scale))
    return loss, noise


class FusedArithmetic:
    """:class:`rnlmf.engine.arithmetic.Arithmetic`, compiled, for the penalties l1, l21 and l2."""

    def __init__(self, penalty: Penalty, units: Units, dtype: np.dtype[Any]) -> None:
        self.scalar = dtype.type
        self.kind = CODES[type(penalty)]
        self.center = units.center.astype(dtype)
        self.inverse_width = self.scalar(1.0 / units.width)
        self.step = np.empty(len(units.center), dtype)

    def extrapolate(self, motion: Motion, momentum: float, lifted: Array) -> None:
        _extrapolate(motion.Y, motion.velocity, motion.speed, self.scalar(momentum), lifted)

    def move(
        self, X: Array, VD: Array, lifted: Array, motion: Motion, weight: float, store: bool
    ) -> tuple[float, float]:
        loss, noise = _move(
            X,
            self.center,
            self.inverse_width,
            VD,
            lifted,
            motion.Y,
            motion.velocity,
            motion.speed,
            self.scalar(weight),
            self.scalar(LEAST_WEIGHT),
            self.kind,
            store,
            self.step,
        )
        return float(loss), float(noise)
