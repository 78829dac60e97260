"""The arithmetic of :mod:`rnlmf.engine.arithmetic` in one sweep over memory, compiled by numba.

NumPy reads and writes a block some twenty times; at a few dozen features that costs as much as the
matrix products. Compiled code is cached on disk.
"""

from __future__ import annotations

import math
import types
from typing import Any

import numba
import numpy as np

from rnlmf.engine.arithmetic import BlockArithmetic, PassModel
from rnlmf.engine.corruption import LARGEST_NOISE, ROUNDING, NoiseSums
from rnlmf.engine.rows import LEAST_WEIGHT
from rnlmf.engine.samples import Samples
from rnlmf.engine.state import VELOCITY_STEPS, SampleState
from rnlmf.typing import Array

# The forms of a penalty (:attr:`rnlmf.penalties.Penalty.compiled_form`) as numbers.
ENTRIES, ROWS, SQUARES = 0, 1, 2
FORMS = {"entries": ENTRIES, "rows": ROWS, "squares": SQUARES}

# Sums may be reordered.
compiled = numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})
# The same for samples without a missing value: what is done for NaN falls away.
compiled_complete = numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz", "nnan"})


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


def _move(  # type: ignore[no-untyped-def]
    X,
    center,
    inverse_width,
    VD,
    lifted,
    Y,
    velocity,
    speed,
    scales,
    weight,
    knee,
    least,
    kind,
    store,
    step,
    bits,
    magnitude,
):
    n, m = Y.shape
    one = Y.dtype.type(1)
    half_inverse_knee = Y.dtype.type(0.5) / knee
    zero = Y.dtype.type(0)
    steps = Y.dtype.type(VELOCITY_STEPS)
    steep = Y.dtype.type(1e30)
    loss = 0.0
    noise = 0.0
    for i in range(n):
        w = VD[i, m + 1]
        loss += 0.5 - w
        if w < least:
            loss -= (least - w) * lifted[i, m + 1]
            w = least
        shrink = one / w
        threshold = weight * scales[i] * shrink
        # How much of the residual is kept: all within the threshold (entries), or a factor.
        factor = one
        if kind == ROWS:
            square = zero
            for j in range(m):
                r = (X[i, j] - center[j]) * inverse_width - VD[i, j] * shrink
                square += r * r if r == r else zero
            norm = math.sqrt(square)
            if norm > threshold:
                factor = Y.dtype.type(threshold / norm)
        elif kind == SQUARES:
            factor = threshold / (one + threshold)
        total = zero
        turn = zero
        # Loops without a branch, nor a maximum of floats: they become vector instructions.
        if kind == ENTRIES:
            # Firm thresholding; hard where the threshold is beyond the knee.
            slope = knee / (knee - threshold) if threshold < knee else steep
            if knee == math.inf:
                slope = one
            elif threshold >= knee:
                threshold = math.sqrt(threshold * knee)
            for j in range(m):
                x = (X[i, j] - center[j]) * inverse_width
                z = lifted[i, j]
                p = VD[i, j] * shrink
                gap = abs(x - z)
                gap = min(gap if gap == gap else zero, knee)
                total += gap - gap * gap * half_inverse_knee
                r = x - p
                r = r if r == r else zero
                size = abs(r)
                kept = size - min(size, slope * max(size - threshold, zero))
                new = p + math.copysign(kept, r)
                u = new - Y[i, j]
                turn += (z - new) * u
                step[j] = u
                Y[i, j] = new
            noise += scales[i] * total
        else:
            for j in range(m):
                x = (X[i, j] - center[j]) * inverse_width
                z = lifted[i, j]
                p = VD[i, j] * shrink
                gap = x - z
                total += gap * gap if gap == gap else zero
                r = x - p
                new = p + (r if r == r else zero) * factor
                u = new - Y[i, j]
                turn += (z - new) * u
                step[j] = u
                Y[i, j] = new
            noise += scales[i] * (math.sqrt(total) if kind == ROWS else total / 2.0)
        if store:
            # Magnitudes of floats are in the order of their bits, and integers have a fast maximum.
            top = bits[0] & magnitude
            for j in range(1, m):
                top = max(top, bits[j] & magnitude)
            bits[m] = top
            largest = step[m]
            speed[i] = -largest / steps if turn > 0 else largest / steps
            if turn <= 0 and largest > 0:
                scale = steps / largest
                for j in range(m):
                    velocity[i, j] = np.int8(np.rint(step[j] * scale))
    return loss, noise


