"""Whole runs, of small experiments."""

import errno
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from rnlmf.io import FileError
from rnlmf.reproduce import report, runner, spec
from rnlmf.reproduce.experiment import Experiment, rows
from rnlmf.reproduce.problems import PaperProblem
from rnlmf.reproduce.run import run

SMALL = {"manifolds": 1, "samples": 60, "features": 6}
ERRORS = Experiment(
    "small",
    "A small table",
    rows(
        ({"rho": rho}, PaperProblem("synthetic", "entries", rho, **SMALL), {}, rho < 0.2)
        for rho in (0.1, 0.3)
    ),
    ("RPCA", "RNLMF", "KSSC"),
    seeds={"quick": 1, "full": 3},
    automatic=True,
)
ABSENT = Experiment(
    "table4",
    "A table whose data are absent",
    rows([({"data": "AR Face", "condition": "random"}, PaperProblem("ar", "random"), {}, True)]),
    ("RPCA", "RNLMF"),
)


@pytest.fixture(autouse=True)
def _experiments(monkeypatch, tmp_path):
    monkeypatch.setenv("RNLMF_DATA", str(tmp_path / "nothing"))
    from rnlmf.reproduce import problems

    problems._available.cache_clear()
    found = {"small": ERRORS, "table4": ABSENT}
    monkeypatch.setattr(spec, "EXPERIMENTS", {**spec.EXPERIMENTS, **found})
    yield
    problems._available.cache_clear()


def small_run(folder, **options):
    return run(["small"], jobs=1, out=folder, progress=False, **options)


def test_a_run_writes_values_tables_and_a_page(tmp_path):
    page = small_run(tmp_path, seeds=2)
    text = page.read_text()
    assert "A small table" in text
    assert "automatic settings" in text
    frame = pd.read_parquet(tmp_path / "results.parquet")
    pd.testing.assert_frame_equal(frame, pd.read_csv(tmp_path / "results.csv"), check_dtype=False)
    kept = frame[frame.metric == "rmse"]
    assert set(kept.method) == {"RPCA", "RNLMF"}
    assert set(kept["mode"]) == {"paper", "auto"}
    assert kept.groupby(["rho", "method", "mode"]).size().eq(2).all()
    mean = kept[(kept.rho == 0.1) & (kept.method == "RNLMF") & (kept["mode"] == "paper")].value.mean()
    assert f"{mean:.2f}" in text
    for file in ("index.html", "tables/small.tex", "tables/small-auto.tex"):
        assert f"{mean:.2f}" in (tmp_path / file).read_text() or file.endswith("auto.tex")


def test_chosen_parameters_are_the_best_that_were_tried(tmp_path):
    small_run(tmp_path, quick=True, mode="paper")
    from rnlmf.reproduce.cells import Cache
    from rnlmf.reproduce.tracks import make_tracks

    cache = Cache(tmp_path / ".cells")
    for track in make_tracks([ERRORS], ["paper"], "quick", None):
        errors = track.errors(cache.get)
        assert len(errors) > 1
        assert errors[track.chosen(cache.get)] == min(errors.values())


def test_a_second_run_computes_nothing(tmp_path, monkeypatch):
    small_run(tmp_path, quick=True)
    first = pd.read_csv(tmp_path / "results.csv")

    def fail(cell):
        raise AssertionError("computed again")

    monkeypatch.setattr(runner, "perform", fail)
    small_run(tmp_path, quick=True)
    pd.testing.assert_frame_equal(first, pd.read_csv(tmp_path / "results.csv"))


def test_a_run_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    done, perform = [], runner.perform

    def stop_after_three(cell):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(cell)
        return perform(cell)

    monkeypatch.setattr(runner, "perform", stop_after_three)
    with pytest.raises(KeyboardInterrupt):
        small_run(tmp_path, quick=True, mode="paper")
    assert not (tmp_path / "index.md").exists()
    again = []
    monkeypatch.setattr(runner, "perform", lambda cell: again.append(cell) or perform(cell))
    small_run(tmp_path, quick=True, mode="paper")
    assert not set(done) & set(again)
    assert (tmp_path / "index.md").exists()


def test_results_appear_all_together_or_not_at_all(tmp_path, monkeypatch):
    small_run(tmp_path, quick=True, mode="auto")
    results = [file for file in tmp_path.rglob("*") if file.is_file() and ".cells" not in file.parts]
    before = {file: file.read_bytes() for file in results}
    assert {file.suffix for file in results} == {".csv", ".parquet", ".tex", ".html", ".md"}

    def no_room(table):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(report.tables, "latex", no_room)
    with pytest.raises(FileError, match="No space left"):
        small_run(tmp_path, seeds=2)
    assert {file: file.read_bytes() for file in results} == before
    assert not list(tmp_path.rglob(".rnlmf-*"))


