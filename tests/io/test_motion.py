import numpy as np
import pytest

from rnlmf import io
from rnlmf.io import FileError

AMC = """#!OML:ASF somewhere
:FULLY-SPECIFIED
:DEGREES
1
root 0 1 2 3 4 5
head 1.5 2.5 3.5
2
root 1 1 2 3 4 5
head -1.5 2.5 1e-05
"""


@pytest.fixture
def walk(tmp_path):
    path = tmp_path / "walk.amc"
    path.write_text(AMC)
    return path


def test_frames_and_channels(walk, tmp_path):
    dataset = io.read(walk)
    assert dataset.values.shape == (2, 9)
    assert dataset.names[-1] == "head.3"
    assert dataset.sample_names == ["1", "2"]
    io.write(dataset, dataset.values + 1.0, tmp_path / "out.amc")
    again = io.read(tmp_path / "out.amc")
    np.testing.assert_array_equal(again.values, dataset.values + 1.0)
    assert again.source.motion.header == dataset.source.motion.header


@pytest.mark.parametrize(("value", "frame"), [("1.5", 1), ("-1.5", 2)])
def test_an_infinite_value_is_refused_by_its_frame(walk, value, frame):
    walk.write_text(AMC.replace(f"head {value}", "head 1e999"))
    with pytest.raises(FileError, match=f"is infinite in frame {frame}:"):
        io.read(walk)


def test_as_a_table(walk, tmp_path):
    dataset = io.read(walk)
    io.write(dataset, dataset.values, tmp_path / "out.csv")
    table = io.read(tmp_path / "out.csv")
    assert table.names == ["sample", *dataset.names]
    np.testing.assert_array_equal(table.values[:, 1:], dataset.values)


def test_what_did_not_change_stays_letter_by_letter(tmp_path):
    text = AMC.replace("\n", "\r\n").replace("head 1.5 2.5 3.5", "head 1.50  +2.5\t3.5E0")
    (tmp_path / "walk.amc").write_bytes(text.encode())
    dataset = io.read(tmp_path / "walk.amc")
    values = dataset.values.copy()
    io.write(dataset, values, tmp_path / "same.amc")
    assert (tmp_path / "same.amc").read_bytes() == text.encode()
    values[0, 7] = 7.25
    io.write(dataset, values, tmp_path / "out.amc")
    assert (tmp_path / "out.amc").read_bytes() == text.replace("+2.5", "7.25").encode()


def test_a_file_that_was_cut_off(walk):
    walk.write_text(AMC[: AMC.rindex("head")])
    with pytest.raises(FileError, match=r"walk\.amc: line 8: frame 2 ends without bone 'head'"):
        io.read(walk)


def test_a_table_is_no_motion(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n2,9\n")
    dataset = io.read(tmp_path / "t.csv")
    with pytest.raises(FileError, match="no motion"):
        io.write(dataset, dataset.values, tmp_path / "out.amc")
