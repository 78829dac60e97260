"""Coverage-guided fuzzing of every reader and of model files, with atheris (libFuzzer).

Allowed is what a reader promises: a dataset, or a :class:`rnlmf.io.FileError` of one line. A crash,
another exception, a command or a connection that a file leads to, more than 20 s or more than 2 GB for
a file of a few kB is a finding, and the input that led to it is kept beside the results.
``python -m probes.fuzz`` tries them in turns, ``python -m probes.fuzz npz`` one of them; ``--resume``
counts the time and the inputs of earlier runs on the same commit, and goes on from there. Time is that
on a processor, without the start. Seeds are in ``probes/seeds``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import FrameType

from probes.record import FINE, REFUSED, RESULTS, ROOT, WRONG, Record

SEEDS = ROOT / "probes" / "seeds"
# What is instrumented, so that inputs that reach something new are told.
WATCHED = (
    *("rnlmf.io", "rnlmf.datasets.motion"),
    *("rnlmf.estimators.persistence", "rnlmf.estimators.model_checks"),
    *("openpyxl.reader", "openpyxl.worksheet", "openpyxl.cell"),
    *("PIL.TiffImagePlugin", "PIL.PngImagePlugin"),
)
TARGETS = {
    **{kind: f"input.{kind}" for kind in ("csv", "tsv", "jsonl", "xlsx", "parquet", "feather", "npy")},
    **{kind: f"input.{kind}" for kind in ("npz", "mat", "amc", "tiff")},
    "images": "frames/0.png",
    "gz": "input.csv.gz",
    "zip": "input.csv.zip",
    "model": "input.safetensors",
}
MOST_BYTES = 1 << 15
# On a processor, and by the clock, which on a busy machine says little.
MOST_SECONDS, MOST_WAITING = 20, 300
MOST_MEGABYTES = 2048
# What no file may lead to (events of `sys.addaudithook`); two formats are parsed in another process.
FORBIDDEN = ("pickle.find_class", "os.system", "os.exec", "os.posix_spawn", "socket.connect")
CHILD_PROCESS = "subprocess.Popen"
APART = ("mat", "feather")
# Beside the counts of outcomes.
SECONDS = "seconds"
# Counts are written down so often: libFuzzer ends without a word to Python.
EVERY = 16
# Seconds of one turn, so that a run that is ended early has tried all of them.
TURN = 120


def make_seeds() -> None:
    """Write a small valid file of every kind."""
    from probes.corpus import make, numbers
    from rnlmf import RNLMF, save

    with tempfile.TemporaryDirectory() as folder:
        for kind, path in make(Path(folder)).items():
            (SEEDS / kind).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path / "0.png" if path.is_dir() else path, SEEDS / kind / "valid")
    (SEEDS / "model").mkdir(exist_ok=True)
    model = RNLMF(3, random_state=0, max_iter=5, opinions="dictionary", neighbor_share=0)
    save(model.fit(numbers()), SEEDS / "model" / "valid")


def fuzz_one(target: str, seconds: int, counts_file: str) -> None:
    """Fuzz in this process, which ends with it."""
    import atheris

    with atheris.instrument_imports(include=list(WATCHED)):
        import_whole(WATCHED)
    from rnlmf import io
    from rnlmf.estimators.persistence import load

    path = Path(counts_file).parent / "data" / TARGETS[target]
    path.parent.mkdir(parents=True)
    read_from = path.parent if target == "images" else path
    counts = {FINE: 0, REFUSED: 0}
    warnings.simplefilter("ignore")

    start = _processor_seconds()

    def one_input(data: bytes) -> None:
        used = _processor_seconds() - start
        if used > seconds or sum(counts.values()) % EVERY == 0:
            Path(counts_file).write_text(json.dumps({**counts, SECONDS: used}))
        if used > seconds:
            os._exit(0)
        path.write_bytes(data)
        try:
            load(path) if target == "model" else io.read(read_from)
            counts[FINE] += 1
        except io.FileError as error:
            if "\n" in str(error):
                raise RuntimeError("a message of several lines") from error
            counts[REFUSED] += 1
        if _processor_seconds() - start - used > MOST_SECONDS:
            raise RuntimeError(f"more than {MOST_SECONDS} s")

    # What is imported or compiled at first use shall not count.
    one_input((SEEDS / target / "valid").read_bytes())
    start = _processor_seconds()
    sys.addaudithook(lambda event, arguments: refuse(target, event))
    words = [
        f"-timeout={MOST_WAITING}",
        f"-rss_limit_mb={MOST_MEGABYTES}",
        f"-max_len={MOST_BYTES}",
        f"-artifact_prefix={RESULTS}/fuzz-{target}-",
        str(SEEDS / target),
    ]
    # New inputs go to the first folder: not to the seeds.
    found = RESULTS / f"fuzz-{target}-corpus"
    found.mkdir(exist_ok=True)
    atheris.Setup([sys.argv[0], *words[:-1], str(found), words[-1]], one_input)
    atheris.Fuzz()


def import_whole(names: Iterable[str]) -> None:
    """Import modules and all in them: what is imported at first use only would not be watched."""
    for name in names:
        module = import_module(name)
        for inner in iter_modules(getattr(module, "__path__", ())):
            import_whole([f"{name}.{inner.name}"])


def refuse(target: str, event: str) -> None:
    """End the process where a file makes it do what no file may."""
    if event == "pickle.find_class" and _within("numba.core.serialize"):
        # Compiled code keeps the exceptions that it raises itself as pickles: none is of the file.
        return
    if event in FORBIDDEN or (event == CHILD_PROCESS and target not in APART):
        # An exception might be caught on its way, and be taken for a damaged file.
        print(f"Error: the input led to {event}", file=sys.stderr, flush=True)
        os.abort()


def _within(module: str) -> bool:
    """Whether a function of a module is being called."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") != module:
        frame = frame.f_back
    return frame is not None


