"""Formats that are read in a process of their own."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pytest
import scipy.io
import scipy.sparse

from rnlmf import io
from rnlmf.io import FileError, apart, child, sizes


def cells(*items):
    array = np.empty((1, len(items)), dtype=object)
    array[0] = items
    return array


def test_everything_of_a_matlab_file_comes_back(tmp_path, rng):
    path, out = tmp_path / "in.mat", tmp_path / "out.mat"
    content = {
        "X": rng.normal(size=(6, 4)),
        "names": cells("one", "två"),
        "word": "text",
        "complex": np.array([[1 + 2j, 3]]),
        "empty": np.empty((0, 3)),
        "nested": {"a": np.arange(3), "b": {"c": cells(np.eye(2), "x")}},
        "sparse": scipy.sparse.csc_matrix(np.diag([1.0, 0.0, 2.0])),
    }
    scipy.io.savemat(path, content)
    directly = scipy.io.loadmat(path, spmatrix=True)
    dataset = io.read(path, key="X")
    found = {"X": dataset.source.array, **dataset.source.others}
    assert set(found) == set(content)
    for name, value in found.items():
        expected = directly[name]
        if name == "sparse":
            # Which kind of sparse matrix SciPy gives depends on its version.
            assert scipy.sparse.isspmatrix_csc(value)
            np.testing.assert_array_equal(value.toarray(), expected.toarray())
        else:
            assert type(value) is type(expected), name
            assert value.dtype == expected.dtype, name
            assert repr(value) == repr(expected), name
    io.write(dataset, dataset.values, out)
    assert repr(scipy.io.loadmat(out, spmatrix=True)["nested"]) == repr(directly["nested"])


def test_a_parser_that_crashes_ends_its_own_process_only(tmp_path, monkeypatch, capfd):
    crashing = tmp_path / "child.py"
    crashing.write_text(
        "import os, signal\nfor place in (1, 2):\n    os.write(place, b'lost')\n"
        "os.kill(os.getpid(), signal.SIGSEGV)\n"
    )
    monkeypatch.setattr(child, "__file__", str(crashing))
    scipy.io.savemat(tmp_path / "in.mat", {"X": np.eye(3)})
    with pytest.raises(FileError, match="is not a MATLAB file, or cut off"):
        io.read(tmp_path / "in.mat")
    # What it says on its way is nothing to the user.
    assert "lost" not in "".join(capfd.readouterr())


def test_a_parser_that_hangs_is_ended(tmp_path, monkeypatch):
    hanging = tmp_path / "child.py"
    hanging.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(child, "__file__", str(hanging))
    monkeypatch.setattr(apart, "LEAST_SECONDS", 0.2)
    scipy.io.savemat(tmp_path / "in.mat", {"X": np.eye(3)})
    with pytest.raises(FileError, match="takes too long"):
        io.read(tmp_path / "in.mat")


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is that of Linux")
@pytest.mark.parametrize("suffix", [".mat", ".feather"])
def test_what_unpacks_to_far_more_is_refused(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"in{suffix}"
    zeros = np.zeros((4_000_000, 10))
    if suffix == ".mat":
        scipy.io.savemat(path, {"X": zeros}, do_compression=True)
    else:
        table = pa.table({f"c{i}": column for i, column in enumerate(zeros.T)})
        pyarrow.feather.write_feather(table, path, compression="zstd")
    monkeypatch.setattr(apart, "SMALL", 1 << 20)
    monkeypatch.setattr(apart, "MOST_GROWTH", 1)
    with pytest.raises(FileError, match="unpacks to more than"):
        io.read(path)


def test_a_newer_format_is_named(tmp_path):
    header = b"MATLAB 7.3 MAT-file".ljust(124) + bytes([0, 2]) + b"IM"
    (tmp_path / "in.mat").write_bytes(header + bytes(512))
    with pytest.raises(FileError, match=r"version 7\.3"):
        io.read(tmp_path / "in.mat")


def test_the_child_is_a_program_of_its_own(tmp_path):
    scipy.io.savemat(tmp_path / "in.mat", {"X": np.eye(3), "word": "text"})
    words = [sys.executable, "-P", child.__file__, "mat", tmp_path / "in.mat", tmp_path, "1000000000"]
    subprocess.run(words, check=True)
    content = json.loads((tmp_path / "content.json").read_text())
    assert set(content) == {"X", "word"}


def test_growth_is_measured_by_the_file():
    assert not sizes.too_large(10, sizes.SMALL)
    assert sizes.too_large(10, sizes.SMALL + 1)
    assert not sizes.too_large(sizes.SMALL, sizes.MOST_GROWTH * sizes.SMALL)


def test_a_large_file_may_take_longer(tmp_path, monkeypatch):
    given = []

    def run(words, **options):
        given.append(options["timeout"])
        raise subprocess.TimeoutExpired(words, options["timeout"])

    monkeypatch.setattr(apart.subprocess, "run", run)
    for size in (0, 3_500_000):
        (tmp_path / "a.mat").write_bytes(bytes(size))
        with pytest.raises(FileError, match="too long"):
            apart.mat_content(tmp_path / "a.mat")
    assert given[1] - given[0] == pytest.approx(3_500_000 / apart.BYTES_PER_SECOND)
