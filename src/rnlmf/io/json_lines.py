"""JSON lines: an object in every line, the names of whose members are the columns."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rnlmf.io.dataset import Dataset, FileError
from rnlmf.io.sniff import decoded
from rnlmf.io.table_file import Rows, Span, Style, TableFile, pyarrow
from rnlmf.io.text_columns import text_dataset, typed

JSON = "json"
BLANK = re.compile(r"[ \t\r\n\ufeff]*")
DECODER = json.JSONDecoder()


def members(record: str) -> dict[str, Span]:
    """Where the values of an object stand in its text."""
    found: dict[str, Span] = {}

    def after_blanks(place: int) -> int:
        match = BLANK.match(record, place)
        assert match is not None
        return match.end()

    place = after_blanks(0)
    if record[place] != "{":
        raise ValueError("not an object")
    place = after_blanks(place + 1)
    while record[place] != "}":
        name, place = DECODER.raw_decode(record, place)
        place = after_blanks(place)
        if not isinstance(name, str) or record[place] != ":":
            raise ValueError("not a member")
        # Arrow has no text that UTF-8 cannot hold.
        name.encode()
        start = after_blanks(place + 1)
        _, place = DECODER.raw_decode(record, start)
        found[name] = (start, place)
        place = after_blanks(place)
        if record[place] == ",":
            place = after_blanks(place + 1)
        elif record[place] != "}":
            raise ValueError("not separated")
    return found


def read_json_lines(path: Path, *, encoding: str | None = None) -> Dataset:
    """A table of JSON lines; what is no number is left alone."""
    text, found = decoded(path, path.read_bytes(), encoding)
    records: list[str] = []
    cells: list[dict[str, str]] = []
    preamble = ""
    for number, line in enumerate(io.StringIO(text, newline=""), 1):
        if not line.strip("\ufeff \t\r\n"):
            if records:
                records[-1] += line
            else:
                preamble += line
            continue
        try:
            row = members(line)
            texts = {name: _plain(line[start:end]) for name, (start, end) in row.items()}
        except (ValueError, IndexError, TypeError, RecursionError) as error:
            raise FileError(
                path, f"line {number} is not a JSON object: write one in every line, as in JSON lines."
            ) from error
        records.append(line)
        cells.append(texts)
    if not records:
        raise FileError(path, "has no rows; pass another file.")
    names = list(dict.fromkeys(name for row in cells for name in row))
    arrow = pyarrow()
    columns = [arrow.array([row.get(name, "") for row in cells], arrow.string()) for name in names]
    table = TableFile(
        arrow.Table.from_arrays(columns, names=names),
        [],
        style=Style(encoding=found),
        rows=Rows(JSON, preamble, records, _spans(names), _placed(names)),
    )
    return text_dataset(path, table)


def _plain(value: str) -> str:
    """The text of a cell: that of a string without its quotes, and nothing for null."""
    if value == "null":
        return ""
    text = str(json.loads(value)) if value.startswith('"') else value
    text.encode()
    return text


def _spans(names: list[str]) -> Callable[[str], list[Span | None]]:
    def spans(record: str) -> list[Span | None]:
        found = members(record)
        return [found.get(name) for name in names]

    return spans


def _placed(names: list[str]) -> Callable[[str, int, Span | None, str], tuple[Span, str]]:
    def placed(record: str, column: int, span: Span | None, text: str) -> tuple[Span, str]:
        if span is None:
            # The object has no such member yet.
            end = record.rindex("}")
            comma = ", " if members(record) else ""
            return (end, end), f"{comma}{json.dumps(names[column], ensure_ascii=False)}: {text}"
        start, end = span
        # A number in quotes stays there.
        return ((start + 1, end - 1) if record[start] == '"' else span), text

    return placed


def write_json_lines(table: TableFile, path: Path) -> None:
    """Write a table as JSON lines; the objects of such a file are copied letter by letter."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        if table.rows is not None and table.rows.format == JSON:
            file.writelines(table.rows.edited(table.edits))
            return
        for row in typed(table.applied()).arrow.to_pylist():
            file.write(json.dumps(row, ensure_ascii=False, default=_other) + "\n")


def _other(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
