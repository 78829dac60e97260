"""Reading and writing of samples, whatever the format of the file.

Supported are .csv, .tsv, .jsonl, .xlsx, .parquet, .feather, .npy, .npz, .mat, .amc, multi-page .tiff,
all of these inside .gz or .zip, and folders of .png, .jpg or .tiff images. Column names, the index, the
size of images and the type of numbers survive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.io import arrays, delimited, images, json_lines, motion, packed, tables, workbooks
from rnlmf.io.dataset import IMAGES, STANDARD, Dataset, FileError, check_parent
from rnlmf.typing import Array

TEXT = (".csv", ".tsv", ".txt")
TABLES: dict[str, Callable[..., None]] = {
    **dict.fromkeys(TEXT, delimited.write_text),
    **dict.fromkeys((".jsonl", ".ndjson"), json_lines.write_json_lines),
    **dict.fromkeys((".xlsx", ".xlsm"), workbooks.write_workbook),
    **dict.fromkeys((".feather", ".arrow"), tables.write_feather),
    ".parquet": tables.write_parquet,
}
ARRAYS: dict[str, Callable[..., None]] = {
    ".npy": arrays.write_npy,
    ".npz": arrays.write_npz,
    ".mat": arrays.write_mat,
}
SUFFIXES = (*TABLES, *ARRAYS, ".amc", *images.STACKS)
READABLE = f"{', '.join(SUFFIXES)} (or in .gz or .zip), or a folder of images"
UNKNOWN = f"has an unknown format: pass {READABLE}."


def read(
    path: str | Path,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    key: str | None = None,
    transpose: bool = False,
    image_shape: tuple[int, ...] | None = None,
) -> Dataset:
    """Read the samples of a file or folder.

    Parameters
    ----------
    path : path
        Its suffix tells the format. ``-`` is standard input.
    delimiter, decimal, encoding : str or None
        Of text. None: found out.
    key : str or None
        Which array of an .npz or .mat file, or sheet of a workbook, if there are several.
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
    options: dict[str, Any] = {
        **{"delimiter": delimiter, "decimal": decimal, "encoding": encoding},
        **{"key": key, "transpose": transpose, "image_shape": image_shape},
    }
    if str(path) != STANDARD:
        if not path.exists():
            raise FileError(path, "there is no such file or folder; check the name.")
        if not (path.is_file() or path.is_dir()):
            raise FileError(path, "is neither a file nor a folder; copy its content to a file first.")
        if path.is_file() and path.stat().st_size == 0:
            raise FileError(path, "the file is empty; pass another.")
    if packed.is_packed(path) and not path.is_dir():
        with packed.unpacked(path) as inside:
            return replace(read(inside, **options), path=path, suffix=inside.suffix.lower())
    try:
        dataset = _read(path, **options)
    except PermissionError as error:
        raise FileError(path, "may not be read; change its permissions.") from error
    dataset = replace(dataset, suffix=path.suffix.lower())
    return dataset if image_shape is None else _as_images(dataset, image_shape)


def _read(
    path: Path,
    *,
    delimiter: str | None,
    decimal: str | None,
    encoding: str | None,
    key: str | None,
    transpose: bool,
    **_: Any,
) -> Dataset:
    """By the suffix."""
    suffix = path.suffix.lower()
    if path.is_dir():
        return images.read_folder(path)
    if suffix in TEXT:
        return delimited.read_text(path, delimiter=delimiter, decimal=decimal, encoding=encoding)
    if suffix in (".jsonl", ".ndjson"):
        return json_lines.read_json_lines(path, encoding=encoding)
    if suffix in (".xlsx", ".xlsm"):
        return workbooks.read_workbook(path, key=key)
    if suffix == ".parquet":
        return tables.read_parquet(path)
    if suffix in (".feather", ".arrow"):
        return tables.read_feather(path)
    if suffix == ".npy":
        return arrays.read_npy(path, transpose=transpose)
    if suffix == ".npz":
        return arrays.read_npz(path, key=key, transpose=transpose)
    if suffix == ".mat":
        return arrays.read_mat(path, key=key, transpose=transpose)
    if suffix == ".amc":
        return motion.read(path)
    if suffix in images.STACKS:
        return images.read_stack(path)
    if suffix in images.SUFFIXES:
        raise FileError(path, "is a single image; pass the folder of images.")
    raise FileError(path, UNKNOWN)


def _as_images(dataset: Dataset, shape: tuple[int, ...]) -> Dataset:
    if int(np.prod(shape)) != dataset.values.shape[1]:
        shown = " x ".join(map(str, shape))
        raise FileError(
            dataset.path,
            f"has {dataset.values.shape[1]} features, which are no images of {shown}: pass "
            "another --image-shape.",
        )
    return replace(dataset, kind=IMAGES, sample_shape=shape)


def check_target(path: str | Path, source: Path | None = None, *, overwrite: bool = False) -> None:
    """Refuse an output that could not be written, or that is there already, before any work is done."""
    path = Path(path)
    if str(path) == STANDARD:
        return
    if not _is_folder(path):
        check_parent(path)
    elif not path.absolute().parent.is_dir():
        raise FileError(path, f"there is no folder {path.absolute().parent}; make it first.")
    format_of = Path(packed.inner_name(path)) if packed.is_packed(path) else path
    if not _is_folder(path) and format_of.suffix.lower() not in SUFFIXES:
        raise FileError(path, UNKNOWN)
    check_new(path, source, overwrite=overwrite)


def check_new(path: Path, source: Path | None = None, *, overwrite: bool = False) -> None:
    """Refuse to replace what is there, unless asked."""
    if overwrite or not path.exists():
        return
    if source is not None and source.exists() and path.samefile(source):
        raise FileError(path, "is the input; pass --overwrite to replace it.")
    if not path.is_dir():
        raise FileError(path, "is there already; pass --overwrite to replace it.")
    if any(path.iterdir()):
        raise FileError(path, "is a folder with files; pass --overwrite to replace those it has.")


def _is_folder(path: Path) -> bool:
    if packed.is_packed(path):
        return False
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
        Where to; the suffix tells the format, and a name without one is a folder of images. ``-`` is
        standard output, in the format of the input.
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
    if packed.is_packed(like):
        with packed.packing(path, like, dataset.suffix) as inside:
            write(dataset, values, inside, full_precision=full_precision)
    elif _is_folder(like):
        images.write_folder(dataset, images.updated(dataset, values, like), path)
    elif suffix in images.STACKS:
        images.write_stack(dataset, images.updated(dataset, values, like), path)
    elif suffix == ".amc":
        motion.write(dataset, values, path, like)
    elif suffix in TABLES:
        TABLES[suffix](tables.updated(dataset, values, full_precision=full_precision), path)
    elif suffix in ARRAYS:
        ARRAYS[suffix](arrays.updated(dataset, values, full_precision=full_precision), path)
    else:
        raise FileError(like, UNKNOWN)
