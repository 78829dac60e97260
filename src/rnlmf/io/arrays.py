"""Arrays: .npy, .npz and .mat; samples are rows, and further axes are flattened."""

from __future__ import annotations

import math
import os
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.io.apart import mat_content
from rnlmf.io.dataset import (
    ARRAY,
    IMAGES,
    Dataset,
    FileError,
    numbered,
    readable,
    with_changes,
    working_values,
)
from rnlmf.io.sizes import check_growth
from rnlmf.typing import Array

# Of an image: red, green, blue and how opaque it is.
MAX_CHANNELS = 4


@dataclass(frozen=True)
class ArrayFile:
    """An array as it lies in its file, and what else is there."""

    array: Array
    key: str = "X"
    others: dict[str, Any] = field(default_factory=dict)
    transposed: bool = False


def read_npy(path: Path, *, transpose: bool = False) -> Dataset:
    """A NumPy file."""
    with readable(path, "a NumPy file"), open(path, "rb") as file:
        _check_size(path, file, os.fstat(file.fileno()).st_size)
        array = np.load(file, allow_pickle=False)
    return _dataset(path, ArrayFile(array, transposed=transpose))


def read_npz(path: Path, *, key: str | None = None, transpose: bool = False) -> Dataset:
    """One array of a NumPy archive; the others are kept."""
    return _chosen(path, load_npz(path), key, transpose)


def read_mat(path: Path, *, key: str | None = None, transpose: bool = False) -> Dataset:
    """One matrix of a MATLAB file; the other variables are kept."""
    return _chosen(path, load_mat(path), key, transpose)


def load_npz(path: Path) -> dict[str, Array]:
    """The arrays of a NumPy archive, by name."""
    with readable(path, "a NumPy archive"), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        names = [member.filename.removesuffix(".npy") for member in members]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise FileError(path, f"has two arrays of the name {twice!r}; save it with one.")
        check_growth(path, path.stat().st_size, sum(member.file_size for member in members))
        content = {}
        for name, member in zip(names, members, strict=True):
            with archive.open(member) as file:
                _check_size(path, file, member.file_size)
                content[name] = np.lib.format.read_array(file, allow_pickle=False)
        return content


def load_mat(path: Path) -> dict[str, Any]:
    """The variables of a MATLAB file, by name."""
    return mat_content(path)


def _check_size(path: Path, file: Any, size: int) -> None:
    """Refuse an array that says it is larger than what there is of it, before memory is taken."""
    version = np.lib.format.read_magic(file)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read_header is not None:
        shape, _, dtype = read_header(file)
        if math.prod(shape) * dtype.itemsize > size and not dtype.hasobject:
            raise FileError(
                path, f"is cut off: it says that an array has the shape {shape}. Copy it again."
            )
    file.seek(0)


def _numeric(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "iufb"


def _chosen(path: Path, content: dict[str, Any], key: str | None, transpose: bool) -> Dataset:
    names = ", ".join(content) or "nothing"
    if key is None:
        candidates = [name for name, value in content.items() if _numeric(value) and value.ndim > 1]
        # MATLAB has no vectors: labels are matrices with one row or column.
        wide = [name for name in candidates if min(content[name].shape[:2]) > 1]
        candidates = wide or candidates
        if "X" in candidates:
            candidates = ["X"]
        if len(candidates) != 1:
            which = "several are matrices of numbers" if candidates else "none is a matrix of numbers"
            raise FileError(path, f"holds {names}: {which}; pass --key NAME, or another file.")
        key = candidates[0]
    elif key not in content:
        raise FileError(path, f"has no array {key!r}; pass --key with one of {names}.")
    others = {name: value for name, value in content.items() if name != key}
    return _dataset(path, ArrayFile(content[key], key, others, transpose))


def _dataset(path: Path, source: ArrayFile) -> Dataset:
    array = source.array
    if not _numeric(array):
        raise FileError(path, f"holds {array.dtype}, not numbers; pass an array of numbers.")
    if array.ndim < 2:
        raise FileError(path, f"has shape {array.shape}; pass an array of samples by features.")
    if source.transposed:
        array = np.moveaxis(array, -1, 0)
    if array.size == 0:
        raise FileError(path, f"is empty: its shape is {array.shape}; pass another.")
    sample_shape = array.shape[1:]
    is_image = len(sample_shape) == 2 or (len(sample_shape) == 3 and sample_shape[-1] <= MAX_CHANNELS)
    values = working_values(array.reshape(len(array), -1))
    if np.isinf(values).any():
        sample = int(np.isinf(values).any(axis=1).argmax())
        raise FileError(path, f"is infinite in sample {sample}: save NaN there, which is filled.")
    return Dataset(
        values=values,
        kind=IMAGES if is_image else ARRAY,
        names=_names(source, values.shape[1]),
        sample_names=None,
        sample_shape=sample_shape,
        source=source,
        path=path,
    )


def _names(source: ArrayFile, n_features: int) -> list[str]:
    stored = np.ravel(source.others.get("feature_names", ()))
    return [str(name) for name in stored] if len(stored) == n_features else numbered(n_features)


def updated(dataset: Dataset, values: Array, *, full_precision: bool) -> ArrayFile:
    """The array of a dataset with new values, in its shape and type; made if it came from elsewhere."""
    source = dataset.source
    if not isinstance(source, ArrayFile):
        stored = getattr(source, "pixels", None)
        if stored is not None:
            values = with_changes(stored, values, full_precision=full_precision)
        others = {"feature_names": np.array(dataset.names)}
        return ArrayFile(values.reshape(len(values), *dataset.sample_shape), "X", others)
    array = np.moveaxis(source.array, -1, 0) if source.transposed else source.array
    new = with_changes(array.reshape(values.shape), values, full_precision=full_precision)
    new = new.reshape(array.shape)
    if source.transposed:
        new = np.moveaxis(new, 0, -1)
    return ArrayFile(new, source.key, source.others, source.transposed)


def write_npy(source: ArrayFile, path: Path) -> None:
    """The array alone."""
    np.save(path, source.array, allow_pickle=False)


def write_npz(source: ArrayFile, path: Path) -> None:
    """The array and what came with it."""
    save_npz(path, {source.key: source.array, **source.others})


def save_npz(path: Path, arrays: dict[str, Any]) -> None:
    """A compressed NumPy archive; NumPy's own function takes no array that is called ``file``."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


def write_mat(source: ArrayFile, path: Path) -> None:
    """The array and what came with it, as variables."""
    import scipy.io

    others = {
        key: value.astype(object) if getattr(value, "dtype", np.dtype("O")).kind == "U" else value
        for key, value in source.others.items()
    }
    scipy.io.savemat(path, {source.key: source.array, **others}, do_compression=True)
