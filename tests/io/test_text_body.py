from pathlib import Path

import numpy as np
import pytest

from rnlmf.io import FileError, text_body
from rnlmf.io.text_body import Records, as_utf8, head_of

TEXT = "Größe;µ\n1,5;2\n" * 20


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1", "utf-8", "shift_jis"])
@pytest.mark.parametrize("block", [3, 1 << 20])
def test_text_is_the_same_in_any_encoding_and_in_any_pieces(encoding, block, monkeypatch):
    monkeypatch.setattr(text_body, "BLOCK", block)
    text = "長さ;重さ\n1;2\n" if encoding == "shift_jis" else TEXT
    body, found = as_utf8(Path("t.csv"), text.encode(encoding), encoding)
    assert body.decode("utf-8-sig") == text
    assert found == encoding


def test_half_a_letter_at_the_end_is_refused():
    with pytest.raises(FileError, match="is not text in utf-16"):
        as_utf8(Path("t.csv"), TEXT.encode("utf-16")[:-1], "utf-16")


def test_letters_that_utf8_cannot_hold_are_refused():
    alone = "a\ud800b".encode("utf-16-le", "surrogatepass")
    with pytest.raises(FileError, match=r"utf-7|utf-16|utf_16"):
        as_utf8(Path("t.csv"), alone, "utf-16-le")
    with pytest.raises(FileError, match="letters in utf-7 that are none"):
        as_utf8(Path("t.csv"), b"a,+2AA-\n", "utf-7")


def test_the_beginning_has_whole_letters():
    assert head_of("aµµ".encode(), 2) == "a"
    assert head_of("aµµ".encode(), 3) == "aµ"
    with pytest.raises(UnicodeDecodeError):
        head_of("aµ".encode()[:-1], 10)


def test_rows_are_taken_by_their_places():
    rows = Records("a\nµ\nc".encode(), np.array([0, 2, 5]))
    assert list(rows) == ["a\n", "µ\n", "c"]
    assert rows[-1] == "c"
    with pytest.raises(TypeError, match="one by one"):
        rows[:2]
    with pytest.raises(IndexError):
        rows[3]
