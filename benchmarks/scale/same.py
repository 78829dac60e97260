"""Wherever the rows are, the same dictionary and the same denoised rows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks import cases
from benchmarks.scale.common import ALONE
from rnlmf import RNLMF
from rnlmf.fitting import large
from rnlmf.sources import row_source

ITERATIONS = 30
WORKERS = (2, 4)
PARTS = 8


def same(arguments: Any) -> dict[str, Any]:
    """Relative differences to a fit in memory, in double precision, of dictionary and denoised rows."""
    if not cases.data_present():
        return {}
    found = {}
    for case in (cases.motion_capture(56, 6, 0.3, 0), cases.coil20(0)):
        noisy = np.asarray(case.noisy, np.float64)
        settings = {**case.parameters, **ALONE, "max_iter": ITERATIONS, "tol": 0.0, "random_state": 0}
        here = RNLMF(**settings).fit(noisy)
        clean = here.denoise(noisy)
        found[case.name] = {}
        for name, rows in elsewhere(noisy):
            there = RNLMF(**settings).fit(rows)
            found[case.name][name] = {
                "dictionary": difference(there.components_, here.components_),
                "denoised": difference(np.asarray(there.denoise(rows)), clean),
            }
            print(case.name, name, found[case.name][name], flush=True)
    return found


def difference(found: Any, expected: Any) -> float:
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


def elsewhere(noisy: Any) -> Iterator[tuple[str, Any]]:
    """The same rows in all other places."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Groups of rows in Parquet, and chunks of rows for the workers.
    step = -(-len(noisy) // PARTS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, noisy)
        yield "memory map", row_source(np.load(path, mmap_mode="r"), large_map=0)
        with mock.patch.object(large, "STATE_IN_MEMORY", 0):
            yield "blocks of a file, state in a map", str(path)
        table = pa.table({f"x{j}": column for j, column in enumerate(noisy.T)})
        pq.write_table(table, Path(folder) / "rows.parquet", row_group_size=step)
        yield "Parquet", str(Path(folder) / "rows.parquet")
    for workers in WORKERS:
        yield from on_a_cluster(noisy, step, workers)


def on_a_cluster(noisy: Any, step: int, workers: int) -> Iterator[tuple[str, Any]]:
    import dask.array as da
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as local,
        Client(local),
    ):
        yield f"Dask, {workers} workers", da.from_array(noisy, chunks=(step, -1))
