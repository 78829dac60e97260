"""Samples in the feature space of a kernel, for methods that need all of their products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from rnlmf.kernels import Kernel, mean_distance, resolve
from rnlmf.typing import Array

# Eigenvalues of a kernel matrix below this, over the largest, are rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class FeatureSpace:
    """A kernel and its width.

    Attributes
    ----------
    kernel : Kernel
    sigma : float
        The unit of the samples.
    """

    kernel: Kernel
    sigma: float

    @classmethod
    def of(cls, X: Array, kernel: str | Kernel, scale: float) -> FeatureSpace:
        """The kernel's own width, or `scale` times the mean distance of samples.

        Kernels of inner products have no use for distances: there it is the root mean square length.
        """
        found = resolve(kernel)
        if found.sigma is not None:
            return cls(found, float(found.sigma))
        size = mean_distance(X) if found.stationary else float(np.linalg.norm(X)) / len(X) ** 0.5
        return cls(found, scale * size or 1.0)

    def products(self, X: Array, Y: Array) -> Array:
        """``k(x_i, y_j)`` of all pairs."""
        return self.kernel(X / self.sigma, Y / self.sigma)

    def gram(self, X: Array) -> Array:
        """``K(X, X)``, symmetric to the last bit."""
        K = self.products(X, X)
        symmetric: Array = 0.5 * (K + K.T)
        return symmetric

    def squares(self, X: Array) -> Array:
        """``k(x_i, x_i)``."""
        return self.kernel.f(self.kernel.self_argument(X / self.sigma))


@dataclass(frozen=True)
class Coordinates:
    """Orthonormal coordinates of the span of the samples' images.

    What is linear in feature space is an ordinary matrix in these coordinates: an inner product of two
    images in the span is that of their rows, and other images are projected on it.

    Attributes
    ----------
    of_samples : array of shape (n, r)
        With ``of_samples of_samples^T = K(X, X)``.
    projection : array of shape (n, r)
        The coordinates of ``z`` are ``k(z, X) projection``.
    """

    of_samples: Array
    projection: Array

    @classmethod
    def of(cls, K: Array) -> Coordinates:
        """From the kernel matrix, whose vanishing eigenvalues are left out."""
        values, vectors = scipy.linalg.eigh(K)
        kept = values > ROUNDING * max(values[-1], np.finfo(float).tiny)
        roots = np.sqrt(values[kept])
        return cls(vectors[:, kept] * roots, vectors[:, kept] / roots)
