import importlib.util

import numpy as np
import pytest

from rnlmf.engine import Samples, Units
from rnlmf.engine.arithmetic import Motion, NumpyArithmetic, choose_arithmetic
from rnlmf.engine.rows import LEAST_WEIGHT
from rnlmf.penalties import L1, L2, L21, MinimaxConcave, Penalty, soft_threshold

needs_numba = pytest.mark.skipif(not importlib.util.find_spec("numba"), reason="numba is absent")
UNITS = Units(np.array([0.5, -1.0, 2.0, 0.0]), 1.7)


@pytest.fixture
def block(rng):
    n, m = 50, 4
    X = rng.standard_normal((n, m)) * 2
    motion = Motion.of_shape((n, m), np.dtype(np.float64), moving=True)
    motion.Y[...] = rng.standard_normal((n, m))
    motion.velocity[...] = rng.integers(-127, 128, (n, m))
    motion.speed[...] = rng.uniform(0, 5e-2, n)
    motion.release[...] = rng.uniform(1, 5, n)
    VD = rng.standard_normal((n, m + 2))
    VD[:, m + 1] = rng.uniform(-0.1, 1.0, n)
    return X, motion, VD


def samples_of(X, dtype=float):
    return Samples.of(X.astype(dtype), Units(UNITS.center.astype(dtype), UNITS.width))


def run(arithmetic, penalty, block, dtype, store=True):
    X, motion, VD = block
    moved = Motion(
        motion.Y.astype(dtype),
        motion.velocity.copy(),
        motion.speed.astype(dtype),
        motion.release.astype(dtype),
    )
    lifted = np.empty(VD.shape, dtype)
    arithmetic.extrapolate(moved, 0.9, lifted)
    values = arithmetic.move(X.astype(dtype), VD.astype(dtype), lifted, moved, penalty, 0.3, store)
    return moved, lifted, values


PENALTIES = [L1(), L21(), L2(), MinimaxConcave(), MinimaxConcave(0.6)]


@pytest.mark.parametrize("penalty", PENALTIES)
def test_step_is_the_definition(penalty, block):
    X, motion, VD = block
    arithmetic = NumpyArithmetic(samples_of(X), 64)
    moved, lifted, (loss, noise) = run(arithmetic, penalty, block, float)
    Z = motion.Y + 0.9 * motion.speed[:, None] * motion.velocity
    np.testing.assert_allclose(lifted, np.column_stack([Z, np.ones(50), -0.5 * (Z**2).sum(axis=1)]))
    samples = (X - UNITS.center) / UNITS.width
    w = VD[:, 5]
    bounded = np.maximum(w, LEAST_WEIGHT)[:, None]
    P = VD[:, :4] / bounded
    threshold = 0.3 * motion.release[:, None] / bounded
    np.testing.assert_allclose(moved.Y, samples - penalty.prox(samples - P, threshold))
    pull = (np.maximum(LEAST_WEIGHT - w, 0.0) * (Z**2).sum(axis=1)).sum() / 2
    assert loss == pytest.approx((0.5 - w).sum() + pull)
    assert noise == pytest.approx(motion.release @ penalty.row_values(samples - Z))


@pytest.mark.parametrize("fused", [False, pytest.param(True, marks=needs_numba)])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_missing_values_take_the_prediction(penalty, fused, block, rng):
    X, motion, VD = block
    missing = rng.random(X.shape) < 0.3
    gappy = np.where(missing, np.nan, X)
    arithmetic = choose_arithmetic(samples_of(gappy), penalty, 64, fused)
    moved, _, (loss, noise) = run(arithmetic, penalty, (gappy, motion, VD), float)
    P = VD[:, :4] / np.maximum(VD[:, 5], LEAST_WEIGHT)[:, None]
    np.testing.assert_allclose(moved.Y[missing], P[missing], atol=1e-12)
    assert np.all(np.isfinite(moved.Y))
    assert np.isfinite(loss)
    # A missing entry counts as one in which nothing was found.
    Z = motion.Y + 0.9 * motion.speed[:, None] * motion.velocity
    known = np.where(missing, 0.0, (X - UNITS.center) / UNITS.width - Z)
    assert noise == pytest.approx(motion.release @ penalty.row_values(known))


def test_velocities_are_steps_rounded_to_8_bits(block):
    X, motion, _ = block
    moved, lifted, _ = run(NumpyArithmetic(samples_of(X), 64), L1(), block, float)
    step = moved.Y - motion.Y
    turned = np.sum((lifted[:, :4] - moved.Y) * step, axis=1) > 0
    assert 0 < turned.sum() < 50
    np.testing.assert_array_equal(moved.speed < 0, turned)
    np.testing.assert_allclose(moved.largest_steps(), np.abs(step).max(axis=1))
    stored = moved.velocity * moved.speed[:, None]
    error = np.abs(stored - step)[~turned].max(axis=1)
    assert np.all(error <= np.abs(step[~turned]).max(axis=1) / 127)


@needs_numba
@pytest.mark.parametrize("store", [True, False])
@pytest.mark.parametrize(("dtype", "atol"), [(np.float64, 1e-12), (np.float32, 3e-5)])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_fused_arithmetic_agrees_with_numpy(penalty, dtype, atol, store, block):
    # Where the weight is at its bound, predictions reach hundreds, and so does their rounding.
    samples = samples_of(block[0], dtype)
    plain, fused = (
        run(choose_arithmetic(samples, penalty, 64, fused), penalty, block, dtype, store)
        for fused in (False, True)
    )
    np.testing.assert_allclose(fused[0].Y, plain[0].Y, atol=atol)
    np.testing.assert_allclose(fused[1], plain[1], atol=atol)
    np.testing.assert_allclose(fused[2], plain[2], rtol=10 * atol)
    np.testing.assert_allclose(fused[0].speed, plain[0].speed, atol=atol)
    forward = plain[0].speed > 0
    difference = fused[0].velocity[forward].astype(int) - plain[0].velocity[forward]
    assert np.abs(difference).max() <= 1


class Huber(Penalty):
    """Not one of the compiled penalties."""

    def prox(self, M, t):
        return M / (1.0 + t) + soft_threshold(M, 1.0 + t) * t / (1.0 + t)


@needs_numba
def test_other_penalties_run_in_numpy(block):
    arithmetic = choose_arithmetic(samples_of(block[0]), Huber(), 64, fused=True)
    assert isinstance(arithmetic, NumpyArithmetic)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("fused", [False, pytest.param(True, marks=needs_numba)])
def test_sums_of_the_noise_are_their_definition(fused, gaps, block, rng):
    X, motion, _ = block
    if gaps:
        X = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    known = (X - UNITS.center) / UNITS.width
    # No noise in some entries, and rounding is none.
    motion.Y[:10] = np.where(np.isnan(known[:10]), 0.0, known[:10] * (1 + 1e-16))
    arithmetic = choose_arithmetic(samples_of(X), MinimaxConcave(), 64, fused)
    noise = np.nan_to_num(np.abs(known - motion.Y))
    noise[:10] = 0.0
    sums = arithmetic.noise_sums(X, motion.Y)
    assert sums == pytest.approx((noise.sum(), (noise**2).sum(), np.count_nonzero(noise)))
    counts = arithmetic.noise_counts(X, motion.Y, sums.size)
    np.testing.assert_allclose(counts, np.minimum(noise / sums.size, 1.0).sum(axis=1), atol=1e-12)
