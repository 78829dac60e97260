"""Growth of time and memory with the number of samples, features and atoms.

Each size runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

SAMPLES = [(n, 64, 128) for n in (1_000, 10_000, 100_000, 1_000_000)]
FEATURES = [(10_000, m, 128) for m in (16, 64, 256, 1024)]
ATOMS = [(10_000, 64, d) for d in (16, 64, 256, 1024)]
ITERATIONS = 12
# Nothing is searched: one fit is measured.
ONE_FIT: dict[str, Any] = {"kernel_scale": 1.0, "noise_weight": "scale", "neighbor_share": 0.0}


def resident() -> float:
    """Memory of this process now, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096.0


def peak() -> float:
    """Largest memory of this process so far, in bytes."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024.0


def one_size(n: int, m: int, d: int) -> dict[str, float]:
    """Time per iteration, and peak memory beyond the input over the input."""
    from benchmarks.measure import seconds
    from rnlmf import RNLMF

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    maps = rng.standard_normal((3, m), dtype=np.float32)
    X = np.empty((n, m), np.float32)
    for start in range(0, n, 10_000):
        latent = rng.standard_normal((len(X[start : start + 10_000]), 3), dtype=np.float32)
        np.tanh(latent @ maps, out=X[start : start + 10_000])
    small = RNLMF(min(d, 100), max_iter=2, random_state=0, **ONE_FIT).fit(X[:2000])
    small.denoise(X[:100])
    # Forget the peak so far.
    Path("/proc/self/clear_refs").write_text("5")
    before = resident()
    repeats = 1 if n >= 500_000 else 3
    settings: dict[str, Any] = {"n_components": d, "tol": 0.0, "random_state": 0, **ONE_FIT}
    few, many = (
        min(
            seconds(lambda: RNLMF(**settings, max_iter=iterations).fit(X))  # noqa: B023
            for _ in range(repeats)
        )
        for iterations in (2, 2 + ITERATIONS)
    )
    return {"seconds": (many - few) / ITERATIONS, "memory": (peak() - before) / X.nbytes}


def in_a_process(size: tuple[int, int, int]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.growth", *map(str, size)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    n, m, d = size
    return {"n": n, "m": m, "d": d, **json.loads(printed)}


def table(sizes: list[tuple[int, int, int]], axis: str) -> list[dict[str, Any]]:
    """Times relative to the first size, the exponent from the size before, and memory."""
    measured = [in_a_process(size) for size in sizes]
    rows = []
    for before, row in zip([None, *measured], measured, strict=False):
        exponent = None
        if before is not None:
            exponent = float(
                np.log(row["seconds"] / before["seconds"]) / np.log(row[axis] / before[axis])
            )
        rows.append(
            {
                **{name: row[name] for name in ("n", "m", "d")},
                "time / first": row["seconds"] / measured[0]["seconds"],
                "exponent": exponent,
                "memory beyond input / input": row["memory"],
                "milliseconds": 1e3 * row["seconds"],
            }
        )
    return rows


def run() -> dict[str, list[dict[str, Any]]]:
    return {
        "with the number of samples": table(SAMPLES, "n"),
        "with the number of features": table(FEATURES, "m"),
        "with the number of atoms": table(ATOMS, "d"),
    }


if __name__ == "__main__":
    print(json.dumps(one_size(*map(int, sys.argv[1:4]))))
