import numpy as np
import pytest

from rnlmf.cleaning.cells import MARKED, Words, marks_of
from rnlmf.cleaning.kinds import Numbers
from rnlmf.io.table_file import Traits

KEPT = ["<0.05", ">= 100", "12.50-", "(3.10)", "7%", "5 kg", "$4", "-$4", "~3", "ca. 5", "3±1", "2 - 4"]
KEPT += ["1,234.50-", "3.07*", "1.5e3 m/s", "=A1+B1", "12,5", "\u22125 °C"]
WRONG = ["error", "1O.5", "2O.15", "inf", "-inf", "1e999", "#DIV/0!", "2024-01-05", "12:30", "x7", "--"]


@pytest.mark.parametrize("word", KEPT)
def test_a_number_with_a_mark_says_something(word):
    assert Words.of({3: word}) == Words({}, {3: word}, {})


@pytest.mark.parametrize("word", WRONG)
def test_what_is_no_number_is_wrong(word):
    assert Words.of({3: word}) == Words({3: word}, {}, {})


def test_a_word_that_comes_three_times_may_be_a_state():
    words = {1: "off", 2: "off", 7: "off", 8: "on", 9: "on"}
    assert Words.of(words) == Words({8: "on", 9: "on"}, {}, {1: "off", 2: "off", 7: "off"})


def test_the_search_in_long_cells_comes_to_an_end():
    for cell in ("12" + "a" * 20_000 + "#", "1 " * 20_000 + "#", "1" * 40_000 + "x" * 9, "<" * 40_000):
        assert MARKED.fullmatch(cell) is None


def column(values, words=None):
    return Numbers("x", np.asarray(values, dtype=float), Traits(False, words=words or {}))


def test_what_is_told_is_not_asked_for_again():
    values = [*np.linspace(10, 20, 40), *[-999.0] * 5, *[-200.0] * 5, np.nan, np.nan, np.nan]
    words = dict.fromkeys((50, 51, 52), "T")
    told = np.asarray(values) == -200.0
    marks = marks_of(column(values, words), told)
    assert np.array_equal(np.flatnonzero(marks.codes), range(45, 50))
    assert np.array_equal(np.flatnonzero(marks.held), [*range(40, 45), 50, 51, 52])
    assert "-999 and T (8 times)" in marks.questions[0]
    guessed = marks_of(column(values, words), told, guess=True)
    assert guessed.codes.sum() == 13
    assert not guessed.held.any()
    assert guessed.questions == ()


def test_limits_come_before_suspicion():
    values = [*np.linspace(10, 20, 40), *[-999.0] * 5]
    marks = marks_of(column(values), np.zeros(45, dtype=bool), limits=(0.0, 100.0))
    assert np.array_equal(np.flatnonzero(marks.outside), range(40, 45))
    assert not marks.held.any()
    assert marks.questions == ()
