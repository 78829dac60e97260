"""Many calls in one process: memory, objects, open files and threads must stay as they are.

A stream of batches is learned from and cleaned for the given seconds; then small models are fitted, so
many times. The first third of the calls may grow (caches, pools, memory that the allocator keeps);
from then on the largest memory of the last third may exceed that of the second by `MOST_BYTES`.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
import warnings
from array import array
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from probes.record import FINE, WRONG, Record, options
from rnlmf import RNLMF, MiniBatchRNLMF

# What allocators may keep by chance. A batch is 0.2 MB, and thousands of them pass through.
MOST_BYTES = 4 << 20
MOST_BLOCKS = 1000
ROWS, COLUMNS = 2000, 12
SAMPLE_EVERY = 20


@dataclass
class Watch:
    """What a process has, seen again and again.

    Attributes
    ----------
    memory, blocks, handles : array of int
        Bytes in use, objects of Python, open files and threads. No lists: those would be objects more.
    """

    memory: array[int] = field(default_factory=lambda: array("q"))
    blocks: array[int] = field(default_factory=lambda: array("q"))
    handles: array[int] = field(default_factory=lambda: array("q"))

    def look(self) -> None:
        """Add what there is now."""
        gc.collect()
        with open("/proc/self/statm") as file:
            self.memory.append(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
        self.blocks.append(sys.getallocatedblocks())
        self.handles.append(len(os.listdir("/proc/self/fd")) + threading.active_count())

    def growth(self, values: array[int]) -> int:
        """The largest of the last third above the largest of the second."""
        third = len(values) // 3
        return max(values[-third:]) - max(values[third:-third])

    @property
    def complaint(self) -> str:
        """What has grown; empty if nothing has."""
        allowed = {"memory": MOST_BYTES, "blocks": MOST_BLOCKS, "handles": 0}
        grown = {name: self.growth(getattr(self, name)) for name in allowed}
        return ", ".join(f"{name} by {by:,}" for name, by in grown.items() if by > allowed[name])


def batch(rng: np.random.Generator) -> np.ndarray:
    """Samples of a curve with errors."""
    t = rng.uniform(0, 6, ROWS)
    X = np.column_stack([f(k * t) for k in range(1, COLUMNS // 2 + 1) for f in (np.cos, np.sin)])
    X[rng.random(X.shape) < 0.05] += 3.0
    return X


def stream(record: Record, seconds: float, pause: float = 0.0) -> None:
    """Learn from batches that come after a pause each, and clean them."""
    rng, watch, calls = np.random.default_rng(0), Watch(), 0
    model = MiniBatchRNLMF(40, kernel_scale=0.5, noise_weight="scale", random_state=0)
    end = time.monotonic() + seconds
    finite = True
    while time.monotonic() < end or calls < 3 * SAMPLE_EVERY:
        X = batch(rng)
        finite &= bool(np.isfinite(model.partial_fit(X).denoise(X)).all())
        calls += 1
        time.sleep(pause)
        if calls % SAMPLE_EVERY == 0:
            watch.look()
    _judge(record, "partial_fit and denoise", watch, calls, finite)


def fits(record: Record, count: int) -> None:
    """Fit small models, each with data of its own."""
    rng, watch = np.random.default_rng(1), Watch()
    finite = True
    for fit in range(max(count, 3 * SAMPLE_EVERY)):
        model = RNLMF(10, kernel_scale=1.0, noise_weight="scale", max_iter=20, random_state=0)
        finite &= bool(np.isfinite(model.fit(batch(rng)[:60]).components_).all())
        if (fit + 1) % SAMPLE_EVERY == 0:
            watch.look()
    _judge(record, "fit", watch, fit + 1, finite)


def _judge(record: Record, row: str, watch: Watch, calls: int, finite: bool) -> None:
    wrong = watch.complaint or ("" if finite else "results are not finite")
    record.add(row, WRONG if wrong else FINE, wrong, times=calls)
    record.facts[f"{row}: memory of the process in MB, first, largest and last"] = ", ".join(
        f"{value / 1e6:.1f}" for value in (watch.memory[0], max(watch.memory), watch.memory[-1])
    )
    record.facts[f"{row}: growth of the last third in kB"] = watch.growth(watch.memory) // 1000
    record.facts[f"{row}: growth of the last third in objects"] = watch.growth(watch.blocks)


def main() -> int:
    """Call, and write what was found."""
    given = options(__doc__, seconds=1800.0, pause=0.0, fits=1000)
    record = Record("many calls in one process")
    warnings.simplefilter("ignore", ConvergenceWarning)
    stream(record, given.seconds, given.pause)
    fits(record, given.fits)
    return record.save("soak")


if __name__ == "__main__":
    sys.exit(main())
