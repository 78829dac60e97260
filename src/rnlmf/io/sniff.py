"""How a text file is written, found out from its beginning: encoding, delimiter, decimal mark."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from rnlmf.io.dataset import FileError
from rnlmf.io.table_file import Style

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Without a mark, in this order; the last one takes any byte.
ENCODINGS = ("utf-8", "cp1252", "latin-1")
# Decimal mark and thousands, the more common first.
NUMBERS = (
    (".", ""),
    (",", ""),
    (".", ","),
    (",", "."),
    *((decimal, space) for space in (" ", "\u00a0", "\u202f", "'", "\u2019") for decimal in ".,"),
)
# Typeset, as in tables copied from a page.
MINUS = "\u2212"
SAMPLE_ROWS = 400
PIECE = 1 << 20
# So many numbers whose largest step is less than so many times their smallest are an axis, not data.
AXIS_POINTS = 8
UNEVEN = 1.5
SAMPLE_CHARACTERS = 1 << 17
MISSING = frozenset(
    {"", "NA", "na", "N/A", "n/a", "n.a.", "#N/A", "<NA>", "NaN", "nan", "NAN", "NULL", "null"}
    | {"None", "none", "?", "-", "--", "."}
)


@cache
def number_pattern(decimal: str, thousands: str) -> str:
    """A regular expression for numbers, of digits of our own script only."""
    whole = "[0-9]+"
    if thousands:
        whole = f"(?:[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})+|[0-9]+)"
    mark = re.escape(decimal)
    return f"^[+\\-{MINUS}]?(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?$"


def decoded(path: Path, content: bytes, encoding: str | None) -> tuple[str, str]:
    """The text and its encoding; a byte order mark stays in the text."""
    found = encoding_of(path, content, encoding)
    return content.decode(found), found


def encoding_of(path: Path, content: bytes, encoding: str | None) -> str:
    """The encoding of a text: the one that is given, or the first that it can have."""
    if encoding is None:
        encoding = next((name for mark, name in MARKS if content.startswith(mark)), None)
    if encoding is None and b"\0" in content:
        zero = content.index(b"\0")
        raise FileError(
            path,
            f"is not text in UTF-8 (byte {zero} is zero); if it is text, pass --encoding, such as "
            "utf-16-le.",
        )
    for name in ENCODINGS if encoding is None else (encoding,):
        try:
            place = _undecodable(content, name)
        except LookupError as error:
            raise FileError(
                path, f"cannot be read: there is no encoding {name!r}; try --encoding latin-1."
            ) from error
        if place is None:
            return name
    raise FileError(
        path, f"is not text in {encoding} (byte {place}): pass another --encoding, or none."
    )


def _undecodable(content: bytes, encoding: str) -> int | None:
    """Where a text cannot be in an encoding; looked at piece by piece, which takes no memory."""
    if not isinstance("".encode(encoding), bytes):
        raise LookupError(encoding)
    decoder = codecs.getincrementaldecoder(encoding)()
    for start in range(0, len(content) + 1, PIECE):
        waiting = len(decoder.getstate()[0])
        piece = content[start : start + PIECE]
        try:
            decoder.decode(piece, final=start + PIECE > len(content))
        except UnicodeError as error:
            return start - waiting + getattr(error, "start", 0)
    return None


def is_number(cell: str, decimal: str = ".", thousands: str = "") -> bool:
    """Whether a cell is a number in a style."""
    return re.match(number_pattern(decimal, thousands), cell.strip()) is not None


def sniffed(text: str, suffix: str, delimiter: str | None, decimal: str | None) -> Style:
    """Delimiter, decimal mark, thousands and line ends, unless they are given."""
    sample = text[:SAMPLE_CHARACTERS]
    if len(text) > len(sample):
        sample = sample[: sample.rfind("\n") + 1] or sample
    expected = usual_delimiter(suffix)
    if delimiter is None:
        order = (expected, *(other for other in DELIMITERS.values() if other != expected))
        delimiter = max(order, key=lambda choice: _fit(sample, choice))
        if _fit(sample, delimiter) == NO_COLUMNS:
            delimiter = expected
    rows = first_rows(sample, delimiter)
    mark, thousands = _numbers([cell.strip() for row in rows[1:] for cell in row], delimiter, decimal)
    ends = Counter(re.findall(r"\r\n|\n|\r", sample))
    newline = ends.most_common(1)[0][0] if ends else "\n"
    return Style(delimiter, mark, thousands, newline, suffix=suffix)


def usual_delimiter(suffix: str) -> str:
    """What separates cells in files of this kind, mostly."""
    return "\t" if suffix == ".tsv" else ","


NO_COLUMNS = (0.0, 0.0, 0)


def _fit(sample: str, delimiter: str) -> tuple[float, float, int]:
    """How well a delimiter explains the rows: equal lengths, then numbers, then many columns."""
    rows = first_rows(sample, delimiter)
    lengths = Counter(len(row) for row in rows)
    length, agreeing = max(lengths.items(), key=lambda item: (item[0] > 1, item[1]), default=(0, 0))
    if length < 2:
        return NO_COLUMNS
    cells = [cell.strip() for row in rows[1:] for cell in row]
    number = sum(any(is_number(cell, *style) for style in NUMBERS[:4]) for cell in cells)
    return round(agreeing / len(rows), 2), number / max(1, len(cells)), length


def first_rows(sample: str, delimiter: str) -> list[list[str]]:
    """Cells of the first rows, those without any aside; nothing if that is no delimiter."""
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    try:
        return [row for row in islice(reader, SAMPLE_ROWS) if row]
    except csv.Error:
        return []


def _numbers(cells: list[str], delimiter: str, decimal: str | None) -> tuple[str, str]:
    """Decimal mark and thousands by which most cells are numbers."""
    # What is a number without any mark says nothing.
    telling = [cell for cell in cells if not re.fullmatch(r"[+-]?[0-9]*", cell) and len(cell) < 40]
    choices = [pair for pair in NUMBERS if decimal in (None, pair[0])]
    if delimiter == ",":
        # "1,234" in quotes is a thousand where commas separate.
        choices.sort(key=lambda pair: pair == (",", ""))
    counts = {pair: sum(is_number(cell, *pair) for cell in telling) for pair in choices}
    return max(choices, key=lambda pair: counts[pair])


def is_header(cells: list[str], style: Style) -> bool:
    """Whether a first row has names: words, or numbers in even steps, such as wavelengths."""
    if not all(is_number(c, style.decimal, style.thousands) or c.strip() in MISSING for c in cells):
        return True
    if len(cells) < AXIS_POINTS or any(cell.strip() in MISSING for cell in cells):
        return False
    plain = (cell.strip().replace(style.thousands or " ", "").replace(MINUS, "-") for cell in cells)
    steps = np.diff([float(cell.replace(style.decimal, ".")) for cell in plain])
    return bool(steps.min() > 0.0 and steps.max() < UNEVEN * steps.min())