def found() -> Record:
    """What was found before."""
    record = Record("coverage-guided fuzzing of readers")
    record.resume("fuzz")
    return record


def run(target: str, seconds: int) -> bool:
    """Fuzz in another process, and add it to what was found before, maybe by a run beside this one.

    Returns whether nothing was found.
    """
    start = time.monotonic()
    in_memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="rnlmf-fuzz-", dir=in_memory) as folder:
        counts_file = Path(folder) / "counts.json"
        words = [sys.executable, "-m", "probes.fuzz", target, "--seconds", str(seconds)]
        done = subprocess.run(
            [*words, "--counts", str(counts_file)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            errors="replace",
        )
        counts = {SECONDS: 0.0}
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
            counts = json.loads(counts_file.read_text())
    record = found()
    record.start -= time.monotonic() - start
    used = counts.pop(SECONDS)
    for outcome, times in counts.items():
        record.add(target, outcome, times=times)
    if done.returncode != 0:
        said = re.findall(
            r"^(?:[\w.]*(?:Error|Exception)\b.*|.*ERROR: libFuzzer.*)$", done.stderr, re.M
        )
        record.add(target, WRONG, " | ".join(said[:3]) or done.stderr[-400:])
    features = re.findall(r"ft: (\d+)", done.stderr)
    record.facts[f"features reached by {target}"] = int(features[-1]) if features else 0
    record.facts[_seconds(target)] = round(record.facts.get(_seconds(target), 0) + used, 1)
    record.save("fuzz")
    return done.returncode == 0


def _seconds(target: str) -> str:
    return f"seconds on a processor for {target}"


def _processor_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def main() -> int:
    """Fuzz one reader, or all and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", nargs="*", choices=[[], *TARGETS], default=[])
    parser.add_argument("--seconds", type=int, default=600, help="for every reader")
    parser.add_argument("--resume", action="store_true", help="go on from earlier runs")
    parser.add_argument("--counts", help="where one process leaves its counts")
    parser.add_argument("--make-seeds", action="store_true")
    given = parser.parse_args()
    if given.make_seeds:
        make_seeds()
        return 0
    if given.counts:
        fuzz_one(given.target[0], given.seconds, given.counts)
        return 0
    RESULTS.mkdir(exist_ok=True)
    if not given.resume:
        (RESULTS / "fuzz.json").unlink(missing_ok=True)
        for corpus in RESULTS.glob("fuzz-*-corpus"):
            shutil.rmtree(corpus)
    waiting = list(given.target or TARGETS)
    while waiting:
        target = waiting.pop(0)
        left = given.seconds - found().facts.get(_seconds(target), 0)
        if left >= 1.0 and run(target, min(TURN, int(left))):
            waiting.append(target)
    return found().save("fuzz")


if __name__ == "__main__":
    sys.exit(main())
