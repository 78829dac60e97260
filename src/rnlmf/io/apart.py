"""Formats whose parsers have crashed on damaged files are read in a process of their own.

It may take so much memory and no more; what comes back is plain arrays, or an Arrow file that it wrote.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rnlmf.io import child
from rnlmf.io.dataset import FileError, readable
from rnlmf.io.sizes import MOST_GROWTH, SMALL

# What Python and its libraries take by themselves, and how long a reader may work on a file.
OWN_BYTES = 1 << 28
LEAST_SECONDS = 120
BYTES_PER_SECOND = 1_000_000


@contextmanager
def _read_apart(path: Path, kind: str, what: str) -> Iterator[Path]:
    """The folder with what the other process left of a file."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
    with TemporaryDirectory(prefix="rnlmf-") as folder:
        limit = OWN_BYTES + SMALL + MOST_GROWTH * size
        words = [sys.executable, "-P", child.__file__, kind, str(path.absolute()), folder, str(limit)]
        # Threads of libraries that are not used would count as memory.
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        try:
            done = subprocess.run(
                words,
                env={**os.environ, **threads},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LEAST_SECONDS + size / BYTES_PER_SECOND,
            )
        except subprocess.TimeoutExpired as error:
            raise FileError(path, f"takes too long to read: is it {what}? Pass another.") from error
        if done.returncode == child.NEWER_FORMAT:
            raise FileError(path, "is of MATLAB version 7.3; save it with '-v7'.")
        if done.returncode == child.NO_MEMORY:
            raise FileError(
                path, f"unpacks to more than {MOST_GROWTH} times its size: is it {what}? Pass another."
            )
        with readable(path, what):
            if done.returncode != 0:
                raise ValueError(done.stderr.decode(errors="replace")[-500:])
            yield Path(folder)


def mat_content(path: Path) -> dict[str, Any]:
    """The variables of a MATLAB file, by name."""
    with _read_apart(path, "mat", "a MATLAB file") as folder:
        content = json.loads((folder / "content.json").read_text(encoding="utf-8"))
        with np.load(folder / "arrays.npz", allow_pickle=False) as arrays:
            return {name: _value(value, arrays) for name, value in content.items()}


def _value(part: dict[str, Any], arrays: Any) -> Any:
    """What :func:`rnlmf.io.child._plain` took apart."""
    from scipy import sparse
    from scipy.io import matlab

    if "value" in part:
        return part["value"]
    shape = tuple(part["shape"])
    if "sparse" in part:
        data, indices, starts = (arrays[name] for name in part["sparse"])
        return sparse.csc_matrix((data, indices, starts), shape=shape)
    if "array" in part:
        return arrays[part["array"]].reshape(shape)
    if "struct" in part:
        value = np.empty(shape, dtype=[(name, object) for name in part["struct"]])
        for name, cells in part["struct"].items():
            value[name] = _value(cells, arrays)
    else:
        value = np.empty(len(part["cells"]), dtype=object)
        for place, cell in enumerate(part["cells"]):
            value[place] = _value(cell, arrays)
        value = value.reshape(shape)
    if "class" not in part:
        return value
    kinds = {kind.__name__: kind for kind in (matlab.MatlabFunction, matlab.MatlabOpaque)}
    if part["class"] in kinds:
        return kinds[part["class"]](value)
    return matlab.MatlabObject(value, part.get("of"))


def arrow_table(path: Path) -> Any:
    """The table of an Arrow file, of which everything was checked."""
    import pyarrow

    with (
        _read_apart(path, "arrow", "a Feather file") as folder,
        pyarrow.OSFile(str(folder / "content.arrow"), "rb") as file,
    ):
        return pyarrow.ipc.open_file(file).read_all()
