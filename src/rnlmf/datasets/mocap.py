"""Loader of the CMU motion capture database."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from rnlmf.datasets.files import PathLike, locate, read_arrays
from rnlmf.datasets.motion import CMU_BONES, MotionCapture, read_amc

N_CHANNELS = sum(CMU_BONES.values())


def load_cmu_mocap(subject: int = 1, trial: int = 9, *, path: PathLike | None = None) -> Bunch:
    """CMU motion capture: one trial, frames by the 62 channels of the skeleton.

    Parameters
    ----------
    subject, trial : int
        The paper has trial 9 of subject 1 and trial 6 of subject 56.
    path : path or None
        An ``.amc`` file, a MATLAB or ``.npz`` file with the one matrix ``X``, or a folder with one of
        these, named like ``01_09.amc``. None: the data folder, see
        :func:`rnlmf.datasets.data_folder`.

    Returns
    -------
    Bunch
        ``data``, and ``channels``, a name for every column.
    """
    name = f"{subject:02d}_{trial:02d}"
    names = (f"mocap_{name}.npz", f"mocap_{name}.mat", f"{name}.amc", f"{subject:02d}/{name}.amc")
    advice = f"rnlmf.datasets.fetch('mocap_{name}') downloads it from mocap.cs.cmu.edu."
    source = locate(f"CMU motion capture {name}", names, path, advice)
    if source.suffix == ".amc":
        data = read_amc(source).arranged(CMU_BONES).astype(np.float32)
    else:
        data = _matrix(source)
    channels = MotionCapture(data, CMU_BONES, np.arange(1, len(data) + 1)).channels
    return Bunch(data=data, channels=channels)


def _matrix(source: Path) -> np.ndarray:
    if source.suffix not in (".npz", ".mat"):
        raise ValueError(f"{source.name} is neither an .amc, nor an .npz, nor a .mat file.")
    content = read_arrays(source)
    if "X" not in content:
        raise ValueError(f"{source.name} has no array 'X', only {', '.join(content)}.")
    X = content["X"]
    if source.suffix == ".mat":
        X = X.T
    if X.ndim != 2 or X.shape[1] != N_CHANNELS:
        raise ValueError(f"{source.name}: X has shape {X.shape}, but there are {N_CHANNELS} channels.")
    return X.astype(np.float32)
