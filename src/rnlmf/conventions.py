"""What all estimators share: containers in and out, and what is said of a fit that did not converge."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from rnlmf.typing import Array


def like(X: Any, values: Array) -> Any:
    """`values` in the container of `X`: a data frame keeps its names and index."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return values
    if hasattr(X, "index"):
        return type(X)(values, columns=columns, index=X.index)
    return type(X)(values, schema=list(columns))


def masked(X: Array, mask: Any) -> Array:
    """`X` with NaN where `mask` is True; the mask must be of bool and have the shape of `X`."""
    if mask is None:
        return X
    mask = np.asarray(mask)
    if mask.shape != X.shape or mask.dtype != bool:
        raise ValueError(
            f"mask must be an array of bool of the shape of X, {X.shape}; got {mask.dtype} of shape "
            f"{mask.shape}."
        )
    return np.where(mask, np.nan, X).astype(X.dtype, copy=False)


def report_fit(estimator: BaseEstimator, objective: list[float], n_iter: int, converged: bool) -> None:
    """Set what every fit leaves behind, and warn if it has not converged."""
    estimator.objective_ = np.array(objective)
    estimator.n_iter_ = n_iter
    estimator.converged_ = converged
    if not converged:
        warnings.warn(
            f"{type(estimator).__name__} did not converge in max_iter={estimator.max_iter} iterations. "
            "The result can be used; raise max_iter or tol to silence this.",
            ConvergenceWarning,
            stacklevel=4,
        )
