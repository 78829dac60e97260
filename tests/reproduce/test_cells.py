import dataclasses

import numpy as np
import pytest

from rnlmf.reproduce import cells
from rnlmf.reproduce.cells import Cache, Cell, Outcome, code_fingerprint
from rnlmf.reproduce.problems import PaperProblem

CELL = Cell("denoise", PaperProblem("synthetic", "entries", 0.3), "RNLMF", (("code_weight", 0.01),), 0)
OUTCOME = Outcome({"rmse": 12.345678901234567}, 1.5, "abc")


def test_outcomes_and_arrays_come_back_the_same(tmp_path):
    arrays = {"objective": np.arange(5.0), "image_shape": np.array([3, 4])}
    Cache(tmp_path / "new").put(CELL, OUTCOME, arrays)
    cache = Cache(tmp_path / "new")
    assert cache.get(CELL) == OUTCOME
    for name, values in cache.arrays(CELL).items():
        np.testing.assert_array_equal(values, arrays[name])


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"method": "RDL"},
        {"task": "picture"},
        {"parameters": ()},
        {"parameters": (("code_weight", 0.02),)},
        {"problem": PaperProblem("synthetic", "entries", 0.2)},
    ],
)
def test_another_cell_has_another_key(tmp_path, change):
    other = dataclasses.replace(CELL, **change)
    assert other.key != CELL.key
    cache = Cache(tmp_path)
    cache.put(CELL, OUTCOME)
    assert cache.get(other) is None


def test_a_file_cut_off_in_the_middle_counts_as_not_done(tmp_path):
    cache = Cache(tmp_path)
    cache.put(CELL, OUTCOME)
    file = next(tmp_path.glob("*.json"))
    file.write_text(file.read_text()[:40])
    assert cache.get(CELL) is None


def test_a_failed_write_leaves_nothing(tmp_path):
    cache = Cache(tmp_path)
    unwritable = Outcome({"rmse": object()}, 1.0, "abc")
    with pytest.raises(TypeError):
        cache.put(CELL, unwritable)
    assert list(tmp_path.iterdir()) == []


def test_automatic_settings_belong_to_the_code(monkeypatch):
    automatic = dataclasses.replace(CELL, parameters=())
    before = automatic.key, CELL.key
    monkeypatch.setattr(cells, "code_fingerprint", lambda: "other code")
    assert automatic.key != before[0]
    assert CELL.key == before[1]


def test_fingerprint_is_of_this_code():
    assert code_fingerprint() == code_fingerprint()
    assert len(code_fingerprint()) == 12
