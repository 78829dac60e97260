"""What is too little to be judged comes back as it was, and is said to."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import rnlmf
from rnlmf.cli.app import app


def waves(rows):
    t = np.linspace(0, 9, rows)
    frame = pd.DataFrame({f"q{k}": np.round(20 + 10 * np.sin(t + k), 2) for k in range(6)})
    frame.loc[1, "q1"] = np.nan
    return frame


@pytest.mark.parametrize("rows", [3, 12, 29])
def test_nothing_is_changed(rows):
    frame = waves(rows)
    cleaned = rnlmf.clean(frame)
    pd.testing.assert_frame_equal(cleaned.frame, frame)
    assert len(cleaned.changes) == 0
    assert cleaned.report.doubts == [f"there are only {rows} rows, too few to judge"]
    assert "Nothing was changed" in str(cleaned.report)
    reasons = {column["left_alone"] for column in cleaned.report.columns}
    assert reasons == {"fewer than 30 rows, by which nothing can be judged"}


def test_who_says_what_noise_is_decides():
    cleaned = rnlmf.clean(waves(20), opinions="dictionary")
    assert len(cleaned.changes) > 0
    assert cleaned.report.doubts[0] == "there are only 20 rows"


def test_a_model_of_few_rows_changes_nothing_either(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    waves(20).to_csv("few.csv", index=False)
    waves(60).to_csv("more.csv", index=False)
    run = CliRunner().invoke
    words = ["denoise", "few.csv", "-o", "out.csv", "--model", "m.safetensors", "--report", "r.html"]
    result = run(app, [*words, "--strict"])
    assert result.exit_code == 4, result.output
    assert "error left" not in result.stdout
    result = run(app, ["apply", "m.safetensors", "more.csv", "-o", "more-out.csv"])
    assert result.exit_code == 0, result.output
    for name, same in {"few.csv": "out.csv", "more.csv": "more-out.csv"}.items():
        assert (tmp_path / name).read_bytes() == (tmp_path / same).read_bytes()
    assert "nan%" not in (tmp_path / "r.html").read_text()


def test_rows_without_names_are_counted_as_in_the_list(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = waves(80)
    frame.loc[10, "q0"] = 900.0
    frame.to_csv("in.csv", index=False)
    result = CliRunner().invoke(app, ["denoise", "in.csv", "-o", "out.csv", "--changes", "c.csv"])
    assert "q0 (1.2%); row 11." in result.stdout
    assert 11 in pd.read_csv("c.csv")["row"].tolist()


def test_a_page_on_data_in_which_nothing_is_wrong(tmp_path):
    rnlmf.clean(waves(60).fillna(29.0)).report.write(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "nan%" not in page
    assert "<dt>error left, estimated</dt><dd>unknown</dd>" in page