def test_cells_that_cannot_be_kept_end_the_run(tmp_path, monkeypatch):
    def no_room(cache, cell, outcome, arrays):
        raise FileError(cache.folder, "cannot be written: No space left on device.")

    monkeypatch.setattr(runner.Cache, "put", no_room)
    with pytest.raises(FileError, match="No space left"):
        small_run(tmp_path, quick=True, mode="auto", methods=["RPCA"])
    assert not list(tmp_path.iterdir())


def test_failed_cells_are_told_and_tried_again(tmp_path, monkeypatch, capsys):
    perform = runner.perform

    def fail_rpca(cell):
        if cell.method == "RPCA":
            raise MemoryError("too large")
        return perform(cell)

    monkeypatch.setattr(runner, "perform", fail_rpca)
    run(["small"], quick=True, mode="paper", jobs=1, out=tmp_path)
    assert "too large" in capsys.readouterr().err
    assert set(pd.read_csv(tmp_path / "results.csv").method) == {"RNLMF"}
    monkeypatch.setattr(runner, "perform", perform)
    small_run(tmp_path, quick=True, mode="paper")
    assert set(pd.read_csv(tmp_path / "results.csv").method) == {"RNLMF", "RPCA"}


def test_absent_data_leave_the_papers_value_and_a_note(tmp_path):
    text = run(["table4"], quick=True, jobs=1, out=tmp_path, progress=False).read_text()
    assert "| AR Face | random | - / 8.41 | - / 6.01 |" in text
    assert "Data not present in this run: AR Face." in text


def test_parallel_is_the_same_as_one_after_the_other(tmp_path):
    values = []
    for jobs in (1, 2):
        run(["small"], quick=True, mode="auto", jobs=jobs, out=tmp_path / str(jobs), progress=False)
        frame = pd.read_csv(tmp_path / str(jobs) / "results.csv")
        values.append(frame[frame.metric == "rmse"].value.to_numpy())
    np.testing.assert_allclose(*values, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"mode": "best"}, "mode"),
        ({"seeds": 0}, "seeds"),
        ({"jobs": 0}, "jobs"),
        ({"methods": ["PCA"]}, "no PCA"),
    ],
)
def test_bad_options(tmp_path, options, match):
    with pytest.raises(ValueError, match=match):
        run(["small"], out=tmp_path, **options)


def test_only_some_methods(tmp_path):
    small_run(tmp_path, quick=True, mode="auto", methods=["RNLMF"])
    assert set(pd.read_csv(tmp_path / "results.csv").method) == {"RNLMF"}


def test_names():
    assert [e.name for e in spec.named(["figure1", "table7"])] == ["figure1a", "figure1b", "table7"]
    with pytest.raises(ValueError, match="no experiment 'table9'"):
        spec.named(["table9"])


def test_command(tmp_path):
    import typer

    from rnlmf.cli.reproduce import reproduce as command

    app = typer.Typer()
    app.command()(command)
    arguments = ["small", "--quick", "--mode", "auto", "--jobs", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "index.md").exists()
    assert CliRunner().invoke(app, ["nothing"]).exit_code == 2


def test_a_place_that_cannot_be_written_is_told_in_one_line(tmp_path):
    from rnlmf.cli.app import app

    (tmp_path / "results.csv").mkdir()
    arguments = [
        "reproduce",
        "small",
        "--quick",
        "--mode",
        "auto",
        "--jobs",
        "1",
        "--out",
        str(tmp_path),
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 3
    assert "results.csv: is a folder" in " ".join(result.output.split())
    assert "--methods" not in result.output


@pytest.mark.slow
def test_resumes_after_kill(tmp_path):
    """A process that is killed without warning keeps the cells it has done."""
    command = [sys.executable, "-m", "rnlmf.reproduce", "figure2", "--quick", "--mode", "paper"]
    command += ["--jobs", "1", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    cells = tmp_path / ".cells"
    while process.poll() is None and len(list(cells.glob("*.json"))) < 2:
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = {file.name: file.stat().st_mtime_ns for file in cells.glob("*.json")}
    assert 2 <= len(before) < len(spec.FIGURE_2.rows)
    subprocess.run(command, check=True, capture_output=True)
    after = {file.name: file.stat().st_mtime_ns for file in cells.glob("*.json")}
    assert len(after) == len(spec.FIGURE_2.rows)
    assert before.items() <= after.items()
    assert (tmp_path / "figures" / "figure2.png").exists()
