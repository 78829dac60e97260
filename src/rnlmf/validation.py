"""How parameters are checked: what scikit-learn keeps private, and what our estimators share.

A release of scikit-learn that moves one of its private names breaks this module alone.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from joblib import effective_n_jobs
from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import HasMethods, Interval, InvalidParameterError, StrOptions

__all__ = [
    "AT_LEAST_ONE",
    "AUTO",
    "NOT_NEGATIVE",
    "N_JOBS",
    "POSITIVE",
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "StrOptions",
    "fit_context",
    "thread_count",
    "validate_parameters",
]

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
AUTO = StrOptions({"auto"})
# As joblib has it: -1 is all cores, -2 all but one.
N_JOBS: list[Any] = [AT_LEAST_ONE, Interval(Integral, None, -1, closed="right"), None]


def thread_count(n_jobs: int | None) -> int | None:
    """Threads that `n_jobs` asks for, negative numbers counting back from all cores; None stays so."""
    return None if n_jobs is None else int(effective_n_jobs(n_jobs))


def validate_parameters(estimator: Any) -> None:
    """Raise `InvalidParameterError` for a parameter that the estimator's constraints exclude."""
    estimator._validate_params()
