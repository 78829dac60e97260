import contextlib
import os
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse
from PIL import Image

from rnlmf import io
from rnlmf.io import FileError, arrays


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.uint8, np.int64, bool])
@pytest.mark.parametrize("suffix", [".npy", ".npz", ".mat"])
def test_shape_and_type_survive(tmp_path, rng, dtype, suffix):
    array = rng.integers(0, 2 if dtype is bool else 200, (6, 4, 3)).astype(dtype)
    path, out = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    if suffix == ".mat" and dtype is np.float16:
        pytest.skip("MATLAB has no half precision")
    write = {".npy": lambda: np.save(path, array), ".npz": lambda: np.savez(path, X=array)}
    write.get(suffix, lambda: scipy.io.savemat(path, {"X": array}))()
    dataset = io.read(path)
    assert dataset.values.shape == (6, 12)
    assert dataset.image_shape == (4, 3)
    io.write(dataset, dataset.values, out)
    again = io.read(out).source.array
    np.testing.assert_array_equal(again, array)
    if suffix != ".mat":
        assert again.dtype == array.dtype


def test_repaired_whole_numbers_are_rounded_and_stay_in_range(tmp_path):
    np.save(tmp_path / "in.npy", np.array([[1, 2], [3, 250]], dtype=np.uint8))
    dataset = io.read(tmp_path / "in.npy")
    io.write(dataset, np.array([[1.0, 2.6], [-5.0, 300.0]]), tmp_path / "out.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), [[1, 3], [0, 255]])
    io.write(dataset, np.array([[1.0, 2.6], [3.0, 250.0]]), tmp_path / "out.npy", full_precision=True)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), [[1, 2.6], [3, 250]])


def test_large_whole_numbers_are_not_touched_by_rounding(tmp_path):
    large = np.array([[2**60 + 1, 5], [7, 2**60 + 3]])
    np.save(tmp_path / "in.npy", large)
    dataset = io.read(tmp_path / "in.npy")
    io.write(dataset, dataset.values, tmp_path / "out.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), large)


def test_other_arrays_survive_and_the_key_is_chosen(tmp_path, rng):
    content = {"data": rng.normal(size=(5, 3)), "y": np.arange(5), "more": rng.normal(size=(2, 2))}
    np.savez(tmp_path / "in.npz", **content)
    with pytest.raises(FileError, match=r"holds data, y, more: several are .*; pass --key NAME"):
        io.read(tmp_path / "in.npz")
    with pytest.raises(FileError, match="no array 'Data'"):
        io.read(tmp_path / "in.npz", key="Data")
    dataset = io.read(tmp_path / "in.npz", key="data")
    io.write(dataset, dataset.values + 1.0, tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as out:
        assert set(out.files) == set(content)
        np.testing.assert_array_equal(out["y"], content["y"])
        np.testing.assert_array_equal(out["data"], content["data"] + 1.0)


def test_matlab_labels_are_no_candidates(tmp_path, rng):
    scipy.io.savemat(tmp_path / "in.mat", {"fea": rng.normal(size=(5, 3)), "gnd": np.arange(5)})
    assert io.read(tmp_path / "in.mat").source.key == "fea"


def test_samples_as_columns(tmp_path, rng):
    array = rng.normal(size=(3, 7))
    np.save(tmp_path / "in.npy", array)
    dataset = io.read(tmp_path / "in.npy", transpose=True)
    np.testing.assert_array_equal(dataset.values, array.T)
    io.write(dataset, dataset.values * 2.0, tmp_path / "out.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), 2.0 * array)


def test_flat_images_are_images_if_one_says_so(tmp_path, rng):
    np.save(tmp_path / "in.npy", rng.random((4, 6)))
    assert io.read(tmp_path / "in.npy", image_shape=(2, 3)).image_shape == (2, 3)
    with pytest.raises(FileError, match="no images of 2 x 4"):
        io.read(tmp_path / "in.npy", image_shape=(2, 4))


@pytest.mark.parametrize(("channels", "is_image"), [(1, True), (3, True), (4, True), (5, False)])
def test_no_image_has_more_channels_than_colours_and_transparency(tmp_path, rng, channels, is_image):
    np.save(tmp_path / "in.npy", rng.random((4, 6, 7, channels)))
    dataset = io.read(tmp_path / "in.npy")
    assert (dataset.image_shape is not None) == is_image
    assert dataset.sample_shape == (6, 7, channels)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.arange(5.0), "samples by features"),
        (np.zeros((0, 3)), "empty"),
        (np.array([["a", "b"]]), "not numbers"),
        (np.array([[1.0, np.inf]]), "infinite in sample 0"),
        (np.array([[1, "a"]], dtype=object), "Python objects"),
    ],
)
def test_bad_arrays_are_refused(tmp_path, array, message):
    np.save(tmp_path / "bad.npy", array)
    with pytest.raises(FileError, match=message):
        io.read(tmp_path / "bad.npy")


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".mat"])
@pytest.mark.parametrize("damage", ["cut", "foreign"])
def test_damaged_files_are_refused(tmp_path, rng, suffix, damage):
    path = tmp_path / f"bad{suffix}"
    array = rng.normal(size=(50, 20))
    write = {".npy": lambda: np.save(path, array), ".npz": lambda: np.savez(path, X=array)}
    write.get(suffix, lambda: scipy.io.savemat(path, {"X": array}))()
    path.write_bytes(path.read_bytes()[:3000] if damage == "cut" else b"hello, this is no array")
    with pytest.raises(FileError, match="cut off"):
        io.read(path)


