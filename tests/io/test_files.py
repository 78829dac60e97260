import numpy as np
import pytest

from rnlmf import io


@pytest.mark.parametrize("shape", [(3, 2), (5, 2), (4, 1), (4, 3)])
def test_values_of_another_shape_are_refused(tmp_path, shape):
    np.save(tmp_path / "a.npy", np.zeros((4, 2)))
    dataset = io.read(tmp_path / "a.npy")
    with pytest.raises(ValueError, match="values have shape"):
        io.write(dataset, np.zeros(shape), tmp_path / "b.npy")
    assert not (tmp_path / "b.npy").exists()


def test_an_empty_folder_is_a_place_for_images_and_others_are_not(tmp_path):
    (tmp_path / "empty").mkdir()
    io.check_target(tmp_path / "empty")
    (tmp_path / "empty" / "mine.txt").write_text("mine")
    with pytest.raises(io.FileError, match="a folder with files"):
        io.check_target(tmp_path / "empty")
    with pytest.raises(io.FileError, match="there is no folder"):
        io.check_target(tmp_path / "nowhere" / "images")


def test_a_format_that_nobody_knows_is_not_written(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((4, 2)))
    dataset = io.read(tmp_path / "a.npy")
    with pytest.raises(io.FileError):
        io.write(dataset, dataset.values, tmp_path / "b.doc")
    assert not (tmp_path / "b.doc").exists()
