"""Time of an iteration over that of its bare matrix products, and over that on one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measure import best_of
from rnlmf.engine import Options, Problem, Samples, SinglePass, SolverState, Units
from rnlmf.engine.corruption import ADAPT_EVERY
from rnlmf.engine.samples import blocks, spans, threads
from rnlmf.kernels import RBF
from rnlmf.penalties import L1, L2

SIZES = ((6_784, 62, 62), (20_000, 400, 256), (1_000, 64, 128), (1_000_000, 64, 128))
BLOCKS = (256, 1024)


def make_iteration(
    n: int, m: int, d: int, dtype: Any, fused: bool = True
) -> tuple[SinglePass, SolverState]:
    """A solver and its first state, on data of the given size."""
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((n, 3), dtype=np.float32)
    X = np.tanh(latent @ rng.standard_normal((3, m), dtype=np.float32)).astype(dtype)
    problem = Problem(RBF(), L2(), 1e-2, L1(), 1e-2, adaptive=True)
    units = Units(X.mean(axis=0), float(m) ** 0.5)
    D = units.to_engine(X[rng.choice(n, d, replace=False)]).astype(np.float64)
    options = Options(momentum=0.9, fused=fused)
    solver = SinglePass(Samples(X, units), problem, options)
    return solver, solver.init(D)


def step(iteration: tuple[SinglePass, SolverState], run_map: Any) -> Callable[[], None]:
    """As many iterations as there are from one adaptation to the next, and the adaptation."""
    solver, state = iteration
    D = state.dictionary

    def job() -> None:
        solver.map = run_map
        solver.adapt(state)
        for _ in range(ADAPT_EVERY):
            state.dictionary = D
            K_D = solver.problem.atom_kernel(D)
            statistics, _ = solver.one_pass(state, K_D, 0.9, keep_velocity=True)
            solver.move_dictionary(state, K_D, statistics)

    return job


def products(n: int, m: int, d: int, dtype: Any, rows: int, run_map: Any) -> Callable[[], None]:
    """The five products of a pass, in blocks, with nothing between them."""
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((min(n, 100_000), m), dtype=np.float32).astype(dtype)
    D, R = (rng.standard_normal(shape).astype(dtype) for shape in ((d, m), (d, d)))

    class Buffers(threading.local):
        def __init__(self) -> None:
            self.K, self.C = np.empty((rows, d), dtype), np.empty((rows, d), dtype)
            self.P = np.empty((rows, m), dtype)
            self.S, self.G = np.empty((d, m), dtype), np.empty((d, d), dtype)

    buffers = Buffers()

    def work(span: slice) -> None:
        for block in blocks(span, rows):
            start = block.start % len(Y)
            y = Y[start : start + block.stop - block.start]
            K, C, P = (buffer[: len(y)] for buffer in (buffers.K, buffers.C, buffers.P))
            np.matmul(y, D.T, out=K)
            np.matmul(K, R, out=C)
            np.matmul(K.T, y, out=buffers.S)
            np.matmul(C.T, C, out=buffers.G)
            np.matmul(K, D, out=P)

    def job() -> None:
        for _ in range(ADAPT_EVERY):
            for _ in run_map(work, spans(n)):
                pass

    return job


def compare(n: int, m: int, d: int, repeats: int = 6) -> dict[str, float]:
    """Times in float32 on one and two threads, in float64, without numba, and of the products."""
    iteration = make_iteration(n, m, d, np.float32)
    with threads(1, n) as one, threads(2, n) as two:
        jobs = {
            "iteration": step(iteration, two),
            "one thread": step(iteration, one),
            "NumPy only": step(make_iteration(n, m, d, np.float32, fused=False), two),
            "float64": step(make_iteration(n, m, d, np.float64), two),
            **{f"products {b}": products(n, m, d, np.float32, b, two) for b in BLOCKS},
        }
        times = best_of(jobs, repeats if n < 500_000 else 2)
    times["products"] = min(times.pop(f"products {b}") for b in BLOCKS)
    return times


def run() -> list[dict[str, Any]]:
    rows = []
    for n, m, d in SIZES:
        times = compare(n, m, d)
        unit = times["iteration"]
        rows.append(
            {
                "n": n,
                "m": m,
                "d": d,
                "iteration / products": unit / times["products"],
                "NumPy only / products": times["NumPy only"] / times["products"],
                "1 thread / 2 threads": times["one thread"] / unit,
                "float64 / float32": times["float64"] / unit,
                "milliseconds": 1e3 * unit / ADAPT_EVERY,
            }
        )
    return rows
