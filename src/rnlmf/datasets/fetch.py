"""Download of data sets from the sites of their authors, where their terms allow it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rnlmf.datasets.files import PathLike, data_folder

COLUMBIA = "https://www.cs.columbia.edu/CAVE/databases/SLAM_coil-20_coil-100"


@dataclass(frozen=True)
class Source:
    """Where a file is, on which terms, and its SHA-256 where one is known: the authors publish none."""

    url: str
    terms: str
    sha256: str | None = None


SOURCES = {
    "coil20": Source(f"{COLUMBIA}/coil-20/coil-20-proc.zip", "for research that is not commercial"),
    "coil100": Source(f"{COLUMBIA}/coil-100/coil-100.zip", "for research that is not commercial"),
    "yale_b": Source(
        "http://vision.ucsd.edu/extyaleb/CroppedYaleBZip/CroppedYale.zip",
        "for research; publications must acknowledge the Extended Yale Face Database B",
    ),
}
MOCAP = Source(
    "http://mocap.cs.cmu.edu/subjects/{subject}/{subject}_{trial}.amc",
    "free for all uses, the data themselves may not be sold; the source must be named",
)


def source(name: str) -> Source:
    """Where the data set `name` is."""
    if name in SOURCES:
        return SOURCES[name]
    trial = re.fullmatch(r"mocap_(\d+)_(\d+)", name)
    if trial:
        return Source(MOCAP.url.format(subject=trial[1], trial=trial[2]), MOCAP.terms)
    if name == "ar":
        raise ValueError("The AR faces may not be downloaded by a program; see rnlmf.datasets.load_ar.")
    known = ", ".join([*SOURCES, "mocap_01_09 (any subject and trial)"])
    raise ValueError(f"name={name!r} is not a data set that can be fetched: {known}.")


def fetch(name: str, folder: PathLike | None = None) -> Path:
    """Download a data set into the data folder, unless it is there, and return the file.

    Parameters
    ----------
    name : str
        "coil20", "coil100", "yale_b", or "mocap_01_09" and so on. AR may not be downloaded.
    folder : path or None
        None: the data folder, where the loaders look.

    Returns
    -------
    Path
        The file, as its authors distribute it. Their terms are those of ``SOURCES[name].terms``. It is
        not checked where its source has no ``sha256``; a loader tells if it is not what it should be.
    """
    found = source(name)
    try:
        import pooch
    except ImportError as error:
        raise ImportError("fetch needs pooch: pip install 'rnlmf[datasets]'.") from error
    path = data_folder() if folder is None else Path(folder)
    file = pooch.retrieve(found.url, known_hash=found.sha256, fname=Path(found.url).name, path=path)
    return Path(file)
