"""Output files that appear whole, all together, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rnlmf.io.dataset import FileError


class Outputs:
    """Files being written beside their targets; :meth:`commit` moves them there."""

    def __init__(self) -> None:
        self._moves: list[tuple[Path, Path]] = []
        self._folders: list[Path] = []

    def path(self, target: Path) -> Path:
        """Where to write what shall become `target`: a name in a new folder beside it."""
        parent = target.absolute().parent
        try:
            folder = Path(tempfile.mkdtemp(prefix=".rnlmf-", dir=parent))
        except OSError as error:
            raise FileError(target, f"cannot be written: {error.strerror or error}") from error
        self._folders.append(folder)
        temporary = folder / (target.name or "output")
        self._moves.append((temporary, target))
        return temporary

    def commit(self) -> None:
        """Move everything to its place; a folder that exists takes the files one by one."""
        for temporary, target in self._moves:
            try:
                if temporary.is_dir() and target.is_dir():
                    for file in sorted(temporary.iterdir()):
                        os.replace(file, target / file.name)
                else:
                    os.replace(temporary, target)
            except OSError as error:
                raise FileError(target, f"cannot be written: {error.strerror or error}") from error

    def clear(self) -> None:
        """Remove what is left of the temporary folders."""
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def outputs() -> Iterator[Outputs]:
    """Collect output files; they reach their places only if nothing fails."""
    files = Outputs()
    try:
        yield files
        files.commit()
    finally:
        files.clear()
