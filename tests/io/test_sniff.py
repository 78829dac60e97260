from pathlib import Path

import pytest

from rnlmf.io import FileError, sniff


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


@pytest.mark.parametrize(("last", "names"), [(9.0, True), (9.4, True), (10.0, False)])
def test_numbers_in_even_steps_are_names(last, names):
    cells = [str(float(i)) for i in range(1, 9)] + [str(last)]
    assert sniff.is_header(cells, sniff.Style(",")) is names


def test_few_numbers_are_data():
    assert not sniff.is_header([str(i) for i in range(sniff.AXIS_POINTS - 1)], sniff.Style(","))
    assert sniff.is_header([str(i) for i in range(sniff.AXIS_POINTS)], sniff.Style(","))
    assert sniff.is_header(["a", "1", "2"], sniff.Style(","))


@pytest.mark.parametrize("piece", [3, 4, 1000])
@pytest.mark.parametrize("place", [0, 1, 3, 8, 13, 20])
def test_the_first_byte_that_is_no_text_is_named(place, piece, monkeypatch):
    monkeypatch.setattr(sniff, "PIECE", piece)
    # Letters of three bytes lie across pieces.
    before = ("a" * (place % 3) + "\u20ac" * (place // 3)).encode()
    assert len(before) == place
    with pytest.raises(FileError, match=rf"is not text in utf-8 \(byte {place}\)"):
        sniff.encoding_of(Path("in.csv"), before + b"\xff,1\n", "utf-8")
