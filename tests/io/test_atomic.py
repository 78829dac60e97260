import os

import pytest

from rnlmf import io
from rnlmf.io import FileError


def test_all_files_appear_together_or_not_at_all(tmp_path):
    first, second = tmp_path / "a.txt", tmp_path / "b"
    with io.outputs() as out:
        out.path(first).write_text("new")
        folder = out.path(second)
        folder.mkdir()
        (folder / "1.png").write_text("image")
        assert not first.exists()
    assert first.read_text() == "new"
    assert (second / "1.png").read_text() == "image"
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b"]


def test_nothing_is_left_of_a_failure(tmp_path):
    (tmp_path / "a.txt").write_text("old")

    def fail():
        with io.outputs() as out:
            out.path(tmp_path / "a.txt").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert os.listdir(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_files_of_a_folder_are_replaced_and_others_stay(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    (target / "1.png").write_text("old")
    with io.outputs() as out:
        folder = out.path(target)
        folder.mkdir()
        (folder / "1.png").write_text("new")
    assert (target / "mine.txt").read_text() == "mine"
    assert (target / "1.png").read_text() == "new"


def test_targets_are_checked_before_any_work(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("a\n1\n")
    with pytest.raises(FileError, match="is the input; pass --overwrite"):
        io.check_target(source, source)
    io.check_target(source, source, overwrite=True)
    with pytest.raises(FileError, match="there is no folder"):
        io.check_target(tmp_path / "none" / "out.csv")
    with pytest.raises(FileError, match="unknown format"):
        io.check_target(tmp_path / "out.docx")
    with pytest.raises(FileError, match="folder with files"):
        io.check_target(tmp_path)
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(FileError, match="its name is that of a file"):
        io.check_target(tmp_path / "x.csv")
