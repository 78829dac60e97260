from dataclasses import replace

import pytest

from rnlmf.reproduce import spec
from rnlmf.reproduce.results import Results, Summary
from rnlmf.reproduce.tables import Table, Value, error_table, growth_table, latex, markdown, to_html

TABLE = Table(
    "t",
    "Error (%) of a_b",
    ["data", "A", "B", "C", "D"],
    [
        [
            "#01 & x",
            Value(8.5, 0.25, 9.31, lowest=True),
            Value(10.0, None, 9.0),
            Value(None, paper=3.0),
            Value(None),
        ]
    ],
    ["50% of it"],
)


def test_the_better_one_is_marked():
    assert Value(9.314, None, 9.31).better == "ours"
    assert Value(9.316, None, 9.31).better == "paper"
    assert Value(None, None, 9.31).better == ""
    assert Value(1.0).better == ""


def test_markdown():
    line = markdown(TABLE).splitlines()[2]
    assert line == r"| #01 & x | **8.50** ± 0.25\* / 9.31 | 10.00 / **9.00** | - / 3.00 | - |"
    assert markdown(TABLE).endswith("50% of it\n")


def test_latex_is_escaped_and_marked():
    text = latex(TABLE)
    assert r"\caption{Error (\%) of a\_b}" in text
    assert r"\#01 \& x & \textbf{8.50} $\pm$ 0.25$^\star$ / 9.31 & 10.00 / \textbf{9.00}" in text
    assert text.count("{") == text.count("}")


def test_html_is_escaped_and_marked():
    text = to_html(TABLE)
    assert "<td>#01 &amp; x</td>" in text
    assert "<td><b>8.50</b> ± 0.25<sup>*</sup> / 9.31</td>" in text
    assert text.count("<td>") == len(TABLE.header)


@pytest.mark.parametrize("write", [markdown, latex, to_html])
def test_every_entry_is_written(write):
    for number in ("8.50", "9.31", "10.00", "9.00", "3.00"):
        assert number in write(TABLE)


class Fake(Results):
    """Results from a function of row, method and metric; None where there are none."""

    tracks = ()

    def __init__(self, value):
        self.value = value

    def get(self, experiment, row, method, mode="paper"):
        mean = {metric: self.value(dict(row.labels), method, metric) for metric in experiment.metrics}
        if None in mean.values():
            return None
        return Summary(mean, dict.fromkeys(mean, 0.1), 3, (), 1.0)


def test_growth_is_the_exponent_of_the_samples():
    square = growth_table(spec.TABLE_3, Fake(lambda labels, method, metric: labels["samples"] ** 2.0))
    assert [line[0] for line in square.lines] == list(spec.TABLE_3.methods)
    assert all(line[1] == line[4] == "n^2.00" for line in square.lines)
    once = growth_table(
        spec.TABLE_3,
        Fake(lambda labels, method, metric: 1.0 if labels["samples"] == 125 else None),
    )
    assert all(line[1] == line[4] == "-" for line in once.lines)
    assert all(len(line) == len(once.header) for line in [*square.lines, *once.lines])


def test_several_errors_of_a_row_are_lines_of_their_own():
    table = error_table(
        spec.TABLE_7,
        Fake(lambda labels, method, metric: {"rmse": 2.0, "mae": 1.0}[metric]),
        "paper",
    )
    assert table.header[2] == "error"
    assert [line[2] for line in table.lines] == ["RMSE"] * 4 + ["MAE"] * 4
    assert {entry.ours for line in table.lines for entry in line[3:]} == {2.0, 1.0}


def test_the_lowest_of_a_row_is_marked_and_methods_that_are_not_there_are_named():
    known = replace(spec.TABLE_5, methods=("SSC", "RNLMF", "a method of others"))
    errors = {"SSC": 9.0, "RNLMF": 8.0}
    table = error_table(known, Fake(lambda labels, method, metric: errors.get(method)), "paper")
    for line in table.lines:
        ssc, ours, other = line[-3:]
        assert (ssc.lowest, ours.lowest) == (False, True)
        assert other.ours is None
    assert "The library does not have a method of others yet." in table.notes
