"""What is data larger than memory, and how it is opened."""

from __future__ import annotations

import os
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.engine.source import RowSource
from rnlmf.io.dataset import FileError
from rnlmf.sources.arrays import ArraySource, open_npy, open_zarr
from rnlmf.sources.parquet import ParquetSource

# A memory map of less is an array like any other: tools such as joblib make them of what is passed
# between processes, and results must not depend on that.
LARGE_MAP = 1 << 30


def row_source(X: Any, *, large_map: int | None = None) -> RowSource | None:
    """The rows of `X` if they are not in memory; None for everything else.

    Parameters
    ----------
    X : object
        A path (``.npy``, ``.parquet``, a folder of Parquet files, ``.zarr``, or a pattern such as
        ``"part-*.parquet"``), a list of Parquet paths, a zarr array, a Dask array or data frame, a
        memory map of at least a gigabyte, or a source that was made before.
    large_map : int or None
        Bytes from which on a memory map is not taken into memory; None: a gigabyte.

    Returns
    -------
    RowSource or None

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from rnlmf.sources import row_source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(pathlib.Path(folder) / "rows.npy", np.ones((100, 3), np.float32))
    ...     source = row_source(pathlib.Path(folder) / "rows.npy")
    ...     source.shape, source.read(slice(10, 12)).tolist()
    ((100, 3), [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    """
    if isinstance(X, RowSource):
        return X
    if isinstance(X, str | os.PathLike):
        return _open_path(os.fspath(X))
    if isinstance(X, list) and X and all(isinstance(item, str | os.PathLike) for item in X):
        return ParquetSource([Path(item) for item in X])
    if isinstance(X, np.memmap):
        large = X.nbytes >= (LARGE_MAP if large_map is None else large_map)
        return ArraySource(X) if large else None
    module = type(X).__module__.partition(".")[0]
    if module == "zarr":
        return ArraySource(X)
    if module == "dask":
        from rnlmf.distributed import dask_source

        return dask_source(X)
    return None


def _open_path(name: str) -> RowSource:
    path = Path(name)
    if is_pattern(path):
        return ParquetSource(parquet_files(path))
    if not path.exists():
        raise FileError(path, "there is no such file; check the name.")
    if path.suffix == ".npy":
        return open_npy(path)
    if path.suffix == ".zarr":
        return open_zarr(path)
    if path.is_dir() or path.suffix in (".parquet", ".pq"):
        return ParquetSource(parquet_files(path))
    raise FileError(
        path, f"is {path.suffix or name!r}, which is not read by block; pass .npy, .parquet or .zarr."
    )


def is_pattern(path: Path) -> bool:
    """Whether a name may stand for several."""
    return any(letter in str(path) for letter in "*?[")


def parquet_files(path: Path) -> list[Path]:
    """The file itself, those in a folder, or those that match a pattern, in order."""
    if path.is_file():
        return [path]
    if path.is_dir():
        files = sorted(path.rglob("*.parquet"))
        if not files:
            raise FileError(path, "is a folder without Parquet files; pass another.")
        return files
    files = [Path(file) for file in sorted(glob(str(path)))]
    if not files:
        raise FileError(path, "matches no file; check the name.")
    return files
