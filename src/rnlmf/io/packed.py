"""Files inside others: .gz and .zip, standard input and standard output.

They are unpacked into a folder of their own, and read and written there like any other file.
"""

from __future__ import annotations

import gzip
import shutil
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rnlmf.io.dataset import STANDARD, FileError, readable
from rnlmf.io.sizes import check_growth

SUFFIXES = (".gz", ".zip")
PIECE = 1 << 20
STANDARD_OUTPUT = Path("standard output")
# Beginnings by which the formats of standard input are told apart; anything else is text.
MAGIC = {
    b"PAR1": ".parquet",
    b"ARROW1": ".feather",
    b"\x93NUMPY": ".npy",
    b"PK": ".xlsx",
    b"{": ".jsonl",
}


def is_packed(path: Path) -> bool:
    """Whether the data are not in a file of that name, but inside one."""
    return path.suffix.lower() in SUFFIXES or str(path) == STANDARD


def inner_name(path: Path) -> str:
    """What the file inside is called, by which its format is known."""
    return path.stem if Path(path.stem).suffix else path.stem + ".csv"


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The file inside, for as long as it is needed; errors name the file itself."""
    with TemporaryDirectory(prefix="rnlmf-") as folder:
        with readable(path, "an archive"):
            inside = _unpack(path, Path(folder))
        if inside.stat().st_size == 0:
            raise FileError(path, "is empty; pass another.")
        try:
            yield inside
        except FileError as error:
            raise FileError(path, error.message) from error


def _unpack(path: Path, folder: Path) -> Path:
    if str(path) == STANDARD:
        content = folder / "input"
        with open(content, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        with open(content, "rb") as file:
            start = file.read(4096).lstrip()[:8]
        suffix = next((s for magic, s in MAGIC.items() if start.startswith(magic)), ".csv")
        return content.rename(folder / f"input{suffix}")
    if path.suffix.lower() == ".gz":
        inside = folder / inner_name(path)
        stored = path.stat().st_size
        with gzip.open(path) as packed, open(inside, "wb") as file:
            while piece := packed.read(PIECE):
                check_growth(path, stored, file.tell() + len(piece))
                file.write(piece)
        return inside
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        names = [name for name in names if not name.startswith("__MACOSX")]
        if len(names) != 1:
            shown = ", ".join(names[:5]) or "nothing"
            raise FileError(path, f"holds {len(names)} files ({shown}): unpack it, and pass one.")
        check_growth(path, path.stat().st_size, archive.getinfo(names[0]).file_size)
        inside = folder / (Path(names[0]).name or "input.csv")
        with archive.open(names[0]) as packed, open(inside, "wb") as file:
            shutil.copyfileobj(packed, file)
    return inside


@contextmanager
def packing(path: Path, like: Path, source_suffix: str) -> Iterator[Path]:
    """Where to write what shall be packed into `path`; standard output has the input's format."""
    with TemporaryDirectory(prefix="rnlmf-") as folder:
        standard = str(like) == STANDARD
        inside = Path(folder) / (f"output{source_suffix}" if standard else inner_name(like))
        yield inside
        with open(inside, "rb") as file:
            if standard:
                try:
                    shutil.copyfileobj(file, sys.stdout.buffer)
                    sys.stdout.buffer.flush()
                except OSError as error:
                    raise FileError(
                        STANDARD_OUTPUT, f"cannot be written: {error.strerror}; pass a file with -o."
                    ) from error
            elif like.suffix.lower() == ".gz":
                # Without the time, so that the same data make the same file.
                with open(path, "wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                    shutil.copyfileobj(file, packed)
            else:
                with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                    archive.write(inside, inside.name)
