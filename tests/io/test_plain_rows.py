import csv
import io as text_io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnlmf import io
from rnlmf.io import plain_rows, text_columns
from rnlmf.io.delimited import _QuotedRows
from rnlmf.io.plain_rows import PlainRows
from rnlmf.io.text_body import Records

CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=6)


def rows_of(reader):
    table = reader.table([str(i) for i in range(len(reader.first))], 0)
    return [table.column(i).to_pylist() for i in range(table.num_columns)]


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=8)
    ),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(",;\t|"),
)
def test_arrow_and_the_csv_module_read_the_same(cells, quoting, newline, delimiter):
    text = text_io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=newline).writerows(cells)
    body = text.getvalue().encode()
    slow = _QuotedRows("x.csv", body, 0, delimiter)
    fast = PlainRows.of(body, 0, delimiter)
    if fast is None:
        # Only where a quote, or a line end inside of quotes, makes it necessary.
        assert b'"' in body or b"\r" in body.replace(b"\r\n", b"")
        return
    assert fast.first == slow.first
    assert rows_of(fast) == rows_of(slow)
    np.testing.assert_array_equal(fast.starts, slow.starts)


@pytest.mark.parametrize(
    "body",
    [b'a,b\n1,5" pipe\n', b'a,b\n"x\ny",2\n', b"a,b\r1,2\r", b'a,b\n"x""y",2\n', b"a,b\n1,2,3\n"],
)
def test_what_is_not_plain_is_left_to_the_other_reader(body):
    assert PlainRows.of(body, 0, ",") is None


def test_a_large_file_is_read_in_turns_to_the_same(tmp_path, monkeypatch, rng):
    path = tmp_path / "t.csv"
    rows = [
        f"{i},name {i},{a:.3f},{b:.1f},{c:.0f}" for i, (a, b, c) in enumerate(rng.normal(size=(60, 3)))
    ]
    path.write_text("id,name,a,b,c\n" + "\n".join(rows) + "\n")
    at_once = io.read(path)
    monkeypatch.setattr(plain_rows, "BYTES_AT_ONCE", 100)
    monkeypatch.setattr(plain_rows, "BLOCK", 200)
    monkeypatch.setattr(text_columns, "CELLS_AT_ONCE", 7)
    in_turns = io.read(path)
    assert len(in_turns.source.arrow._groups) == 5
    np.testing.assert_array_equal(in_turns.values, at_once.values)
    assert in_turns.source.traits == at_once.source.traits
    assert in_turns.untouched == at_once.untouched
    assert in_turns.sample_names == at_once.sample_names
    new = in_turns.values + (rng.random(in_turns.values.shape) < 0.2)
    for name in ("out.csv", "out.tsv", "out.parquet"):
        for dataset, folder in ((at_once, "once"), (in_turns, "turns")):
            (tmp_path / folder).mkdir(exist_ok=True)
            io.write(dataset, new, tmp_path / folder / name)
        assert (tmp_path / "once" / name).read_bytes() == (tmp_path / "turns" / name).read_bytes()


def test_columns_are_looked_at_together(tmp_path, monkeypatch):
    """Every call of Arrow has its price, which a table of many columns must not pay for each."""
    path = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(3000)]
    path.write_text("\n".join([",".join(names), *[",".join(["1.5", "x", "7"] * 1000)] * 2]) + "\n")
    calls = []
    trimmed = text_columns.trimmed
    monkeypatch.setattr(text_columns, "trimmed", lambda cells: calls.append(1) or trimmed(cells))
    monkeypatch.setattr(text_columns, "_why_text", lambda cells, n_present: "text")
    dataset = io.read(path)
    assert len(dataset.names) == 2000
    assert len(calls) < 5


def test_records_are_taken_one_by_one():
    records = Records("aé\nb\n".encode(), np.array([0, 4]))
    assert list(records) == ["aé\n", "b\n"]
    assert records[-1] == "b\n"
    with pytest.raises(TypeError, match="one by one"):
        records[0:1]
