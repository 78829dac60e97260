"""Motion capture files in the Acclaim format (``.amc``), read and written without loss."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from rnlmf.io.atomic import whole_file
from rnlmf.typing import Array

# Channels of every bone of the CMU database, in its order: 62 in all.
_TRUNK = {"root": 6} | dict.fromkeys(
    ("lowerback", "upperback", "thorax", "lowerneck", "upperneck", "head"), 3
)
_ARM = {"clavicle": 2, "humerus": 3, "radius": 1, "wrist": 1, "hand": 2, "fingers": 1, "thumb": 2}
_LEG = {"femur": 3, "tibia": 1, "foot": 2, "toes": 1}
CMU_BONES: dict[str, int] = _TRUNK | {
    side + bone: channels for part in (_ARM, _LEG) for side in "rl" for bone, channels in part.items()
}


@dataclass(frozen=True)
class MotionCapture:
    """Content of an ``.amc`` file.

    Attributes
    ----------
    data : array of shape (n_frames, n_channels)
        Position and angles, frame by frame, the bones side by side.
    bones : dict
        Number of channels of every bone, in the order of the file.
    frames : array of shape (n_frames,)
        Numbers of the frames, as the file has them.
    header : tuple of str
        The lines before the first frame.
    """

    data: Array
    bones: dict[str, int]
    frames: Array
    header: tuple[str, ...] = (":FULLY-SPECIFIED", ":DEGREES")

    def __post_init__(self) -> None:
        shape = (len(self.frames), sum(self.bones.values()))
        if np.shape(self.data) != shape:
            raise ValueError(
                f"data has shape {np.shape(self.data)}, but {shape[0]} frames and the channels of "
                f"{len(self.bones)} bones make {shape}."
            )

    @property
    def channels(self) -> list[str]:
        """A name for every column: the bone, and the number of the channel where it has several."""
        return [
            bone if count == 1 else f"{bone}.{number}"
            for bone, count in self.bones.items()
            for number in range(1, count + 1)
        ]

    def with_data(self, data: Array) -> Self:
        """The same motion with other values, for example denoised ones."""
        return dataclasses.replace(self, data=data)

    def arranged(self, bones: dict[str, int]) -> Array:
        """Columns of the given bones, in their order."""
        starts = dict(zip(self.bones, np.cumsum([0, *self.bones.values()]), strict=False))
        columns: list[int] = []
        for bone, count in bones.items():
            if self.bones.get(bone) != count:
                found = f"it has {self.bones[bone]}" if bone in self.bones else "there is no such bone"
                raise ValueError(f"The layout wants {count} channels of bone {bone!r}, but {found}.")
            columns.extend(range(starts[bone], starts[bone] + count))
        return np.take(self.data, columns, axis=1)


def read_amc(path: str | os.PathLike[str]) -> MotionCapture:
    """Read an ``.amc`` file.

    All frames must have the bones of the first one, in its order: the file can then be written again
    by :func:`write_amc` with nothing lost.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from rnlmf.datasets import read_amc
    >>> text = ":FULLY-SPECIFIED\\n:DEGREES\\n1\\nroot 0 9 0 0 0 0\\nhead 1 2 3\\n"
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "walk.amc"
    ...     _ = file.write_text(text)
    ...     motion = read_amc(file)
    >>> motion.bones, motion.data.tolist()
    ({'root': 6, 'head': 3}, [[0.0, 9.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0]])
    """
    path = Path(path)
    header: list[str] = []
    frames: list[int] = []
    rows: list[list[float]] = []
    bones: dict[str, int] = {}
    order: list[str] = []

    def fail(number: int, reason: str) -> ValueError:
        return ValueError(f"{path.name}, line {number}: {reason}")

    def complete(number: int) -> None:
        if frames and len(order) != len(bones):
            missing = [bone for bone in bones if bone not in order]
            raise fail(number, f"frame {frames[-1]} ends without bone {missing[0]!r}.")

    number = 0
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        words = line.split()
        if words and words[0].isdigit() and len(words) == 1:
            complete(number)
            frames.append(int(words[0]))
            rows.append([])
            order = []
        elif not frames:
            header.append(line)
        elif words:
            bone = words[0]
            try:
                values = [float(word) for word in words[1:]]
            except ValueError as error:
                raise fail(number, f"not a bone with its values: {line!r}.") from error
            if len(frames) == 1:
                if bone in bones:
                    raise fail(number, f"bone {bone!r} comes twice in frame {frames[0]}.")
                bones[bone] = len(values)
            expected = list(bones)[len(order)] if len(order) < len(bones) else None
            if bone != expected or len(values) != bones[bone]:
                found = f"{bone!r} with {len(values)} values"
                wanted = "none" if expected is None else f"{expected!r} with {bones[expected]}"
                raise fail(number, f"found {found} where the first frame has {wanted}.")
            order.append(bone)
            rows[-1].extend(values)
    complete(number)
    if not bones:
        raise ValueError(
            f"{path.name} has no frames: an .amc file has a frame's number, then its bones."
        )
    return MotionCapture(np.array(rows), bones, np.array(frames), tuple(header))


def write_amc(path: str | Path, motion: MotionCapture) -> None:
    """Write a motion as an ``.amc`` file.

    Every number has as many digits as its precision needs to be read back the same. The file appears
    whole or not at all.
    """
    if not np.isfinite(motion.data).all():
        raise ValueError("motion.data has NaN or infinity, which an .amc file cannot hold.")
    with whole_file(path) as file:
        file.write_text("".join(line + "\n" for line in _lines(motion)), encoding="utf-8")


def _lines(motion: MotionCapture) -> Iterator[str]:
    ends = np.cumsum(list(motion.bones.values()))
    yield from motion.header
    for frame, row in zip(motion.frames, motion.data, strict=True):
        yield str(frame)
        words = [np.format_float_positional(value, trim="-") for value in row]
        for bone, end in zip(motion.bones, ends, strict=True):
            yield " ".join([bone, *words[end - motion.bones[bone] : end]])
