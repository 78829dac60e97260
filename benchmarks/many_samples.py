"""Subspace clustering of many samples without an n x n matrix: error, time and memory.

    python -m benchmarks.many_samples [--samples 5000 20000]

Every fit is a process of its own, so that its peak of memory is its own. Results are added to
``benchmarks/results/many_samples.json`` as they come, and ``many_samples.md`` is written from it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growth import peak, resident
from benchmarks.record import keep
from rnlmf import ElasticNetSubspaceClustering, SparseSubspaceClusteringOMP
from rnlmf.metrics import clustering_error

RESULTS = Path(__file__).parent / "results" / "many_samples.json"
METHODS: dict[str, Any] = {
    "SSC-OMP": SparseSubspaceClusteringOMP(10, n_nonzero=5, random_state=0),
    "elastic net": ElasticNetSubspaceClustering(10, random_state=0),
}
SAMPLES = (5_000, 20_000)
SUBSPACES, DIMENSION, FEATURES, NOISE = 10, 5, 60, 0.02


def subspaces(n: int) -> tuple[Any, Any]:
    """Samples near ten subspaces of five dimensions in sixty."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % SUBSPACES
    maps = rng.standard_normal((SUBSPACES, DIMENSION, FEATURES))
    X = np.einsum("nd,ndm->nm", rng.standard_normal((n, DIMENSION)), maps[y])
    return X + NOISE * rng.standard_normal(X.shape), y


def measure(method: str, n: int) -> dict[str, Any]:
    model = METHODS[method]
    # What is loaded on first use does not count.
    model.fit(subspaces(500)[0])
    X, y = subspaces(n)
    Path("/proc/self/clear_refs").write_text("5")
    before, begin, work = resident(), time.perf_counter(), time.process_time()
    labels = model.fit_predict(X)
    return {
        "method": method,
        "samples": n,
        "error": round(100.0 * clustering_error(y, labels), 2),
        "seconds": round(time.perf_counter() - begin),
        "seconds of a core": round(time.process_time() - work),
        "MB beyond the input": round((peak() - before) / 2**20),
        "MB of one n x n matrix": round(8 * n * n / 2**20),
    }


def render(rows: list[dict[str, Any]]) -> str:
    lines = [
        "# Subspace clustering of many samples",
        "",
        f"{SUBSPACES} subspaces of {DIMENSION} dimensions in {FEATURES}, with noise of {NOISE:.0%};",
        "errors in percent. Times are those of a shared machine. Memory is the peak of the process",
        "above what it was with the input loaded.",
        "",
        f"| {' | '.join(rows[0])} |",
        "|" + "---|" * len(rows[0]),
        *(f"| {' | '.join(map(str, row.values()))} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", nargs="+", type=int, default=SAMPLES)
    parser.add_argument("--one", choices=list(METHODS), help="print one measurement")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one, arguments.samples[0])))
        return
    rows = json.loads(RESULTS.read_text()) if RESULTS.is_file() else []
    for n in arguments.samples:
        for method in METHODS:
            command = [sys.executable, "-m", "benchmarks.many_samples", "--one", method]
            command += ["--samples", str(n)]
            row = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            print(row, flush=True)
            rows = [old for old in rows if (old["method"], old["samples"]) != (method, n)] + [row]
            keep(RESULTS, rows, render(rows))


if __name__ == "__main__":
    main()
