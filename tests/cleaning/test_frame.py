import numpy as np
import pandas as pd
import polars as pl
import pytest

import rnlmf
from rnlmf.io import FileError

ROWS = 60


def make_frame():
    t = np.linspace(0, 9, ROWS)
    frame = pd.DataFrame({f"q{k}": np.round(20 + 10 * np.sin(t + k), 2) for k in range(5)})
    frame["count"] = pd.array(np.rint(100 * np.sin(t) + 300).astype(int), "Int64")
    frame["text_numbers"] = [f"{5 * np.cos(x):.1f}" for x in t]
    frame["name"] = [f"n{i}" for i in range(ROWS)]
    frame["when"] = pd.date_range("2024-01-01", periods=ROWS)
    frame["kind"] = pd.Categorical(["u", "v"] * (ROWS // 2))
    frame["yes"] = [True, False] * (ROWS // 2)
    frame["customer"] = np.random.default_rng(0).permutation(ROWS) + 12_001
    frame["stars"] = pd.array([1, 2, 3, 4, 5, None] * (ROWS // 6), "Int64")
    frame.loc[10, "q0"] = 900.0
    frame.loc[20, "count"] = 90_000
    frame.loc[21, "count"] = pd.NA
    frame.loc[30, "text_numbers"] = "error"
    frame.loc[40, "q3"] = np.inf
    return frame


CHANGED = [(10, "q0"), (20, "count"), (21, "count"), (30, "text_numbers"), (40, "q3")]


def test_pandas_keeps_types_index_and_all_else(judge):
    frame = make_frame()
    frame.index = [f"r{i}" for i in range(ROWS)]
    before = frame.copy()
    cleaned = rnlmf.clean(frame)
    pd.testing.assert_frame_equal(frame, before)
    changes = list(zip(cleaned.changes["row"], cleaned.changes["column"], strict=True))
    assert changes == [(f"r{row}", column) for row, column in CHANGED]
    assert cleaned.changes["kind"].tolist() == [
        "repaired",
        "repaired",
        "filled",
        "repaired",
        "repaired",
    ]
    assert cleaned.changes["before"].tolist() == ["900.0", "90000", "", "error", "inf"]
    expected = before.copy()
    for row, column in changes:
        expected.loc[row, column] = cleaned.frame.loc[row, column]
    pd.testing.assert_frame_equal(cleaned.frame, expected)
    assert cleaned.frame.loc["r10", "q0"] < 40


def test_polars(judge):
    frame = pl.from_pandas(make_frame())
    cleaned = rnlmf.clean(frame)
    assert isinstance(cleaned.frame, pl.DataFrame)
    assert cleaned.frame.schema == frame.schema
    changes = list(zip(cleaned.changes["row"], cleaned.changes["column"], strict=True))
    assert changes == CHANGED
    others = [name for name in frame.columns if name not in {column for _, column in CHANGED}]
    assert cleaned.frame[others].equals(frame[others])


def test_the_command_line_does_the_same(judge, tmp_path):
    from typer.testing import CliRunner

    from rnlmf.cli.app import app

    frame = make_frame()
    frame.to_csv(tmp_path / "in.csv", index=False)
    words = ["denoise", str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.csv"), "--changes"]
    result = CliRunner().invoke(app, [*words, str(tmp_path / "c.csv")])
    assert result.exit_code == 0, result.output
    listed = pd.read_csv(tmp_path / "c.csv")
    assert list(zip(listed["row"] - 1, listed["column"], strict=True)) == CHANGED
    assert listed["kind"].tolist() == rnlmf.clean(frame).changes["kind"].tolist()


def test_choices_reach_the_columns(judge):
    frame = make_frame()
    cleaned = rnlmf.clean(frame, include=["stars"], skip=["q*"], limits={"count": (0, 500)})
    assert set(cleaned.changes["column"]) == {"stars", "count", "text_numbers"}
    assert cleaned.frame["stars"].dropna().isin([1, 2, 3, 4, 5]).all()
    kinds = {column["column"]: column["left_alone"] for column in cleaned.report.columns}
    assert kinds["q0"] == "as asked"
    assert kinds["customer"] == "numbers things, by its name"
    assert kinds["yes"] == "yes or no"
    assert kinds["when"] == "dates"
    with pytest.raises(FileError, match="the data frame: has no column 'absent' for --skip"):
        rnlmf.clean(frame, skip=["absent"])


def test_codes_are_asked_for(judge):
    frame = make_frame()
    frame.loc[[3, 13, 23, 33], "q1"] = -999.0
    kept = rnlmf.clean(frame)
    assert (kept.frame["q1"] == -999.0).sum() == 4
    assert "--missing -999" in kept.report.questions[0]
    assert "--missing -999" in str(kept.report)
    for options in ({"missing": [-999]}, {"missing": ["q1=-999"]}, {"guess": True}):
        filled = rnlmf.clean(frame, **options)
        assert (filled.frame["q1"] == -999.0).sum() == 0
        assert filled.changes["kind"].tolist().count("code") == 4


def test_a_model_and_a_page(tmp_path):
    frame = make_frame()
    cleaned = rnlmf.clean(frame, n_components=10, max_iter=20)
    assert "only" not in str(cleaned.report)
    cleaned.report.write(tmp_path / "report.html")
    assert "customer" in (tmp_path / "report.html").read_text()
