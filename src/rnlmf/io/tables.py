"""Tables, as Arrow tables: .parquet, and what both formats need to be written back."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.io import delimited
from rnlmf.io.dataset import Dataset, FileError, differing, readable, rounded, with_changes
from rnlmf.io.table_file import (
    TableFile,
    check_finite,
    check_skip,
    numbers_the_rows,
    pyarrow,
    table_dataset,
)
from rnlmf.typing import Array


def read_parquet(path: Path, *, skip: tuple[str, ...] = ()) -> Dataset:
    """A parquet file; the index that pandas stored is left alone."""
    arrow = pyarrow()
    parquet = pyarrow("pyarrow.parquet")
    with readable(path, "a parquet file"):
        table = parquet.read_table(path)
        names = table.column_names
        index = _pandas_index(table.schema)
    check_skip(path, names, skip)
    if table.num_rows == 0:
        raise FileError(path, "has no rows.")
    columns, values, untouched = [], [], {}
    for position, field in enumerate(table.schema):
        kind = arrow.types
        numeric = kind.is_integer(field.type) or kind.is_floating(field.type)
        if field.name in skip or field.name in index or not numeric:
            reason = "as asked" if field.name in skip else "index"
            untouched[field.name] = reason if numeric or field.name in skip else str(field.type)
            continue
        numbers = table.column(position).to_numpy().astype(np.float64)
        check_finite(path, field.name, numbers, 1)
        if kind.is_integer(field.type) and numbers_the_rows(numbers):
            untouched[field.name] = "row numbers"
            continue
        columns.append(position)
        values.append(numbers)
    return table_dataset(path, TableFile(table, columns), values, untouched)


def _pandas_index(schema: Any) -> set[str]:
    metadata = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    return {name for name in metadata.get("index_columns", []) if isinstance(name, str)}


def write_parquet(table: TableFile, path: Path) -> None:
    """Write an Arrow table as parquet, with its schema."""
    pyarrow("pyarrow.parquet").write_table(table.arrow, path)


def _repaired_column(column: Any, values: Array, full_precision: bool) -> Any:
    """The column in its own type, with the repaired entries."""
    arrow = pyarrow()
    original = column.to_numpy()
    whole = arrow.types.is_integer(column.type)
    if whole and original.dtype.kind == "f":
        # Arrow gives whole numbers with missing ones as floats.
        whole_type = column.type.to_pandas_dtype()
        result = values if full_precision else rounded(values, whole_type)
    else:
        result = with_changes(original, values, full_precision=full_precision)
    return arrow.array(result) if whole and full_precision else arrow.array(result, column.type)


def updated(dataset: Dataset, values: Array, *, full_precision: bool) -> TableFile:
    """The table of a dataset with new values; one is made if it came from elsewhere."""
    arrow = pyarrow()
    table = dataset.source
    if not isinstance(table, TableFile):
        columns = {name: values[:, i] for i, name in enumerate(dataset.names)}
        if dataset.sample_names is not None:
            columns = {"sample": np.array(dataset.sample_names, dtype=object), **columns}
        return TableFile(arrow.table(columns), list(range(len(columns))))
    changed = differing(values, dataset.values)
    repaired = {}
    for feature in np.flatnonzero(changed.any(axis=0)):
        column, numbers, rows = table.columns[feature], values[:, feature], changed[:, feature]
        cells = table.arrow.column(column)
        if table.style is not None:
            repaired[column] = delimited.repaired(cells, numbers, rows, table.style, full_precision)
        else:
            repaired[column] = _repaired_column(cells, numbers, full_precision)
    return table.with_columns(repaired)


def typed(table: TableFile) -> TableFile:
    """A text table with its features as numbers, for formats that know types."""
    if table.style is None:
        return table
    arrow, compute = pyarrow(), pyarrow("pyarrow.compute")
    numbers = {}
    for column in table.columns:
        texts = delimited.trimmed(table.arrow.column(column), table.style.decimal)
        whole = delimited.decimals(texts) == 0
        numbers[column] = compute.cast(texts, arrow.int64() if whole else arrow.float64())
    return replace(table.with_columns(numbers), style=None)


def write_labels(dataset: Dataset, labels: Array, path: Path) -> None:
    """Clusters: a table gets a column more, anything else one row per sample."""
    if path.suffix.lower() == ".npy":
        np.save(path, labels)
        return
    arrow = pyarrow()
    if isinstance(dataset.source, TableFile):
        table = dataset.source
        taken = table.arrow.column_names
        names = itertools.chain(["cluster"], (f"cluster_{i}" for i in itertools.count(2)))
        name = next(name for name in names if name not in taken)
        column = labels.astype(str) if table.style is not None else labels
        table = replace(table, arrow=table.arrow.append_column(name, arrow.array(column)))
    else:
        samples = dataset.sample_names or [str(i) for i in range(len(labels))]
        table = TableFile(arrow.table({"sample": samples, "cluster": labels}), [])
    if path.suffix.lower() == ".parquet":
        write_parquet(typed(table), path)
    else:
        delimited.write_text(table, path)
