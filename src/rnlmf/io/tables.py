"""Tables: .csv, .tsv and .parquet, as Arrow tables.

Delimited text is kept as text. A cell that is not repaired is written back letter by letter, and a
repaired one with as many decimals as its column has.
"""

from __future__ import annotations

import csv
import itertools
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.io.dataset import TABLE, Dataset, FileError, differing, need, numbered, with_changes
from rnlmf.typing import Array

MISSING = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?", "-"})
CHUNK_ROWS = 20_000
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
# A column with fewer numbers than this is text that now and then looks like one.
LEAST_NUMBERS = 0.5


@dataclass(frozen=True)
class Style:
    """How a delimited file is written."""

    delimiter: str = ","
    decimal: str = "."
    header: bool = True
    newline: str = "\n"
    encoding: str = "utf-8"


@dataclass(frozen=True)
class TableFile:
    """An Arrow table, which of its columns are the features, and its style as text."""

    arrow: Any
    columns: list[int]
    style: Style | None = None

    def selected(self, positions: list[int]) -> TableFile:
        """With some of the features only; the other columns are passed through."""
        return replace(self, columns=[self.columns[position] for position in positions])


def _arrow(purpose: str = "Reading and writing tables") -> Any:
    return need("pyarrow", "cli", purpose)


# --- delimited text ---------------------------------------------------------------------------


def read_text(
    path: Path, *, delimiter: str | None = None, decimal: str = ".", skip: tuple[str, ...] = ()
) -> Dataset:
    """A table in delimited text; `skip` names columns to leave alone."""
    arrow = _arrow()
    expected = delimiter or ("\t" if path.suffix.lower() == ".tsv" else ",")
    style = replace(_style(path), delimiter=expected, decimal=decimal)
    first, chunks, n_fields = None, [], 0
    try:
        with open(path, encoding=style.encoding, newline="") as file:
            reader = csv.reader(file, delimiter=expected, strict=True)
            rows = _rows_of_equal_length(path, reader)
            first = next(rows, None)
            if first is None:
                raise FileError(path, "the file is empty.")
            n_fields = len(first)
            _check_delimiter(path, first, expected, delimiter)
            header = not all(_is_number(cell, decimal) or cell.strip() in MISSING for cell in first)
            style = replace(style, header=header)
            names = [cell.strip() for cell in first] if header else numbered(n_fields)
            body = rows if header else itertools.chain([first], rows)
            while chunk := list(itertools.islice(body, CHUNK_ROWS)):
                chunks.append(
                    [arrow.array(cells, arrow.string()) for cells in zip(*chunk, strict=True)]
                )
    except UnicodeDecodeError as error:
        raise FileError(path, f"is not text in UTF-8 (byte {error.start}).") from error
    except csv.Error as error:
        raise FileError(path, f"line {reader.line_num}: {error}; is the file cut off?") from error
    if not chunks:
        raise FileError(path, "has a header and no rows.")
    columns = [arrow.chunked_array(parts) for parts in zip(*chunks, strict=True)]
    texts = arrow.Table.from_arrays(columns, names=names)
    return _text_dataset(path, texts, style, skip)


def _style(path: Path) -> Style:
    with open(path, "rb") as file:
        beginning = file.read(1 << 16)
    encoding = "utf-8-sig" if beginning.startswith(b"\xef\xbb\xbf") else "utf-8"
    return Style(newline="\r\n" if b"\r\n" in beginning else "\n", encoding=encoding)


def _rows_of_equal_length(path: Path, reader: Any) -> Any:
    length = None
    for row in reader:
        if not row:
            continue
        length = length or len(row)
        if len(row) != length:
            hint = "is the file cut off?" if len(row) < length else "is a delimiter not quoted?"
            raise FileError(
                path, f"line {reader.line_num} has {len(row)} fields, the first has {length}: {hint}"
            )
        yield row


def _check_delimiter(path: Path, first: list[str], expected: str, given: str | None) -> None:
    if len(first) > 1 or given is not None:
        return
    for name, other in DELIMITERS.items():
        if other != expected and other in first[0]:
            shown = "'\\t'" if other == "\t" else f"'{other}'"
            raise FileError(
                path, f"line 1 has a single column, separated by {name}s? Pass --delimiter {shown}."
            )


def _is_number(cell: str, decimal: str) -> bool:
    try:
        float(cell.strip().replace(decimal, "."))
    except ValueError:
        return False
    return "_" not in cell


def _text_dataset(path: Path, texts: Any, style: Style, skip: tuple[str, ...]) -> Dataset:
    _check_skip(path, texts.column_names, skip)
    columns, values, untouched = [], [], {}
    for position, name in enumerate(texts.column_names):
        cells = texts.column(position)
        if name in skip:
            untouched[name] = "as asked"
            continue
        numbers = _numbers(path, name, cells, style)
        if numbers is None:
            untouched[name] = "text"
        elif (position == 0 and name == "") or _counts(numbers):
            untouched[name] = "row numbers"
        else:
            columns.append(position)
            values.append(numbers)
    return _dataset(path, TableFile(texts, columns, style), values, untouched)


