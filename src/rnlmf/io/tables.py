"""Tables, as Arrow tables: .parquet and .feather, and how tables of any format get new values."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.io import delimited
from rnlmf.io.apart import arrow_table
from rnlmf.io.dataset import Dataset, FileError, differing, readable, rounded
from rnlmf.io.sizes import check_growth
from rnlmf.io.table_file import Edits, TableFile, pyarrow, table_dataset
from rnlmf.io.text_columns import as_text, numbers_with_traits, typed
from rnlmf.typing import Array


def read_parquet(path: Path) -> Dataset:
    """A parquet file; the index that pandas stored is left alone."""
    with readable(path, "a parquet file"):
        parquet = pyarrow("pyarrow.parquet")
        stored = parquet.read_metadata(path)
        # A column of one value takes next to nothing in the file.
        check_growth(path, path.stat().st_size, 8 * stored.num_rows * stored.num_columns)
        table = parquet.read_table(path)
        table.validate(full=True)
    return _dataset(path, table)


def read_feather(path: Path) -> Dataset:
    """A Feather (Arrow) file; the index that pandas stored is left alone."""
    pyarrow()
    return _dataset(path, arrow_table(path))


def _dataset(path: Path, table: Any) -> Dataset:
    kind = pyarrow().types
    index = _pandas_index(table.schema)
    if table.num_rows == 0:
        raise FileError(path, "has no rows; pass another file.")
    columns, traits, values, untouched = [], [], [], {}
    for position, field in enumerate(table.schema):
        numeric = kind.is_integer(field.type) or kind.is_floating(field.type)
        if field.name in index or not numeric:
            untouched[field.name] = "index" if field.name in index else _in_words(field.type)
            continue
        numbers = table.column(position).to_numpy().astype(np.float64)
        found = numbers_with_traits(numbers, integers=kind.is_integer(field.type))
        if found is None:
            untouched[field.name] = "no values"
            continue
        columns.append(position)
        values.append(found[0])
        traits.append(found[1])
    return table_dataset(path, TableFile(table, columns, traits), values, untouched)


def _in_words(kind: Any) -> str:
    name = re.split(r"[\[<(]", str(kind))[0]
    words = {"string": "text", "large_string": "text", "bool": "yes or no", "dictionary": "category"}
    words |= dict.fromkeys(("decimal32", "decimal64", "decimal128", "decimal256"), "exact decimals")
    return words.get(name, "no values" if name == "null" else name)


def _pandas_index(schema: Any) -> set[str]:
    metadata = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    return {name for name in metadata.get("index_columns", []) if isinstance(name, str)}


def write_parquet(table: TableFile, path: Path) -> None:
    """Write an Arrow table as parquet, with its schema."""
    pyarrow("pyarrow.parquet").write_table(typed(table.applied()).arrow, path)


def write_feather(table: TableFile, path: Path) -> None:
    """Write an Arrow table as Feather, with its schema."""
    pyarrow("pyarrow.feather").write_feather(typed(table.applied()).arrow, path)


def _repaired_column(column: Any, values: Array, changed: Array, full_precision: bool) -> Any:
    """The column in its own type, with the repaired entries; only these go through floats."""
    arrow, compute = pyarrow(), pyarrow("pyarrow.compute")
    whole = arrow.types.is_integer(column.type)
    new = values[changed]
    if whole and not full_precision:
        new = rounded(new, column.type.to_pandas_dtype())
    kind = arrow.float64() if whole and full_precision else column.type
    old = column.combine_chunks().cast(kind)
    new = arrow.array(new.astype(kind.to_pandas_dtype()), kind)
    return compute.replace_with_mask(old, arrow.array(changed), new)


def updated(dataset: Dataset, values: Array, *, full_precision: bool) -> TableFile:
    """The table of a dataset with new values; one is made if it came from elsewhere."""
    table = dataset.source
    if not isinstance(table, TableFile):
        columns = {name: values[:, i] for i, name in enumerate(dataset.names)}
        if dataset.sample_names is not None:
            columns = {"sample": np.array(dataset.sample_names, dtype=object), **columns}
        return TableFile(pyarrow().table(columns), list(range(len(columns))))
    if table.style is not None:
        return replace(table, edits=edits(dataset, values, full_precision=full_precision))
    changed = differing(values, dataset.values)
    repaired = {}
    for feature in np.flatnonzero(changed.any(axis=0)):
        column, numbers, rows = table.columns[feature], values[:, feature], changed[:, feature]
        repaired[column] = _repaired_column(table.arrow.column(column), numbers, rows, full_precision)
    return table.with_columns(repaired)


def edits(dataset: Dataset, values: Array, *, full_precision: bool = False) -> Edits:
    """New values of a text table as they shall stand there."""
    table = dataset.source
    changed = differing(values, dataset.values)
    return {
        table.columns[feature]: {
            int(row): as_text(values[row, feature], table.traits[feature], table.style, full_precision)
            for row in np.flatnonzero(changed[:, feature])
        }
        for feature in np.flatnonzero(changed.any(axis=0))
    }


def write_labels(dataset: Dataset, labels: Array, path: Path) -> None:
    """Clusters: a table gets a column more, anything else one row per sample."""
    if path.suffix.lower() == ".npy":
        np.save(path, labels)
        return
    arrow = pyarrow()
    name = "cluster"
    if isinstance(dataset.source, TableFile):
        table = dataset.source
        taken = table.arrow.column_names
        names = itertools.chain([name], (f"{name}_{i}" for i in itertools.count(2)))
        name = next(name for name in names if name not in taken)
    else:
        samples = dataset.sample_names or [str(i) for i in range(len(labels))]
        table = TableFile(arrow.table({"sample": samples}), [])
    if path.suffix.lower() == ".parquet":
        table = typed(table.applied())
        table = replace(table, arrow=table.arrow.append_column(name, arrow.array(labels)))
        write_parquet(table, path)
    else:
        delimited.write_text(table, path, added=(name, labels))
