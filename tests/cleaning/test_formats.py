"""Tables that are no text: what is kept, changed and listed, cell by cell."""

import csv
import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import rnlmf
from nasty_files import ROWS, WRONG, measured
from rnlmf.cli.app import app
from rnlmf.io import FileError

NUMBERS = {name: [float(cell) for cell in cells] for name, cells in measured().items()}


@pytest.fixture
def denoised(judge, tmp_path, monkeypatch):
    """Runs ``denoise`` on a file, and returns what it says and the list of changes."""
    monkeypatch.chdir(tmp_path)

    def run(source, target, *options):
        words = ["denoise", source, "-o", target, "--changes", "changes.csv", "--overwrite", *options]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        with open("changes.csv", newline="") as listed:
            changes = [(int(c["row"]) - 1, c["column"], c["before"]) for c in csv.DictReader(listed)]
        return " ".join(result.stderr.split()), changes

    return run


@pytest.mark.parametrize("everything", [True, False])
def test_parquet_keeps_what_is_not_measured_to_the_bit(denoised, judge, everything):
    judge.everything = everything
    rng = np.random.default_rng(0)
    infinite = [np.inf if i % 20 == 0 else value for i, value in enumerate(NUMBERS["q3"])]
    kept = {
        "long": pa.array([2**53 + 1 + 2 * int(i) for i in rng.permutation(ROWS)]),
        "hash": pa.array([int.from_bytes(rng.bytes(8), "big", signed=True) for _ in range(ROWS)]),
        "unsigned": pa.array([2**64 - 1 - int(i) for i in rng.integers(0, 10**9, ROWS)], pa.uint64()),
        "maybe": pa.array([True, None] * (ROWS // 2)),
        "exact": pa.array([f"{i}.25" for i in range(ROWS)]).cast(pa.decimal128(9, 2)),
        "list": pa.array([[1, 2]] * ROWS),
    }
    whole = [None if i % 9 == 0 else int(100 * v) for i, v in enumerate(NUMBERS["q1"])]
    before = pa.table({**kept, "whole": pa.array(whole, pa.int32()), "far": infinite, **NUMBERS})
    pq.write_table(before, "in.parquet")
    said, changes = denoised("in.parquet", "out.parquet")
    after = pq.read_table("out.parquet")
    assert after.schema == before.schema
    for name in kept:
        assert after[name].equals(before[name])
    # They come again: perhaps there was nothing in reach.
    assert after["far"].to_pylist()[::20] == [np.inf] * (ROWS // 20)
    assert "--missing inf" in said
    assert {column for _, column, _ in changes}.isdisjoint(kept)
    assert {row for row, column, _ in changes if column == "whole"} >= set(range(0, ROWS, 9))


def test_long_numbers_keep_their_digits_in_other_formats(denoised):
    long = [str(2**53 + 1 + 2 * i) for i in range(ROWS)]
    pd.DataFrame({"long": long, **measured()}).to_csv("in.csv", index=False)
    readers = {
        "out.parquet": lambda name: pq.read_table(name)["long"].to_pylist(),
        "out.jsonl": lambda name: (
            pd.read_json(name, lines=True, dtype=False)["long"].astype(str).tolist()
        ),
        "out.xlsx": lambda name: pd.read_excel(name, dtype=str)["long"].tolist(),
    }
    for target, cells in readers.items():
        denoised("in.csv", target)
        assert cells(target) == long


def test_json_keeps_quotes_and_tells_null(denoised, tmp_path):
    names = list(NUMBERS)
    lines = [
        json.dumps(
            {
                "in quotes" if n == "q0" else n: measured()[n][i] if n == "q0" else NUMBERS[n][i]
                for n in names
            }
        )
        for i in range(ROWS)
    ]
    lines[40] = lines[40].replace(f'"q2": {NUMBERS["q2"][40]}', '"q2": null')
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    _, changes = denoised("in.jsonl", "out.jsonl")
    assert (10, "in quotes", measured()["q0"][10]) in changes
    assert (40, "q2", "null") in changes
    after = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert all(isinstance(row["in quotes"], str) for row in after)
    assert float(after[10]["in quotes"]) < 40


def sheet(rows, name="data"):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = name
    for row in rows:
        book.active.append(row)
    book.create_sheet("other")["A1"] = "mine"
    return book


HEAD = ["day", *NUMBERS]
BODY = [
    [f"{1 + i % 28}.{1 + i % 12}.2024", *values]
    for i, values in enumerate(zip(*NUMBERS.values(), strict=True))
]
BLANK = [None] * 7
SHEETS = {
    "plain": ([HEAD, *BODY], 2),
    "title": ([["Station 7", *BLANK[1:]], BLANK, HEAD, *BODY], 4),
    "groups": ([[None, "inside", None, None, "outside", None, None], HEAD, *BODY], 3),
    "units": ([HEAD, [None, *["°C"] * 6], *BODY], 3),
    "not at the corner": ([[None, *BLANK], [None, *HEAD], *([None, *row] for row in BODY)], 3),
    "total": ([HEAD, *BODY, ["Total", *[1e6] * 6]], 2),
    "sums": ([HEAD, *BODY, [None, *[f"=SUM({c}2:{c}121)" for c in "BCDEFG"]]], 2),
    "empty row": ([HEAD, *BODY, BLANK, BODY[0]], 2),
    "numbers as text": ([HEAD, *([day, f"{first:.2f}", *rest] for day, first, *rest in BODY)], 2),
}


@pytest.mark.parametrize("name", SHEETS)
def test_sheets(denoised, name):
    openpyxl = pytest.importorskip("openpyxl")
    rows, first = SHEETS[name]
    sheet(rows).save("in.xlsx")
    _, changes = denoised("in.xlsx", "out.xlsx")
    assert {(row, column) for row, column, _ in changes} == WRONG
    before, after = (openpyxl.load_workbook(file)["data"] for file in ("in.xlsx", "out.xlsx"))
    offset = rows[first - 2].index("q0") if "q0" in rows[first - 2] else HEAD.index("q0")
    expected = {(row + first, offset + int(column[1:]) + 1) for row, column in WRONG}
    different = {
        (cell.row, cell.column)
        for cells in before.iter_rows()
        for cell in cells
        if cell.value != after.cell(cell.row, cell.column).value
    }
    assert different == expected
    for row, column in expected:
        assert type(before.cell(row, column).value) is type(after.cell(row, column).value)


def test_the_types_of_frames_have_names(judge):
    frame = pd.DataFrame(NUMBERS)
    frame["period"] = pd.period_range("2024", periods=ROWS, freq="D")
    frame["complex"] = 1j
    frame["category"] = pd.Categorical([1, 2] * (ROWS // 2))
    frame["nothing"] = None
    told = {column["column"]: column["left_alone"] for column in rnlmf.clean(frame).report.columns}
    assert (told["period"], told["complex"]) == ("period", "complex128")
    assert (told["category"], told["nothing"]) == ("category", "no values")
    other = pl.DataFrame({**NUMBERS, "nothing": [None] * ROWS})
    told = {column["column"]: column["left_alone"] for column in rnlmf.clean(other).report.columns}
    assert told["nothing"] == "no values"


@pytest.mark.parametrize("frame", [pl.LazyFrame(NUMBERS), NUMBERS, np.eye(3), pd.Series([1.0, 2.0])])
def test_what_is_no_frame_in_memory(frame):
    with pytest.raises(TypeError, match=f"frame must be a data frame .* not a {type(frame).__name__}"):
        rnlmf.clean(frame)


def test_a_frame_without_rows_or_numbers():
    with pytest.raises(FileError, match="the data frame: has no rows"):
        rnlmf.clean(pd.DataFrame(NUMBERS).head(0))
    with pytest.raises(FileError, match="'a' is text"):
        rnlmf.clean(pd.DataFrame({"a": ["x", "y"]}))


def test_cells_of_a_sheet_that_are_no_text(denoised):
    openpyxl = pytest.importorskip("openpyxl")
    start = datetime.datetime(2024, 1, 1)
    rows = [
        [
            start + datetime.timedelta(hours=i),
            datetime.time(i % 24, 5),
            i % 3 == 0,
            100.0 + i % 40,
            *values,
        ]
        for i, values in enumerate(zip(*NUMBERS.values(), strict=True))
    ]
    sheet([["when", "clock", "wet", "count", *NUMBERS], *rows]).save("in.xlsx")
    said, changes = denoised("in.xlsx", "out.xlsx")
    assert {(row, column) for row, column, _ in changes} == WRONG
    assert "when dates" in said
    assert "count whole numbers 100 to 139" in said
    before, after = (openpyxl.load_workbook(file)["data"] for file in ("in.xlsx", "out.xlsx"))
    for name in "ABCD":
        assert [cell.value for cell in before[name]] == [cell.value for cell in after[name]]


@pytest.mark.parametrize(
    ("rows", "message"), [([], "sheet 'data' is empty"), ([HEAD], "has a header and no rows")]
)
def test_a_sheet_without_rows(judge, tmp_path, rows, message):
    sheet(rows).save(tmp_path / "in.xlsx")
    result = CliRunner().invoke(app, ["info", str(tmp_path / "in.xlsx")])
    assert result.exit_code == 3
    assert message in result.stderr
    assert "--key" in result.stderr


def test_blank_lines_of_json_stay(denoised, tmp_path):
    lines = [json.dumps({name: NUMBERS[name][i] for name in NUMBERS}) for i in range(ROWS)]
    text = "\ufeff\n\n" + "\n\n".join(lines[:60]) + "\r\n" + "\n".join(lines[60:]) + "\n \n"
    (tmp_path / "in.jsonl").write_bytes(text.encode())
    _, changes = denoised("in.jsonl", "out.jsonl")
    assert {(row, column) for row, column, _ in changes} == WRONG
    before, after = (tmp_path / f"{name}.jsonl" for name in ("in", "out"))
    pairs = list(zip(before.read_bytes().split(b"\n"), after.read_bytes().split(b"\n"), strict=True))
    assert sum(a != b for a, b in pairs) == len(WRONG)
    (tmp_path / "blank.jsonl").write_text("\n \n")
    result = CliRunner().invoke(app, ["info", "blank.jsonl"])
    assert "blank.jsonl: has no rows; pass another file." in result.stderr


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), "category"])
def test_a_total_of_any_type_of_text(denoised, kind):
    words = pa.array([*[f"n{i}" for i in range(ROWS)], "Total"])
    try:
        words = words.dictionary_encode() if kind == "category" else words.cast(kind)
    except pa.ArrowNotImplementedError:
        pytest.skip("this version of Arrow has no such text yet")
    sums = {name: [*cells, sum(cells)] for name, cells in NUMBERS.items()}
    pq.write_table(pa.table({"name": words, **sums}), "in.parquet")
    said, changes = denoised("in.parquet", "out.parquet")
    assert {(row, column) for row, column, _ in changes} == WRONG
    assert f"row {ROWS + 1} sums up the others and is kept" in said
