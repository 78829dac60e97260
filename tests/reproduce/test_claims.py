import numpy as np
import pytest

from rnlmf.reproduce import spec
from rnlmf.reproduce.choice import Point
from rnlmf.reproduce.claims import falls_until, faster_with_momentum, lowest, not_above_paper
from rnlmf.reproduce.results import Results, Summary


class Fake(Results):
    """Results from a function of row and method."""

    def __init__(self, error):
        self.error = error

    def get(self, experiment, row, method, mode="paper"):
        value = self.error(dict(row.labels), method)
        if value is None:
            return None
        no_parameters: Point = ()
        return Summary(dict.fromkeys(experiment.metrics, value), {}, 1, no_parameters, 0.0)


def test_rows_at_the_papers_value_count_as_reached():
    paper = {"random": 9.31, "occlusion": 10.25, "random+occlusion": 12.67}
    found = Fake(
        lambda labels, method: (
            paper[labels["condition"]] + (0.01 if labels["condition"] == "occlusion" else 0.004)
            if labels["data"] == "COIL20"
            else None
        )
    )
    verdict = not_above_paper(spec.TABLE_4, found, "paper")
    assert (verdict.holds, verdict.of) == (2, 3)
    assert "COIL20 occlusion rmse (10.26 against 10.25)" in str(verdict)


def test_lowest_names_who_is():
    def error(labels, method):
        return {"RNLMF": 2.0, "RPCA": 1.0 if labels["rho"] == 0.5 else 3.0}.get(method)

    verdict = lowest(spec.FIGURE_4, Fake(error), "paper", "RNLMF")
    assert (verdict.holds, verdict.of) == (16, 20)
    assert all("RPCA 1.00" in name for name in verdict.exceptions)


def test_one_method_alone_is_not_lowest():
    alone = Fake(lambda labels, method: 1.0 if method == "RNLMF" else None)
    assert lowest(spec.FIGURE_4, alone, "paper", "RNLMF") is None


@pytest.mark.parametrize(("after", "holds"), [(1.0, 5), (1.2, 4)])
def test_error_against_the_number_of_atoms(after, holds):
    errors = {45: 30.0, 90: 20.0, 135: 10.0, 180: 10.0 * after, 225: 10.0 * after, 270: 9.0}
    verdict = falls_until(Fake(lambda labels, method: errors[labels["d"]]), 135)
    assert (verdict.holds, verdict.of) == (holds, 5)


class Curves:
    """Objectives that fall at once to a value for every eta."""

    def __init__(self, ends):
        self.ends = ends

    def arrays(self, experiment):
        for row in experiment.rows:
            eta = float(dict(row.labels)["eta"])
            if eta in self.ends:
                yield row, "RNLMF", {"objective": np.array([9.0, *[self.ends[eta]] * 60])}


def test_momentum_helps_until_there_is_too_much():
    etas = sorted(float(dict(row.labels)["eta"]) for row in spec.FIGURE_2.rows)
    falling = {eta: 1.0 - eta / 2 for eta in etas}
    too_much = falling | {etas[-1]: 5.0}
    assert faster_with_momentum(Curves(too_much)).exceptions == []
    for wrong in (falling, too_much | {etas[0]: 0.0}):
        verdict = faster_with_momentum(Curves(wrong))
        assert verdict.holds == verdict.of - 1
    assert faster_with_momentum(Curves({})) is None
