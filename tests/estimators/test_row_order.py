"""Results do not depend on the order of the rows, beyond rounding, for any estimator of the package.

Those that use the order of rows in time are told not to.
"""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

import rnlmf
from rnlmf import (
    RNLMF,
    KernelDictionaryLearning,
    RNLMFDenoiser,
    RNLMFOutlierDetector,
    RobustDictionaryLearning,
    RobustKernelPCA,
    RobustPCA,
)

QUICK = {"kernel_scale": 1.0, "max_iter": 30, "random_state": 0}
MODELS = {
    "opinions": RNLMF(3, sequence=False, **QUICK),
    "dictionary": RNLMF(10, opinions="dictionary", random_state=0),
    "polynomial": RNLMF(10, kernel="polynomial", noise_penalty="l21", max_iter=30, random_state=0),
    "paper": RNLMF(10, noise_weight="scale", solver="paper", **QUICK),
    "denoiser": RNLMFDenoiser(RNLMF(10, noise_weight="scale", **QUICK)),
    "outliers": RNLMFOutlierDetector(RNLMF(10, noise_weight="scale", **QUICK)),
    "robust PCA": RobustPCA(),
    "dictionary learning": RobustDictionaryLearning(10, max_iter=30, random_state=0),
    "kernel PCA": RobustKernelPCA(max_iter=10),
    "kernel dictionary": KernelDictionaryLearning(10, max_iter=5, random_state=0),
}
CLUSTERINGS = {
    name: getattr(rnlmf, name)(3)
    for name in rnlmf.__all__
    if hasattr(getattr(rnlmf, name), "fit_predict") and name != "RNLMFOutlierDetector"
}


def outcome(model, X):
    """What a model says of every row."""
    for method in ("fit_denoise", "fit_transform"):
        if hasattr(model, method):
            return np.asarray(getattr(clone(model), method)(X))
    return clone(model).fit(X).score_samples(X)


def test_every_estimator_is_here():
    kinds = {type(model).__name__ for model in (*MODELS.values(), *CLUSTERINGS.values())}
    known = {name for name in rnlmf.__all__ if hasattr(getattr(rnlmf, name), "fit")}
    # A stream is learned from as it comes.
    assert known - {"MiniBatchRNLMF"} == kinds


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_rows_in_another_order_are_treated_alike(curved, rng, model):
    _, noisy = curved
    order = rng.permutation(len(noisy))
    plain, mixed = outcome(model, noisy), outcome(model, noisy[order])
    if isinstance(model, KernelDictionaryLearning):
        # An atom's sign means nothing.
        plain, mixed = np.abs(plain), np.abs(mixed)
    np.testing.assert_allclose(mixed, plain[order], atol=1e-6 * np.abs(plain).max())


@pytest.mark.parametrize("model", CLUSTERINGS.values(), ids=CLUSTERINGS.keys())
def test_clusters_do_not_depend_on_the_order(rng, model):
    X, _ = make_blobs([60, 50, 40], n_features=6, random_state=0)
    order = rng.permutation(len(X))
    model = model.set_params(random_state=0)
    np.testing.assert_array_equal(
        clone(model).fit_predict(X[order]), clone(model).fit_predict(X)[order]
    )
