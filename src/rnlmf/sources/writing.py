"""Results written block by block, to an array or a file that appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from rnlmf.engine.maps import let_go
from rnlmf.engine.source import RowSource
from rnlmf.io.atomic import whole_file
from rnlmf.io.dataset import FileError
from rnlmf.sources.parquet import ParquetSource
from rnlmf.typing import Array


class Target(Protocol):
    """Where rows go."""

    def put(self, rows: slice, values: Array) -> None:
        """Rows that follow those before."""


class ArrayTarget:
    """Into an array."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def put(self, rows: slice, values: Array) -> None:
        self.array[rows] = values
        if isinstance(self.array, np.ndarray):
            let_go(self.array[rows])


class ParquetTarget:
    """Into a Parquet file, a row group at a time; other columns are those of the source."""

    def __init__(self, path: Path, source: RowSource, names: list[str]) -> None:
        import pyarrow.parquet as pq

        self.source, self.names = source, names
        self.pq, self.path = pq, path
        self.writer: Any = None

    def put(self, rows: slice, values: Array) -> None:
        table = self._table(rows, values)
        if self.writer is None:
            self.writer = self.pq.ParquetWriter(self.path, table.schema)
        self.writer.write_table(table)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()

    def _table(self, rows: slice, values: Array) -> Any:
        import pyarrow as pa

        columns = {name: pa.array(values[:, j]) for j, name in enumerate(self.names)}
        source = self.source
        if not isinstance(source, ParquetSource) or list(source.names or ()) != self.names:
            return pa.table(columns)
        number = int(np.searchsorted(source.starts, rows.start))
        path, group, _ = source.groups[number]
        with self.pq.ParquetFile(path, memory_map=True, pre_buffer=False) as file:
            table = file.read_row_group(group)
        for name, column in columns.items():
            place = table.schema.get_field_index(name)
            table = table.set_column(place, name, column)
        return table


@contextmanager
def written(
    out: Any, source: RowSource, width: int, dtype: Any, names: list[str] | None = None
) -> Iterator[Target]:
    """Where to put (n, `width`) results of a source.

    Parameters
    ----------
    out : array, or path
        Anything that rows can be assigned to; or a file ``.npy`` or ``.parquet``.
    source : RowSource
        What the results are of.
    width : int
        Columns of the results.
    dtype : dtype
        Of the results.
    names : list of str or None
        Of the columns of a Parquet file; those of the source if they are not given.
    """
    n = len(source)
    if not isinstance(out, str | os.PathLike):
        if tuple(out.shape) != (n, width):
            raise ValueError(f"out has shape {tuple(out.shape)}, but the result has {(n, width)}.")
        yield ArrayTarget(out)
        return
    path = Path(out)
    if path.suffix == ".npy":
        with whole_file(path) as temporary:
            array = np.lib.format.open_memmap(temporary, "w+", np.dtype(dtype), (n, width))
            yield ArrayTarget(array)
            array.flush()
            del array
    elif path.suffix in (".parquet", ".pq"):
        names = names or source.names or [f"x{j}" for j in range(width)]
        with whole_file(path) as temporary:
            target = ParquetTarget(temporary, source, names)
            try:
                yield target
            finally:
                target.close()
    else:
        raise FileError(path, "results are written as .npy or .parquet: name it so.")
