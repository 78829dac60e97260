"""Errors of a recovered matrix, as the paper measures them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

Array = npt.NDArray[Any]


def _pair(truth: Any, recovered: Any) -> tuple[Array, Array]:
    truth = check_array(truth, dtype=np.float64, input_name="truth")
    recovered = check_array(recovered, dtype=np.float64, input_name="recovered")
    if truth.shape != recovered.shape:
        raise ValueError(f"truth has shape {truth.shape}, recovered {recovered.shape}.")
    return truth, recovered


def _ratio(error: float, size: float) -> float:
    if size == 0.0:
        raise ValueError("truth is zero everywhere: a relative error has no meaning.")
    return error / size


def relative_rmse(truth: Any, recovered: Any) -> float:
    """``|truth - recovered|_F / |truth|_F``, the paper's RMSE."""
    truth, recovered = _pair(truth, recovered)
    return _ratio(float(np.linalg.norm(truth - recovered)), float(np.linalg.norm(truth)))


def relative_mae(truth: Any, recovered: Any) -> float:
    """``|truth - recovered|_1 / |truth|_1``, the paper's MAE."""
    truth, recovered = _pair(truth, recovered)
    return _ratio(float(np.abs(truth - recovered).sum()), float(np.abs(truth).sum()))
