"""Small files in the formats of the original distributions."""

import io
import tarfile
import zipfile

import numpy as np
import pytest
import scipy.io
from PIL import Image

from rnlmf import datasets
from rnlmf.datasets import (
    load_ar,
    load_coil20,
    load_coil100,
    load_extended_yale_b,
    resize_images,
)


def picture(value, size=(40, 30), mode="L", kind="PNG"):
    """A grey rectangle, brighter in its upper half."""
    image = np.full(size, value, dtype=np.uint8)
    image[: size[0] // 2] += 40
    buffer = io.BytesIO()
    Image.fromarray(image).convert(mode).save(buffer, kind)
    return buffer.getvalue()


def coil_files(mode="L", step=1):
    """Three objects with two poses, in an order that is not that of their numbers."""
    return {
        f"coil/obj{number}__{pose * step}.png": picture(10 * number + pose, mode=mode)
        for number in (10, 2, 1)
        for pose in (1, 0)
    }


def as_folder(files, target):
    for name, content in files.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(content)
    return target


def as_zip(files, target):
    with zipfile.ZipFile(target / "set.zip", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target / "set.zip"


def as_tar(files, target):
    with tarfile.open(target / "set.tar.gz", "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return target / "set.tar.gz"


@pytest.mark.parametrize("pack", [as_folder, as_zip, as_tar])
def test_coil20_from_every_container(tmp_path, pack):
    files = {**coil_files(), "coil/readme.txt": b"text", "coil/convert.pl": b"#!"}
    data = load_coil20(None, path=pack(files, tmp_path))
    assert data.image_shape == (40, 30)
    assert data.target.tolist() == [1, 1, 2, 2, 3, 3]
    lower = data.data.reshape(-1, 40, 30)[:, -1, 0]
    np.testing.assert_allclose(lower * 255, [10, 11, 20, 21, 100, 101], atol=1e-3)
    assert (data.data.reshape(-1, 40, 30)[:, 0, 0] > lower).all()


def test_coil100_colours_become_grey(tmp_path):
    data = load_coil100((20, 20), path=as_zip(coil_files("RGB", step=5), tmp_path))
    assert data.data.shape == (6, 400)
    assert data.data.dtype == np.float32
    np.testing.assert_allclose(data.data[0, -1] * 255, 10, atol=0.5)


def test_poses_come_in_the_order_of_their_numbers(tmp_path):
    files = {f"obj1__{angle}.png": picture(angle) for angle in (100, 5, 20)}
    data = load_coil100(None, path=as_folder(files, tmp_path))
    np.testing.assert_allclose(data.data[:, -1] * 255, [5, 20, 100], atol=1e-3)


def test_yale_leaves_out_what_is_no_picture_of_the_set(tmp_path):
    good = ["yaleB01/yaleB01_P00A+000E+00.pgm", "yaleB39/yaleB39_P00A-130E+20.pgm"]
    bad = ["yaleB01/yaleB01_P00_Ambient.pgm", "yaleB13/yaleB13_P00A+050E-40.pgm.bad"]
    files = {f"CroppedYale/{name}": picture(50, (48, 42), kind="PPM") for name in [*good, *bad]}
    data = load_extended_yale_b(path=as_zip(files, tmp_path))
    assert data.data.shape == (2, 400)
    assert data.target.tolist() == [1, 2]


def test_ar_counts_men_and_women_apart(tmp_path):
    names = ["M-002-01", "M-002-02", "W-002-01", "W-010-01"]
    files = {f"{name}.bmp": picture(50, (165, 120), "RGB", "BMP") for name in names}
    data = load_ar(path=as_folder(files, tmp_path))
    assert data.image_shape == (33, 24)
    assert data.data.shape == (4, 33 * 24)
    assert data.target.tolist() == [1, 1, 2, 3]


def test_matlab_images_stand_upright(tmp_path):
    upright = np.arange(1024, dtype=float).reshape(32, 32) % 251
    fea = np.stack([upright.ravel(order="F"), upright.T.ravel(order="F")])
    scipy.io.savemat(tmp_path / "COIL20.mat", {"fea": fea, "gnd": np.array([[1], [2]])})
    data = load_coil20((32, 32), path=tmp_path)
    np.testing.assert_allclose(data.data[0] * 255, upright.ravel(), rtol=1e-5)
    np.testing.assert_allclose(data.data[1] * 255, upright.T.ravel(), rtol=1e-5)
    assert data.target.tolist() == [1, 2]


def test_npz_is_scaled_and_resized(monkeypatch, tmp_path):
    images = np.full((3, 1024), 128, dtype=np.uint8)
    np.savez(tmp_path / "coil20_32x32.npz", X=images, y=np.arange(3))
    monkeypatch.setenv("RNLMF_DATA", str(tmp_path))
    data = load_coil20()
    assert data.data.shape == (3, 400)
    np.testing.assert_allclose(data.data, 128 / 255, atol=1e-6)


def test_resize_keeps_orientation():
    image = np.zeros((32, 32))
    image[:8] = 1.0
    small = resize_images(image.reshape(1, -1), (32, 32), (20, 20)).reshape(20, 20)
    assert small[:4].mean() > 0.9
    assert small[8:].mean() < 0.05


@pytest.mark.parametrize(
    ("loader", "remedy"),
    [
        ("load_coil20", "fetch"),
        ("load_coil100", "fetch"),
        ("load_extended_yale_b", "fetch"),
        ("load_ar", "ask its authors"),
    ],
)
def test_missing_data_say_where_to_get_them(monkeypatch, tmp_path, loader, remedy):
    monkeypatch.setenv("RNLMF_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=remedy) as error:
        getattr(datasets, loader)()
    assert "RNLMF_DATA" in str(error.value)


def test_bad_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="path="):
        load_coil20(path=tmp_path / "nowhere")
    (tmp_path / "a.rar").write_bytes(b"")
    with pytest.raises(ValueError, match=r"a\.rar"):
        load_coil20(path=tmp_path / "a.rar")
    with pytest.raises(ValueError, match="no image in"):
        load_coil20(path=as_zip({"other.png": picture(1)}, tmp_path))
    np.savez(tmp_path / "b.npz", Z=np.zeros(3))
    with pytest.raises(ValueError, match="'X'"):
        load_coil20(path=tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", X=np.zeros((2, 1000)), y=np.zeros(2))
    with pytest.raises(ValueError, match="1000 pixels"):
        load_coil20(path=tmp_path / "c.npz")
    files = {"obj1__0.png": picture(1), "obj1__1.png": picture(1, (20, 20))}
    with pytest.raises(ValueError, match="give `size`"):
        load_coil20(None, path=as_folder(files, tmp_path / "mixed"))


def test_matlab_of_version_7_3_is_refused_with_a_remedy(tmp_path):
    (tmp_path / "COIL20.mat").write_bytes(
        b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF\r\n\x1a\n"
    )
    with pytest.raises(ValueError, match="-v7"):
        load_coil20(path=tmp_path)


@pytest.mark.parametrize(
    ("name", "ratio"), [("load_coil20", 5.17), ("load_coil100", 4.96), ("load_extended_yale_b", 4.64)]
)
def test_ratio_of_norms_is_the_papers(load, name, ratio):
    X = load(name)
    assert np.linalg.norm(X, "nuc") / np.linalg.norm(X) == pytest.approx(ratio, abs=0.015)


def test_folders_of_an_archive_are_no_pictures(tmp_path):
    files = {
        f"coil/obj{k}__{i}.png": picture(40 * k + i, (32, 32), "L", "PNG")
        for k in (1, 2)
        for i in (0, 1)
    }
    with tarfile.open(tmp_path / "coil.tar", "w") as archive:
        folder = tarfile.TarInfo("coil")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    data = load_coil20(path=tmp_path / "coil.tar")
    assert sorted(data.target.tolist()) == [1, 1, 2, 2]


def test_matlab_images_may_stand_in_columns(tmp_path):
    fea = np.arange(3 * 1024.0).reshape(3, 1024) % 251
    for name, images in (("rows.mat", fea), ("columns.mat", fea.T)):
        scipy.io.savemat(tmp_path / name, {"fea": images, "gnd": np.array([[1], [2], [3]])})
    rows, columns = (load_coil20(path=tmp_path / name) for name in ("rows.mat", "columns.mat"))
    np.testing.assert_array_equal(columns.data, rows.data)
