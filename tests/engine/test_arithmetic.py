"""One set of tests for every arithmetic."""

import importlib.util

import numpy as np
import pytest

from rnlmf.engine import Samples, SampleState, Units
from rnlmf.engine.arithmetic import NumpyArithmetic, PassModel, choose_arithmetic
from rnlmf.engine.array_api import Device
from rnlmf.engine.rows import LEAST_WEIGHT
from rnlmf.kernels import RBF
from rnlmf.penalties import L1, L2, L21, MinimaxConcave, Penalty, soft_threshold

needs_numba = pytest.mark.skipif(not importlib.util.find_spec("numba"), reason="numba is absent")
LIBRARIES = ["torch", "array_api_strict"]
# What is compiled, as Python runs it: nobody sees into compiled code.
INTERPRETED = "interpreted"
COMPILED = [pytest.param(how, marks=needs_numba) for how in (True, INTERPRETED)]
every_arithmetic = pytest.mark.parametrize("fused", [False, *COMPILED, *LIBRARIES])
every_precision = pytest.mark.parametrize(("dtype", "atol"), [(np.float64, 1e-12), (np.float32, 3e-5)])
UNITS = Units(np.array([0.5, -1.0, 2.0, 0.0]), 1.7)
N, M, ATOMS = 50, 4, 7
PENALTIES = [L1(), L21(), L2(), MinimaxConcave(), MinimaxConcave(0.6)]
every_penalty = pytest.mark.parametrize("penalty", PENALTIES)


@pytest.fixture(autouse=True)
def _interpreted(request, monkeypatch):
    options = getattr(request.node, "callspec", None)
    if options is not None and options.params.get("fused") == INTERPRETED:
        from rnlmf.engine import fused

        for name in ("_extrapolate", "_move_complete", "_move_missing", "_noise_sums", "_noise_counts"):
            monkeypatch.setattr(fused, name, getattr(fused, name).py_func)
    # Compiled code does not warn of a slope that is not used.
    with np.errstate(invalid="ignore"):
        yield


@pytest.fixture
def block(rng):
    """Samples, raw; their state; atoms in the engine's units; and an encoder."""
    X = rng.standard_normal((N, M)) * 2
    # A sample that no atom sees.
    X[0] += 100.0
    state = SampleState.at((X - UNITS.center) / UNITS.width, moving=True)
    state.Y[1:] += 0.3 * rng.standard_normal((N - 1, M))
    state.velocity[...] = rng.integers(-127, 128, (N, M))
    state.speed[...] = rng.uniform(0, 5e-3, N)
    state.threshold_scale[...] = rng.uniform(1, 5, N)
    D = rng.standard_normal((ATOMS, M))
    R = np.linalg.inv(RBF()(D, D) + 0.5 * np.eye(ATOMS))
    return X, state, D, R


def device_of(name):
    """None, or the device of a library by its name."""
    if name not in LIBRARIES:
        return None
    library = pytest.importorskip(name)
    pytest.importorskip("array_api_compat")
    from array_api_compat import array_namespace

    return Device(array_namespace(library.asarray([1.0])))


def samples_of(X, dtype=float):
    return Samples.of(X.astype(dtype), Units(UNITS.center.astype(dtype), UNITS.width))


def run(block, penalty, fused, dtype=np.float64, keep_velocity=True):
    """The arithmetic after a block, the moved state, loss and noise."""
    X, state, D, R = block
    moved = SampleState(
        state.Y.astype(dtype),
        state.velocity.copy(),
        state.speed.astype(dtype),
        state.threshold_scale.astype(dtype),
    )
    atoms = RBF().lift(D, atoms=True).astype(dtype)
    model = PassModel(atoms, R.astype(dtype), penalty, 0.03, 0.9, keep_velocity)
    arithmetic = choose_arithmetic(
        samples_of(X, dtype), penalty, ATOMS, 64, fused in (True, INTERPRETED), device_of(fused)
    )
    return arithmetic, moved, arithmetic.pass_block(X.astype(dtype), moved, model)


def expected(block, penalty):
    """The same, written out: new samples, sums, loss, noise, and where the samples were."""
    X, state, D, R = block
    Z = state.Y + 0.9 * state.speed[:, None] * state.velocity
    K = RBF()(Z, D)
    C = K @ R
    V = C * K
    w = V.sum(axis=1)
    bounded = np.maximum(w, LEAST_WEIGHT)[:, None]
    P = V @ D / bounded
    samples = (X - UNITS.center) / UNITS.width
    missing = np.isnan(samples)
    known = np.where(missing, 0.0, samples - P)
    scale = state.threshold_scale
    E = penalty.prox(known, 0.03 * scale[:, None] / bounded)
    Y = np.where(missing, P, samples - E)
    pull = 0.5 * np.maximum(LEAST_WEIGHT - w, 0.0) @ (Z**2).sum(axis=1)
    noise = scale @ penalty.row_values(np.where(missing, 0.0, samples - Z))
    return Y, V.T @ Z, V.sum(axis=0), C.T @ C, (0.5 - w).sum() + pull, noise, Z


