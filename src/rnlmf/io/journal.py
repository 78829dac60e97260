"""What outputs are about to be moved to their places, so that a run that was killed can be finished.

The same list lies in every folder of unfinished outputs. A target that somebody changed since is left
as it is.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

NAME = "journal.json"


def write(moves: list[tuple[Path, Path]]) -> None:
    """Write down, in every folder, what will be moved from where to where."""
    text = json.dumps([asdict(Move.of(temporary, target)) for temporary, target in moves])
    for folder in {temporary.parent for temporary, _ in moves}:
        unfinished = folder / f"{NAME}.new"
        with open(unfinished, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, folder / NAME)


def finish(folder: Path) -> None:
    """Do what a killed run had begun: move the rest, if any was moved; and else nothing."""
    try:
        entries = json.loads((folder / NAME).read_text(encoding="utf-8"))
        moves = [Move(**entry) for entry in entries]
    except (OSError, ValueError, TypeError):
        return
    if any(move.is_done or move.is_half_done for move in moves):
        for move in moves:
            move.finish()


@dataclass(frozen=True)
class Move:
    """One output: where it lies, where it belongs, and what tells its new and old version."""

    temporary: str
    target: str
    new: list[int] | None
    old: list[int] | None

    @classmethod
    def of(cls, temporary: Path, target: Path) -> Move:
        """Before it is done."""
        return cls(str(temporary), str(target), _identity(temporary), _identity(target))

    @property
    def _old_place(self) -> Path:
        return Path(self.temporary).parent / "old" / Path(self.target).name

    @property
    def is_done(self) -> bool:
        """Whether the new version is in its place."""
        return self.new is not None and _identity(Path(self.target)) == self.new

    @property
    def is_half_done(self) -> bool:
        """Whether an old folder is out of the way, and the new one not yet there."""
        return self._old_place.is_dir() and not Path(self.target).exists()

    def finish(self) -> None:
        """Put the new version in its place, unless there is another than the old one."""
        temporary, target = Path(self.temporary), Path(self.target)
        if self.is_done or not temporary.exists():
            return
        if _identity(target) == self.old and target.is_dir():
            self._old_place.parent.mkdir(exist_ok=True)
            os.rename(target, self._old_place)
        if self.is_half_done or _identity(target) == self.old:
            os.replace(temporary, target)


def _identity(target: Path) -> list[int] | None:
    """What tells a file or folder from another of its name."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    return [found.st_dev, found.st_ino, found.st_mtime_ns]
