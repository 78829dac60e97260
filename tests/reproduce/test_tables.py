import pytest

from rnlmf.reproduce.tables import Table, Value, latex, markdown, to_html

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
