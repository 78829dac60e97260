"""Time of an iteration over that of its bare matrix products, and over that on one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measure import best_of
from rnlmf.engine import Options, Problem, Samples, Units, single_pass
from rnlmf.engine.corruption import NEXT_LOOK
from rnlmf.engine.samples import groups, threads
from rnlmf.kernels import RBF
from rnlmf.penalties import L2, MinimaxConcave

SIZES = ((6_784, 62, 62), (20_000, 400, 256), (1_000, 64, 128), (1_000_000, 64, 128))
BLOCKS = (256, 1024)


def make_iteration(n: int, m: int, d: int, dtype: Any, fused: bool = True) -> single_pass.Iteration:
    """An iteration under way, on data of the given size."""
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((n, 3), dtype=np.float32)
    X = np.tanh(latent @ rng.standard_normal((3, m), dtype=np.float32)).astype(dtype)
    problem = Problem(RBF(), L2(), 1e-2, MinimaxConcave(0.1), 1e-2)
    units = Units(X.mean(axis=0), float(m) ** 0.5)
    D = units.to_engine(X[rng.choice(n, d, replace=False)]).astype(np.float64)
    options = Options(momentum=0.9, fused=fused)
    return single_pass.Iteration(Samples(X, units), D, problem, options)


def step(iteration: single_pass.Iteration, run_map: Any) -> Callable[[], None]:
    """As many iterations as there are from one look at the noise to the next, and the look."""
    D = iteration.D

    def job() -> None:
        iteration.adapt(run_map)
        for _ in range(NEXT_LOOK):
            iteration.D = D
            statistics, _ = iteration.one_pass(run_map, 0.9, store=True)
            iteration.move_dictionary(statistics)

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

    def work(group: list[slice]) -> None:
        for block in group:
            start = block.start % len(Y)
            y = Y[start : start + block.stop - block.start]
            K, C, P = (buffer[: len(y)] for buffer in (buffers.K, buffers.C, buffers.P))
            np.matmul(y, D.T, out=K)
            np.matmul(K, R, out=C)
            np.matmul(K.T, y, out=buffers.S)
            np.matmul(C.T, C, out=buffers.G)
            np.matmul(K, D, out=P)

    def job() -> None:
        for _ in range(NEXT_LOOK):
            for _ in run_map(work, groups(n, rows)):
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
                "milliseconds": 1e3 * unit / NEXT_LOOK,
            }
        )
    return rows
