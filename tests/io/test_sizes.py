"""Small files that would take gigabytes."""

import gzip
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from PIL import Image

from rnlmf import io
from rnlmf.io import FileError, arrays, images, packed, sizes, workbooks


@pytest.fixture
def strict(monkeypatch):
    """Limits that small files of a test are beyond."""
    monkeypatch.setattr(sizes, "SMALL", 100_000)


def npz(path):
    np.savez_compressed(path, X=np.zeros((1000, 50)))


def parquet(path):
    pyarrow.parquet.write_table(pa.table({"a": np.zeros(200_000), "b": np.ones(200_000)}), path)


def stack(path):
    pages = [Image.new("L", (200, 200)) for _ in range(5)]
    pages[0].save(path, save_all=True, append_images=pages[1:], compression="tiff_adobe_deflate")


def folder(path):
    path.mkdir()
    for name in ("1.png", "2.png", "3.png"):
        Image.new("L", (200, 200)).save(path / name)


def gz(path):
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 500_000))


def zipped(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", b"a,b\n" + b"1,2\n" * 500_000)


def workbook(path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for _ in range(5000):
        book.active.append([1, 2, 3])
    book.save(path)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("in.npz", npz),
        ("in.parquet", parquet),
        ("in.tiff", stack),
        ("frames", folder),
        ("t.csv.gz", gz),
        ("t.csv.zip", zipped),
        ("t.xlsx", workbook),
    ],
)
def test_a_trap_is_refused_before_the_memory_is_taken(tmp_path, name, make, strict, monkeypatch):
    path = tmp_path / name
    make(path)
    monkeypatch.setattr(sizes, "MOST_GROWTH", 5)
    for module, unpack in ((arrays.np.lib.format, "read_array"), (images.np, "stack")):
        monkeypatch.setattr(module, unpack, lambda *_, **__: pytest.fail("it was unpacked"))
    with pytest.raises(FileError, match="looks like a trap"):
        io.read(path)


def test_a_cell_far_away_is_refused(tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append([1, 2])
    book.active.cell(1_048_576, 16_384).value = 1
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(FileError, match="far apart"):
        io.read(tmp_path / "t.xlsx")
    assert workbooks.MOST_EMPTY < 1_048_576 * 16_384


def test_standard_input_goes_through_a_file(tmp_path, monkeypatch):
    with open(tmp_path / "t.csv", "wb") as file:
        file.write(b"\n  a,b\n1,2\n3,4\n")
    with open(tmp_path / "t.csv") as stream:
        monkeypatch.setattr(packed.sys, "stdin", stream)
        np.testing.assert_array_equal(io.read("-").values, [[1, 2], [3, 4]])
