"""Files in and out of the commands, and what is not done to them."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from rnlmf.cli.app import app

FEW = ("--set", "n_components=12")


@pytest.fixture
def spiked(tmp_path):
    """A file with five wrong cells."""
    t = np.linspace(0, 9, 120)
    frame = pd.DataFrame({f"q{k}": np.round(20 + 10 * np.sin(t + k), 2) for k in range(6)})
    for row, column in ((10, "q0"), (30, "q2"), (50, "q4"), (70, "q1"), (90, "q3")):
        frame.loc[row, column] += 60
    frame.to_csv(tmp_path / "in.csv", index=False)
    return frame


def test_nothing_is_replaced_without_being_asked(run, spiked):
    for name in ("out.csv", "c.csv", "r.html", "m.safetensors"):
        Path(name).write_text("mine")
        options = {"c.csv": "--changes", "r.html": "--report", "m.safetensors": "--model"}
        target = () if name not in options else (options[name], name)
        words = ("denoise", "in.csv", "-o", "out.csv" if not target else "new.csv", *target, *FEW)
        result = run(*words)
        assert result.exit_code == 3
        assert f"{name}: is there already; pass --overwrite" in result.stderr
        assert Path(name).read_text() == "mine"
    assert run(*words, "--overwrite").exit_code == 0
    assert Path("m.safetensors").read_bytes() != b"mine"


def test_a_dry_run_writes_report_and_list_only(run, spiked):
    words = ("--dry-run", "--changes", "c.csv", "--report", "r.html", *FEW)
    result = run("denoise", "in.csv", "-o", "out.csv", *words)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in Path().iterdir()) == ["c.csv", "in.csv", "r.html"]
    with open("c.csv", newline="") as file:
        listed = [(int(row["row"]), row["column"]) for row in csv.DictReader(file)]
    assert listed == [(11, "q0"), (31, "q2"), (51, "q4"), (71, "q1"), (91, "q3")]


def test_detect_lists_and_scores(run, spiked):
    before = Path("in.csv").read_bytes()
    result = run("detect", "in.csv", "-o", "wrong.csv", "--scores", "scores.csv", *FEW)
    assert result.exit_code == 0, result.output
    assert "row 11, q0: 86.86" in result.stdout
    assert Path("in.csv").read_bytes() == before
    found = pd.read_csv("wrong.csv")
    assert found.columns.tolist() == ["row", "column", "value", "probability", "kind"]
    assert found["row"].tolist() == [11, 31, 51, 71, 91]
    scores = pd.read_csv("scores.csv")
    assert scores.shape == spiked.shape
    wrong = (scores > 0.5).to_numpy()
    assert wrong.sum() == 5
    assert wrong[10, 0]


def test_standard_input_and_output(run, spiked):
    assert run("denoise", "in.csv", "-o", "out.csv", *FEW).exit_code == 0
    content = Path("in.csv").read_bytes()
    result = CliRunner().invoke(app, ["denoise", "-", "-o", "-", *FEW], input=content)
    assert result.exit_code == 0, result.output
    assert result.stdout_bytes == Path("out.csv").read_bytes()
    assert "5 entries" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_standard_output_that_is_full_is_named(spiked, tmp_path):
    command = [sys.executable, "-m", "rnlmf", "denoise", "in.csv", "-o", "-", *FEW]
    with open("/dev/full", "w") as full:
        run = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 3
    last = run.stderr.strip().splitlines()[-1]
    assert (
        last
        == "error: standard output: cannot be written: No space left on device; pass a file with -o."
    )


@pytest.mark.parametrize("suffix", [".jsonl", ".xlsx", ".feather", ".parquet", ".tsv"])
def test_formats_of_tables(run, spiked, suffix):
    if suffix == ".xlsx":
        pytest.importorskip("openpyxl")
    spiked.insert(0, "zip", [f"{code:05d}" for code in range(120)])
    spiked["remark"] = "fine"
    spiked["nothing"] = None
    writers = {
        ".jsonl": lambda file: spiked.to_json(file, orient="records", lines=True),
        ".xlsx": lambda file: spiked.to_excel(file, index=False),
        ".feather": spiked.to_feather,
        ".parquet": spiked.to_parquet,
        ".tsv": lambda file: spiked.to_csv(file, sep="\t", index=False),
    }
    readers = {
        ".jsonl": lambda file: pd.read_json(file, lines=True, dtype={"zip": str}),
        ".xlsx": lambda file: pd.read_excel(file, dtype={"zip": str}),
        ".feather": pd.read_feather,
        ".parquet": pd.read_parquet,
        ".tsv": lambda file: pd.read_csv(file, sep="\t", dtype={"zip": str}),
    }
    writers[suffix](f"in{suffix}")
    result = run("denoise", f"in{suffix}", "-o", f"out{suffix}", *FEW)
    assert result.exit_code == 0, result.output
    before, after = (readers[suffix](f"{name}{suffix}") for name in ("in", "out"))
    numbers = [f"q{k}" for k in range(6)]
    assert (before[numbers] != after[numbers]).to_numpy().sum() == 5
    pd.testing.assert_frame_equal(before.drop(columns=numbers), after.drop(columns=numbers))
    assert after.dtypes.tolist() == before.dtypes.tolist()
    assert run("denoise", f"in{suffix}", "-o", "other.csv", *FEW).exit_code == 0
    assert pd.read_csv("other.csv", dtype=str)["zip"].tolist() == before["zip"].tolist()
    assert run("denoise", "in.csv", "-o", f"from_csv{suffix}", *FEW).exit_code == 0
    assert readers[suffix](f"from_csv{suffix}")["q0"].dtype == np.float64


def test_json_lines_stay_letter_by_letter(run):
    t = np.linspace(0, 9, 120)
    lines = [
        f'{{ "id":"n{i}" ,"a":{a:.3f}, "b" : {b:.2e},"c":{c:.3f}, "d":[1, 2]}}\r\n'
        for i, (a, b, c) in enumerate(zip(np.sin(t), np.cos(t), np.sin(t + 1), strict=True))
    ]
    lines[20] = lines[20].replace('"a":', '"a":90')
    lines[30] = lines[30].replace(',"c":', ',"e":')
    Path("in.jsonl").write_text("".join(lines), newline="")
    result = run("denoise", "in.jsonl", "-o", "out.jsonl", *FEW)
    assert result.exit_code == 0, result.output
    after = Path("out.jsonl").read_bytes().decode().splitlines(keepends=True)
    assert [i for i in range(120) if lines[i] != after[i]] == [20, 30]
    assert after[20].startswith('{ "id":"n20" ,"a":')
    assert json.loads(after[30])["c"] == pytest.approx(np.sin(t[30] + 1), abs=0.2)


def test_a_workbook_keeps_formulas_and_other_sheets(run, spiked):
    openpyxl = pytest.importorskip("openpyxl")
    spiked.to_excel("in.xlsx", index=False, sheet_name="data")
    book = openpyxl.load_workbook("in.xlsx")
    for row in range(2, 122):
        book["data"].cell(row, 7).value = f"=A{row}*2"
    book["data"]["G1"] = "double"
    book.create_sheet("notes")["A1"] = "mine"
    book.save("in.xlsx")
    assert run("denoise", "in.xlsx", "-o", "out.xlsx", *FEW).exit_code == 0
    after = openpyxl.load_workbook("out.xlsx")
    assert after["notes"]["A1"].value == "mine"
    assert after["data"]["G12"].value == "=A12*2"
    assert after["data"]["A12"].value != book["data"]["A12"].value
    result = run("info", "in.xlsx", "--key", "absent")
    assert "in.xlsx: has no sheet 'absent'; pass --key with data, notes" in result.stderr


def test_doubt_is_said_first_and_in_the_exit_code(run, spiked):
    spiked.head(20).to_csv("few.csv", index=False)
    result = run("denoise", "few.csv", "-o", "out.csv", *FEW)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Take this with care: there are only 20 rows")
    assert run("denoise", "few.csv", "-o", "out.csv", "--overwrite", "--strict", *FEW).exit_code == 4
    assert run("denoise", "in.csv", "-o", "good.csv", "--strict", *FEW).exit_code in (0, 4)


def test_new_data_that_lie_off_the_model(run, spiked):
    assert run("denoise", "in.csv", "-o", "out.csv", "--model", "m.safetensors", *FEW).exit_code == 0
    same = run("apply", "m.safetensors", "in.csv", "-o", "same.csv", "--strict")
    assert same.exit_code == 0, same.output
    assert Path("same.csv").read_bytes() == Path("out.csv").read_bytes()
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(90, 30, spiked.shape), columns=spiked.columns).to_csv(
        "off.csv", index=False
    )
    result = run("apply", "m.safetensors", "off.csv", "-o", "off-clean.csv")
    assert result.exit_code == 0
    assert result.stdout.startswith("off.csv lies off the model m.safetensors")
    assert "Fit anew: rnlmf denoise off.csv -o OUT" in result.stdout
    strict = ("--strict", "--overwrite")
    assert run("apply", "m.safetensors", "off.csv", "-o", "off-clean.csv", *strict).exit_code == 4


def test_times_suggest_a_sequence(run, spiked):
    assert json.loads(run("info", "in.csv", "--json").stdout)["rows_in_order_of_time"] is False
    spiked.insert(0, "when", pd.date_range("2024-01-01", periods=120, freq="h"))
    spiked.to_csv("timed.csv", index=False)
    facts = json.loads(run("info", "timed.csv", "--json").stdout)
    assert facts["rows_in_order_of_time"] is True
    assert facts["left_alone"] == {"when": "dates"}
    told = run("detect", "timed.csv", "--sequence", "no", "--json", "--quiet", *FEW)
    assert json.loads(told.stdout)["sequence"] is False


def test_clusters_leave_identifiers_out(run, rng):
    groups = np.repeat([0.0, 9.0], 40)
    frame = pd.DataFrame(groups[:, None] + rng.normal(size=(80, 4)), columns=list("abcd"))
    frame.insert(0, "customer_id", rng.integers(1, 10**6, 80))
    frame.to_csv("in.csv", index=False)
    result = run("cluster", "in.csv", "-k", "2", "-o", "out.csv")
    assert result.exit_code == 0, result.output
    labels = pd.read_csv("out.csv")["cluster"].to_numpy()
    assert len(set(labels[:40])) == len(set(labels[40:])) == 1


def test_the_list_of_cells_is_a_csv_and_nothing_else(run, spiked):
    result = run("detect", "in.csv", "-o", "wrong.xlsx", *FEW)
    assert result.exit_code == 3
    assert "wrong.xlsx: the list of cells is written as .csv" in result.stderr
    assert not Path("wrong.xlsx").exists()


def test_gaps_are_no_wrong_cells_and_many_are_told_by_a_number(run, spiked):
    rows = np.arange(4, 120, 8)
    spiked.loc[rows, "q5"] += 60.0
    spiked.loc[[3, 33], "q1"] = np.nan
    spiked.to_csv("in.csv", index=False)
    result = run("detect", "in.csv", "-o", "wrong.csv", *FEW)
    assert result.exit_code == 0, result.output
    found = pd.read_csv("wrong.csv")
    assert not ((found["column"] == "q1") & found["row"].isin([4, 34])).any()
    listed = set(zip(found["row"], found["column"], strict=True))
    assert {(row + 1, "q5") for row in rows} <= listed
    assert result.stdout.count("probability") == 10
    assert f"... and {len(found) - 10} more" in result.stdout


def test_cells_of_an_array_are_listed_as_numbers(run, spiked):
    np.save("in.npy", spiked.to_numpy())
    result = run("denoise", "in.npy", "-o", "out.npy", "--changes", "c.csv", *FEW)
    assert result.exit_code == 0, result.output
    listed = pd.read_csv("c.csv")
    before, after = np.load("in.npy"), np.load("out.npy")
    assert len(listed) == np.count_nonzero(before != after)
    assert 60 < listed["before"].max() == pytest.approx(before.max())


def test_a_delimiter_is_taken_as_it_is_given(run, spiked):
    spiked.to_csv("in.txt", sep="|", index=False)
    facts = json.loads(run("info", "in.txt", "--delimiter", "|", "--json").stdout)
    assert facts["feature_names"] == list(spiked.columns)
    for wrong in ("", "||"):
        result = run("info", "in.txt", "--delimiter", wrong)
        assert result.exit_code == 2
        assert "one character" in result.stderr
