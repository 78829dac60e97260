import numpy as np
import pytest
from PIL import Image

from rnlmf import io
from rnlmf.io import FileError
from rnlmf.io.tiff import count_pages


@pytest.fixture(params=[False, True], ids=["classic", "big"])
def stack(tmp_path, request):
    path = tmp_path / "in.tiff"
    pages = [Image.fromarray(np.full((4, 5), 9 * i, np.uint8)) for i in range(7)]
    pages[0].save(path, save_all=True, append_images=pages[1:], big_tiff=request.param)
    return path


def test_pages_are_counted(stack):
    assert count_pages(stack) == 7
    assert len(io.read(stack).values) == 7


def test_no_cut_loses_a_page(stack):
    """Wherever the file ends: it is refused, or has all pages."""
    content = stack.read_bytes()
    for end in range(8, len(content)):
        stack.write_bytes(content[:end])
        try:
            found = io.read(stack)
        except FileError:
            continue
        assert len(found.values) == 7, end


def test_a_chain_that_bites_its_tail_is_refused(stack):
    content = bytearray(stack.read_bytes())
    big = content[2] == 43
    start = int.from_bytes(content[8:16] if big else content[4:8], "little")
    entries = int.from_bytes(content[start : start + (8 if big else 2)], "little")
    link = start + (8 + 20 * entries if big else 2 + 12 * entries)
    content[link : link + 4] = start.to_bytes(4, "little")
    stack.write_bytes(content)
    with pytest.raises(ValueError, match="not there"):
        count_pages(stack)
    with pytest.raises(FileError, match="cut off"):
        io.read(stack)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PNG and more", "no byte order"),
        (b"II\x07\x00\x08\x00\x00\x00", "version 7"),
        (b"MM\x00\x2a\x00\x00", "cut off"),
        (b"II\x2a\x00\x08\x00\x00\x00\xff\xff", "page 1 has 65535 entries"),
        (b"II\x2a\x00\xff\x00\x00\x00", "page 1 is not there"),
    ],
)
def test_what_is_no_chain_of_pages_says_why(tmp_path, content, message):
    (tmp_path / "in.tiff").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        count_pages(tmp_path / "in.tiff")
    with pytest.raises(FileError, match="cut off"):
        io.read(tmp_path / "in.tiff")
