import pytest

from rnlmf.reproduce import spec
from rnlmf.reproduce.experiment import trials
from rnlmf.reproduce.figures import FIGURES
from rnlmf.reproduce.methods import METHODS
from rnlmf.reproduce.problems import PaperProblem
from rnlmf.reproduce.tasks import TASKS
from rnlmf.reproduce.tracks import make_tracks, runnable


@pytest.mark.parametrize("experiment", spec.EXPERIMENTS.values(), ids=spec.EXPERIMENTS)
def test_rows_are_told_apart(experiment):
    assert len({row.labels for row in experiment.rows}) == len(experiment.rows)
    assert len({tuple(name for name, _ in row.labels) for row in experiment.rows}) == 1
    assert any(row.quick for row in experiment.rows)


def test_every_experiment_is_a_table_or_is_drawn():
    drawn = {e.name for shown, _, _ in FIGURES.values() for e in shown}
    for name in spec.EXPERIMENTS:
        assert name.startswith("table") or name in drawn


def test_slow_methods_get_fewer_seeds():
    problem = PaperProblem("coil100", "random")
    assert trials("RNLMF", problem, spec.TABLE_4, "full", None) == 5
    assert trials("SSC", problem, spec.TABLE_4, "quick", None) == 0
    assert trials("RNLMF", PaperProblem("coil20", "random"), spec.TABLE_4, "full", None) == 20
    assert trials("RNLMF", PaperProblem("coil20", "random"), spec.TABLE_4, "full", 3) == 3


def test_methods_that_the_library_does_not_have_are_left_out(monkeypatch):
    assert runnable("KSSC", spec.TABLE_5, "paper")
    monkeypatch.delitem(METHODS, "KSSC")
    assert not runnable("KSSC", spec.TABLE_5, "paper")
    for track in make_tracks(spec.EXPERIMENTS.values(), ["paper", "auto"], "full", None):
        assert track.method in METHODS
        assert track.experiment.task in TASKS


def test_methods_that_only_cluster_do_not_denoise():
    assert not runnable("EKSS", spec.TABLE_4, "paper")
    assert runnable("EKSS", spec.TABLE_6, "auto")


def test_quick_searches_the_weight_of_the_noise_only():
    quick, full = (make_tracks([spec.FIGURE_4], ["paper"], size, None) for size in ("quick", "full"))
    assert len(quick) < len(full)
    for track in quick:
        searched = [name for name, choice in track.grid().items() if len(choice.values) > 1]
        assert searched == [list(track.grid())[-1]]


def test_given_parameters_are_not_searched():
    for track in make_tracks([spec.FIGURE_3A], ["paper"], "full", None):
        assert all(len(choice.values) == 1 for choice in track.grid().values())
        chosen = dict(track.chosen(lambda cell: None))
        assert chosen["code_weight"] == dict(track.row.labels)["lambda_C"]
        assert chosen["noise_weight"] == dict(track.row.labels)["lambda_E"]