def test_missing_and_unknown_files(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        io.read(tmp_path / "nothing.npy")
    (tmp_path / "a.docx").write_text("x")
    with pytest.raises(FileError, match=r"unknown format: pass \.csv"):
        io.read(tmp_path / "a.docx")


def test_an_array_may_have_any_name(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    arrays.save_npz(tmp_path / "in.npz", {"file": X, "allow_pickle": np.ones(2)})
    dataset = io.read(tmp_path / "in.npz")
    io.write(dataset, dataset.values, tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as archive:
        assert sorted(archive.files) == ["allow_pickle", "file"]
        np.testing.assert_array_equal(archive["file"], X)


def test_two_arrays_of_one_name_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "in.npz", "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fill in (0.0, 1.0):
            with archive.open("X.npy", "w") as file:
                np.lib.format.write_array(file, np.full((3, 2), fill))
    with pytest.raises(FileError, match="two arrays of the name 'X'"):
        io.read(tmp_path / "in.npz")


def test_an_array_that_says_it_is_huge_takes_no_memory(tmp_path):
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 3), }"
    start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    (tmp_path / "in.npy").write_bytes(start + bytes(80))
    with pytest.raises(FileError, match="is cut off: it says"):
        io.read(tmp_path / "in.npy")


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".mat", ".parquet", ".png", ".tiff"])
def test_damage_is_said_in_one_line(tmp_path, suffix, rng):
    """Whatever a library raises on damaged content becomes an error about the file."""
    path = tmp_path / f"in{suffix}"
    X = rng.integers(0, 200, (6, 5, 4)).astype(np.uint8)
    if suffix == ".npy":
        np.save(path, X)
    elif suffix == ".npz":
        np.savez_compressed(path, X=X)
    elif suffix == ".mat":
        scipy.io.savemat(path, {"X": X})
    elif suffix == ".parquet":
        pd.DataFrame(X[:, 0].astype(float)).rename(columns=str).to_parquet(path)
    else:
        path = tmp_path if suffix == ".png" else path
        pictures = [Image.fromarray(image) for image in X]
        if suffix == ".png":
            pictures[0].save(tmp_path / "1.png")
        else:
            pictures[0].save(path, save_all=True, append_images=pictures[1:])
    file = path / "1.png" if suffix == ".png" else path
    content = file.read_bytes()
    # Each of a .mat takes a process of its own.
    for trial in range(8 if suffix == ".mat" else 60):
        damaged = bytearray(content[: rng.integers(1, len(content))] if trial % 2 else content)
        for place in rng.integers(0, len(damaged), 3):
            damaged[place] = rng.integers(0, 256)
        file.write_bytes(damaged)
        with contextlib.suppress(FileError):
            io.read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "in.csv")
    with pytest.raises(FileError, match="neither a file nor a folder"):
        io.read(tmp_path / "in.csv")


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32, np.uint8])
def test_repairs_beyond_the_range_of_a_type_stay_in_it(dtype):
    repaired = io.dataset.with_changes(np.array([[1, 2]], dtype), np.array([[1e20, -1e20]]))
    limits = np.iinfo(dtype)
    assert repaired[0, 0] > 0.99 * limits.max
    assert repaired[0, 1] == limits.min


def test_names_that_are_not_one_for_each_feature_are_none(tmp_path, rng):
    X = rng.normal(size=(20, 3))
    for names, found in ((["a", "b", "c"], ["a", "b", "c"]), (["a", "b"], ["x0", "x1", "x2"])):
        np.savez(tmp_path / "a.npz", X=X, feature_names=np.array(names))
        assert io.read(tmp_path / "a.npz", key="X").names == found


def test_an_archive_by_the_name_of_an_array_is_told_its_name(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(3))
    (tmp_path / "a.npz").rename(tmp_path / "a.npy")
    with pytest.raises(FileError, match="name it by its format"):
        io.read(tmp_path / "a.npy")


def test_variables_of_all_kinds_stay_beside_the_one_that_is_cleaned(tmp_path, rng):
    others = {
        "settings": {"rate": 50.0, "name": "walk", "parts": {"arm": [1.0, 2.0]}},
        "cells": np.array([np.eye(2), "text", 3.5], dtype=object),
        "links": scipy.sparse.csc_matrix(np.diag([1.0, 0.0, 2.0])),
    }
    scipy.io.savemat(tmp_path / "in.mat", {"X": rng.normal(size=(6, 4)), **others})
    dataset = io.read(tmp_path / "in.mat", key="X")
    io.write(dataset, dataset.values + 1.0, tmp_path / "out.mat")
    before, after = (scipy.io.loadmat(tmp_path / name) for name in ("in.mat", "out.mat"))
    np.testing.assert_allclose(after["X"], before["X"] + 1.0)
    assert after["settings"]["parts"][0, 0]["arm"][0, 0].tolist() == [[1.0, 2.0]]
    assert after["settings"]["name"][0, 0] == before["settings"]["name"][0, 0]
    np.testing.assert_array_equal(after["cells"][0, 0], np.eye(2))
    np.testing.assert_array_equal(after["links"].toarray(), others["links"].toarray())
