import csv

import numpy as np
import pandas as pd
import pytest

from rnlmf import io
from rnlmf.cleaning import ColumnChoice, overview_of
from rnlmf.io import FileError
from rnlmf.io.table_file import TableFile, table_dataset

CSV = """date,site,temp,humidity,count
2024-01-01,Oslo,1.50,80.25,3
2024-01-02,Oslo,2.25,81.00,4
2024-01-03,"Bergen, west",900.0,79.5,5
2024-01-04,Oslo,,78.125,12
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "weather.csv"
    path.write_text(CSV)
    return path


def replaced(dataset, changes):
    values = dataset.values.copy()
    for (row, name), value in changes.items():
        values[row, dataset.names.index(name)] = value
    return values


def test_numbers_are_features_and_the_rest_is_left_alone(table):
    dataset = io.read(table)
    assert dataset.names == ["temp", "humidity", "count"]
    assert dataset.untouched == {"date": "text", "site": "text"}
    assert dataset.sample_names == ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]
    assert np.isnan(dataset.values[3, 0])
    assert dataset.values[2, 0] == 900.0


def test_unchanged_cells_are_written_letter_by_letter(table, tmp_path):
    dataset = io.read(table)
    io.write(dataset, dataset.values, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == CSV


@pytest.mark.parametrize(
    "content",
    [
        'id,"a",b\n"x, y",1.5,"2.5"\n"z",3.5,4.0\nw,"9.5",1.0\n',
        'id,a\n"say ""so""",1.5\n5" pipe,2.5\n"two\nlines",9.5\n',
        'a,b\n"1","2"\n"","7"\n"4","9"\n',
        '"a"\n1.5\n""\n9.5\n',
        " a , b\n1.5, 2.5\n3.5,4.5 \n9.5,1.0\n",
    ],
)
def test_quotes_and_blanks_are_written_letter_by_letter(tmp_path, content):
    path = tmp_path / "in.csv"
    path.write_text(content)
    dataset = io.read(path)
    io.write(dataset, dataset.values, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == content


def test_quoted_numbers_stay_quoted_when_repaired(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text('a,b\n"1.5",2.0\n"2.5",9.0\n"900.0",4.0\n')
    dataset = io.read(path)
    io.write(dataset, replaced(dataset, {(2, "a"): 3.25}), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[3] == '"3.2",4.0'


def test_a_delimiter_that_is_given_is_not_questioned(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("a;b\n1.5\n2.5\n9.5\n")
    assert io.read(path, delimiter=",").names == ["a;b"]


def test_another_delimiter_quotes_what_needs_it(tmp_path):
    path = tmp_path / "in.tsv"
    path.write_text("id, x\ta\nu, v\t1.5\nw\t2.5\nz\t9.5\n")
    dataset = io.read(path)
    io.write(dataset, dataset.values, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == '"id, x",a\n"u, v",1.5\nw,2.5\nz,9.5\n'


@pytest.mark.parametrize("digits", ["١٢٣", "\uff11\uff12"])
def test_digits_of_other_scripts_are_text(tmp_path, digits):
    path = tmp_path / "in.csv"
    path.write_text(f"a,b\n1.5,{digits}\n2.5,{digits}1\n9.5,{digits}\n", encoding="utf-8")
    assert io.read(path).untouched == {"b": "text"}


def test_repaired_cells_have_the_decimals_of_their_column(table, tmp_path):
    dataset = io.read(table)
    values = replaced(dataset, {(2, "temp"): 2.777, (3, "temp"): 1 / 3, (3, "count"): 5.6})
    io.write(dataset, values, tmp_path / "out.csv")
    rows = list(csv.reader((tmp_path / "out.csv").read_text().splitlines()))
    assert rows[3] == ["2024-01-03", "Bergen, west", "2.78", "79.5", "5"]
    assert rows[4] == ["2024-01-04", "Oslo", "0.33", "78.125", "6"]
    io.write(dataset, values, tmp_path / "full.csv", full_precision=True)
    full = pd.read_csv(tmp_path / "full.csv")
    np.testing.assert_array_equal(full[dataset.names].to_numpy(), values)


def test_exponents_keep_full_precision(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text("a,b\n1e-9,1\n2e-9,4\n5.0,9\n")
    dataset = io.read(path)
    io.write(dataset, replaced(dataset, {(2, "a"): 3.25e-9}), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[3] == "3.25e-09,9"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_line_ends_and_byte_order_mark_survive(tmp_path, newline, encoding):
    path = tmp_path / "in.csv"
    content = newline.join(["größe;b", "1,5;2,0", "2,5;3,5", "4,5;9,5", ""]).encode(encoding)
    path.write_bytes(content)
    dataset = io.read(path, delimiter=";", decimal=",")
    np.testing.assert_array_equal(dataset.values, [[1.5, 2], [2.5, 3.5], [4.5, 9.5]])
    io.write(dataset, dataset.values, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == content
    io.write(dataset, replaced(dataset, {(0, "b"): 7.25}), tmp_path / "out.csv")
    assert "1,5;7,2" in (tmp_path / "out.csv").read_text(encoding)


def test_a_table_without_header(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("1.5,2\n3.5,9\n5.5,6\n")
    dataset = io.read(path)
    assert dataset.names == ["x0", "x1"]
    io.write(dataset, dataset.values, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == path.read_text()


def test_row_numbers_are_left_alone(tmp_path):
    path = tmp_path / "in.csv"
    pd.DataFrame({"a": [3.0, 1.0, 2.0], "id": [7, 8, 9]}, index=[5, 3, 1]).to_csv(path)
    dataset = overview_of(io.read(path), ColumnChoice()).dataset
    assert dataset.names == ["a"]
    assert dataset.untouched == {"": "numbers the rows", "id": "numbers the rows"}


@pytest.mark.parametrize("kind", ["index", "dates"])
def test_parquet_keeps_types_and_index(tmp_path, kind):
    frame = pd.DataFrame(
        {
            "level": np.array([1, 2, 200], dtype=np.int16),
            "temp": np.array([1.5, 2.5, 9.0], dtype=np.float32),
            "name": ["a", "b", "c"],
            "flag": [True, False, True],
        },
        index=pd.Index([3.0, 2.0, 9.0], name="key")
        if kind == "index"
        else pd.date_range("2024-01-01", periods=3, name="day"),
    )
    frame.to_parquet(tmp_path / "in.parquet")
    dataset = io.read(tmp_path / "in.parquet")
    assert dataset.names == ["level", "temp"]
    assert set(dataset.untouched) == {"name", "flag", frame.index.name}
    io.write(dataset, replaced(dataset, {(2, "level"): 3.4}), tmp_path / "out.parquet")
    frame.loc[frame.index[2], "level"] = 3
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), frame, check_freq=False)


def test_parquet_integers_with_gaps_are_filled(tmp_path):
    frame = pd.DataFrame({"a": pd.array([1, None, 3], "Int64"), "b": [1.0, 5.0, 2.0]})
    frame.to_parquet(tmp_path / "in.parquet")
    dataset = io.read(tmp_path / "in.parquet")
    assert np.isnan(dataset.values[1, 0])
    io.write(dataset, replaced(dataset, {(1, "a"): 1.8}), tmp_path / "out.parquet")
    assert pd.read_parquet(tmp_path / "out.parquet")["a"].tolist() == [1, 2, 3]


def test_from_text_to_parquet_and_arrays(table, tmp_path):
    dataset = io.read(table)
    values = replaced(dataset, {(3, "temp"): 1.25})
    io.write(dataset, values, tmp_path / "out.parquet")
    frame = pd.read_parquet(tmp_path / "out.parquet")
    assert frame["count"].dtype == np.int64
    assert frame["site"].tolist()[2] == "Bergen, west"
    np.testing.assert_array_equal(frame[dataset.names].to_numpy(), values)
    io.write(dataset, values, tmp_path / "out.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), values)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("a,b\n", "no rows"),
        ("a,b,c\n1,2,3\n4,5\n", "line 3 has 2 fields, the first 3: is the file cut off"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 fields"),
        # Words are a note only below an empty line.
        ("a,b\n1,2\nx\n", "line 3 has 1 fields, the first 2: is the file cut off"),
        ('a,b\n1,2\n3,"4\n', "cut off"),
        ("a,b\nu,v\nw,x\n", "no numeric column"),
    ],
)
def test_bad_text_is_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    with pytest.raises(FileError, match=message) as caught:
        io.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "encoding", "notes"),
    [
        ("a,b\n1,2.5\n3,4.5\n", "utf-8", ()),
        ("a;b\n1;2.5\n3;4.5\n", "utf-8", ("delimiter semicolon",)),
        ("a;b\n1;2,5\n3;4,5\n", "utf-8", ("delimiter semicolon", "decimal comma")),
        ('a,b\n1,"2,000,000.5"\n3,"1,004,000.5"\n', "utf-8", ("thousands marked by ','",)),
        ("a,b\n1,2.5\n3,4.5\n", "utf-16", ("encoding utf-16",)),
        ("ä,b\n1,2.5\n3,4.5\n", "cp1252", ("encoding cp1252",)),
        ("1,2.5\n3,4.5\n5,6.5\n", "utf-8", ("no header",)),
        ("a,b\n1,2.5\n3,4.5\n\nby hand\n", "utf-8", ("a note below the table",)),
    ],
)
def test_what_is_unusual_is_noted_and_nothing_else(tmp_path, content, encoding, notes):
    (tmp_path / "in.csv").write_bytes(content.encode(encoding))
    assert io.read(tmp_path / "in.csv", encoding=encoding).notes == notes


def test_binary_content_is_refused(tmp_path):
    (tmp_path / "bad.csv").write_bytes(b"a,b\n\xff\xfe\x00\x81,2\n")
    with pytest.raises(FileError, match="UTF-8"):
        io.read(tmp_path / "bad.csv")


def test_a_parquet_file_that_was_cut_off(tmp_path):
    path = tmp_path / "in.parquet"
    pd.DataFrame({"a": np.arange(50.0) ** 2}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(FileError, match="not a parquet file, or cut off"):
        io.read(path)


def test_codes_that_look_like_numbers_now_and_then_are_text(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("code,a\nA1,1.0\nB2,4.0\n17,2.0\n")
    assert io.read(path).untouched == {"code": "text"}


def test_names_are_not_listed_once_for_every_column():
    """Arrow makes the list anew each time: wide tables took quadratic time."""
    names = [f"c{i}" for i in range(300)]

    class Counted:
        num_columns = 300
        listed = 0

        @property
        def column_names(self):
            self.listed += 1
            return names

    table = Counted()
    table_dataset("wide.csv", TableFile(table, list(range(300))), [np.ones(1)] * 300, {})
    assert table.listed == 1


@pytest.mark.parametrize(
    "line",
    [
        '{1.5: 2, "b": 1}',
        '{"a" 2}',
        '{"a": 1 "b": 2}',
        '{"a": 1,',
        '{"\\ud800": 1}',
        '{"a": "\\ud800"}',
    ],
)
def test_lines_that_are_no_objects_are_refused(tmp_path, line):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1, "b": 3}\n' + line + "\n")
    with pytest.raises(FileError, match="line 2 is not a JSON object"):
        io.read(path)


def test_a_workbook_without_cells_is_refused(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    chart = book.create_chartsheet("picture")
    chart.add_chart(openpyxl.chart.BarChart())
    book.active.append([1])
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(FileError, match="no sheet with cells"):
        io.read(tmp_path / "t.xlsx", key="picture")
    del book["Sheet"]
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(FileError, match="no sheet with cells"):
        io.read(tmp_path / "t.xlsx")


@pytest.mark.parametrize(
    ("first", "named"),
    [
        ("400.0,402.5,405.0,407.5,410.0,412.5,415.0,417.5", True),
        ("0,1,2,3,4,5,6,7", True),
        ("400,402.5,405", False),
        ("0.1,0.2,0.3,0.4,0.5,0.4,0.3,0.2", False),
        ("1,2,4,8,16,32,64,128", False),
        ("0,1,2,3,,5,6,7", False),
        ("a,1,2,3,4,5,6,7", True),
    ],
)
def test_numbers_in_even_steps_are_names_as_in_spectra(tmp_path, first, named):
    count = len(first.split(","))
    rows = np.random.default_rng(0).normal(size=(5, count)).round(3)
    lines = [first, *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n")
    dataset = io.read(tmp_path / "in.csv")
    assert (dataset.names == first.split(",")) == named
    assert len(dataset.values) == (5 if named else 6)
    pd.DataFrame(rows, columns=first.split(",")).to_excel(tmp_path / "in.xlsx", index=False)
    if named:
        assert len(io.read(tmp_path / "in.xlsx").values) == 5


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_a_table_without_rows_and_a_column_without_values(tmp_path, suffix):
    write = {".parquet": pd.DataFrame.to_parquet, ".feather": pd.DataFrame.to_feather}[suffix]
    frame = pd.DataFrame({"a": [1.0, 2.5, 3.0], "b": [np.inf, np.nan, np.nan]})
    write(frame, tmp_path / f"t{suffix}")
    dataset = io.read(tmp_path / f"t{suffix}")
    assert dataset.names == ["a"]
    assert dataset.untouched == {"b": "no values"}
    write(frame.iloc[:0], tmp_path / f"none{suffix}")
    with pytest.raises(FileError, match="has no rows"):
        io.read(tmp_path / f"none{suffix}")


def test_rows_of_a_sheet_that_only_look_filled_are_none(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [["a", "b"], [1.0, 2.5], [3.0, 4.5], [5.0, 6.5]]:
        book.active.append(row)
    # A cell with a colour and nothing in it.
    book.active.cell(9, 1).fill = openpyxl.styles.PatternFill("solid", "FFFF00")
    book.save(tmp_path / "t.xlsx")
    dataset = io.read(tmp_path / "t.xlsx")
    np.testing.assert_array_equal(dataset.values, [[1.0, 2.5], [3.0, 4.5], [5.0, 6.5]])


def test_names_of_samples_are_a_column_where_a_table_is_made_of_images(tmp_path, rng):
    Image = pytest.importorskip("PIL.Image")
    (tmp_path / "in").mkdir()
    for number in range(3):
        picture = Image.fromarray(rng.integers(0, 256, (2, 2)).astype(np.uint8))
        picture.save(tmp_path / "in" / f"p{number}.png")
    dataset = io.read(tmp_path / "in")
    io.write(dataset, dataset.values, tmp_path / "out.csv")
    assert pd.read_csv(tmp_path / "out.csv")["sample"].tolist() == ["p0.png", "p1.png", "p2.png"]
    np.save(tmp_path / "a.npy", rng.normal(size=(4, 3)))
    dataset = io.read(tmp_path / "a.npy")
    io.write(dataset, dataset.values, tmp_path / "a.csv")
    assert pd.read_csv(tmp_path / "a.csv").shape == (4, 3)
