"""Where the files of a data set are, and how a file of arrays is read.

The folder is that of the environment variable ``RNLMF_DATA``, or ``rnlmf_data`` in the home folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from rnlmf.io.arrays import load_mat, load_npz
from rnlmf.typing import Array

PathLike = str | os.PathLike[str]


def data_folder() -> Path:
    """The folder that ``RNLMF_DATA`` names, or ``~/rnlmf_data``."""
    return Path(os.environ.get("RNLMF_DATA") or Path.home() / "rnlmf_data")


def locate(title: str, names: Iterable[str], path: PathLike | None, advice: str) -> Path:
    """The given file or folder, or the first of the `names` that is in the data folder.

    Parameters
    ----------
    title : str
        Name of the data set, for the error.
    names : iterable of str
        Names of files and folders that hold it.
    path : path or None
        What the user gave. A folder may also contain one of the `names`.
    advice : str
        Where to get the data set.
    """
    names = tuple(names)
    folder = data_folder() if path is None else Path(path)
    if path is not None and not folder.exists():
        raise FileNotFoundError(f"{title}: path={os.fspath(path)!r} does not exist.")
    for name in names:
        if (folder / name).exists():
            return folder / name
    if path is not None:
        return folder
    raise FileNotFoundError(
        f"{title} is not in the data folder {folder}, which the environment variable RNLMF_DATA sets. "
        f"It may be there as {', '.join(names)}. {advice}"
    )


def read_arrays(path: Path) -> dict[str, Array]:
    """Arrays of an ``.npz`` or a MATLAB file, by name."""
    return load_npz(path) if path.suffix == ".npz" else load_mat(path)