@pytest.mark.parametrize("gaps", [False, True])
@every_precision
@every_arithmetic
@every_penalty
def test_a_block_is_its_definition(penalty, fused, dtype, atol, gaps, block, rng):
    if gaps:
        block = (np.where(rng.random((N, M)) < 0.3, np.nan, block[0]), *block[1:])
    arithmetic, moved, (loss, noise) = run(block, penalty, fused, dtype)
    Y, weighted, weight, gram, expected_loss, expected_noise, _ = expected(block, penalty)
    # Where the weight is at its bound, and far out, rounding is large.
    np.testing.assert_allclose(moved.Y, Y, atol=10 * atol, rtol=100 * atol)
    np.testing.assert_allclose(arithmetic.weighted_samples[:, :M], weighted, atol=50 * atol)
    np.testing.assert_allclose(arithmetic.weighted_samples[:, M], weight, atol=50 * atol)
    np.testing.assert_allclose(arithmetic.code_gram, gram, atol=50 * atol)
    assert loss == pytest.approx(expected_loss, rel=30 * atol)
    assert noise == pytest.approx(expected_noise, rel=30 * atol)


@every_precision
@every_arithmetic
def test_velocities_are_steps_rounded_to_8_bits(fused, dtype, atol, block):
    _, moved, _ = run(block, L1(), fused, dtype)
    Y, *_, Z = expected(block, L1())
    step = (Y - block[1].Y)[1:]
    turned = np.sum((Z - Y)[1:] * step, axis=1) > 0
    assert 0 < turned.sum() < N - 1
    np.testing.assert_array_equal(moved.speed[1:] < 0, turned)
    np.testing.assert_allclose(moved.largest_steps()[1:], np.abs(step).max(axis=1), atol=10 * atol)
    stored = (moved.velocity * moved.speed[:, None])[1:]
    error = np.abs(stored - step)[~turned].max(axis=1)
    assert np.all(error <= np.abs(step[~turned]).max(axis=1) / 127 + 10 * atol)


@every_arithmetic
@every_penalty
def test_velocities_that_are_not_kept_change_nothing_else(penalty, fused, block):
    kept, unkept = (run(block, penalty, fused, keep_velocity=keep) for keep in (True, False))
    np.testing.assert_array_equal(kept[1].Y, unkept[1].Y)
    np.testing.assert_array_equal(unkept[1].velocity, block[1].velocity)
    np.testing.assert_array_equal(unkept[1].speed, block[1].speed)


class Huber(Penalty):
    """Not one of the compiled penalties."""

    def prox(self, M, t):
        return M / (1.0 + t) + soft_threshold(M, 1.0 + t) * t / (1.0 + t)


class Doubled(L1):
    """Derived from one of them, and something else."""

    def prox(self, M, t):
        return soft_threshold(M, 2.0 * t)


@needs_numba
@pytest.mark.parametrize("penalty", [Huber(), Doubled()])
def test_other_penalties_run_in_numpy(penalty, block):
    arithmetic = choose_arithmetic(samples_of(block[0]), penalty, ATOMS, 64)
    assert isinstance(arithmetic, NumpyArithmetic)


@pytest.mark.parametrize("gaps", [False, True])
@every_arithmetic
def test_sums_of_the_noise_are_their_definition(fused, gaps, block, rng):
    X, state, _, _ = block
    if gaps:
        X = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    known = (X - UNITS.center) / UNITS.width
    # No noise in some entries, and rounding is none.
    state.Y[:10] = np.where(np.isnan(known[:10]), 0.0, known[:10] * (1 + 1e-16))
    arithmetic = choose_arithmetic(
        samples_of(X), MinimaxConcave(), ATOMS, 64, fused in (True, INTERPRETED), device_of(fused)
    )
    noise = np.nan_to_num(np.abs(known - state.Y))
    noise[:10] = 0.0
    sums = arithmetic.noise_sums(X, state.Y)
    assert sums == pytest.approx((noise.sum(), (noise**2).sum(), np.count_nonzero(noise)))
    counts = arithmetic.noise_counts(X, state.Y, sums.size)
    np.testing.assert_allclose(counts, np.minimum(noise / sums.size, 1.0).sum(axis=1), atol=1e-12)


@every_arithmetic
def test_without_momentum_samples_are_taken_where_they_are(fused, block):
    X, state, D, R = block
    model = PassModel(RBF().lift(D, atoms=True), R, L1(), 0.03, 0.0, True)
    found = []
    for speed in (state.speed, np.zeros(N)):
        here = SampleState(state.Y.copy(), state.velocity.copy(), speed.copy(), state.threshold_scale)
        arithmetic = choose_arithmetic(
            samples_of(X), L1(), ATOMS, 64, fused in (True, INTERPRETED), device_of(fused)
        )
        arithmetic.pass_block(X, here, model)
        found.append(here.Y)
    np.testing.assert_array_equal(*found)


def test_arrays_of_graphics_cards_are_fetched_by_their_own_means():
    class OnCard:
        def get(self):
            return np.arange(3.0)

    np.testing.assert_array_equal(Device.fetch(OnCard()), np.arange(3.0))


def test_atoms_are_sent_once_for_all_blocks_of_a_pass(block):
    device, sent = device_of("array_api_strict"), []
    send = device.send
    device.send = lambda array: sent.append(array.shape) or send(array)
    X, state, D, R = block
    model = PassModel(RBF().lift(D, atoms=True), R, L1(), 0.03, 0.9, True)
    arithmetic = choose_arithmetic(samples_of(X), L1(), ATOMS, 64, False, device)
    for _ in range(3):
        arithmetic.pass_block(X, state, model)
    assert sent.count(R.shape) == 1
    assert len(sent) == 2 + 3
