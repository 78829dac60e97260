"""How sure a result is, without ground truth: scores of entries and samples, and the error left."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OutlierMixin, _fit_context, clone
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from rnlmf.engine.start import spread_of

Array = npt.NDArray[Any]

# The denoised data lie nearer to the model than the true ones, and are recovered better. On images,
# motion capture and synthetic data (benchmarks/automatic.py) by about this factor.
CALIBRATION = 2.0


def scores_of(residual: Array, threshold: Array, missing: Array) -> Array:
    """``s^2 / (1 + s^2)`` of the residuals in thresholds, without overflow; NaN where missing."""
    smallest = np.finfo(residual.dtype)
    with np.errstate(over="ignore"):
        excess = np.abs(residual) / np.maximum(threshold, smallest.tiny)
    inverse = 1.0 / np.maximum(excess, smallest.eps)
    scores: Array = 1.0 / (1.0 + inverse * inverse)
    scores[missing] = np.nan
    return scores


def remaining_error(
    X: Array, denoised: Array, denoise: Callable[[Array], Array], rng: np.random.RandomState
) -> float:
    """Relative error of `denoised`, see :meth:`rnlmf.RNLMF.estimate_error`."""
    size = float(np.linalg.norm(denoised.astype(np.float64)))
    if size == 0.0:
        return 0.0
    # The noise of one sample on another; what was missing there is missing here.
    again = denoised + (X - denoised)[rng.permutation(len(X))]
    difference = denoise(again).astype(np.float64) - denoised
    return CALIBRATION * float(np.linalg.norm(difference)) / size


class RNLMFOutlierDetector(OutlierMixin, BaseEstimator):
    """Samples of which much is wrong, in scikit-learn's conventions.

    The score of a sample is minus the root mean square of what the model does not predict of it, in
    standard deviations of the data: the lower, the more of it is wrong. It does not depend on what is
    taken for noise, so bad samples are found also where nothing was found worth removing.

    Parameters
    ----------
    estimator : RNLMF, ScaledRNLMF or None
        The model. None: ``RNLMF()``.
    contamination : float
        Share of the training samples that are taken for outliers, at most one half.

    Attributes
    ----------
    estimator_ : RNLMF
        Fitted to the training samples.
    scale_ : float or array of shape (n_features,)
        Unit of the residuals.
    offset_ : float
        Samples with a score below it are outliers.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import RNLMF, RNLMFOutlierDetector
    >>> t = np.linspace(0, 6, 300)
    >>> X = np.column_stack([f(k * t) for k in range(1, 5) for f in (np.cos, np.sin)])
    >>> X[::30] += 2.0
    >>> model = RNLMF(30, kernel_scale=1.0, noise_weight="scale", random_state=0)
    >>> labels = RNLMFOutlierDetector(model, contamination=10 / 300).fit_predict(X)
    >>> bool(np.all(labels[::30] == -1))
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "estimator": [HasMethods(["fit", "residuals"]), None],
        "contamination": [Interval(Real, 0, 0.5, closed="right")],
    }

    def __init__(self, estimator=None, *, contamination=0.1):
        self.estimator = estimator
        self.contamination = contamination

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y=None) -> Self:
        """Fit the model, and set the offset for the wanted share of outliers."""
        from rnlmf.estimators.rnlmf import RNLMF

        data = self._check(X, fitting=True)
        model = RNLMF(random_state=0) if self.estimator is None else clone(self.estimator)
        self.estimator_ = model.fit(data)
        # A model of columns with units of their own says which.
        self.scale_ = getattr(self.estimator_, "scale_", spread_of(data) or 1.0)
        self.offset_ = float(np.percentile(self._scores(data), 100.0 * self.contamination))
        return self

    def score_samples(self, X):
        """Minus the root mean square of every sample's residuals; missing entries do not count."""
        check_is_fitted(self)
        return self._scores(self._check(X))

    def decision_function(self, X):
        """Score above the offset: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X):
        """1 for inliers, -1 for outliers."""
        return np.where(self.decision_function(X) < 0.0, -1, 1)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _check(self, X, *, fitting=False):
        return validate_data(
            self,
            X,
            reset=fitting,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2 if fitting else 1,
            ensure_all_finite="allow-nan",
        )

    def _scores(self, data: Array) -> Array:
        residuals = np.asarray(self.estimator_.residuals(data), dtype=np.float64) / self.scale_
        counts = np.maximum(np.sum(~np.isnan(residuals), axis=1), 1)
        return -np.sqrt(np.nansum(residuals**2, axis=1) / counts)
