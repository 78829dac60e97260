"""Files larger than memory should hold: peak memory of a fit, of batches, and of the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growth import peak, resident
from benchmarks.scale.common import ALONE, FEATURES, ONE_FIT
from rnlmf import RNLMF, MiniBatchRNLMF
from rnlmf.engine.batches import shuffled_batches
from rnlmf.sources import row_source

BLOCK = 100_000
BATCH = 8192
ITERATIONS = 3


def memory(arguments: Any) -> dict[str, Any]:
    """Jobs on a file, each in a process of its own; the command on a third of it, as Parquet."""
    found: dict[str, Any] = {"gigabytes": arguments.gigabytes, "atoms": arguments.atoms}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        rows_file(path, arguments.gigabytes / (3 if arguments.jobs == ["command"] else 1))
        for job in arguments.jobs:
            if job != "command":
                found[job] = in_a_process(f"measured({job!r}, {str(path)!r}, {arguments.atoms})")
                print(job, found[job], flush=True)
        if "command" in arguments.jobs:
            parquet = Path(folder) / "rows.parquet"
            to_parquet(path, parquet, arguments.gigabytes / 3)
            path.unlink()
            found["command"] = {
                "Parquet gigabytes": parquet.stat().st_size / 2**30,
                **in_a_process(f"the_command({str(parquet)!r}, {arguments.atoms})"),
            }
    return found


def rows_file(path: Path, gigabytes: float) -> None:
    """float32 rows on a curved structure, with errors, made block by block."""
    rng = np.random.default_rng(0)
    n = int(gigabytes * 2**30 / (4 * FEATURES))
    maps = rng.standard_normal((3, FEATURES), dtype=np.float32)
    X = np.lib.format.open_memmap(path, "w+", np.float32, (n, FEATURES))
    for start in range(0, n, BLOCK):
        b = min(BLOCK, n - start)
        block = np.tanh(rng.standard_normal((b, 3), dtype=np.float32) @ maps)
        wrong = rng.random(block.shape, dtype=np.float32) < 0.05
        X[start : start + b] = np.where(wrong, block + 2.0, block)
    X.flush()


def to_parquet(source: Path, target: Path, gigabytes: float) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    X = np.load(source, mmap_mode="r")
    n = int(gigabytes * 2**30 / (4 * FEATURES))
    names = [f"x{j}" for j in range(FEATURES)]
    with pq.ParquetWriter(target, pa.schema([(name, pa.float32()) for name in names])) as writer:
        for start in range(0, n, BLOCK):
            block = X[start : min(start + BLOCK, n)]
            columns = [pa.array(np.ascontiguousarray(block[:, j])) for j in range(FEATURES)]
            writer.write_table(pa.table(columns, names=names))


def in_a_process(call: str) -> Any:
    """What a call of this module gives in a process that has done nothing before."""
    code = f"import json; from benchmarks.scale import memory; print(json.dumps(memory.{call}))"
    program = [sys.executable, "-c", code]
    lines = subprocess.run(program, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return json.loads(lines[-1])


def measured(job: str, path: str, atoms: int) -> dict[str, float]:
    """Peak memory of a job beyond that of the process before it, and its time."""
    warnings.simplefilter("ignore")
    X = np.load(path, mmap_mode="r")
    # What is compiled and imported is there already.
    small = np.array(X[:3000])
    RNLMF(atoms, max_iter=2, **ONE_FIT, **ALONE).fit(small).denoise(small)
    Path("/proc/self/clear_refs").write_text("5")
    before, begin = resident(), time.perf_counter()
    passes = one_fit(X, atoms) if job == "fit" else whole_pass(X, atoms)
    return {
        "extra MB": (peak() - before) / 2**20,
        "seconds": time.perf_counter() - begin,
        "passes": passes,
        "rows": len(X),
    }


def one_fit(X: Any, atoms: int) -> float:
    """A few iterations, each of which is a pass."""
    return RNLMF(atoms, max_iter=ITERATIONS, **ONE_FIT, **ALONE).fit(X).n_iter_


def whole_pass(X: Any, atoms: int) -> float:
    """What ``fit`` does, which ends before, and then a whole pass."""
    source = row_source(X, large_map=0)
    assert source is not None
    model = MiniBatchRNLMF(atoms, **ONE_FIT).fit(source)
    for batch in shuffled_batches(source, BATCH, np.random.RandomState(0)):
        model.partial_fit(batch)
    return model.n_samples_seen_ / len(X)


def the_command(path: str, atoms: int) -> dict[str, float]:
    """``rnlmf denoise`` in all, from its start to its end.

    To be asked in a process that is small: a peak is never below that of who started it.
    """
    out, begin = Path(path).with_name("out.parquet"), time.perf_counter()
    program = [sys.executable, "-m", "rnlmf", "denoise", path, "-o", str(out)]
    process = subprocess.Popen([*program, "--set", f"n_components={atoms}", "--json"])
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise RuntimeError(f"rnlmf denoise ended with {os.waitstatus_to_exitcode(status)}.")
    out.unlink()
    return {"peak MB": used.ru_maxrss / 1024, "seconds": time.perf_counter() - begin}
