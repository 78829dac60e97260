import numpy as np
import pytest

from rnlmf.datasets import files, load_cmu_mocap, load_coil20


def test_missing_folder_and_missing_file_are_told(monkeypatch, tmp_path):
    monkeypatch.delenv("RNLMF_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="RNLMF_DATA"):
        load_cmu_mocap()
    monkeypatch.setenv("RNLMF_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="mocap_56_06"):
        load_cmu_mocap(56, 6)


def test_images_are_scaled_and_resized(monkeypatch, tmp_path):
    images = np.full((3, 1024), 128, dtype=np.uint8)
    np.savez(tmp_path / "coil20_32x32.npz", X=images, y=np.arange(3))
    monkeypatch.setenv("RNLMF_DATA", str(tmp_path))
    data = load_coil20()
    assert data.data.shape == (3, 400)
    np.testing.assert_allclose(data.data, 128 / 255, atol=1e-6)


def test_resize_keeps_orientation():
    image = np.zeros((32, 32))
    image[:8] = 1.0
    small = files.resize_images(image.reshape(1, -1), (32, 32), (20, 20)).reshape(20, 20)
    assert small[:4].mean() > 0.9
    assert small[8:].mean() < 0.05


@pytest.mark.parametrize(("name", "ratio"), [("load_coil20", 5.17), ("load_extended_yale_b", 4.64)])
def test_ratio_of_norms_is_the_papers(load, name, ratio):
    X = load(name)
    assert np.linalg.norm(X, "nuc") / np.linalg.norm(X) == pytest.approx(ratio, abs=0.015)
