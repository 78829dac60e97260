"""Faults while commands write: killed, asked to end, interrupted, no room, no right, calls that fail.

Before every fault the outputs hold an old version. After it each must be the old or the new one, whole,
and unless the process was killed all must be of one version; and once the command has been run again,
without a fault, all must be new and nothing may be left behind. A fit with a checkpoint must end, once
it goes on, where it ends without a fault, to the bit; on a cluster of Dask, of which a worker may be
lost, about there (:class:`probes.commands.ClusterFit`). What `reproduce` has computed is kept.

A fault comes at a random moment, or at a step: the n-th call that changes the folder of the outputs.
``--only reproduce,dask`` tries these commands alone.
"""

from __future__ import annotations

import ctypes
import errno
import itertools
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from probes.commands import FAST, ClusterFit, Command, LongFit, Reproduction
from probes.corpus import make
from probes.forked import Forked, command_line
from probes.record import WRONG, Record, options

CHANGES = ("replace", "rename", "link", "mkdir", "unlink", "rmdir")
AT_A_STEP = ("KILL", "TERM", "INT", "EIO", "ENOSPC", "EXDEV")
AT_A_MOMENT = ("KILL", "TERM", "INT")
SPECIAL: dict[str, Callable[[Path], Command]] = {
    "checkpoint": LongFit,
    "reproduce": Reproduction,
    "dask": ClusterFit,
}
COMMANDS = ("denoise file", "denoise all", "denoise folder", "apply", "cluster", "save", *SPECIAL)
KINDS = ("step", "moment", "step", "full", "step", "moment", "step", "gone", "step", "locked")


def at_calls(place: Path, act: Callable[[int, Any], None]) -> None:
    """Have something done before every call that changes a folder: `act` is told which it is."""
    calls = itertools.count(1)

    def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if any(str(argument).startswith(str(place)) for argument in args):
                act(next(calls), args[0])
            return function(*args, **options)

        return call

    for name in CHANGES:
        setattr(os, name, wrapped(getattr(os, name)))


def steps(command: Command) -> int:
    """How many calls of a command change the folder of its outputs."""
    command.reset()
    told = command.folder / "steps"

    def tell(number: int, _: Any) -> None:
        told.write_text(str(number))

    command.run(lambda: at_calls(command.place, tell)).ended()
    return int(told.read_text())


def at_a_step(command: Command, kind: str, step: int) -> tuple[str, str]:
    """A fault at the n-th change of the disk: the call fails, or the process gets a signal."""

    def fault(number: int, file: Any) -> None:
        if number != step:
            return
        if kind in AT_A_MOMENT:
            os.kill(os.getpid(), getattr(signal, f"SIG{kind}"))
        else:
            code = getattr(errno, kind)
            raise OSError(code, os.strerror(code), str(file))

    return command.judge(command.run(lambda: at_calls(command.place, fault)))


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


def lost_worker(command: ClusterFit) -> tuple[str, str]:
    """A process of the cluster is killed."""
    command.loses_worker = True
    process = command.run()
    command.loses_worker = False
    return command.judge(process)


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
            command = SPECIAL[name](folder) if name in SPECIAL else Command(name, folder, files)
            if name == "apply":
                fit = ["denoise", str(files["csv"]), "--dry-run", "--model", "model.safetensors", *FAST]
                Forked(partial(command_line, fit), folder).ended()
            command.learn()
            last_step = steps(command)
            # Every command begins with another fault, so that a short run has some of all.
            first = position + seed
            for trial in range(first, first + count // len(every) + (position < count % len(every))):
                command.reset()
                kind = KINDS[trial % len(KINDS)]
                if kind == "gone" and not command.has_input:
                    kind = "worker" if name == "dask" else "step"
                if kind == "worker":
                    assert isinstance(command, ClusterFit)
                    result, why = lost_worker(command)
                    row = f"{name}: worker lost"
                elif kind == "step":
                    fault = AT_A_STEP[(trial // 2) % len(AT_A_STEP)]
                    result, why = at_a_step(command, fault, int(rng.integers(1, last_step + 1)))
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
    """Try, and write what was found after every command; those that were tried on this commit stay."""
    given = options(__doc__, count=300, seed=0, only="")
    record = Record("faults while commands write")
    each = -(-given.count // len(COMMANDS))
    record.facts["faults of every command"] = each
    record.resume("faults")
    done = record.facts.setdefault("commands", [])
    for seed, name in enumerate(COMMANDS, given.seed):
        if name not in done and name in (given.only.split(",") if given.only else COMMANDS):
            probe(record, each, seed, (name,))
            done.append(name)
            record.save("faults")
    return record.save("faults")


if __name__ == "__main__":
    sys.exit(main())
