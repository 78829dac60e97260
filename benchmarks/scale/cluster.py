"""Times and bytes on a cluster, and a plan for a large one."""

from __future__ import annotations

import pickle
import time
from typing import Any

import numpy as np

from benchmarks.scale.common import ALONE, ATOMS, FEATURES
from rnlmf import RNLMF


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
