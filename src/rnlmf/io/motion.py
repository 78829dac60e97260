"""Motion capture files (.amc), by :mod:`rnlmf.datasets`."""

from __future__ import annotations

from pathlib import Path

from rnlmf.io.dataset import MOTION, Dataset, FileError
from rnlmf.typing import Array


def read(path: Path) -> Dataset:
    """The frames of a motion, with the channels as features."""
    from rnlmf.datasets import read_amc

    try:
        motion = read_amc(path)
    except ValueError as error:
        raise FileError(path, str(error).removeprefix(path.name).lstrip(", ")) from error
    return Dataset(
        values=motion.data,
        kind=MOTION,
        names=motion.channels,
        sample_names=[str(frame) for frame in motion.frames],
        sample_shape=(motion.data.shape[1],),
        source=motion,
        path=path,
    )


def write(dataset: Dataset, values: Array, path: Path, target: Path) -> None:
    """The motion with new values, its header and bones as they were."""
    from rnlmf.datasets import write_amc

    if dataset.kind != MOTION:
        raise FileError(target, f"{dataset.path.name} is no motion; write .csv or .npy.")
    write_amc(path, dataset.source.with_data(values))
