import numpy as np
import pytest

from rnlmf.metrics import relative_mae, relative_rmse


def test_values():
    truth = np.array([[3.0, 4.0], [0.0, 0.0]])
    recovered = np.array([[3.0, 4.0], [0.0, 2.0]])
    assert relative_rmse(truth, recovered) == pytest.approx(2 / 5)
    assert relative_mae(truth, recovered) == pytest.approx(2 / 7)


def test_bad_input():
    with pytest.raises(ValueError, match="shape"):
        relative_rmse(np.ones((2, 3)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="truth is zero"):
        relative_mae(np.zeros((2, 2)), np.ones((2, 2)))