@compiled
def _noise_sums(X, center, inverse_width, Y, rounding, largest):  # type: ignore[no-untyped-def]
    n, m = Y.shape
    zero = Y.dtype.type(0)
    one = Y.dtype.type(1)
    total = 0.0
    squares = 0.0
    entries = 0
    for i in range(n):
        row_total = zero
        row_squares = zero
        row_entries = zero
        for j in range(m):
            x = (X[i, j] - center[j]) * inverse_width
            size = abs(x - Y[i, j])
            # False where a value is missing.
            size = size if size > rounding * max(abs(x), one) else zero
            size = min(size, largest)
            row_total += size
            row_squares += size * size
            row_entries += one if size > zero else zero
        total += row_total
        squares += row_squares
        entries += int(row_entries)
    return total, squares, entries


@compiled
def _noise_counts(X, center, inverse_width, Y, rounding, scale, counts):  # type: ignore[no-untyped-def]
    n, m = Y.shape
    zero = Y.dtype.type(0)
    one = Y.dtype.type(1)
    for i in range(n):
        count = zero
        for j in range(m):
            x = (X[i, j] - center[j]) * inverse_width
            size = abs(x - Y[i, j])
            size = size if size > rounding * max(abs(x), one) else zero
            count += min(size * scale, one)
        counts[i] = count


def _renamed(function: Any, name: str) -> Any:
    """The same function by another name: the compiled code on disk is found by it."""
    copy = types.FunctionType(function.__code__, function.__globals__, name)
    copy.__qualname__ = name
    return copy


_move_complete = compiled_complete(_renamed(_move, "_move_complete"))
_move_missing = compiled(_renamed(_move, "_move_missing"))


class FusedArithmetic(BlockArithmetic):
    """Compiled, for the penalties that have one of the `FORMS`."""

    def __init__(self, samples: Samples, n_atoms: int, rows: int) -> None:
        super().__init__(samples, n_atoms, rows)
        units, dtype = samples.units, samples.dtype
        self.scalar = dtype.type
        self.sweep = _move_missing if samples.missing else _move_complete
        self.center = units.center.astype(dtype)
        self.inverse_width = self.scalar(1.0 / units.width)
        # The last step of a sample, and its largest entry; the same as bits, and all but the sign's.
        self.step = np.zeros(len(units.center) + 1, dtype)
        self.bits = self.step.view(f"i{dtype.itemsize}")
        self.rounding = self.scalar(ROUNDING * np.finfo(dtype).eps)
        self.largest = self.scalar(LARGEST_NOISE)
        self.magnitude = self.bits.dtype.type(np.iinfo(self.bits.dtype).max)

    def extrapolate(self, state: SampleState, momentum: float, lifted: Array) -> None:
        _extrapolate(state.Y, state.velocity, state.speed, self.scalar(momentum), lifted)

    def move(
        self, X: Array, VD: Array, lifted: Array, state: SampleState, model: PassModel
    ) -> tuple[float, float]:
        penalty = model.noise_penalty
        loss, noise = self.sweep(
            X,
            self.center,
            self.inverse_width,
            VD,
            lifted,
            state.Y,
            state.velocity,
            state.speed,
            state.threshold_scale,
            self.scalar(model.noise_weight),
            self.scalar(penalty.knee),
            self.scalar(LEAST_WEIGHT),
            FORMS[penalty.compiled_form],
            model.keep_velocity,
            self.step,
            self.bits,
            self.magnitude,
        )
        return float(loss), float(noise)

    def noise_sums(self, X: Array, Y: Array) -> NoiseSums:
        return NoiseSums(
            *_noise_sums(X, self.center, self.inverse_width, Y, self.rounding, self.largest)
        )

    def noise_counts(self, X: Array, Y: Array, size: float) -> Array:
        counts = np.empty(len(Y))
        scale = self.scalar(1.0 / size)
        _noise_counts(X, self.center, self.inverse_width, Y, self.rounding, scale, counts)
        return counts
