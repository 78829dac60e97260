"""Rows of Parquet files, read by row group."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.engine.source import RowSource
from rnlmf.io.dataset import FileError, readable
from rnlmf.sources.arrays import float_type
from rnlmf.typing import Array

# Decoded row groups that are kept: blocks that follow each other are in one or two. Of large ones, one.
KEPT_GROUPS = 2
LARGE_GROUP = 64 << 20


class ParquetSource(RowSource):
    """The columns with numbers of one or more Parquet files, one below the other.

    Parameters
    ----------
    paths : sequence of path
        Files with the same columns.
    columns : sequence of str or None
        None: all that have whole numbers or floats.
    """

    def __init__(self, paths: Sequence[Path], columns: Sequence[str] | None = None) -> None:
        self.paths = [Path(path) for path in paths]
        first = _metadata(self.paths[0]).schema.to_arrow_schema()
        found = [field for field in first if _is_number(field.type)]
        wanted = [field.name for field in found] if columns is None else list(columns)
        kinds = {field.name: field.type for field in found}
        missing = [name for name in wanted if name not in kinds]
        if missing or not wanted:
            what = f"has no column of numbers {missing[0]!r}" if missing else "has no column of numbers"
            raise FileError(self.paths[0], f"{what}: pass others.")
        types = {float_type(np.dtype(kinds[name].to_pandas_dtype())) for name in wanted}
        self.dtype = np.dtype(np.float32 if types == {np.dtype(np.float32)} else np.float64)
        self.names = wanted
        self.groups = self._row_groups()
        self.starts = np.concatenate([[0], np.cumsum([rows for _, _, rows in self.groups])])
        self.shape = int(self.starts[-1]), len(wanted)
        self._prepare()

    def _prepare(self) -> None:
        rows = max((rows for _, _, rows in self.groups), default=0)
        large = rows * self.shape[1] * self.dtype.itemsize > LARGE_GROUP
        self.group = lru_cache(maxsize=1 if large else KEPT_GROUPS)(self.read_group)
        self.lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key not in ("group", "lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._prepare()

    def _row_groups(self) -> list[tuple[Path, int, int]]:
        groups = []
        for path in self.paths:
            metadata = _metadata(path)
            absent = set(self.names or ()) - set(metadata.schema.to_arrow_schema().names)
            if absent:
                raise FileError(
                    path,
                    f"has no column {min(absent)!r}, which {self.paths[0].name} has; pass files with "
                    "the same columns.",
                )
            counts = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
            groups += [(path, i, rows) for i, rows in enumerate(counts) if rows > 0]
        return groups

    def read_group(self, number: int) -> Array:
        """The rows of a row group; what is null is NaN."""
        import pyarrow.parquet as pq

        path, group, rows = self.groups[number]
        with readable(path, "a Parquet file"):
            # Without this, pyarrow reads columns ahead with memory of their own.
            with pq.ParquetFile(path, memory_map=True, pre_buffer=False) as file:
                table = file.read_row_group(group, columns=self.names)
            found = np.empty((rows, self.shape[1]), self.dtype)
            for j, name in enumerate(self.names or ()):
                found[:, j] = table.column(name).to_numpy()
        return found

    def read(self, rows: slice) -> Array:
        first = int(np.searchsorted(self.starts, rows.start, side="right")) - 1
        parts = []
        while first < len(self.groups) and self.starts[first] < rows.stop:
            # One thread decodes a group for all that wait for it.
            with self.lock:
                group = self.group(first)
            start = self.starts[first]
            parts.append(group[max(rows.start - start, 0) : rows.stop - start])
            first += 1
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.empty((0, self.shape[1]), self.dtype)

    def pieces(self) -> list[slice]:
        """The row groups."""
        edges = self.starts.tolist()
        return [slice(a, b) for a, b in pairwise(edges)]


def uncompressed_bytes(path: Path) -> int:
    """Of all columns, once they are decompressed."""
    metadata = _metadata(path)
    return sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))


def _metadata(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_metadata(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise FileError(path, "is not a Parquet file, or damaged; pass another.") from error


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
