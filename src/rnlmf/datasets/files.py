"""Loaders of the paper's real data from a folder of ``.npz`` files.

The folder is that of the environment variable ``RNLMF_DATA``. A file holds ``X``, samples by
features, and ``y`` where there are labels.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import Bunch

Array = npt.NDArray[Any]


def data_folder() -> Path:
    """The folder that ``RNLMF_DATA`` names."""
    folder = os.environ.get("RNLMF_DATA")
    if not folder:
        raise FileNotFoundError(
            "No data folder: set the environment variable RNLMF_DATA to the folder of the .npz files."
        )
    return Path(folder)


def _read(name: str) -> dict[str, Array]:
    path = data_folder() / name
    if not path.is_file():
        raise FileNotFoundError(f"{name} is not in {path.parent}, the folder that RNLMF_DATA names.")
    with np.load(path) as archive:
        return {key: archive[key] for key in archive.files}


def resize_images(X: Array, shape: tuple[int, int], new_shape: tuple[int, int]) -> Array:
    """Bicubic, antialiased resize of images with values in [0, 1], one per row."""
    from PIL import Image

    def resized(image: Array) -> Array:
        picture = Image.fromarray(image.reshape(shape).astype(np.float32))
        return np.asarray(picture.resize(new_shape[::-1], Image.Resampling.BICUBIC)).ravel()

    return np.clip(np.stack([resized(image) for image in X]), 0.0, 1.0)


def _images(name: str, size: tuple[int, int]) -> Bunch:
    content = _read(name)
    X = content["X"].astype(np.float32)
    if content["X"].dtype == np.uint8:
        X /= 255.0
    side = round(X.shape[1] ** 0.5)
    if (side, side) != size:
        X = resize_images(X, (side, side), size)
    return Bunch(data=X, target=content["y"], image_shape=size)


def load_coil20(size: tuple[int, int] = (20, 20)) -> Bunch:
    """COIL-20: 1440 grey images of 20 objects, values in [0, 1]."""
    return _images("coil20_32x32.npz", size)


def load_extended_yale_b(size: tuple[int, int] = (20, 20)) -> Bunch:
    """Extended Yale B: 2414 grey images of 38 faces, values in [0, 1]."""
    return _images("yaleB_32x32.npz", size)


def load_cmu_mocap(subject: int = 1, trial: int = 9) -> Bunch:
    """CMU motion capture: one trial, frames by 62 channels."""
    return Bunch(data=_read(f"mocap_{subject:02d}_{trial:02d}.npz")["X"])
