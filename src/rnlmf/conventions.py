"""What all estimators share: containers in and out, and what is said of a fit that did not converge."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

Array = npt.NDArray[Any]


def like(X: Any, values: Array) -> Any:
    """`values` in the container of `X`: a data frame keeps its names and index."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return values
    if hasattr(X, "index"):
        return type(X)(values, columns=columns, index=X.index)
    return type(X)(values, schema=list(columns))


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
