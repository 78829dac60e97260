"""Read samples from files and write them back with everything else kept.

Supported are .csv, .tsv, .parquet, .npy, .npz, .mat, .amc, multi-page .tiff, and folders of .png,
.jpg or .tiff images. Column names, the index, the size of images and the type of numbers survive.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from rnlmf.io import arrays, delimited, images, motion, tables
from rnlmf.io.atomic import Outputs, outputs
from rnlmf.io.dataset import IMAGES, Dataset, FileError, check_parent
from rnlmf.typing import Array

__all__ = ["Dataset", "FileError", "Outputs", "check_target", "outputs", "read", "write"]


TEXT = (".csv", ".tsv", ".txt")
SUFFIXES = (*TEXT, ".parquet", ".npy", ".npz", ".mat", ".amc", *images.STACKS)
READABLE = f"{', '.join(SUFFIXES)}, or a folder of images"


def read(
    path: str | Path,
    *,
    delimiter: str | None = None,
    decimal: str = ".",
    skip: tuple[str, ...] = (),
    key: str | None = None,
    transpose: bool = False,
    image_shape: tuple[int, ...] | None = None,
) -> Dataset:
    """Read the samples of a file or folder.

    Parameters
    ----------
    path : path
        Its suffix tells the format.
    delimiter, decimal : str
        Of delimited text. The delimiter of .csv is a comma, that of .tsv a tab.
    skip : tuple of str
        Columns of a table to leave alone. Text is left alone anyway.
    key : str or None
        Which array of an .npz or .mat file, if there are several.
    transpose : bool
        Samples are the columns of the array, as is common in MATLAB.
    image_shape : tuple of int or None
        Height and width (and channels) of samples that are images but stored flat.

    Returns
    -------
    Dataset

    Raises
    ------
    FileError
        If the file cannot be used, with the reason in one line.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if not path.exists():
        raise FileError(path, "there is no such file or folder.")
    if not (path.is_file() or path.is_dir()):
        raise FileError(path, "is neither a file nor a folder.")
    if path.is_file() and path.stat().st_size == 0:
        raise FileError(path, "the file is empty.")
    try:
        if path.is_dir():
            dataset = images.read_folder(path)
        elif suffix in TEXT:
            dataset = delimited.read_text(path, delimiter=delimiter, decimal=decimal, skip=skip)
        elif suffix == ".parquet":
            dataset = tables.read_parquet(path, skip=skip)
        elif suffix == ".npy":
            dataset = arrays.read_npy(path, transpose=transpose)
        elif suffix == ".npz":
            dataset = arrays.read_npz(path, key=key, transpose=transpose)
        elif suffix == ".mat":
            dataset = arrays.read_mat(path, key=key, transpose=transpose)
        elif suffix == ".amc":
            dataset = motion.read(path)
        elif suffix in images.STACKS:
            dataset = images.read_stack(path)
        elif suffix in images.SUFFIXES:
            raise FileError(path, "is a single image; pass the folder of images.")
        else:
            raise FileError(path, f"has an unknown format; there are {READABLE}.")
    except PermissionError as error:
        raise FileError(path, "may not be read.") from error
    return dataset if image_shape is None else _as_images(dataset, image_shape)


def _as_images(dataset: Dataset, shape: tuple[int, ...]) -> Dataset:
    if int(np.prod(shape)) != dataset.values.shape[1]:
        shown = " x ".join(map(str, shape))
        raise FileError(
            dataset.path, f"has {dataset.values.shape[1]} features, which are no images of {shown}."
        )
    return replace(dataset, kind=IMAGES, sample_shape=shape)


def check_target(path: str | Path, source: Path | None = None, *, overwrite: bool = False) -> None:
    """Refuse an output that could not be written, or that is the input, before any work is done."""
    path = Path(path)
    if not _is_folder(path):
        check_parent(path)
    elif not path.absolute().parent.is_dir():
        raise FileError(path, f"there is no folder {path.absolute().parent}.")
    if source is not None and not overwrite and path.exists() and path.samefile(source):
        raise FileError(path, "is the input; pass --overwrite to replace it.")
    if _is_folder(path):
        if path.is_dir() and any(path.iterdir()) and not overwrite:
            raise FileError(path, "is a folder with files; pass --overwrite to replace those it has.")
    elif path.suffix.lower() not in SUFFIXES:
        raise FileError(path, f"has an unknown format; there are {READABLE}.")


def _is_folder(path: Path) -> bool:
    return path.suffix == "" or (path.is_dir() and path.suffix.lower() not in SUFFIXES)


def write(
    dataset: Dataset,
    values: Array,
    path: str | Path,
    *,
    like: str | Path | None = None,
    full_precision: bool = False,
) -> None:
    """Write new values of a dataset, with everything that is not a number as it was.

    Parameters
    ----------
    dataset : Dataset
        As it was read.
    values : array of shape (n_samples, n_features)
        The new numbers. Entries equal to the old ones are written exactly as they were.
    path : path
        Where to; the suffix tells the format, and a name without one is a folder of images.
    like : path or None
        Name that decides on the format, if it is not `path`.
    full_precision : bool
        Whole numbers are rounded, and numbers in text have as many decimals as their column. With
        this they are written as they are, as floating point.
    """
    path, like = Path(path), Path(like or path)
    suffix = like.suffix.lower()
    if values.shape != dataset.values.shape:
        raise ValueError(f"values have shape {values.shape}, the dataset {dataset.values.shape}.")
    if _is_folder(like):
        images.write_folder(dataset, images.updated(dataset, values, like), path)
    elif suffix in images.STACKS:
        images.write_stack(dataset, images.updated(dataset, values, like), path)
    elif suffix == ".amc":
        motion.write(dataset, values, path, like)
    elif suffix in (*TEXT, ".parquet"):
        table = tables.updated(dataset, values, full_precision=full_precision)
        if suffix == ".parquet":
            tables.write_parquet(tables.typed(table), path)
        else:
            delimited.write_text(table, path)
    elif suffix in (".npy", ".npz", ".mat"):
        source = arrays.updated(dataset, values, full_precision=full_precision)
        writers = {".npy": arrays.write_npy, ".npz": arrays.write_npz, ".mat": arrays.write_mat}
        writers[suffix](source, path)
    else:
        raise FileError(like, f"has an unknown format; there are {READABLE}.")
