import mmap
import os

import numpy as np
import pytest

from rnlmf.engine import maps

PAGE = mmap.PAGESIZE


class Watched(mmap.mmap):
    """Memory that says which of its pages were let go."""

    def __init__(self, *_):
        self.gone = []

    def madvise(self, *asked):
        self.gone.append(asked)
        super().madvise(*asked)


@pytest.fixture
def memory(tmp_path):
    with open(tmp_path / "pages", "w+b") as file:
        file.truncate(4 * PAGE)
        yield Watched(file.fileno(), 4 * PAGE)


@pytest.mark.parametrize("shape", [(300, 7), (0, 7)])
def test_an_array_is_zero_and_can_be_written(shape):
    array = maps.mapped_array(shape, np.float32)
    assert (array.shape, array.dtype) == (shape, np.float32)
    assert not array.any()
    array[:] = 3.0
    assert (array == 3.0).all()


def test_the_room_is_taken_at_once(monkeypatch):
    taken = []
    monkeypatch.setattr(os, "posix_fallocate", lambda *given: taken.append(given[1:]), raising=False)
    monkeypatch.setattr(maps.mmap, "mmap", lambda number, size: bytearray(size))
    maps.mapped_array((10, 3), np.float64)
    assert taken == [(0, 240)]


def test_where_room_cannot_be_taken_the_file_has_its_size(monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    assert maps.mapped_array((10, 3), np.float64).shape == (10, 3)


def test_whole_pages_of_an_array_are_let_go_and_stay_in_the_file(memory):
    array = np.frombuffer(memory, np.uint8)
    array[:] = 5
    # Of the first and of the last page another array may have a part.
    maps.let_go(array[10 : 3 * PAGE + 10])
    assert memory.gone == [(mmap.MADV_DONTNEED, PAGE, 2 * PAGE)]
    assert (array == 5).all()


def test_less_than_a_page_and_arrays_in_memory_stay(memory):
    array = np.frombuffer(memory, np.uint8)
    maps.let_go(array[10 : PAGE + 10], array[:0], np.zeros(3 * PAGE, np.uint8))
    assert memory.gone == []


def test_changes_of_a_map_that_is_copied_on_writing_stay(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros(2 * PAGE))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="c")
    mapped[:] = 1.0
    maps.let_go(mapped)
    assert (mapped == 1.0).all()


def test_a_system_without_such_advice_keeps_its_pages(memory, monkeypatch):
    monkeypatch.delattr(mmap, "MADV_DONTNEED")
    maps.let_go(np.frombuffer(memory, np.uint8))
    assert memory.gone == []
