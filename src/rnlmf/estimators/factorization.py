"""The factorization as a function, for those who want the matrices and no estimator."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rnlmf.estimators.rnlmf import RNLMF
from rnlmf.kernels import Kernel
from rnlmf.typing import Array


class Factorization(NamedTuple):
    """``X = denoised + noise`` and ``phi(denoised) ~ phi(dictionary) codes``; samples are rows."""

    dictionary: Array
    codes: Array
    noise: Array
    denoised: Array
    objective: Array
    n_iter: int
    converged: bool
    kernel: Kernel


def factorize(X: Any, n_components: int | None = None, **parameters: Any) -> Factorization:
    """Robust non-linear matrix factorization of `X` (Algorithm 1 of the paper).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Noisy samples.
    n_components : int or None
        Number of atoms.
    **parameters
        The other parameters of :class:`rnlmf.RNLMF`; `neighbor_share` is 0 and `opinions` "dictionary"
        if not given.

    Returns
    -------
    Factorization

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rnlmf import factorize
    >>> result = factorize(load_iris().data, 10, random_state=0)
    >>> result.denoised.shape, result.codes.shape, result.dictionary.shape
    ((150, 4), (150, 10), (10, 4))
    """
    model = RNLMF(n_components, **{"neighbor_share": 0.0, "opinions": "dictionary", **parameters}).fit(
        X
    )
    codes, noise, denoised = model.split(X)
    return Factorization(
        dictionary=model.components_,
        codes=codes,
        noise=np.asarray(noise),
        denoised=np.asarray(denoised),
        objective=model.objective_,
        n_iter=model.n_iter_,
        converged=model.converged_,
        kernel=model.kernel_,
    )
