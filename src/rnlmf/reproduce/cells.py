"""A cell is one fit of one method to one draw of one problem; what it gave is kept in a file.

A run that was stopped, by whatever means, finds the cells that were done and goes on with the others.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import rnlmf
from rnlmf.io.arrays import save_npz
from rnlmf.io.atomic import whole_file
from rnlmf.reproduce.problems import PaperProblem
from rnlmf.typing import Array

# What of the package does not change the outcome of a cell.
PRESENTATION = ("cli", "report", "plotting", "io")
# What of this sub-package does.
EXPERIMENT_FILES = ("clustering.py", "methods.py", "problems.py", "tasks.py")


@dataclass(frozen=True)
class Cell:
    """What is to be done.

    Attributes
    ----------
    task : str
        One of :data:`rnlmf.reproduce.tasks.TASKS`.
    problem : PaperProblem
    method : str
    parameters : tuple of (name, value)
        Sorted by name; none at all means the method's automatic settings.
    seed : int
        Of the data, of their noise and of the method.
    """

    task: str
    problem: PaperProblem
    method: str
    parameters: tuple[tuple[str, Any], ...]
    seed: int

    @property
    def key(self) -> str:
        """A name for the file of its outcome.

        Automatic settings are what the code says, so that other code makes another cell.
        """
        code = "" if self.parameters else code_fingerprint()
        text = json.dumps([rnlmf.__version__, code, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Outcome:
    """What a cell gave.

    Attributes
    ----------
    metrics : dict
        Errors in per cent, or whatever the task measures.
    seconds : float
        Processor time of the cell.
    code : str
        Fingerprint of the code that computed it.
    """

    metrics: dict[str, float]
    seconds: float
    code: str


class Cache:
    """A folder with one small file per cell, and arrays beside it where a task returns some."""

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)

    def get(self, cell: Cell) -> Outcome | None:
        """What the cell gave, if it was done."""
        try:
            content = json.loads(self._path(cell, "json").read_text())
            return Outcome(content["metrics"], content["seconds"], content["code"])
        except (FileNotFoundError, json.JSONDecodeError, KeyError):
            return None

    def arrays(self, cell: Cell) -> dict[str, Array]:
        """Arrays of a cell that was done."""
        with np.load(self._path(cell, "npz"), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}

    def put(self, cell: Cell, outcome: Outcome, arrays: dict[str, Array] | None = None) -> None:
        """Keep what the cell gave. The outcome, which says that it was done, comes last."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if arrays:
            with whole_file(self._path(cell, "npz")) as file:
                save_npz(file, arrays)
        content = {"cell": asdict(cell), **asdict(outcome)}
        with whole_file(self._path(cell, "json")) as file:
            file.write_text(json.dumps(content, indent=1))

    def _path(self, cell: Cell, kind: str) -> Path:
        return self.folder / f"{cell.key}.{kind}"


@functools.cache
def code_fingerprint() -> str:
    """Hash of the source that decides what a cell gives."""
    package = Path(rnlmf.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package).parts
        if parts[0] in PRESENTATION:
            continue
        if parts[0] == "reproduce" and parts[-1] not in EXPERIMENT_FILES:
            continue
        digest.update("/".join(parts).encode() + file.read_bytes())
    return digest.hexdigest()[:12]
