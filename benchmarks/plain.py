"""Algorithm 1 in the paper's order as one would write it in NumPy: what the engine is measured by.

RBF kernel, squared penalty on the codes, l1 on the noise, momentum 0.5, whole matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def kernel(Y: Array, D: Array) -> Array:
    squares = np.sum(Y**2, axis=1)[:, None] + np.sum(D**2, axis=1) - 2 * Y @ D.T
    return np.exp(-0.5 * squares)


def denoise(X: Array, D: Array, code_weight: float, noise_weight: float, iterations: int) -> Array:
    """Clean samples in units of the kernel's length scale, as are the arguments."""
    Y = X.copy()
    momentum = np.zeros_like(D)
    identity = np.eye(len(D), dtype=X.dtype)
    for _ in range(iterations):
        K, K_D = kernel(Y, D), kernel(D, D)
        C = K @ np.linalg.inv(K_D + code_weight * identity)
        V = C * K
        M = (C.T @ C) * K_D
        H = M + np.diag(V.sum(axis=0) - M.sum(axis=1))
        momentum = 0.5 * momentum + np.linalg.solve(H, H @ D - V.T @ Y)
        D = D - momentum
        V = C * kernel(Y, D)
        w = V.sum(axis=1, keepdims=True)
        # One step length for all samples, from the largest weight (xi = 1).
        step = np.abs(w).max()
        R = X - Y + (w * Y - V @ D) / step
        Y = X - np.sign(R) * np.maximum(np.abs(R) - noise_weight / step, 0)
    return Y