def _numbers(path: Path, name: str, cells: Any, style: Style) -> Array | None:
    """The numbers of a column, or None if it is text; a mixture is refused."""
    arrow = _arrow()
    compute = need("pyarrow.compute", "cli", "Reading tables")
    trimmed = _trimmed(cells, style.decimal)
    if trimmed.null_count == len(trimmed):
        return None
    try:
        numbers = compute.cast(trimmed, arrow.float64())
    except arrow.ArrowInvalid:
        plain = [cell is None or _is_number(cell, ".") for cell in trimmed.to_pylist()]
        n_numbers = sum(plain) - trimmed.null_count
        if n_numbers < LEAST_NUMBERS * (len(plain) - trimmed.null_count):
            return None
        row = plain.index(False)
        raise FileError(
            path,
            f"column {name!r} mixes numbers and text: {cells[row].as_py()!r} in line "
            f"{row + 1 + style.header}. Mend it, or pass --skip {name!r} to leave the column alone.",
        ) from None
    result: Array = numbers.to_numpy(zero_copy_only=False).astype(np.float64)
    _check_finite(path, name, result, 1 + style.header)
    return result


def _check_skip(path: Path, names: list[str], skip: tuple[str, ...]) -> None:
    unknown = [name for name in skip if name not in names]
    if unknown:
        raise FileError(path, f"has no column {unknown[0]!r}; there are {', '.join(names[:20])}.")


def _check_finite(path: Path, name: str, numbers: Array, first_line: int) -> None:
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise FileError(path, f"column {name!r} is infinite in line {infinite[0] + first_line}.")


def _counts(numbers: Array) -> bool:
    """Whether a column only numbers the rows."""
    return len(numbers) > 2 and bool(np.all(np.diff(numbers) == 1.0))


def _dataset(path: Path, table: TableFile, values: list[Array], untouched: dict[str, str]) -> Dataset:
    if not values:
        raise FileError(path, "has no numeric column.")
    names = [table.arrow.column_names[column] for column in table.columns]
    return Dataset(
        values=np.column_stack(values),
        kind=TABLE,
        names=names,
        sample_names=_sample_names(table),
        sample_shape=(len(names),),
        source=table,
        path=path,
        untouched=untouched,
    )


def _sample_names(table: TableFile) -> list[str] | None:
    """The first column that is passed through, if its entries tell the rows apart."""
    others = [i for i in range(table.arrow.num_columns) if i not in table.columns]
    if not others:
        return None
    names = [str(cell) for cell in table.arrow.column(others[0]).to_pylist()]
    return names if len(set(names)) == len(names) else None


def write_text(table: TableFile, path: Path) -> None:
    """Write an Arrow table as delimited text."""
    style = table.style or Style()
    delimiter = "\t" if path.suffix.lower() == ".tsv" else style.delimiter
    if path.suffix.lower() == ".csv" and delimiter == "\t":
        delimiter = ","
    with open(path, "w", encoding=style.encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator=style.newline)
        if style.header:
            writer.writerow(table.arrow.column_names)
        for batch in table.arrow.to_batches(max_chunksize=CHUNK_ROWS):
            columns = [["" if c is None else c for c in column.to_pylist()] for column in batch.columns]
            writer.writerows(zip(*columns, strict=True))


def _trimmed(cells: Any, decimal: str) -> Any:
    """Cells without blanks around them, with decimal points, and null where one is missing."""
    compute = need("pyarrow.compute", "cli", "Reading tables")
    trimmed = compute.utf8_trim_whitespace(cells)
    missing = compute.is_in(trimmed, value_set=_arrow().array(sorted(MISSING)))
    trimmed = compute.if_else(missing, None, trimmed)
    return trimmed if decimal == "." else compute.replace_substring(trimmed, decimal, ".")


def _repaired_text(
    cells: Any, values: Array, changed: Array, style: Style, full_precision: bool
) -> Any:
    """The column with its repaired cells in the column's number of decimals."""
    texts = np.array(cells.to_pylist(), dtype=object)
    decimals = None if full_precision else _decimals(_trimmed(cells, style.decimal))
    for row in np.flatnonzero(changed):
        value = float(values[row])
        text = repr(value) if decimals is None else f"{value:.{decimals}f}"
        texts[row] = text.replace(".", style.decimal)
    return _arrow().array(texts, _arrow().string())


