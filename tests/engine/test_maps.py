import mmap
import os

import numpy as np
import pytest

from helpers import resident_bytes
from rnlmf.engine import SampleState, maps

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
        file.truncate(4 * maps.AROUND)
        yield Watched(file.fileno(), 4 * maps.AROUND)


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


def test_pages_of_an_array_are_let_go_and_stay_in_the_file(memory):
    array = np.frombuffer(memory, np.uint8)
    array[:] = 5
    # A page at an end, of which another array has a part too, would be let go by neither.
    maps.let_go(array[PAGE + 10 : maps.AROUND + 10])
    ((advice, first, length),) = memory.gone
    assert advice == mmap.MADV_DONTNEED
    assert first <= PAGE
    assert first + length >= maps.AROUND + PAGE
    assert (array == 5).all()


def test_nothing_of_arrays_that_share_a_page_stays_in_memory():
    array = maps.mapped_array((1000, 512), np.float32)
    array[:] = 1.0
    before = resident_bytes(array)
    for rows in np.array_split(array, 999):
        maps.let_go(rows)
    assert before >= array.nbytes
    assert resident_bytes(array) == 0
    assert (array == 1.0).all()


def test_pages_that_the_system_maps_ahead_are_let_go_too(tmp_path):
    """It maps some around the one that is asked for, behind us as well."""
    np.save(tmp_path / "X.npy", np.ones((8000, 512), np.float32))
    array = np.load(tmp_path / "X.npy", mmap_mode="r")
    for start in range(0, len(array), 100):
        array[start : start + 100].sum()
        maps.let_go(array[start : start + 100])
    assert resident_bytes(array) <= 32 * PAGE


def test_a_new_state_takes_no_memory():
    state = SampleState.mapped((1 << 20, 2), np.dtype(np.float32), moving=True)
    assert resident_bytes(state.threshold_scale) == 0
    assert (state.threshold_scale == 1.0).all()


def test_arrays_in_memory_and_empty_ones_stay(memory):
    array = np.frombuffer(memory, np.uint8)
    maps.let_go(array[:0], np.zeros(3 * PAGE, np.uint8))
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
