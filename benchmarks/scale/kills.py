"""``kill -9`` of workers, and of the process that fits: the error must be that of a quiet run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale.common import ALONE, curve
from rnlmf import RNLMF, load
from rnlmf.datasets import corrupt_entries
from rnlmf.metrics import relative_rmse

SETTINGS: dict[str, Any] = {
    "n_components": 30,
    "kernel_scale": 0.5,
    "noise_weight": "scale",
    "tol": 0.0,
    "max_iter": 150,
    "random_state": 0,
    **ALONE,
}
ROWS, CHUNK, FEATURES = 3000, 310, 8
# A worker is killed after so many more iterations at most.
APART = 16
# A worker that is slow to come back is not given up.
LOCAL = {"distributed.deploy.lost-worker-timeout": "1 hour", "rnlmf.patience": "10 minutes"}


def data() -> tuple[Any, Any]:
    truth = curve(ROWS, np.random.default_rng(0), FEATURES)
    return truth, corrupt_entries(truth, 0.1, random_state=0)


def error_of(model: RNLMF) -> float:
    truth, noisy = data()
    return relative_rmse(truth, model.denoise(noisy))


def kills(arguments: Any) -> dict[str, Any]:
    """Both, with the errors over that of a run that nobody disturbs."""
    usual = error_of(RNLMF(**SETTINGS).fit(data()[1]))
    return {
        "usual error": usual,
        "workers": killed_workers(arguments.kills, usual),
        "fitting process": killed_fits(arguments.kills, usual),
    }


class Killer(threading.Thread):
    """Kills workers of a local cluster at random moments of a fit."""

    def __init__(self, local: Any, rng: np.random.Generator, most: int) -> None:
        super().__init__(daemon=True)
        self.local, self.rng, self.most = local, rng, most
        self.done = threading.Event()
        self.iteration = 0
        self.killed: list[int] = []

    def run(self) -> None:
        due = int(self.rng.integers(1, APART))
        while len(self.killed) < self.most and not self.done.wait(float(self.rng.uniform(0.0, 0.2))):
            names = {worker.name for worker in list(self.local.scheduler.workers.values())}
            found = [nanny.pid for name, nanny in list(self.local.workers.items()) if name in names]
            found = [process for process in found if process]
            if found and self.iteration >= due:
                os.kill(int(self.rng.choice(found)), signal.SIGKILL)
                self.killed.append(self.iteration)
                due = self.iteration + int(self.rng.integers(1, APART))
                print(f"killed at iteration {self.iteration}, {len(found) - 1} left", flush=True)


def killed_workers(count: int, usual: float) -> dict[str, Any]:
    """Fits on a cluster of three, one after the other, until so many workers were killed."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    rng, noisy = np.random.default_rng(0), data()[1]
    iterations: list[list[int]] = []
    ratios: list[float] = []
    begin = time.monotonic()
    with (
        dask.config.set(LOCAL),
        LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as local,
        Client(local),
    ):
        while sum(map(len, iterations)) < count:
            killer = Killer(local, rng, count - sum(map(len, iterations)))

            def told(info: Any, killer: Killer = killer) -> None:
                killer.iteration = info.iteration

            killer.start()
            model = RNLMF(**SETTINGS, callback=told).fit(da.from_array(noisy, chunks=(CHUNK, -1)))
            killer.done.set()
            killer.join()
            iterations.append(killer.killed)
            ratios.append(error_of(model) / usual)
            print(f"{time.monotonic() - begin:.0f} s: {iterations[-1]} {ratios[-1]:.6f}", flush=True)
    return {
        "killed at iteration": iterations,
        "error over usual": ratios,
        "largest difference": max(abs(ratio - 1.0) for ratio in ratios),
    }


def killed_fits(count: int, usual: float) -> dict[str, Any]:
    """Fits that are killed and resumed, one after the other, until there were so many kills."""
    rng, runs, ratios = np.random.default_rng(0), [], []
    half_written: list[str] = []
    while sum(len(found) - 1 for found in runs) < count:
        with tempfile.TemporaryDirectory() as folder:
            checkpoint, saved = Path(folder) / "fit.safetensors", Path(folder) / "model.safetensors"
            left = count - sum(len(found) - 1 for found in runs)
            runs.append(one_killed_fit(left, rng, checkpoint, saved))
            names = [path.name for path in Path(folder).iterdir() if path not in (checkpoint, saved)]
            half_written += names
            ratios.append(error_of(load(saved)) / usual)
    return {
        "kills": sum(len(found) - 1 for found in runs),
        "iterations of each run": runs,
        "error over usual": ratios,
        "left behind": half_written,
    }


def one_killed_fit(
    most: int, rng: np.random.Generator, checkpoint: Path, saved: Path
) -> list[tuple[int, int]]:
    """The first and the last iteration of every run of a fit that is killed so many times at most."""
    code = f"from benchmarks.scale.kills import go_on; go_on({str(checkpoint)!r}, {str(saved)!r})"
    found: list[tuple[int, int]] = []
    while not saved.exists():
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        # What it says are its iterations: the moments are some way into the fit. All may be done.
        line = process.stdout.readline()
        first = int(line) if line else found[-1][1]
        if len(found) < most:
            time.sleep(float(rng.exponential(0.2)))
            process.kill()
        last = [first, *map(int, process.stdout.read().split())][-1]
        process.wait()
        found.append((first, last))
        print("iterations", first, "to", last, flush=True)
    return found


def go_on(checkpoint: str, saved: str) -> None:
    """A fit that says its iterations, with a checkpoint after each of them."""
    from rnlmf import save
    from rnlmf.fitting.checkpoint import Checkpoint

    defaults = Checkpoint.__init__.__kwdefaults__
    assert defaults is not None
    defaults["every"] = 0.0
    model = RNLMF(**SETTINGS, callback=lambda info: print(info.iteration, flush=True))
    model.fit(data()[1], checkpoint=checkpoint, resume=Path(checkpoint).exists())
    model.callback = None
    save(model, saved)
