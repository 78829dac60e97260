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
