"""What all estimators share: containers in and out, and what is said of a fit that did not converge."""

from __future__ import annotations

import warnings
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from rnlmf.typing import Array


class CodesMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """For estimators that give a sample `n_components_` codes, in the precision of the sample."""

    n_components_: int

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def like(X: Any, values: Array) -> Any:
    """`values` in the container of `X`: a data frame keeps its names and index."""
    if nw.dependencies.is_pandas_dataframe(X):
        # Its names need not be strings, and it has an index.
        return type(X)(values, columns=X.columns, index=X.index)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if frame is X:
        return values
    return nw.from_numpy(values, schema=frame.columns, backend=frame.implementation).to_native()


def check_samples(estimator: BaseEstimator, X: Any, *, fitting: bool = False) -> Array:
    """Samples as an array of floats; NaN passes where the estimator's tags say that it may.

    What a masked array hides is missing.
    """
    if not fitting:
        check_is_fitted(estimator)
    if np.ma.isMaskedArray(X):
        X = np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan)
    allow_nan = estimator.__sklearn_tags__().input_tags.allow_nan
    return validate_data(
        estimator,
        X,
        reset=fitting,
        dtype=[np.float64, np.float32],
        ensure_min_samples=2 if fitting else 1,
        ensure_all_finite="allow-nan" if allow_nan else True,
    )


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