def _decimals(numbers: Any) -> int | None:
    """The most decimals of a column of text; None if it is written with exponents."""
    compute = need("pyarrow.compute", "cli", "Writing tables")
    if compute.any(compute.match_substring(numbers, "e", ignore_case=True)).as_py():
        return None
    point = compute.find_substring(numbers, ".")
    after = compute.subtract(compute.utf8_length(numbers), compute.add(point, 1))
    most = compute.max(compute.if_else(compute.less(point, 0), 0, after)).as_py()
    return int(most)


# --- parquet ----------------------------------------------------------------------------------


def read_parquet(path: Path, *, skip: tuple[str, ...] = ()) -> Dataset:
    """A parquet file; the index that pandas stored is left alone."""
    arrow = _arrow()
    parquet = need("pyarrow.parquet", "cli", "Reading .parquet")
    try:
        table = parquet.read_table(path)
    except (arrow.ArrowInvalid, OSError) as error:
        raise FileError(path, f"is not a parquet file, or cut off ({_one_line(error)})") from error
    _check_skip(path, table.column_names, skip)
    if table.num_rows == 0:
        raise FileError(path, "has no rows.")
    index = _pandas_index(table.schema)
    columns, values, untouched = [], [], {}
    for position, field in enumerate(table.schema):
        kind = arrow.types
        numeric = kind.is_integer(field.type) or kind.is_floating(field.type)
        if field.name in skip or field.name in index or not numeric:
            reason = "as asked" if field.name in skip else "index"
            untouched[field.name] = reason if numeric or field.name in skip else str(field.type)
            continue
        numbers = table.column(position).to_numpy().astype(np.float64)
        _check_finite(path, field.name, numbers, 1)
        if kind.is_integer(field.type) and _counts(numbers):
            untouched[field.name] = "row numbers"
            continue
        columns.append(position)
        values.append(numbers)
    return _dataset(path, TableFile(table, columns), values, untouched)


def _one_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") + "."


def _pandas_index(schema: Any) -> set[str]:
    metadata = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    return {name for name in metadata.get("index_columns", []) if isinstance(name, str)}


def write_parquet(table: TableFile, path: Path) -> None:
    """Write an Arrow table as parquet, with its schema."""
    need("pyarrow.parquet", "cli", "Writing .parquet").write_table(table.arrow, path)


def _repaired_column(column: Any, values: Array, full_precision: bool) -> Any:
    """The column in its own type, with the repaired entries."""
    arrow = _arrow()
    original = column.to_numpy()
    whole = arrow.types.is_integer(column.type)
    if whole and original.dtype.kind == "f":
        # Arrow gives whole numbers with missing ones as floats.
        limits = np.iinfo(column.type.to_pandas_dtype())
        changed = values != original
        filled = np.where(changed, np.clip(np.rint(values), limits.min, limits.max), original)
        result = values if full_precision else filled.astype(limits.dtype)
    else:
        result = with_changes(original, values, full_precision=full_precision)
    return arrow.array(result) if whole and full_precision else arrow.array(result, column.type)


# --- both -------------------------------------------------------------------------------------


def updated(dataset: Dataset, values: Array, *, full_precision: bool) -> TableFile:
    """The table of a dataset with new values; one is made if it came from elsewhere."""
    arrow = _arrow()
    table = dataset.source
    if not isinstance(table, TableFile):
        columns = {name: values[:, i] for i, name in enumerate(dataset.names)}
        if dataset.sample_names is not None:
            columns = {"sample": np.array(dataset.sample_names, dtype=object), **columns}
        return TableFile(arrow.table(columns), list(range(len(columns))))
    new = table.arrow
    changed = differing(values, dataset.values)
    for feature, column in enumerate(table.columns):
        if not changed[:, feature].any():
            continue
        cells, numbers = new.column(column), values[:, feature]
        if table.style is not None:
            repaired = _repaired_text(cells, numbers, changed[:, feature], table.style, full_precision)
        else:
            repaired = _repaired_column(cells, numbers, full_precision)
        new = new.set_column(column, new.schema.field(column).with_type(repaired.type), repaired)
    return replace(table, arrow=new)


def typed(table: TableFile) -> TableFile:
    """A text table with its features as numbers, for formats that know types."""
    if table.style is None:
        return table
    arrow, compute = _arrow(), need("pyarrow.compute", "cli", "Writing tables")
    result = table.arrow
    for column in table.columns:
        texts = _trimmed(result.column(column), table.style.decimal)
        whole = _decimals(texts) == 0
        numbers = compute.cast(texts, arrow.int64() if whole else arrow.float64())
        result = result.set_column(column, result.column_names[column], numbers)
    return TableFile(result, table.columns)


def write_labels(dataset: Dataset, labels: Array, path: Path) -> None:
    """Clusters: a table gets a column more, anything else one row per sample."""
    if path.suffix.lower() == ".npy":
        np.save(path, labels)
        return
    arrow = _arrow()
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
        write_text(table, path)
