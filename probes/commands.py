"""Commands and fits that write files, to be disturbed: what they write, and what of it is right."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as tensors_of

from probes.corpus import numbers
from probes.forked import Forked, command_line
from probes.record import FINE, REFUSED, WRONG
from rnlmf import RNLMF
from rnlmf.fitting import checkpoint
from rnlmf.io import FileError
from rnlmf.io.atomic import whole_file

# The model does not matter here.
FAST = [
    *("--set", "n_components=5", "--set", "max_iter=5", "--set", "opinions=dictionary", "--quiet"),
    *("--set", "neighbor_share=0", "--set", "kernel_scale=1.0", "--set", "noise_weight=scale"),
]


class Command:
    """A command with its outputs, in a folder of its own."""

    # Whether the outputs are all of one version, and what is wrong is said in one line.
    together = True
    # Whether it reads a file.
    has_input = True

    def __init__(self, name: str, folder: Path, files: dict[str, Path]) -> None:
        self.name = name
        self.folder = folder
        out = folder / "out"
        self.place = out
        csv, model = str(files["csv"]), str(folder / "model.safetensors")
        self.words = {
            "denoise file": ["denoise", csv, "-o", f"{out}/a.csv"],
            "denoise all": [
                *("denoise", csv, "-o", f"{out}/a.csv", "--model", f"{out}/m.safetensors"),
                *("--report", f"{out}/r.html", "--changes", f"{out}/c.csv"),
            ],
            "denoise folder": ["denoise", str(files["images"]), "-o", f"{out}/frames"],
            "apply": [
                "apply",
                model,
                csv,
                "-o",
                f"{out}/a.csv",
                "--changes",
                f"{out}/c.csv",
                "--quiet",
            ],
            "cluster": ["cluster", csv, "-k", "2", "-o", f"{out}/a.csv", "--quiet"],
            "save": ["denoise", csv, "--dry-run", "--model", f"{out}/m.safetensors"],
        }[name]
        if name not in ("apply", "cluster"):
            self.words += FAST
        self.words.append("--overwrite")
        self.seconds = 0.0

    def run(self, prepare: Callable[[], None] | None = None) -> Forked:
        """Start it."""
        return Forked(self.action, self.folder, prepare)

    def action(self) -> None:
        """What is done."""
        command_line(self.words)

    def learn(self) -> None:
        """Run it without a fault, to know what is written, and how long that takes."""
        self.place.mkdir()
        start = time.monotonic()
        process = self.run()
        if not process.ended() or process.returncode != 0:
            raise RuntimeError(process.errors.decode())
        self.seconds = time.monotonic() - start
        self.new = content(self.place)
        self.old = {name: b"old " + name.encode() for name in self.new}

    def reset(self) -> None:
        """Put the old version there."""
        shutil.rmtree(self.place)
        for name, text in self.old.items():
            file = self.place / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text)

    def judge(self, process: Forked) -> tuple[str, str]:
        """Whether nothing was lost, and the next run puts all right."""
        if not process.ended():
            process.signal(signal.SIGKILL)
            return WRONG, "it hangs"
        errors = process.errors
        found = visible(self.place)
        for name, text in found.items():
            if text != self.old.get(name) and not self.same(name, text):
                return WRONG, f"{name} is neither old nor new"
        outcome = [name for name in self.new if not self.on_the_way(name)]
        whole = all(self.same(n, found.get(n)) for n in outcome)
        untouched = all(found.get(n) == self.old[n] for n in outcome)
        if self.together and b"Traceback" in errors:
            return WRONG, errors.decode(errors="replace")[-300:]
        killed = process.returncode == -signal.SIGKILL
        if self.together and not killed and not (whole or untouched):
            return WRONG, f"old and new are mixed, exit code {process.returncode}"
        again = self.run()
        if not again.ended() or again.returncode != 0:
            return WRONG, f"the next run fails: {again.errors.decode(errors='replace')[-200:]}"
        after = content(self.place)
        if set(after) != set(self.new) or not all(self.same(n, after[n]) for n in self.new):
            return WRONG, f"after the next run: {sorted(set(after) ^ set(self.new))}"
        return (FINE if process.returncode in (0, -signal.SIGKILL, -signal.SIGTERM) else REFUSED), ""

    def on_the_way(self, name: str) -> bool:
        """Whether a file is written while the work goes on, to go on from it."""
        return False

    def same(self, name: str, found: bytes | None) -> bool:
        """Whether a file is the new version; a page has a time in it, so its length is compared."""
        expected = self.new.get(name)
        if found is None or expected is None or not name.endswith(".html"):
            return found == expected
        return abs(len(found) - len(expected)) < 64 and found.rstrip().endswith(b"</html>")


class LongFit(Command):
    """A fit that writes its state after every iteration, and goes on from it if there is one."""

    together = False
    has_input = False
    PARAMETERS = {
        **{"n_components": 5, "max_iter": 40, "tol": 0.0, "kernel_scale": 1.0, "random_state": 0},
        **{"noise_weight": "scale", "opinions": "dictionary", "neighbor_share": 0},
    }

    def __init__(self, folder: Path) -> None:
        self.folder, self.place = folder, folder / "out"

    def action(self) -> None:
        model = self.fitted(numbers())
        with whole_file(self.place / "components") as new:
            new.write_bytes(model.components_.tobytes())

    def fitted(self, X: Any) -> RNLMF:
        """The model, of a fit that goes on if it can."""
        checkpoint.Checkpoint.__init__.__kwdefaults__["every"] = 0.0
        file, model = self.place / "state", RNLMF(**self.PARAMETERS)
        try:
            model.fit(X, checkpoint=file, resume=True)
        except FileError:
            # There is none, or the old version.
            model.fit(X, checkpoint=file)
        if model.n_iter_ < self.PARAMETERS["max_iter"]:
            raise KeyboardInterrupt
        return model

    def on_the_way(self, name: str) -> bool:
        return name == "state"

    def same(self, name: str, found: bytes | None) -> bool:
        """A state of any iteration is a right one; that it is, is seen when the fit goes on."""
        if name != "state" or found is None:
            return found == self.new.get(name)
        with contextlib.suppress(SafetensorError):
            return "dictionary" in tensors_of(found)
        return False


class ClusterFit(LongFit):
    """The same on a cluster of Dask, of threads or of processes, one of which may be lost.

    The state of samples is not kept but made anew: a fit that goes on ends about where it would have.
    """

    # Of the spread of the data, in the mean over all entries.
    ABOUT = 0.05

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.loses_worker = False

    @contextlib.contextmanager
    def cluster(self) -> Iterator[Any]:
        """Two workers."""
        import distributed

        with (
            distributed.LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                processes=self.loses_worker,
                dashboard_address=None,
                local_directory=str(self.folder / "scratch"),
                silence_logs=50,
            ) as local,
            distributed.Client(local) as client,
        ):
            yield client

    def action(self) -> None:
        import dask.array as da

        warnings.simplefilter("ignore")
        X = numbers()
        with self.cluster() as client:
            if self.loses_worker:
                lose_worker(client)
            model = self.fitted(da.from_array(X, chunks=(len(X) // 4, -1)))
        with whole_file(self.place / "denoised") as new:
            new.write_bytes(model.denoise(X).tobytes())

    def same(self, name: str, found: bytes | None) -> bool:
        if name != "denoised" or found is None:
            return super().same(name, found)
        expected, X = np.frombuffer(self.new[name]), numbers()
        if len(found) != len(self.new[name]):
            return False
        apart = np.sqrt(np.mean((np.frombuffer(found) - expected) ** 2))
        return bool(apart <= self.ABOUT * np.median(X.std(axis=0)))


def lose_worker(client: Any) -> None:
    """Kill one of a cluster's processes, in a moment."""
    process = next(iter(client.run(os.getpid).values()))
    threading.Timer(0.5, os.kill, (process, signal.SIGKILL)).start()


