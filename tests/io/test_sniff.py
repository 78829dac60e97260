import pytest

from rnlmf.io import sniff


@pytest.mark.parametrize("delimiter", ["\t", ";", " ", "|"])
def test_a_comma_is_a_decimal_mark_where_others_separate(delimiter):
    """Three digits after it may be thousands, but only where commas separate."""
    cells = ["1,234", "2,345", "10,125"]
    assert sniff._numbers(cells, delimiter, None) == (",", "")
    assert sniff._numbers(cells, ",", None) != (",", "")


def test_a_mark_that_is_said_is_taken():
    assert sniff._numbers(["1,5", "2,5"], ";", ".")[0] == "."
    assert sniff._numbers(["1.5", "2.5"], ";", ",")[0] == ","


@pytest.mark.parametrize(
    ("text", "decimal", "thousands", "found"),
    [
        ("1,234,567.5", ".", ",", True),
        ("1,234,567.5", ".", "", False),
        ("1234567.5", ".", ",", True),
        ("1,23,4", ".", ",", False),
        ("1.234,5", ",", ".", True),
        ("-.5e-3", ".", "", True),
        ("5.", ".", "", True),
        (".", ".", "", False),
        ("\N{MINUS SIGN}3", ".", "", True),
        ("\N{ARABIC-INDIC DIGIT THREE}", ".", "", False),
        ("1 234", ".", " ", True),
    ],
)
def test_numbers_by_their_marks(text, decimal, thousands, found):
    assert bool(sniff.is_number(text, decimal, thousands)) is found
