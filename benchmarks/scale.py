"""Past memory and past one machine: errors, memory, bytes and times.

    python -m benchmarks.scale [SECTION ...] [--gigabytes 12]

Sections: streams, drift, memory, cluster, reduction, tensors. Results are added to
``benchmarks/results/scale.json``. Times are of a shared machine: ratios, side by side.
"""

from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import expm

from benchmarks import cases
from benchmarks.growth import peak, resident
from rnlmf import RNLMF, MiniBatchRNLMF
from rnlmf.datasets import corrupt_entries
from rnlmf.metrics import relative_rmse

RESULTS = Path(__file__).parent / "results" / "scale.json"
ALONE: dict[str, Any] = {"opinions": "dictionary", "neighbor_share": 0.0}
FEATURES, ATOMS = 64, 128


def curve(n: int, rng: np.random.Generator, features: int = 12) -> Any:
    t = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([f(k * t) for k in range(1, features // 2 + 1) for f in (np.cos, np.sin)])


def streams(arguments: Any) -> dict[str, Any]:
    """Error and passes of mini-batches beside those of the full fit."""
    found: dict[str, Any] = {}
    rng = np.random.default_rng(0)
    truth = curve(arguments.rows, rng).astype(np.float32)
    synthetic = cases.Case(
        f"{arguments.rows} synthetic rows",
        0,
        truth,
        corrupt_entries(truth, 0.1, random_state=0).astype(np.float32),
        {"n_components": 60, "kernel_scale": 0.5, "noise_weight": "scale"},
    )
    for case in [*([cases.motion_capture(56, 6, 0.3, 0)] if cases.data_present() else []), synthetic]:
        full = case.model(**ALONE).fit(case.noisy)
        batches = MiniBatchRNLMF(**case.parameters, random_state=0).fit(case.noisy)
        some = slice(None, None, max(1, len(case.noisy) // 100_000))
        errors = [
            100 * relative_rmse(case.truth[some], model.denoise(case.noisy[some]))
            for model in (full, batches)
        ]
        passes = batches.n_samples_seen_ / len(case.noisy)
        found[case.name] = {"errors": errors, "passes": [full.n_iter_, passes]}
    return found


def drift(arguments: Any) -> dict[str, Any]:
    """A manifold that turns: mini-batches beside fits to the last windows."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 12))
    turn = (A - A.T) / np.linalg.norm(A - A.T, 2)
    angles = np.linspace(0.0, 6.0, 300)
    data = [
        corrupt_entries(curve(1024, rng) @ expm(angle * turn), 0.1, random_state=i)
        for i, angle in enumerate(angles)
    ]
    X = curve(2000, rng) @ expm(angles[-1] * turn)
    noisy = corrupt_entries(X, 0.1, random_state=999)
    settings: dict[str, Any] = {
        "n_components": 60,
        "kernel_scale": 0.5,
        "noise_weight": "scale",
        "random_state": 0,
    }
    found = {}
    for window in (3, 5, 10, 20):
        model = RNLMF(**settings, **ALONE).fit(np.concatenate(data[-window:]))
        found[f"fit to the last {window} batches"] = relative_rmse(X, model.denoise(noisy))
    for share in (0.9, 0.0):
        model = MiniBatchRNLMF(forgetting=share, **settings)
        for batch in data:
            model.partial_fit(batch)
        found[f"forgetting {share}"] = relative_rmse(X, model.denoise(noisy))
    return found


def rows_file(path: Path, gigabytes: float) -> None:
    """float32 rows on a curved structure, with errors, made block by block."""
    rng = np.random.default_rng(0)
    n = int(gigabytes * 2**30 / (4 * FEATURES))
    maps = rng.standard_normal((3, FEATURES), dtype=np.float32)
    X = np.lib.format.open_memmap(path, "w+", np.float32, (n, FEATURES))
    for start in range(0, n, 100_000):
        b = min(100_000, n - start)
        block = np.tanh(rng.standard_normal((b, 3), dtype=np.float32) @ maps)
        wrong = rng.random(block.shape, dtype=np.float32) < 0.05
        X[start : start + b] = np.where(wrong, block + 2.0, block)
    X.flush()


def measured(job: str, path: str) -> dict[str, float]:
    """Peak memory of a job beyond that of the process before it, and its time."""
    from rnlmf.sources import row_source

    warnings.simplefilter("ignore")
    source = row_source(path)
    assert source is not None
    small = np.ascontiguousarray(source[:3000])
    settings: dict[str, Any] = {"kernel_scale": 1.0, "noise_weight": "scale", "random_state": 0}
    RNLMF(ATOMS, max_iter=2, **settings, **ALONE).fit(small).denoise(small)
    model = MiniBatchRNLMF(ATOMS, max_iter=1, tol=0.0, **settings)
    Path("/proc/self/clear_refs").write_text("5")
    before, begin = resident(), time.perf_counter()
    if job == "fit":
        RNLMF(ATOMS, max_iter=2, **settings, **ALONE).fit(source)
    elif job == "mini-batch":
        model.fit(source)
    else:
        model.fit(small)
        out = Path(path).with_name("out.parquet" if path.endswith("parquet") else "out.npy")
        model.denoise(source, out=out)
        out.unlink()
    return {"extra MB": (peak() - before) / 2**20, "seconds": time.perf_counter() - begin}


def memory(arguments: Any) -> dict[str, Any]:
    """Jobs on a file, each in a process of its own."""
    found: dict[str, Any] = {"gigabytes": arguments.gigabytes}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        rows_file(path, arguments.gigabytes)
        for job in ("mini-batch", "fit", "denoise"):
            found[job] = _measure(job, path)
        parquet = Path(folder) / "rows.parquet"
        _to_parquet(path, parquet, arguments.gigabytes / 3)
        found["Parquet gigabytes"] = parquet.stat().st_size / 2**30
        found["denoise Parquet"] = _measure("denoise", parquet)
    return found


def _measure(job: str, path: Path) -> Any:
    call = f"measured({job!r}, {str(path)!r})"
    code = f"import json; from benchmarks.scale import measured; print(json.dumps({call}))"
    return json.loads(
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout
    )


def _to_parquet(source: Path, target: Path, gigabytes: float) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    X = np.load(source, mmap_mode="r")
    n = int(gigabytes * 2**30 / (4 * FEATURES))
    names = [f"x{j}" for j in range(FEATURES)]
    with pq.ParquetWriter(target, pa.schema([(name, pa.float32()) for name in names])) as writer:
        for start in range(0, n, 100_000):
            block = X[start : min(start + 100_000, n)]
            columns = [pa.array(np.ascontiguousarray(block[:, j])) for j in range(FEATURES)]
            writer.write_table(pa.table(columns, names=names))


def cluster(arguments: Any) -> dict[str, Any]:
    """Seconds of an iteration on one and two workers, and bytes that travel, for two sizes."""
    import dask.array as da
    from distributed import Client, LocalCluster

    from rnlmf.distributed.solver import ClusterPass

    found: dict[str, Any] = {}
    sent: list[int] = []
    ask = ClusterPass.ask_once

    def counted(self: Any, question: Any) -> Any:
        answer = ask(self, question)
        sent.append(len(pickle.dumps((question.version, answer))))
        return answer

    ClusterPass.ask_once = counted  # type: ignore[method-assign]
    for n in (arguments.rows // 10, arguments.rows):
        for workers in (1, 2):
            with (
                LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as local,
                Client(local),
            ):
                chunk = max(1, n // 8)
                state = da.random.RandomState(0)
                X = state.normal(size=(n, FEATURES), chunks=(chunk, FEATURES)).astype(np.float32)
                times: list[float] = []
                RNLMF(
                    ATOMS,
                    kernel_scale=1.0,
                    noise_weight="scale",
                    max_iter=12,
                    tol=0.0,
                    random_state=0,
                    callback=lambda info: times.append(time.perf_counter()),  # noqa: B023
                    **ALONE,
                ).fit(X)
                found[f"{n} rows, {workers} workers"] = {
                    "seconds": float(np.median(np.diff(times))),
                    "bytes of an answer": int(np.median(sent)),
                }
                sent.clear()
    return found


def reduction(arguments: Any) -> dict[str, Any]:
    """A plan for a billion rows on 256 workers: the work of one, and a simulated reduction."""
    from rnlmf.distributed.source import FAN_IN, plus
    from rnlmf.engine.dictionary import Statistics

    rng = np.random.default_rng(0)
    parts = [
        Statistics(
            rng.standard_normal((ATOMS, FEATURES)), rng.standard_normal(ATOMS), np.eye(ATOMS), 1.0, 1.0
        )
        for _ in range(256)
    ]
    expected = sum(part.weighted_samples for part in parts)
    levels, longest, size = 0, 0.0, len(pickle.dumps(parts[0]))
    while len(parts) > 1:
        groups = [parts[i : i + FAN_IN] for i in range(0, len(parts), FAN_IN)]
        times = []
        sums = []
        for group in groups:
            begin = time.perf_counter()
            sums.append(plus(group))
            times.append(time.perf_counter() - begin)
        parts, levels, longest = sums, levels + 1, longest + max(times)
    np.testing.assert_allclose(parts[0].weighted_samples, expected)
    X = np.tanh(rng.standard_normal((200_000, FEATURES), dtype=np.float32))
    times = []
    RNLMF(
        ATOMS,
        kernel_scale=1.0,
        noise_weight="scale",
        max_iter=12,
        tol=0.0,
        n_jobs=1,
        random_state=0,
        callback=lambda info: times.append(time.perf_counter()),
        **ALONE,
    ).fit(X)
    per_row = float(np.median(np.diff(times))) / len(X)
    hops = levels + 1
    return {
        "levels": levels,
        "bytes of sums": size,
        "bytes to and from a worker": 2 * size,
        "seconds of adding": longest,
        "seconds of moving at 1 GB/s": FAN_IN * hops * size / 1e9,
        "core seconds per million rows": 1e6 * per_row,
        "seconds of an iteration, 1e9 rows, 256 cores": 1e9 / 256 * per_row,
        "gigabytes of rows and state, float32": 1e9 * (2 * 4 * FEATURES + FEATURES + 8) / 2**30,
    }


def tensors(arguments: Any) -> dict[str, Any]:
    """PyTorch on the CPU beside NumPy and compiled code, one thread."""
    import torch

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    X = np.tanh(rng.standard_normal((20_000, FEATURES), dtype=np.float32))
    model = RNLMF(
        ATOMS, kernel_scale=1.0, noise_weight="scale", max_iter=20, n_jobs=1, random_state=0, **ALONE
    ).fit(X)
    found, results = {}, []
    for name, data in {"NumPy and numba": X, "PyTorch": torch.asarray(X)}.items():
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            result = model.denoise(data)
            times.append(time.perf_counter() - begin)
        results.append(np.asarray(result))
        found[name] = {"seconds": min(times)}
    found["largest difference"] = float(np.abs(results[0] - results[1]).max())
    found["relative difference"] = relative_rmse(*results)
    return found


SECTIONS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "streams": streams,
    "drift": drift,
    "memory": memory,
    "cluster": cluster,
    "reduction": reduction,
    "tensors": tensors,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", default=[])
    parser.add_argument("--gigabytes", type=float, default=12.0)
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in arguments.sections or SECTIONS:
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        results[name] = SECTIONS[name](arguments)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        print(name, json.dumps(results[name], indent=1), flush=True)


if __name__ == "__main__":
    main()