class Reproduction(Command):
    """A table of the paper, small; cells are kept as they are done, the results come all together."""

    has_input = False
    # What hangs on the time.
    VARYING = re.compile(rb"time of this run.*|\d+ s\b|\"seconds\".*")

    def __init__(self, folder: Path) -> None:
        self.folder, self.place = folder, folder / "out"
        self.words = [*("reproduce", "small", "--quick", "--mode", "paper", "--jobs", "1")]
        self.words += ["--methods", "RPCA", "--out", str(self.place)]

    def action(self) -> None:
        from rnlmf.reproduce import spec
        from rnlmf.reproduce.experiment import Experiment, rows
        from rnlmf.reproduce.problems import PaperProblem

        problem = PaperProblem("synthetic", "entries", 0.1, manifolds=1, samples=60, features=6)
        table = rows([({"rho": 0.1}, problem, {}, True)])
        spec.EXPERIMENTS["small"] = Experiment("small", "A small table", table, ("RPCA",))
        super().action()

    def on_the_way(self, name: str) -> bool:
        return name.startswith(".cells")

    def same(self, name: str, found: bytes | None) -> bool:
        expected = self.new.get(name)
        if found is None or expected is None:
            return found is expected
        return self.essence(name, found) == self.essence(name, expected)

    def essence(self, name: str, text: bytes) -> Any:
        """What of a file does not hang on the time."""
        import pandas as pd

        try:
            if name.startswith(".cells"):
                return json.loads(text)["metrics"]
            if name.endswith((".csv", ".parquet")):
                read = pd.read_csv if name.endswith(".csv") else pd.read_parquet
                frame = read(io.BytesIO(text))
                return (
                    frame[frame.metric != "seconds"].drop(columns="seconds", errors="ignore").to_json()
                )
        except (ValueError, KeyError, AttributeError):
            # An old version: no such file.
            return text
        return self.VARYING.sub(b"", text)


def content(folder: Path) -> dict[str, bytes]:
    """All files under a folder, those that are hidden too."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def visible(folder: Path) -> dict[str, bytes]:
    """What stands under final names."""
    return {name: text for name, text in content(folder).items() if ".rnlmf-" not in name}
