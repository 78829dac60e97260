"""Errors of a recovered matrix and of clusters, as the paper measures them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from rnlmf.typing import Array


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


def clustering_error(truth: Any, labels: Any) -> float:
    """Share of samples in the wrong cluster, under the best one-to-one match of clusters and classes.

    The match is found by the Hungarian method, as in the paper; a majority vote per cluster, which
    some programs take, is more lenient.

    Parameters
    ----------
    truth : array-like of shape (n_samples,)
        Classes.
    labels : array-like of shape (n_samples,)
        Clusters; there may be more or fewer of them than classes.

    Examples
    --------
    >>> from rnlmf.metrics import clustering_error
    >>> clustering_error(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.25
    """
    truth, labels = column_or_1d(truth), column_or_1d(labels)
    check_consistent_length(truth, labels)
    if len(truth) == 0:
        raise ValueError("truth is empty: an error has no meaning.")
    table = contingency_matrix(truth, labels)
    matched = table[linear_sum_assignment(table, maximize=True)].sum()
    return float(1.0 - matched / len(truth))
