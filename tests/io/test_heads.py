import pytest

from rnlmf.io.heads import FEWEST_BODY, MOST_HEAD, head_of_table, title_length
from rnlmf.io.table_file import Style

BODY = [["1.5", "2.5", "x"]] * 8
NAMES = ["a", "b", "c"]
UNITS = ["m", "kg", ""]
BLANK = ["", "", ""]


@pytest.mark.parametrize(
    ("above", "head"),
    [
        ([], (0, None)),
        ([NAMES], (1, 0)),
        ([NAMES, UNITS], (2, 0)),
        ([NAMES, UNITS, ["mean", "", ""]], (3, 0)),
        ([["title", "", ""], NAMES], (2, 1)),
        ([["title", "", ""], BLANK, NAMES], (3, 2)),
        ([["", "", "title"], NAMES], (2, 1)),
        ([BLANK, NAMES], (2, 1)),
        # A first row of data without numbers is no head: nothing stands there.
        ([NAMES, ["", "", "first"]], (1, 0)),
        ([NAMES, ["NA", "NA", "NA"]], (1, 0)),
        # One word among numbers is a wrong cell.
        ([NAMES, ["error", "2.5", "x"]], (1, 0)),
    ],
)
def test_rows_above_the_data(above, head):
    rows = [["3.5", "4.5", "9"], *BODY] if not above else [*above, *BODY]
    if not above:
        rows = [row[:2] for row in rows]
    assert head_of_table(rows, Style()) == head


def test_words_further_down_are_cells():
    rows = [NAMES, *BODY, ["error", "error", "error"], *BODY]
    assert head_of_table(rows, Style()) == (1, 0)


def test_few_rows_have_one_line_of_names():
    few = [NAMES, UNITS, *BODY[: FEWEST_BODY - 2]]
    assert head_of_table(few, Style()) == (1, 0)
    enough = [NAMES, UNITS, *BODY[: FEWEST_BODY + 1]]
    assert head_of_table(enough, Style()) == (2, 0)


def test_a_table_of_words_keeps_them():
    assert head_of_table([["x", "y"]] * 30, Style()) == (1, 0)
    assert head_of_table([[f"{i}", "y"] for i in range(30)], Style()) == (1, 0)


def test_there_are_not_too_many_rows_above():
    rows = [NAMES, *[UNITS] * (MOST_HEAD + 5), *BODY * 20]
    head, names = head_of_table(rows, Style())
    assert (head, names) == (MOST_HEAD, 0)


def test_numbers_are_those_of_the_style():
    rows = [["a", "b"], ["1,5", "1.234,5"], *[["2,5", "3,5"]] * 9]
    assert head_of_table(rows, Style(";", ",", ".")) == (1, 0)


TABLE = "a;b;c\n" + "1;2;3\n" * 30


@pytest.mark.parametrize(
    ("title", "found"),
    [
        ("", ""),
        ("Report\n", "Report\n"),
        ("Report\n\nfrom;to\n\n", "Report\n\nfrom;to\n\n"),
        ('"two\nlines"\n', '"two\nlines"\n'),
        ("Report\r\n", "Report\r\n"),
        # As long as the table, or longer: there is no saying.
        ("x;y;z\n", ""),
        ("1;2;3;4\n", ""),
    ],
)
def test_lines_before_the_table(title, found):
    assert title_length(title + TABLE, ";") == len(found)


def test_a_title_is_followed_by_names_and_a_regular_table():
    # The first row may be cut off.
    assert title_length("1;2\n" + TABLE.replace("a;b;c\n", ""), ";") == 0
    assert title_length("Report\na;b;c\n" + "1;2;3\n1;2\n" * 30, ";") == 0
    assert title_length('Report\na;"b\n', ";") == 0
    assert title_length("", ";") == 0
    assert title_length("Report\nnothing\n", ";") == 0


def test_a_single_column_has_no_title():
    assert title_length("\n\nname\n" + "1\n" * 30, ";") == 0


def test_six_rows_are_enough_for_a_line_of_units():
    assert head_of_table([NAMES, UNITS, *BODY[:4]], Style()) == (2, 0)
    assert head_of_table([NAMES, UNITS, *BODY[:3]], Style()) == (2, 0)
    assert head_of_table([NAMES, UNITS, *BODY[:2]], Style()) == (1, 0)
