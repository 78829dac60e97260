"""Faults while commands write: killed, asked to end, interrupted, no room, no right, calls that fail.

Before every fault the outputs hold an old version. After it each must be the old or the new one, whole,
and unless the process was killed all must be of one version; and once the command has been run again,
without a fault, all must be new and nothing may be left behind. A fit with a checkpoint must end, once
it goes on, where it ends without a fault, to the bit.

A fault comes at a random moment, or at a step: the n-th call that changes the folder of the outputs.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import itertools
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as tensors_of

from probes.corpus import make, numbers
from probes.forked import Forked, command_line
from probes.record import FINE, REFUSED, WRONG, Record, options
from rnlmf import RNLMF
from rnlmf.fitting import checkpoint
from rnlmf.io import FileError
from rnlmf.io.atomic import whole_file

CHANGES = ("replace", "rename", "link", "mkdir", "unlink", "rmdir")
# The model does not matter here.
FAST = [
    *("--set", "n_components=5", "--set", "max_iter=5", "--set", "opinions=dictionary", "--quiet"),
    *("--set", "neighbor_share=0", "--set", "kernel_scale=1.0", "--set", "noise_weight=scale"),
]
AT_A_STEP = ("KILL", "TERM", "INT", "EIO", "ENOSPC", "EXDEV")
AT_A_MOMENT = ("KILL", "TERM", "INT")
COMMANDS = ("denoise file", "denoise all", "denoise folder", "apply", "cluster", "save", "checkpoint")
KINDS = ("step", "moment", "step", "full", "step", "moment", "step", "gone", "step", "locked")


class Command:
    """A command with its outputs, in a folder of its own."""

    # Whether the outputs are all of one version, and what is wrong is said in one line.
    together = True

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
        whole = all(self.same(n, found.get(n)) for n in self.new)
        untouched = all(found.get(n) == self.old[n] for n in self.old)
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

    def same(self, name: str, found: bytes | None) -> bool:
        """Whether a file is the new version; a page has a time in it, so its length is compared."""
        expected = self.new.get(name)
        if found is None or expected is None or not name.endswith(".html"):
            return found == expected
        return abs(len(found) - len(expected)) < 64 and found.rstrip().endswith(b"</html>")


class LongFit(Command):
    """A fit that writes its state after every iteration, and goes on from it if there is one."""

    together = False
    PARAMETERS = {
        **{"n_components": 5, "max_iter": 40, "tol": 0.0, "kernel_scale": 1.0, "random_state": 0},
        **{"noise_weight": "scale", "opinions": "dictionary", "neighbor_share": 0},
    }

    def __init__(self, folder: Path) -> None:
        self.folder, self.place = folder, folder / "out"

    def action(self) -> None:
        checkpoint.Checkpoint.__init__.__kwdefaults__["every"] = 0.0
        X, file, model = numbers(), self.place / "state", RNLMF(**self.PARAMETERS)
        try:
            model.fit(X, checkpoint=file, resume=True)
        except FileError:
            # There is none, or the old version.
            model.fit(X, checkpoint=file)
        if model.n_iter_ < self.PARAMETERS["max_iter"]:
            raise KeyboardInterrupt
        with whole_file(self.place / "components") as new:
            new.write_bytes(model.components_.tobytes())

    def same(self, name: str, found: bytes | None) -> bool:
        """A state of any iteration is a right one; that it is, is seen when the fit goes on."""
        if name != "state" or found is None:
            return found == self.new.get(name)
        with contextlib.suppress(SafetensorError):
            return "dictionary" in tensors_of(found)
        return False


def content(folder: Path) -> dict[str, bytes]:
    """All files under a folder, those that are hidden too."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def visible(folder: Path) -> dict[str, bytes]:
    """What stands under final names."""
    return {name: text for name, text in content(folder).items() if not name.startswith(".rnlmf-")}


