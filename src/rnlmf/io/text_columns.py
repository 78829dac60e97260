"""Numbers in columns of text, whatever file they stand in, and numbers as text again."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.io.dataset import Dataset
from rnlmf.io.sniff import MINUS, MISSING, number_pattern
from rnlmf.io.table_file import Style, TableFile, Traits, pyarrow, table_dataset
from rnlmf.typing import Array

# A column with fewer numbers than this is text that now and then looks like one.
LEAST_NUMBERS = 0.5
# Leading zeros, and a plus before a number that is too long for a count: telephone numbers.
CODE_LIKE = r"^(?:0[0-9]+|\+[0-9]{6,})$"
UNIT = r"^(?:[$€£¥] ?[+-]?[0-9][0-9.,]*|[+-]?[0-9][0-9.,]* ?(?:[%°$€£¥]|[A-Za-zµ°][A-Za-z/²³]{0,4}))$"


def text_dataset(path: Path, table: TableFile, notes: tuple[str, ...] = ()) -> Dataset:
    """The dataset of a table whose cells are text; columns that hold no numbers are left alone."""
    assert table.style is not None
    columns, traits, values, untouched = [], [], [], {}
    names = table.arrow.column_names
    for position, (name, cells) in enumerate(zip(names, table.arrow.columns, strict=True)):
        found = numbers_of(cells, table.style)
        if isinstance(found, str):
            untouched[name] = found
            continue
        columns.append(position)
        values.append(found[0])
        traits.append(found[1])
    table = replace(table, columns=columns, traits=traits)
    return table_dataset(path, table, values, untouched, notes)


def numbers_of(cells: Any, style: Style) -> tuple[Array, Traits] | str:
    """The numbers of a column with NaN where there is none, and its traits; or why it has none."""
    compute = pyarrow("pyarrow.compute")
    if getattr(cells, "num_chunks", 0) == 1:
        # Arrow takes its time with chunks, which counts where columns are many.
        cells = cells.chunk(0)
    texts = trimmed(cells)
    n_present = len(texts) - texts.null_count
    if n_present == 0:
        return "no values"
    pattern = number_pattern(style.decimal, style.thousands)
    numeric = compute.match_substring_regex(texts, pattern)
    n_numbers = compute.sum(numeric).as_py() or 0
    if n_numbers < LEAST_NUMBERS * n_present:
        units = compute.sum(compute.match_substring_regex(texts, UNIT)).as_py() or 0
        return "numbers with a unit" if units > 0.9 * n_present else "text"
    plain = compute.if_else(numeric, texts, None)
    grouped = False
    if style.thousands:
        grouped = bool(compute.any(compute.match_substring(plain, style.thousands)).as_py())
    code_like = bool(compute.any(compute.match_substring_regex(plain, CODE_LIKE)).as_py())
    plain = with_points(plain, style)
    values = compute.cast(plain, pyarrow().float64()).to_numpy(zero_copy_only=False)
    values = np.array(values, dtype=np.float64)
    # 1e999 is no number either.
    values[np.isinf(values)] = np.nan
    words = np.isnan(values) & ~np.asarray(texts.is_null())
    rows = {int(row): texts[int(row)].as_py() for row in np.flatnonzero(words)}
    return values, Traits(is_whole(values), decimals(plain), grouped, code_like, rows)


def is_whole(values: Array) -> bool:
    """Whether all numbers are whole, those that are missing aside."""
    present = values[~np.isnan(values)]
    return bool(np.all(present == np.rint(present)))


def trimmed(cells: Any) -> Any:
    """Cells without blanks around them, and null where one is missing."""
    compute = pyarrow("pyarrow.compute")
    texts = compute.utf8_trim_whitespace(cells)
    missing = compute.is_in(texts, value_set=_missing_words())
    return compute.if_else(missing, None, texts)


@cache
def _missing_words() -> Any:
    return pyarrow().array(sorted(MISSING))


def with_points(texts: Any, style: Style) -> Any:
    """Numbers as Arrow reads them."""
    compute = pyarrow("pyarrow.compute")
    texts = compute.replace_substring(compute.utf8_ltrim(texts, "+"), MINUS, "-")
    if style.thousands:
        texts = compute.replace_substring(texts, style.thousands, "")
    return texts if style.decimal == "." else compute.replace_substring(texts, style.decimal, ".")


def decimals(numbers: Any) -> int | None:
    """The most decimals of a column of text; None if it is written with exponents."""
    compute = pyarrow("pyarrow.compute")
    if compute.any(compute.match_substring(numbers, "e", ignore_case=True)).as_py():
        return None
    point = compute.find_substring(numbers, ".")
    after = compute.subtract(compute.utf8_length(numbers), compute.add(point, 1))
    most = compute.max(compute.if_else(compute.less(point, 0), 0, after)).as_py()
    return int(most or 0)


def typed(table: TableFile) -> TableFile:
    """A text table with numbers as numbers, for formats that know types; codes stay text."""
    if table.style is None:
        return table
    arrow = pyarrow()
    numbers = {}
    for position, cells in enumerate(table.arrow.columns):
        found = numbers_of(cells, table.style)
        if isinstance(found, str) or found[1].code_like:
            continue
        values, traits = found
        if traits.words and position not in table.columns:
            continue
        exact = traits.decimals == 0 and np.nanmax(np.abs(values)) < 2**53
        kind = arrow.int64() if exact else arrow.float64()
        numbers[position] = arrow.array(values, arrow.float64(), from_pandas=True).cast(kind)
    return replace(table.with_columns(numbers), style=None)


def as_text(value: float, traits: Traits, style: Style, full_precision: bool = False) -> str:
    """A number as it would stand in its column."""
    digits = None if full_precision else traits.decimals
    if digits is None:
        text = repr(float(value))
    else:
        text = f"{value:,.{digits}f}" if traits.grouped else f"{value:.{digits}f}"
        if float(text.replace(",", "")) == 0.0:
            text = text.removeprefix("-")
    return text.translate({ord(","): style.thousands or "", ord("."): style.decimal})
