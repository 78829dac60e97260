"""Motion capture files (.amc), by :mod:`rnlmf.datasets`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.io.dataset import MOTION, Dataset, FileError, differing
from rnlmf.typing import Array


@dataclass(frozen=True)
class MotionFile:
    """A motion, and the text it stands in."""

    motion: Any
    text: str

    def edited(self, values: Array, changed: Array) -> Iterator[str]:
        """The lines with new numbers where they changed, and else letter by letter what they were."""
        frame, channel = -1, 0
        for line in self.text.splitlines(keepends=True):
            words = list(re.finditer(r"\S+", line))
            if len(words) == 1 and words[0][0].isdigit():
                frame, channel = frame + 1, 0
            elif frame >= 0:
                # From the end, so that the places before stay where they are.
                for word in reversed(range(1, len(words))):
                    place = frame, channel + word - 1
                    if changed[place]:
                        start, end = words[word].span()
                        number = np.format_float_positional(values[place], trim="-")
                        line = line[:start] + number + line[end:]
                channel += max(0, len(words) - 1)
            yield line


def read(path: Path) -> Dataset:
    """The frames of a motion, with the channels as features."""
    from rnlmf.datasets import read_amc

    try:
        motion = read_amc(path)
    except ValueError as error:
        reason = str(error).removeprefix(path.name).lstrip(", ")
        raise FileError(path, f"{reason} Mend it, or copy the file again.") from error
    if np.isinf(motion.data).any():
        frame = motion.frames[np.isinf(motion.data).any(axis=1).argmax()]
        raise FileError(path, f"is infinite in frame {frame}: write nan there, which is filled.")
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    return Dataset(
        values=motion.data,
        kind=MOTION,
        names=motion.channels,
        sample_names=[str(frame) for frame in motion.frames],
        sample_shape=(motion.data.shape[1],),
        source=MotionFile(motion, text),
        path=path,
    )


def write(dataset: Dataset, values: Array, path: Path, target: Path) -> None:
    """The motion with new values, all else as it was."""
    if dataset.kind != MOTION:
        raise FileError(target, f"{dataset.path.name} is no motion; write .csv or .npy.")
    lines = dataset.source.edited(values, differing(values, dataset.values))
    path.write_bytes("".join(lines).encode("utf-8", "surrogateescape"))
