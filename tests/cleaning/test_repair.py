"""The seam between tables and models: what a model may say besides values."""

import numpy as np
import pandas as pd
import pytest

import rnlmf
from rnlmf import RNLMF
from rnlmf.cleaning.repair import RepairOptions, new_model, usual_scale


@pytest.fixture
def frame():
    t = np.linspace(0, 9, 80)
    frame = pd.DataFrame({f"q{k}": np.round(20 + 10 * np.sin(t + k), 2) for k in range(5)})
    frame.loc[3, "q1"] = np.nan
    frame.loc[5, "q1"] = 900.0
    frame.loc[7, "q2"] = 900.0
    return frame


def test_columns_that_the_model_leaves_alone_keep_gaps_and_all(judge, frame):
    judge.left_alone_ = {1: "cannot be predicted from the others"}
    cleaned = rnlmf.clean(frame)
    pd.testing.assert_series_equal(cleaned.frame["q1"], frame["q1"])
    assert cleaned.changes["column"].tolist() == ["q2"]
    told = {column["column"]: column["left_alone"] for column in cleaned.report.columns}
    assert told["q1"] == "cannot be predicted from the others"
    assert told["q2"] is None


def test_bad_rows_and_stuck_cells_are_named(judge, frame):
    judge.bad_rows_ = np.array([5])
    judge.stuck_ = np.zeros(frame.shape, dtype=bool)
    judge.stuck_[7, 2] = True
    changes = rnlmf.clean(frame).changes
    assert changes["kind"].tolist() == ["filled", "bad row", "stuck"]


def test_options_reach_the_estimator(monkeypatch):
    model = new_model(RepairOptions(settings={"n_components": 7}, noise="samples"))
    assert (model.n_components, model.noise_penalty) == (7, "l21")
    assert isinstance(new_model(RepairOptions(scale=False)), RNLMF)
    given = {}

    class Later(RNLMF):
        def __init__(
            self, feature_scale=None, sequence="auto", random_state=None, n_jobs=None, verbose=False
        ):
            given.update(feature_scale=feature_scale, sequence=sequence)

    monkeypatch.setattr("rnlmf.cleaning.repair.RNLMF", Later)
    assert isinstance(new_model(RepairOptions(sequence=True)), Later)
    assert given == {"feature_scale": "robust", "sequence": True}
    new_model(RepairOptions(scale=None))
    assert given == {"feature_scale": "auto", "sequence": "auto"}
    new_model(RepairOptions(scale=False, sequence=False))
    assert given == {"feature_scale": None, "sequence": False}


def test_fast_learns_from_some_rows(judge, frame, monkeypatch):
    seen = []
    fit = judge.fit

    def counted(self, X):
        seen.append(len(X))
        return fit(self, X)

    monkeypatch.setattr(judge, "fit", counted)
    monkeypatch.setattr("rnlmf.cleaning.repair.FAST_ROWS", 40)
    slow, fast = rnlmf.clean(frame), rnlmf.clean(frame, fast=True)
    assert seen == [80, 40]
    assert fast.changes["row"].tolist() == slow.changes["row"].tolist()


def test_fast_hears_all_opinions_but_not_the_order_of_drawn_rows(frame, monkeypatch):
    """By the dictionary alone many right cells were altered."""
    asked = []

    def model(options):
        asked.append(options.sequence)
        return new_model(options)

    monkeypatch.setattr("rnlmf.cleaning.repair.new_model", model)
    small = {"n_components": 8, "max_iter": 9}
    slow, fast = (rnlmf.clean(frame, fast=fast, **small) for fast in (False, True))
    assert fast.changes.equals(slow.changes)
    monkeypatch.setattr("rnlmf.cleaning.repair.FAST_ROWS", 40)
    rnlmf.clean(frame, fast=True, **small)
    assert asked == ["auto", "auto", False]


def test_a_model_is_applied_to_a_column_that_does_not_vary(tmp_path, frame, monkeypatch):
    from typer.testing import CliRunner

    from rnlmf.cli.app import app

    monkeypatch.chdir(tmp_path)
    frame.to_csv("in.csv", index=False)
    frame.assign(q0=20.0).to_csv("flat.csv", index=False)
    frame.assign(q0=None).to_csv("empty.csv", index=False)

    def run(*words):
        return CliRunner().invoke(app, [str(word) for word in words])

    small = ("--set", "n_components=8", "--set", "max_iter=9")
    assert run("denoise", "in.csv", "-o", "o.csv", "--model", "m.safetensors", *small).exit_code == 0
    result = run("apply", "m.safetensors", "flat.csv", "-o", "flat-clean.csv", "--report", "r.html")
    assert result.exit_code == 0, result.output
    result = run("apply", "m.safetensors", "empty.csv", "-o", "empty-clean.csv")
    assert result.exit_code == 3
    assert "empty.csv: column 'q0' has no values, but the model m.safetensors needs" in result.stderr


def test_curves_have_one_unit_and_columns_of_tables_their_own(rng):
    bands = np.linspace(0.0, 1.0, 40)
    curves = np.exp(-(((bands - rng.uniform(0.2, 0.8, (50, 1))) / 0.1) ** 2))
    curves[rng.random(curves.shape) < 0.05] = np.nan
    curves[7, 3] = 1e6
    assert usual_scale(curves) is None
    assert usual_scale(curves * 10.0 ** rng.uniform(-3, 3, 40)) is True
    assert usual_scale(rng.normal(size=(50, 40))) is True


def test_bad_rows_of_the_fit_are_not_those_of_new_data(judge, frame):
    from rnlmf.cleaning.repair import repaired_by

    model = judge().fit(frame)
    model.bad_rows_ = np.array([5])
    model.stuck_ = np.ones(frame.shape, dtype=bool)
    new = repaired_by(model, frame.to_numpy())
    assert len(new.bad_rows) == 0
    assert new.stuck is None
    assert set(new.kinds[5]) == {"repaired"}


def test_bad_rows_and_stuck_stretches_are_told(judge, frame):
    judge.bad_rows_ = np.array([5])
    judge.stuck_ = np.zeros(frame.shape, dtype=bool)
    judge.stuck_[7:12, 2] = judge.stuck_[20:22, 2] = True
    said = str(rnlmf.clean(frame).report)
    assert "Bad as a whole: row 5." in said
    assert "Stuck: q2 from row 7 to row 11; q2 from row 20 to row 21." in said


def test_what_is_suspicious_and_stays_is_told(judge, frame):
    judge.left_alone_ = {2: "3 values are hard to predict"}
    assert "Left as it is: q2 (3 values are hard to predict)." in str(rnlmf.clean(frame).report)


def test_a_page_does_not_keep_quiet_on_values_that_nobody_can_judge(tmp_path, rng):
    level = 20.0 + 0.3 * np.cumsum(rng.normal(size=300))
    level[[40, 150, 260]] += 1.5
    report = rnlmf.clean(pd.DataFrame({"level": np.round(level, 2)})).report
    report.write(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Nothing that must be wrong was found" in page
    assert "Left as it is: level (3 values are hard to predict" in page
