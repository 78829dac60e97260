"""Memory of a large file, and processor time of a wide one, each read in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from probes.record import FINE, WRONG, Record, options

READ = """
import json, resource, sys, time
from rnlmf import io
start = time.process_time()
shape = io.read(sys.argv[1]).values.shape
peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"shape": shape, "seconds": time.process_time() - start, "bytes": peak}))
"""
# What is promised: memory over size of the file, the interpreter included, and seconds.
MOST_MEMORY = 3.0
MOST_SECONDS = 5.0
WIDE = 20_000


def write_csv(path: Path, megabytes: float, columns: int) -> None:
    """Random numbers with four decimals."""
    rng = np.random.default_rng(0)
    with open(path, "w") as file:
        file.write(",".join(f"c{i}" for i in range(columns)) + "\n")
        while file.tell() < megabytes * 1e6:
            block = 100 * rng.normal(size=(max(1, 100_000 // columns), columns))
            file.writelines(",".join(f"{v:.4f}" for v in row) + "\n" for row in block)


def read(path: Path) -> dict[str, float]:
    """What reading a file takes."""
    done = subprocess.run(
        [sys.executable, "-c", READ, path], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def main() -> int:
    """Measure, and write what was found."""
    given = options(__doc__, megabytes=200.0)
    record = Record("large files")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        write_csv(path, given.megabytes, 20)
        large = read(path)
        ratio = large["bytes"] / path.stat().st_size
        record.facts[f"memory over size, {path.stat().st_size / 1e6:.0f} MB"] = round(ratio, 2)
        record.facts["seconds of processor time, large"] = round(large["seconds"], 1)
        record.add("memory", FINE if ratio <= MOST_MEMORY else WRONG, f"{ratio:.2f} times the size")
        write_csv(path, 15.0, WIDE)
        wide = read(path)
        record.facts[f"seconds of processor time, {WIDE} columns"] = round(wide["seconds"], 2)
        record.add("columns", FINE if wide["seconds"] < MOST_SECONDS else WRONG, f"{wide['seconds']} s")
    return record.save("sizes")


if __name__ == "__main__":
    sys.exit(main())
