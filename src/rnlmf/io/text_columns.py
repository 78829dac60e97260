"""Numbers in columns of text, whatever file they stand in, and numbers as text again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.io.dataset import Dataset
from rnlmf.io.plain_rows import TextTable
from rnlmf.io.sniff import MINUS, MISSING, number_pattern
from rnlmf.io.table_file import Style, TableFile, Traits, pyarrow, table_dataset
from rnlmf.typing import Array

# A column with fewer numbers than this is text that now and then looks like one.
LEAST_NUMBERS = 0.5
# Leading zeros, of days and months, too, and a plus before a number that is too long for a count:
# telephone numbers.
CODE_LIKE = r"^(?:0[0-9]+(?:[.,][0-9]*)?|\+[0-9]{6,})$"
# From here on every float is whole, and not every whole number is a float.
ALWAYS_WHOLE = 2.0**53
# Numbers of a column and how they are written, or why it has none.
Found = tuple[Array, Traits] | str
UNIT = r"^(?:[$€£¥] ?[+-]?[0-9][0-9.,]*|[+-]?[0-9][0-9.,]* ?(?:[%°$€£¥]|[A-Za-zµ°][A-Za-z/²³]{0,4}))$"


# Columns are looked at together up to this many cells: every call of Arrow has its price.
CELLS_AT_ONCE = 1 << 16


def text_dataset(path: Path, table: TableFile, notes: tuple[str, ...] = ()) -> Dataset:
    """The dataset of a table whose cells are text; columns that hold no numbers are left alone."""
    assert table.style is not None
    names = table.arrow.column_names
    columns: list[int] = []
    traits: list[Traits] = []
    untouched: dict[str, str] = {}
    found = columns_of(enumerate(table.arrow.columns), table.style)
    values = np.empty((table.arrow.num_rows, len(names)))
    for position, numbers in found:
        if isinstance(numbers, str):
            untouched[names[position]] = numbers
            continue
        values[:, len(columns)] = numbers[0]
        columns.append(position)
        traits.append(numbers[1])
    if len(columns) < len(names):
        values = values[:, : len(columns)].copy()
    if isinstance(table.arrow, TextTable):
        features = set(columns)
        table.arrow.keep([position for position in range(len(names)) if position not in features])
    return table_dataset(path, replace(table, columns=columns, traits=traits), values, untouched, notes)


def columns_of(cells: Iterable[tuple[int, Any]], style: Style) -> Iterator[tuple[int, Found]]:
    """What :func:`numbers_of` finds in columns of equal length, many at a time, in their order."""
    together: list[tuple[int, Any]] = []
    for position, column in cells:
        together.append((position, column))
        if (len(together) + 1) * len(column) > CELLS_AT_ONCE:
            yield from _found(together, style)
            together = []
    yield from _found(together, style)


def numbers_of(cells: Any, style: Style) -> Found:
    """The numbers of a column with NaN where there is none, and its traits; or why it has none."""
    return next(columns_of([(0, cells)], style))[1]


def _found(columns: list[tuple[int, Any]], style: Style) -> Iterator[tuple[int, Found]]:
    if not columns:
        return
    cells = [column for _, column in columns]
    length = len(cells[0])
    values = np.empty((len(cells), length))
    seen = _Seen(len(cells))
    step = max(1, CELLS_AT_ONCE // len(cells))
    for start in range(0, length, step):
        texts = trimmed(_joined([column.slice(start, step) for column in cells]))
        values[:, start : start + step] = seen.add(texts, start, style)
    for i, (position, column) in enumerate(columns):
        if seen.present[i] == 0:
            yield position, "no values"
        elif seen.numbers[i] < LEAST_NUMBERS * seen.present[i]:
            yield position, _why_text(column, seen.present[i])
        else:
            yield position, (values[i], seen.traits(i))


class _Seen:
    """What was seen in columns so far."""

    def __init__(self, n_columns: int) -> None:
        self.present, self.numbers, self.decimals = np.zeros((3, n_columns), dtype=np.int64)
        self.grouped, self.code_like, self.exponent, self.capital = np.zeros((4, n_columns), dtype=bool)
        self.whole, self.all_exponents = np.ones((2, n_columns), dtype=bool)
        self.mantissa = np.zeros(n_columns, dtype=np.int64)
        self.words: list[dict[int, str]] = [{} for _ in range(n_columns)]

    def add(self, texts: Any, first_row: int, style: Style) -> Array:
        """Look at some rows, whose cells are given column by column; returns their numbers."""
        compute = pyarrow("pyarrow.compute")
        shape = len(self.present), len(texts) // len(self.present)

        def by_column(marks: Any) -> Array:
            return np.asarray(compute.fill_null(marks, False)).reshape(shape)

        numeric = compute.match_substring_regex(texts, number_pattern(style.decimal, style.thousands))
        present = ~np.asarray(texts.is_null()).reshape(shape)
        self.present += present.sum(axis=1)
        self.numbers += by_column(numeric).sum(axis=1)
        plain = compute.if_else(numeric, texts, None)
        if style.thousands:
            self.grouped |= by_column(compute.match_substring(plain, style.thousands)).any(axis=1)
        self.code_like |= by_column(compute.match_substring_regex(plain, CODE_LIKE)).any(axis=1)
        plain = with_points(plain, style)
        self._see_exponents(plain, by_column)
        decimals = _decimals(plain).reshape(shape).max(axis=1, initial=0)
        self.decimals = np.maximum(self.decimals, decimals)
        values = compute.cast(plain, pyarrow().float64()).to_numpy(zero_copy_only=False)
        # 1e999 is no number either.
        values = np.where(np.isinf(values), np.nan, values).reshape(shape)
        missing = np.isnan(values)
        self.whole &= (missing | (values == np.rint(values))).all(axis=1)
        for i, row in np.argwhere(missing & present).tolist():
            self.words[i][first_row + row] = texts[i * shape[1] + row].as_py()
        return values

    def _see_exponents(self, plain: Any, by_column: Callable[[Any], Array]) -> None:
        compute = pyarrow("pyarrow.compute")
        has = by_column(compute.match_substring(plain, "e", ignore_case=True))
        self.exponent |= has.any(axis=1)
        self.all_exponents &= (has | ~by_column(compute.is_valid(plain))).all(axis=1)
        if not has.any():
            return
        self.capital |= by_column(compute.match_substring(plain, "E")).any(axis=1)
        digits = _decimals(compute.replace_substring_regex(plain, "[eE].*", ""))
        self.mantissa = np.maximum(self.mantissa, digits.reshape(has.shape).max(axis=1, initial=0))

    def traits(self, i: int) -> Traits:
        """Of the column at a place."""
        decimals = None if self.exponent[i] else int(self.decimals[i])
        scientific = None
        if self.exponent[i] and self.all_exponents[i]:
            scientific = f".{self.mantissa[i]}{'E' if self.capital[i] else 'e'}"
        return Traits(
            bool(self.whole[i] and not self.exponent[i]),
            decimals,
            bool(self.grouped[i]),
            bool(self.code_like[i]),
            self.words[i],
            scientific,
        )


def _why_text(cells: Any, n_present: int) -> str:
    compute = pyarrow("pyarrow.compute")
    units = compute.sum(compute.match_substring_regex(trimmed(_joined([cells])), UNIT)).as_py() or 0
    return "numbers with a unit" if units > 0.9 * n_present else "text"


def _joined(columns: list[Any]) -> Any:
    """The cells of all columns, one after the other, in one piece."""
    arrow = pyarrow()
    chunks = [part for column in columns for part in getattr(column, "chunks", [column])]
    if not chunks:
        return arrow.array([], arrow.string())
    return chunks[0] if len(chunks) == 1 else arrow.concat_arrays(chunks)


def numbers_with_traits(numbers: Array, *, integers: bool) -> tuple[Array, Traits] | None:
    """A column of floats, in which infinite cells become gaps that are told; None: it has no values."""
    infinite = {int(row): str(numbers[row]) for row in np.flatnonzero(np.isinf(numbers))}
    numbers[list(infinite)] = np.nan
    if np.isnan(numbers).all():
        return None
    return numbers, Traits(is_whole(numbers, integers=integers), words=infinite)


def is_whole(values: Array, *, integers: bool) -> bool:
    """Whether all numbers are whole, those that are missing aside; large floats always are."""
    present = values[~np.isnan(values)]
    if integers:
        return True
    telling = present[np.abs(present) < ALWAYS_WHOLE]
    return len(telling) > 0 and bool(np.all(telling == np.rint(telling)))


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


def _decimals(numbers: Any) -> Array:
    """How many decimals every number has, as text."""
    compute = pyarrow("pyarrow.compute")
    point = compute.find_substring(numbers, ".")
    after = compute.subtract(compute.utf8_length(numbers), compute.add(point, 1))
    return np.asarray(compute.fill_null(compute.if_else(compute.less(point, 0), 0, after), 0))


def typed(table: TableFile) -> TableFile:
    """A text table with numbers as numbers, for formats that know types; codes stay text."""
    if table.style is None:
        return table
    arrow = pyarrow()
    numbers = {}
    for position, found in columns_of(enumerate(table.arrow.columns), table.style):
        if isinstance(found, str) or found[1].code_like:
            continue
        values, traits = found
        if traits.words and position not in table.columns:
            continue
        whole = traits.decimals == 0
        if whole and np.nanmax(np.abs(values)) >= ALWAYS_WHOLE:
            # As numbers they would lose their last digits.
            continue
        kind = arrow.int64() if whole else arrow.float64()
        numbers[position] = arrow.array(values, arrow.float64(), from_pandas=True).cast(kind)
    return replace(table.with_columns(numbers), style=None)


def as_text(value: float, traits: Traits, style: Style, full_precision: bool = False) -> str:
    """A number as it would stand in its column."""
    digits = None if full_precision else traits.decimals
    if digits is None:
        scientific = None if full_precision else traits.scientific
        text = repr(float(value)) if scientific is None else format(value, scientific)
    else:
        text = f"{value:,.{digits}f}" if traits.grouped else f"{value:.{digits}f}"
        if float(text.replace(",", "")) == 0.0:
            text = text.removeprefix("-")
    return text.translate({ord(","): style.thousands or "", ord("."): style.decimal})
