"""Samples of which much is wrong."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin, clone

from rnlmf.conventions import check_samples
from rnlmf.engine.start import spread_of
from rnlmf.estimators.rnlmf import RNLMF
from rnlmf.typing import Array
from rnlmf.validation import HasMethods, Interval, fit_context


class RNLMFOutlierDetector(OutlierMixin, BaseEstimator):
    """Samples of which much is wrong, in scikit-learn's conventions.

    The score of a sample is minus the root mean square of what the model does not predict of it, in
    standard deviations of the data: the lower, the more of it is wrong. It does not depend on what is
    taken for noise, so bad samples are found also where nothing was found worth removing.

    Parameters
    ----------
    estimator : RNLMF or None
        The model. None: ``RNLMF(random_state=0)``.
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

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model, and set the offset for the wanted share of outliers."""
        data = check_samples(self, X, fitting=True)
        model = RNLMF(random_state=0) if self.estimator is None else clone(self.estimator)
        self.estimator_ = model.fit(data)
        # A model of columns with units of their own says which.
        units = getattr(self.estimator_, "feature_scale_", None)
        self.scale_ = (spread_of(data) or 1.0) if units is None else units
        self.offset_ = float(np.percentile(self._scores(data), 100.0 * self.contamination))
        return self

    def score_samples(self, X: Any) -> Array:
        """Minus the root mean square of every sample's residuals; missing entries do not count."""
        return self._scores(check_samples(self, X))

    def decision_function(self, X: Any) -> Array:
        """Score above the offset: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """1 for inliers, -1 for outliers."""
        return np.where(self.decision_function(X) < 0.0, -1, 1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _scores(self, data: Array) -> Array:
        residuals = np.asarray(self.estimator_.residuals(data), dtype=np.float64) / self.scale_
        counts = np.maximum(np.sum(~np.isnan(residuals), axis=1), 1)
        return -np.sqrt(np.nansum(residuals**2, axis=1) / counts)
