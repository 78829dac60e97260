"""RNLMF for tables whose columns have units of their own."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone

from rnlmf.conventions import check_samples, like, masked
from rnlmf.estimators.rnlmf import RNLMF
from rnlmf.typing import Array

# The interquartile range of a normal distribution, in standard deviations.
NORMAL_QUARTILES = 1.349


def robust_spread(X: Array) -> Array:
    """Standard deviation of every feature by its quartiles, which gross errors do not move.

    Where more than half of the entries are equal, but for rounding, it is the standard deviation
    itself, and one where all are. Missing entries are left out.
    """
    low, high = np.nanquantile(X, (0.25, 0.75), axis=0)
    spread, whole = (high - low) / NORMAL_QUARTILES, np.nanstd(X, axis=0)
    spread = np.where(spread > np.finfo(X.dtype).eps * whole, spread, whole)
    result: Array = np.where(spread > 0.0, spread, 1.0)
    return result


class ScaledRNLMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """:class:`RNLMF` on features that are first brought to one scale, robustly.

    A distance between samples needs features of like size. Pixels and joint angles have it; degrees,
    hectopascals and visitors a day do not. Every feature is divided by its spread between the
    quartiles, the model works on that, and results come back in the units of the data. Entries in
    which no noise was found are returned unchanged, to the bit.

    Parameters
    ----------
    estimator : RNLMF or None
        The model for the scaled features. None: ``RNLMF()``.

    Attributes
    ----------
    estimator_ : RNLMF
        Fitted to the scaled features.
    center_, scale_ : array of shape (n_features,)
        Median and spread of every feature.
    components_ : array of shape (n_components, n_features)
        The dictionary, in the units of the data.
    objective_, n_iter_, converged_
        Of the fit, see :class:`RNLMF`.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import RNLMF, ScaledRNLMF
    >>> from rnlmf.datasets import corrupt_entries
    >>> t = np.linspace(0, 6, 500)
    >>> curve = np.column_stack([f(k * t) for k in range(1, 7) for f in (np.cos, np.sin)])
    >>> units = 10.0 ** np.arange(-6, 6)
    >>> noisy = corrupt_entries(curve, 0.1, magnitude=3, random_state=0)
    >>> model = ScaledRNLMF(RNLMF(40, random_state=0))
    >>> clean = model.fit_denoise(noisy * units) / units
    >>> bool(np.linalg.norm(clean - curve) < 0.3 * np.linalg.norm(noisy - curve))
    True
    """

    def __init__(self, estimator=None):
        self.estimator = estimator

    def fit(self, X, y=None, *, mask=None) -> Self:
        """Learn scale and model from noisy samples; `y` is ignored.

        Entries that are NaN, or where the array `mask` is True, are missing.
        """
        X = self._check(X, mask, fitting=True)
        empty = np.flatnonzero(np.all(np.isnan(X), axis=0))
        if len(empty):
            raise ValueError(f"Feature(s) {empty.tolist()} of X have no value in any sample.")
        self.center_ = np.nanmedian(X, axis=0).astype(X.dtype)
        self.scale_ = robust_spread(X).astype(X.dtype)
        estimator = RNLMF() if self.estimator is None else clone(self.estimator)
        self.estimator_ = estimator.fit(self._scaled(X))
        self.components_ = self.estimator_.components_ * self.scale_ + self.center_
        self.objective_ = self.estimator_.objective_
        self.n_iter_ = self.estimator_.n_iter_
        self.converged_ = self.estimator_.converged_
        return self

    def fit_denoise(self, X, y=None, *, mask=None):
        """Fit, and return the denoised training data, in the container of `X`."""
        return self.fit(X, mask=mask).denoise(X, mask=mask)

    def denoise(self, X, *, mask=None):
        """Samples without their noise and with missing entries filled, in the container of `X`."""
        data = self._check(X, mask)
        return like(X, self._denoise(data))

    def noise(self, X, *, mask=None):
        """What :meth:`denoise` removes: zero where nothing was found, NaN where no value is."""
        data = self._check(X, mask)
        return like(X, data - self._denoise(data))

    def residuals(self, X, *, mask=None):
        """What the model does not predict, see :meth:`RNLMF.residuals`; zero in constant columns."""
        scaled = self._scaled(self._check(X, mask))
        return like(X, self.estimator_.residuals(scaled) * self.scale_)

    def corruption_scores(self, X, *, mask=None):
        """How credible it is that an entry is wrong, see :meth:`RNLMF.corruption_scores`."""
        return like(X, self.estimator_.corruption_scores(self._scaled(self._check(X, mask))))

    def estimate_error(self, X, *, mask=None, random_state=0):
        """Error left in the scaled features, without the truth, see :meth:`RNLMF.estimate_error`."""
        scaled = self._scaled(self._check(X, mask))
        return self.estimator_.estimate_error(scaled, random_state=random_state)

    def transform(self, X):
        """Codes of samples, see :meth:`RNLMF.transform`."""
        return self.estimator_.transform(self._scaled(self._check(X)))

    @property
    def _n_features_out(self):
        return len(self.components_)

    def _denoise(self, X: Array) -> Array:
        scaled = self._scaled(X)
        clean = self.estimator_.denoise(scaled)
        return np.where(clean == scaled, X, clean * self.scale_ + self.center_)

    def _check(self, X: Any, mask: Any = None, *, fitting: bool = False) -> Array:
        return masked(check_samples(self, X, fitting=fitting), mask)

    def _scaled(self, X: Array) -> Array:
        return (X - self.center_) / self.scale_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = RNLMF() if self.estimator is None else self.estimator
        tags.input_tags.allow_nan = inner.__sklearn_tags__().input_tags.allow_nan
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
