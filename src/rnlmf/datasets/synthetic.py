"""The paper's synthetic data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils import check_random_state

from rnlmf.typing import Array


def make_polynomial_manifolds(
    n_manifolds: int = 3,
    n_samples: int = 300,
    n_features: int = 30,
    *,
    n_latent: int = 3,
    degree: int = 3,
    random_state: Any = None,
) -> tuple[Array, Array]:
    """Samples on polynomial manifolds, ``x = Gamma_j features(z)`` with ``z ~ U(-1, 1)``.

    Parameters
    ----------
    n_manifolds : int
        ``k``, the number of maps.
    n_samples : int
        Samples on each.
    n_features : int
        Dimension of ``x``.
    n_latent, degree : int
        Dimension of ``z``, and largest order of its monomials (19 of them by default).
    random_state : int, RandomState or None
        For maps and samples.

    Returns
    -------
    X : array of shape (n_manifolds * n_samples, n_features)
    y : array of shape (n_manifolds * n_samples,)
        Which manifold.
    """
    rng = check_random_state(random_state)
    monomials = PolynomialFeatures(degree, include_bias=False)
    parts = []
    for _ in range(n_manifolds):
        Z = monomials.fit_transform(rng.uniform(-1.0, 1.0, (n_samples, n_latent)))
        parts.append(Z @ rng.standard_normal((Z.shape[1], n_features)))
    return np.vstack(parts), np.repeat(np.arange(n_manifolds), n_samples)
