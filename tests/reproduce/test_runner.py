import pytest

from rnlmf.reproduce import runner
from rnlmf.reproduce.cells import Cell
from rnlmf.reproduce.problems import PaperProblem
from rnlmf.reproduce.runner import Costs, Progress, duration

PROBLEM = PaperProblem("synthetic", "entries", 0.1)


def cell(method="RPCA", task="denoise", problem=PROBLEM):
    return Cell(task, problem, method, (), 0)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5.4, "5 s"), (89, "89 s"), (90, "2 min"), (5399, "90 min"), (5400, "1.5 h"), (7200, "2.0 h")],
)
def test_times_in_words(seconds, words):
    assert duration(seconds) == words


def test_a_cell_costs_what_the_nearest_of_its_kind_did():
    costs = Costs()
    assert costs.of(cell()) == 1.0
    other = PaperProblem("digits", "entries", 0.1)
    for known, seconds in (
        (cell(problem=other), 30.0),
        (cell("SSC"), 8.0),
        (cell(task="cluster"), 5.0),
    ):
        costs.add(known, seconds)
    # Of the same method on the same data; of the same data; of all.
    assert costs.of(cell()) == 5.0
    assert costs.of(cell("LRR")) == 6.5
    assert costs.of(cell(problem=PaperProblem("coil20", "entries", 0.1))) == pytest.approx(43 / 3)
    costs.add(cell(), 2.0)
    costs.add(cell(), 4.0)
    assert costs.of(cell()) == 3.0


def test_where_there_is_no_terminal_a_line_comes_now_and_then(capsys, monkeypatch):
    clock = iter([100.0, 100.0, 110.0, 131.0, 131.0])
    monkeypatch.setattr(runner.time, "monotonic", lambda: next(clock))
    with Progress(True) as progress:
        for done in (1, 2, 3):
            progress.show(done, 5, 60.0, cell())
        progress.say("the end")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "1 of about 6 cells, 60 s left; last: synthetic, entries, RPCA",
        "3 of about 8 cells, 60 s left; last: synthetic, entries, RPCA",
        "the end",
    ]


def test_in_a_terminal_there_is_a_bar(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with Progress(True) as progress:
        progress.show(0, 5, 60.0, None)
        (task,) = progress.bar.tasks
        assert (task.completed, task.total, task.description) == (0, 5, "cells")
        progress.show(3, 2, 600.0, cell())
        assert (task.completed, task.total, task.fields["left"]) == (3, 5, "10 min")
        assert "RPCA" in task.description
    assert "3/5" in capsys.readouterr().err


def test_nothing_is_said_unasked(capsys):
    with Progress(False) as progress:
        progress.show(1, 5, 60.0, cell())
        progress.say("nothing")
    assert capsys.readouterr().err == ""
