"""Times of one and two workers, and the bytes that travel."""

from __future__ import annotations

import pickle
import time
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.scale.common import ALONE, ATOMS, FEATURES, ONE_FIT
from rnlmf import RNLMF

CHUNKS, ITERATIONS, REPEATS = 8, 8, 2


def cluster(arguments: Any) -> dict[str, Any]:
    """Seconds of an iteration, in turns, and bytes of an answer, which must not depend on the rows."""
    many, few = arguments.cluster_rows, arguments.cluster_rows // 10
    found: dict[str, Any] = {"rows": many, "seconds": {1: [], 2: []}, "bytes of an answer": {}}
    found["bytes of an answer"][few] = iterations(few, 1)[1]
    for _ in range(REPEATS):
        for workers in (1, 2):
            seconds, found["bytes of an answer"][many] = iterations(many, workers)
            found["seconds"][workers].append(seconds)
            print(workers, "worker(s)", seconds, "s", flush=True)
    best = {workers: min(times) for workers, times in found["seconds"].items()}
    return {**found, "two workers over one": best[1] / best[2]}


def iterations(n: int, workers: int) -> tuple[float, int]:
    """Median seconds of an iteration, and bytes of what comes back in one."""
    import dask.array as da
    from distributed import Client, LocalCluster

    from rnlmf.distributed.solver import ClusterPass

    times: list[float] = []
    sizes: list[int] = []
    ask = ClusterPass.ask_once

    def counted(self: Any, question: Any) -> Any:
        answer = ask(self, question)
        sizes.append(len(pickle.dumps((question.number, answer))))
        return answer

    with (
        mock.patch.object(ClusterPass, "ask_once", counted),
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as local,
        Client(local),
    ):
        state = da.random.RandomState(0)
        X = state.normal(size=(n, FEATURES), chunks=(-(-n // CHUNKS), FEATURES)).astype(np.float32)
        RNLMF(
            ATOMS,
            max_iter=ITERATIONS,
            tol=0.0,
            callback=lambda info: times.append(time.perf_counter()),
            **ONE_FIT,
            **ALONE,
        ).fit(X)
    return float(np.median(np.diff(times))), int(np.median(sizes))
