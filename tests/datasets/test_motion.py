import dataclasses

import numpy as np
import pytest

from rnlmf.datasets import read_amc, write_amc
from rnlmf.datasets.motion import CMU_BONES, MotionCapture

TEXT = """#!OML:ASF F:\\VICON\\USERDATA
:FULLY-SPECIFIED
:DEGREES
7
root 9.37216 17.8693 -17.3198 -2.01677 -7.67971 -3.21693
lowerback 2.30665 -0.521168 0.574601
rradius 25.8283
8
root 9.37273 17.8675 -17.3217 -2 -7.66851 0.000003
lowerback 2.31203 -0.520671 0.573938
rradius 25.8283
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "walk.amc"
    path.write_text(TEXT)
    return path


def test_reads_header_bones_frames_and_values(file):
    motion = read_amc(file)
    assert motion.header == ("#!OML:ASF F:\\VICON\\USERDATA", ":FULLY-SPECIFIED", ":DEGREES")
    assert motion.bones == {"root": 6, "lowerback": 3, "rradius": 1}
    assert motion.frames.tolist() == [7, 8]
    assert motion.data[1].tolist() == [
        9.37273,
        17.8675,
        -17.3217,
        -2,
        -7.66851,
        3e-6,
        2.31203,
        -0.520671,
        0.573938,
        25.8283,
    ]
    assert motion.channels[5:] == ["root.6", "lowerback.1", "lowerback.2", "lowerback.3", "rradius"]


def test_round_trip_is_the_same_to_the_byte(file, tmp_path):
    write_amc(tmp_path / "again.amc", read_amc(file))
    assert (tmp_path / "again.amc").read_text() == TEXT
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.amc", "walk.amc"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_any_number_is_read_back_the_same(tmp_path, dtype):
    rng = np.random.default_rng(0)
    values = (rng.standard_normal((50, 62)) * 10.0 ** rng.integers(-12, 6, (50, 62))).astype(dtype)
    write_amc(tmp_path / "a.amc", MotionCapture(values, CMU_BONES, np.arange(1, 51)))
    back = read_amc(tmp_path / "a.amc")
    np.testing.assert_array_equal(back.data.astype(dtype), values)
    assert back.bones == CMU_BONES


def test_windows_line_ends_and_exponents(tmp_path):
    path = tmp_path / "w.amc"
    path.write_bytes(b":DEGREES\r\n1\r\nroot 1e-005 2\r\n")
    assert read_amc(path).data.tolist() == [[1e-5, 2.0]]


def test_the_layout_of_the_cmu_database():
    assert sum(CMU_BONES.values()) == 62
    names = MotionCapture(np.zeros((1, 62)), CMU_BONES, np.array([1])).channels
    assert names.index("rfingers") == 33
    assert names[-1] == "ltoes"


def test_arranged_follows_names(file):
    motion = read_amc(file)
    np.testing.assert_array_equal(
        motion.arranged({"rradius": 1, "root": 6}),
        np.column_stack([motion.data[:, -1], motion.data[:, :6]]),
    )
    with pytest.raises(ValueError, match="3 channels of bone 'head'"):
        motion.arranged({"head": 3})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no frames"),
        (TEXT.replace("8\nroot", "8\nroots"), "line 9: found 'roots'"),
        (TEXT[: TEXT.rindex("rradius")], "frame 8 ends without bone 'rradius'"),
        (TEXT.replace("25.8283", "abc", 1), "line 7: not a bone"),
        (TEXT + "rradius 1\n", "line 12: found 'rradius' with 1 values where the first frame has none"),
        (TEXT.replace("rradius 25.8283\n8", "root 1\n8"), "comes twice"),
    ],
)
def test_broken_files_are_named_with_the_line(tmp_path, text, reason):
    path = tmp_path / "broken.amc"
    path.write_text(text)
    with pytest.raises(ValueError, match=reason) as error:
        read_amc(path)
    assert "broken.amc" in str(error.value)


def test_bad_motions(file, tmp_path):
    motion = read_amc(file)
    with pytest.raises(ValueError, match="shape"):
        motion.with_data(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="NaN"):
        write_amc(tmp_path / "x.amc", motion.with_data(np.full((2, 10), np.nan)))
    assert not (tmp_path / "x.amc").exists()
    with pytest.raises(dataclasses.FrozenInstanceError):
        motion.data = None


def test_blank_lines_between_bones_say_nothing(file, tmp_path):
    path = tmp_path / "gaps.amc"
    path.write_text(TEXT.replace("lowerback", "\n \nlowerback"))
    np.testing.assert_array_equal(read_amc(path).data, read_amc(file).data)
