import numpy as np
import pyarrow as pa
import pytest

from rnlmf import io
from rnlmf.io import text_columns
from rnlmf.io.table_file import Style, TableFile, Traits
from rnlmf.io.text_columns import ALWAYS_WHOLE, as_text, is_whole, numbers_of, typed


@pytest.mark.parametrize(
    ("values", "whole"),
    [
        ([1.0, np.nan, 3.0], True),
        ([1.0, 2.5], False),
        # Every large number is whole: those do not tell.
        ([1.5, 1e300], False),
        ([3.0, 1e300], True),
        ([ALWAYS_WHOLE, 1e300], False),
        ([np.nan], False),
    ],
)
def test_whole_numbers_are_told_by_those_that_need_not_be(values, whole):
    assert is_whole(np.array(values), integers=False) is whole
    assert is_whole(np.array(values), integers=True)


@pytest.mark.parametrize(
    ("value", "traits", "style", "text"),
    [
        (1234567.891, Traits(False, 2), Style(), "1234567.89"),
        (1234567.891, Traits(False, 2, grouped=True), Style(thousands=","), "1,234,567.89"),
        (1234567.891, Traits(False, 1, grouped=True), Style(decimal=",", thousands="."), "1.234.567,9"),
        # No cell is minus nothing.
        (-0.001, Traits(False, 2), Style(), "0.00"),
        (-0.01, Traits(False, 2), Style(), "-0.01"),
        (-0.5, Traits(False), Style(decimal=","), "-0,5"),
        (1234.5, Traits(False, None, scientific=".2E"), Style(), "1.23E+03"),
    ],
)
def test_numbers_are_written_as_in_their_column(value, traits, style, text):
    assert as_text(value, traits, style) == text
    exact = as_text(value, traits, style, full_precision=True)
    assert float(exact.replace(style.thousands or " ", "").replace(style.decimal, ".")) == value


@pytest.mark.parametrize("at_once", [1, 2, 1000])
@pytest.mark.parametrize(
    ("cells", "scientific"),
    [
        (["1.50E+03", "2.5E-3"], ".2E"),
        (["1e3", "2e3", "3e3"], ".0e"),
        # A gap says nothing, wherever it is and however long.
        (["1.5e3", None, None, None, "2.5e3"], ".1e"),
        ([None, "1.5e3"], ".1e"),
        (["1.5e3", "2.5"], None),
        (["2.5", "2.5", "1.5e3"], None),
        (["1.5", "2.5"], None),
    ],
)
def test_all_numbers_have_an_exponent_or_none_is_needed(cells, scientific, at_once, monkeypatch):
    monkeypatch.setattr(text_columns, "CELLS_AT_ONCE", at_once)
    _, traits = numbers_of(pa.array(cells, pa.string()), Style())
    assert traits.scientific == scientific
    assert (traits.decimals is None) == any("e" in cell.lower() for cell in cells if cell)


def test_columns_of_text_get_types_and_what_is_none_stays_text():
    columns = {
        "word": ["x", "y", "z"],
        "whole": ["1", "", "3"],
        "code": ["007", "008", "009"],
        "mixed": ["1.5", "2.5", "broken"],
        "long": ["9007199254740993", "1", "2"],
        "real": ["1.5", "", "2.25"],
    }
    table = TableFile(pa.table(columns), [], style=Style())
    found = typed(table).arrow
    kinds = {name: str(kind) for name, kind in zip(found.column_names, found.schema.types, strict=True)}
    assert kinds == {
        **dict.fromkeys(("word", "code", "mixed", "long"), "string"),
        **{"whole": "int64", "real": "double"},
    }
    assert found["whole"].to_pylist() == [1, None, 3]
    # A gap is none in a column of reals, too, and no NaN.
    assert found["real"].null_count == 1
    assert typed(typed(table)).arrow == found


def test_no_more_than_five_columns_are_named(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c,d,e,f,g\n" + "u,v,w,x,y,z,o\n" * 3)
    with pytest.raises(io.FileError, match="no numeric column") as refused:
        io.read(tmp_path / "t.csv")
    assert [f"'{name}' is text" in str(refused.value) for name in "abcdefg"] == [True] * 5 + [False] * 2


@pytest.mark.parametrize(
    ("cells", "decimals"), [(["1.25", "3", "4.5"], 2), (["7", "-8"], 0), ([".5"], 1)]
)
def test_a_column_has_the_decimals_of_its_longest_number(cells, decimals):
    values, traits = numbers_of(pa.array(cells), Style())
    assert values.tolist() == [float(cell) for cell in cells]
    assert (traits.decimals, traits.whole) == (decimals, decimals == 0)
