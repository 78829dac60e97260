"""Denoising as a step of a pipeline."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from rnlmf.conventions import check_samples, masked
from rnlmf.estimators.rnlmf import RNLMF
from rnlmf.model_selection.held_out import held_out_score
from rnlmf.typing import Array
from rnlmf.validation import HasMethods, fit_context

METHODS = ["fit", "denoise", "fit_denoise"]


class RNLMFDenoiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Denoising for pipelines: :meth:`transform` returns the samples without their noise, ``X - E``.

    Entries that are known to be wrong reach it through a pipeline by scikit-learn's metadata routing,
    ``RNLMFDenoiser().set_fit_request(mask=True).set_transform_request(mask=True)``.

    Parameters
    ----------
    estimator : RNLMF or None
        What denoises: it has ``fit``, ``denoise`` and ``fit_denoise``. None: ``RNLMF(random_state=0)``.

    Attributes
    ----------
    estimator_ : RNLMF
        Fitted to the training samples.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from rnlmf import RNLMF, RNLMFDenoiser
    >>> X, y = load_digits(return_X_y=True)
    >>> denoiser = RNLMFDenoiser(RNLMF(opinions="dictionary", random_state=0))
    >>> model = make_pipeline(denoiser, KNeighborsClassifier())
    >>> model.fit(X[:500], y[:500]).score(X[1000:], y[1000:]) > 0.9
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {"estimator": [HasMethods(METHODS), None]}

    def __init__(self, estimator=None):
        self.estimator = estimator

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, *, mask: Any = None) -> Self:
        """Learn the structure of noisy samples; where `mask` is True, entries are known to be wrong."""
        data = masked(check_samples(self, X, fitting=True), mask)
        self.estimator_ = self._new().fit(data)
        return self

    @fit_context(prefer_skip_nested_validation=False)
    def fit_transform(self, X: Any, y: Any = None, *, mask: Any = None) -> Array:
        """Fit, and return the denoised training data, gaps filled."""
        data = masked(check_samples(self, X, fitting=True), mask)
        self.estimator_ = self._new()
        return np.asarray(self.estimator_.fit_denoise(data))

    def transform(self, X: Any, *, mask: Any = None) -> Array:
        """Samples without their noise, ``X - E``, gaps filled."""
        return np.asarray(self.estimator_.denoise(masked(check_samples(self, X), mask)))

    def inverse_transform(self, X: Any) -> Any:
        """The samples themselves: denoising has no inverse."""
        check_is_fitted(self)
        return X

    def score(self, X: Any, y: Any = None) -> float:
        """How well entries of `X` that are held out are predicted (:func:`rnlmf.held_out_score`)."""
        return held_out_score(self.estimator_, check_samples(self, X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self._new().__sklearn_tags__()
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _new(self) -> Any:
        return RNLMF(random_state=0) if self.estimator is None else clone(self.estimator)
