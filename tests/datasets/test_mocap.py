import numpy as np
import pytest
import scipy.io

from rnlmf.datasets import load_cmu_mocap, write_amc
from rnlmf.datasets.motion import CMU_BONES, MotionCapture

VALUES = np.random.default_rng(0).standard_normal((5, 62)).astype(np.float32)


def test_amc_in_the_layout_of_the_database(tmp_path):
    backwards = dict(reversed(CMU_BONES.items()))
    motion = MotionCapture(VALUES, CMU_BONES, np.arange(1, 6))
    write_amc(tmp_path / "01_09.amc", motion)
    write_amc(
        tmp_path / "other.amc", MotionCapture(motion.arranged(backwards), backwards, motion.frames)
    )
    for path in (tmp_path, tmp_path / "other.amc"):
        np.testing.assert_array_equal(load_cmu_mocap(path=path).data, VALUES)


def test_subjects_folder(tmp_path):
    (tmp_path / "56").mkdir()
    write_amc(tmp_path / "56" / "56_06.amc", MotionCapture(VALUES, CMU_BONES, np.arange(1, 6)))
    data = load_cmu_mocap(56, 6, path=tmp_path)
    assert data.data.shape == (5, 62)
    assert data.channels[33] == "rfingers"


def test_matlab_has_samples_in_columns(tmp_path):
    scipy.io.savemat(tmp_path / "mocap_01_09.mat", {"X": VALUES.T})
    np.testing.assert_array_equal(load_cmu_mocap(path=tmp_path).data, VALUES)


def test_npz_of_the_data_folder(monkeypatch, tmp_path):
    np.savez(tmp_path / "mocap_56_06.npz", X=VALUES)
    monkeypatch.setenv("RNLMF_DATA", str(tmp_path))
    np.testing.assert_array_equal(load_cmu_mocap(56, 6).data, VALUES)
    with pytest.raises(FileNotFoundError, match=r"mocap_01_09.*RNLMF_DATA|RNLMF_DATA.*mocap_01_09"):
        load_cmu_mocap()


def test_default_folder_is_in_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("RNLMF_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="rnlmf_data"):
        load_cmu_mocap()


def test_bad_files(tmp_path):
    few = {"root": 6, "head": 3}
    write_amc(tmp_path / "few.amc", MotionCapture(VALUES[:, :9], few, np.arange(1, 6)))
    with pytest.raises(ValueError, match="lowerback"):
        load_cmu_mocap(path=tmp_path / "few.amc")
    np.savez(tmp_path / "narrow.npz", X=np.zeros((4, 5)))
    with pytest.raises(ValueError, match="62 channels"):
        load_cmu_mocap(path=tmp_path / "narrow.npz")
    (tmp_path / "a.bvh").write_text("")
    with pytest.raises(ValueError, match=r"a\.bvh"):
        load_cmu_mocap(path=tmp_path / "a.bvh")


def test_a_file_without_the_motion_says_what_it_has(tmp_path):
    np.savez(tmp_path / "mocap_01_09.npz", motion=VALUES)
    with pytest.raises(ValueError, match="no array 'X', only motion"):
        load_cmu_mocap(path=tmp_path)
