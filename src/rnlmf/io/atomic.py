"""Output files that appear whole, all together, or not at all."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rnlmf.io import journal
from rnlmf.io.dataset import FileError

# Folders of unfinished outputs say who makes them, so that those of the dead can be told.
OWNER = f".rnlmf-{socket.gethostname()}-"


class Outputs:
    """Files being written beside their targets; :meth:`commit` moves them there."""

    def __init__(self) -> None:
        self._moves: list[tuple[Path, Path]] = []
        self._folders: list[Path] = []

    def path(self, target: Path) -> Path:
        """Where to write what shall become `target`: a name in a new folder beside it."""
        # A link stays one, and what it points to is replaced.
        real = Path(os.path.realpath(target)) if target.is_symlink() else target.absolute()
        try:
            _clear_leftovers(real.parent)
            folder = Path(tempfile.mkdtemp(prefix=f"{OWNER}{os.getpid()}-", dir=real.parent))
        except OSError as error:
            raise _cannot_write(target, error) from error
        self._folders.append(folder)
        temporary = folder / (real.name or "output")
        self._moves.append((temporary, real))
        return temporary

    def commit(self) -> None:
        """Move everything to its place, or nothing.

        A folder that exists is replaced by one with its files and the new ones. What is to be moved is
        written down first, so that the next run can finish what a killed one began.
        """
        for temporary, target in self._moves:
            _check(temporary, target)
        for temporary, target in self._moves:
            try:
                _complete(temporary, target)
            except OSError as error:
                raise _cannot_write(target, error) from error
        journal.write(self._moves)
        done: list[tuple[Path, Path]] = []
        for temporary, target in self._moves:
            try:
                old = _kept(temporary, target)
                done.append((old, target))
                os.replace(temporary, target)
            except OSError as error:
                _undo(done)
                raise _cannot_write(target, error) from error

    def clear(self) -> None:
        """Remove what is left of the temporary folders."""
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)

    def target_of(self, file: str | None) -> Path:
        """What the file that could not be written would have become."""
        for temporary, target in self._moves:
            if file is not None and Path(file).is_relative_to(temporary):
                return target
        return self._moves[-1][1] if self._moves else Path(file or "output")


def _cannot_write(target: Path, error: OSError) -> FileError:
    return FileError(target, f"cannot be written: {error.strerror or error}. Pass another place.")


def _check(temporary: Path, target: Path) -> None:
    """Refuse what could not be moved: a file where a folder is, or the other way round."""
    pairs = [(temporary, target)]
    if temporary.is_dir() and target.is_dir():
        pairs += [(file, target / file.name) for file in temporary.iterdir()]
    for new, old in pairs:
        if old.exists() and new.is_dir() != old.is_dir():
            raise FileError(
                old,
                f"is a {'folder' if old.is_dir() else 'file'}: it is in the way; pass another name.",
            )


def _complete(temporary: Path, target: Path) -> None:
    """Give the new file the rights of the old one, or the new folder the files that only that has."""
    if not target.exists():
        return
    shutil.copymode(target, temporary)
    if not target.is_dir():
        return
    for file in target.iterdir():
        new = temporary / file.name
        if new.exists():
            shutil.copymode(file, new)
        elif file.is_dir() and not file.is_symlink():
            shutil.copytree(file, new, symlinks=True, copy_function=_link)
        else:
            _link(file, new)


def _link(source: str | Path, new: str | Path) -> None:
    try:
        os.link(source, new, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, new, follow_symlinks=False)


def _kept(temporary: Path, target: Path) -> Path:
    """The old version, out of the way; a file stays in its place as well until it is replaced."""
    old = temporary.parent / "old" / target.name
    if target.exists():
        old.parent.mkdir()
        if target.is_dir():
            os.rename(target, old)
        else:
            _link(target, old)
    return old


def _undo(done: list[tuple[Path, Path]]) -> None:
    for old, target in reversed(done):
        if target.is_dir():
            shutil.rmtree(target)
        if old.exists():
            os.replace(old, target)
        else:
            target.unlink(missing_ok=True)


def _clear_leftovers(parent: Path) -> None:
    """Remove what processes that were killed left, and finish what they had begun to move."""
    for folder in parent.glob(f"{OWNER}*"):
        process = folder.name.removeprefix(OWNER).partition("-")[0]
        if not process.isdecimal() or _alive(int(process)):
            continue
        journal.finish(folder)
        for old in (folder / "old").glob("*"):
            if not (parent / old.name).exists():
                os.rename(old, parent / old.name)
        shutil.rmtree(folder, ignore_errors=True)


def _alive(process: int) -> bool:
    if os.name != "posix":
        # There is no way to ask that does not end it.
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Not hear Ctrl-C, and hold back what asks the process to end; only the main thread may."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[int] = []

    def hold(number: int, frame: Any) -> None:
        asked.append(number)

    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN),
        signal.SIGTERM: signal.signal(signal.SIGTERM, hold),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for request in asked:
            os.kill(os.getpid(), request)


@contextmanager
def outputs() -> Iterator[Outputs]:
    """Collect output files; they reach their places only if nothing fails."""
    files = Outputs()
    try:
        yield files
        with _uninterrupted():
            try:
                files.commit()
            finally:
                files.clear()
    except OSError as error:
        # A full disk, mostly.
        raise _cannot_write(files.target_of(error.filename), error) from error
    finally:
        files.clear()


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Where to write a single file, which appears when it is complete."""
    with outputs() as files:
        yield files.path(Path(path))