def at_a_step(command: Command, kind: str, step: int) -> tuple[str, str]:
    """A fault at the n-th change of the disk: the call fails, or the process gets a signal."""

    def prepare() -> None:
        calls = itertools.count(1)

        def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **options: Any) -> Any:
                if any(str(a).startswith(str(command.place)) for a in args) and next(calls) == step:
                    if kind in AT_A_MOMENT:
                        os.kill(os.getpid(), getattr(signal, f"SIG{kind}"))
                    else:
                        code = getattr(errno, kind)
                        raise OSError(code, os.strerror(code), str(args[0]))
                return function(*args, **options)

            return call

        for name in CHANGES:
            setattr(os, name, wrapped(getattr(os, name)))

    return command.judge(command.run(prepare))


def at_a_moment(command: Command, kind: str, share: float) -> tuple[str, str]:
    """A signal after a share of the usual time."""
    process = command.run()
    if not process.ended(share * command.seconds):
        process.signal(getattr(signal, f"SIG{kind}"))
    return command.judge(process)


def vanished_input(command: Command) -> tuple[str, str]:
    """The input is not there."""
    data = str(command.folder / "data")
    words = [word + "-gone" if word.startswith(data) else word for word in command.words]
    return command.judge(Forked(partial(command_line, words), command.folder))


def disk_full(command: Command, size: int) -> tuple[str, str]:
    """Files may not grow beyond a size, which is what a full disk does to a writer."""

    def prepare() -> None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return command.judge(command.run(prepare))


def read_only(command: Command) -> tuple[str, str]:
    """Nothing may be written into the folder of the outputs."""
    folders = [command.place, *(f for f in command.place.rglob("*") if f.is_dir())]
    for folder in folders:
        folder.chmod(0o555)

    def prepare() -> None:
        if os.geteuid() == 0:
            # The right to write everywhere is given up (capset with empty sets, version 3).
            header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
            if ctypes.CDLL(None).capset(header, sets) != 0:
                raise OSError("the rights of root cannot be given up")

    process = command.run(prepare)
    process.ended()
    for folder in folders:
        folder.chmod(0o755)
    if process.returncode == 0:
        return WRONG, "it ends well, though nothing can be written"
    return command.judge(process)


def probe(record: Record, count: int, seed: int, names: tuple[str, ...] | None = None) -> None:
    """Try `count` faults, shared among the commands."""
    rng = np.random.default_rng(seed)
    every = names or COMMANDS
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        for position, name in enumerate(every):
            folder = root / name.replace(" ", "-")
            (folder / "data").mkdir(parents=True)
            files = make(folder / "data")
            command = LongFit(folder) if name == "checkpoint" else Command(name, folder, files)
            if name == "apply":
                fit = ["denoise", str(files["csv"]), "--dry-run", "--model", "model.safetensors", *FAST]
                Forked(partial(command_line, fit), folder).ended()
            command.learn()
            # Every command begins with another fault, so that a short run has some of all.
            for trial in range(
                position, position + count // len(every) + (position < count % len(every))
            ):
                command.reset()
                kind = KINDS[trial % len(KINDS)]
                if kind == "gone" and name == "checkpoint":
                    # Its input is in memory.
                    kind = "step"
                if kind == "step":
                    fault = AT_A_STEP[(trial // 2) % len(AT_A_STEP)]
                    result, why = at_a_step(command, fault, int(rng.integers(1, 24)))
                    row = f"{name}: {fault} at a step"
                elif kind == "moment":
                    fault = AT_A_MOMENT[(trial // 4) % len(AT_A_MOMENT)]
                    result, why = at_a_moment(command, fault, float(rng.uniform(0.02, 1.0)))
                    row = f"{name}: {fault} at a moment"
                elif kind == "full":
                    result, why = disk_full(command, int(rng.integers(0, 3000)))
                    row = f"{name}: disk full"
                elif kind == "locked":
                    result, why = read_only(command)
                    row = f"{name}: folder read-only"
                else:
                    result, why = vanished_input(command)
                    row = f"{name}: input vanished"
                record.add(row.partition(": ")[2], result, f"{row}: {why}")
                print(f"{row}: {result} {why}", flush=True)


def main() -> int:
    """Try, and write what was found."""
    given = options(__doc__, count=300, seed=0)
    record = Record("faults while commands write")
    record.facts["commands"] = (
        "denoise (file; all outputs; folder), apply, cluster, save; a fit with a checkpoint"
    )
    probe(record, given.count, given.seed)
    return record.save("faults")


if __name__ == "__main__":
    sys.exit(main())
