import numpy as np
import pytest

pytest.importorskip("distributed")
log = pytest.importorskip("rnlmf.distributed.log")


@pytest.mark.parametrize("most", [0, 1000, 1 << 20])
def test_what_was_said_is_there_in_memory_or_in_a_file(monkeypatch, most):
    monkeypatch.setattr(log, "IN_MEMORY", most)
    said = log.Log()
    for number in range(5):
        said.append(lambda x, number=number: x + np.full(50, number))
    assert len(said) == 5
    for number in (3, 0, 4):
        np.testing.assert_array_equal(said[number](1), np.full(50, number + 1))
    said.append("more")
    assert said[5] == "more"
    assert said[4](0)[0] == 4
