"""Missing values: where they start from.

A missing entry is free: it takes the model's prediction in every step, ``y_ij = P_ij``. That step is
local. From the data's mean, an entry of a feature with a large spread puts its sample among atoms that
have nothing to do with it, and there it stays. So missing entries are set, a few times on the way, by
what the observed entries alone say: the mean of the atoms, weighted by the kernel over observed
features.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from rnlmf.typing import Array

# Iterations at which missing values are set anew; a dictionary must first have found the data.
WHILE_LEARNING = (10, 20, 30)
WHILE_ENCODING = (0, 10, 20, 30)
# Square of the width, relative to the squared distance to the nearest atom.
SHARPNESS = 0.25


def fill_from_observed(Y: Array, missing: Array, D: Array) -> None:
    """Set the missing entries of `Y`, in place, from the others and the dictionary."""
    rows = np.flatnonzero(missing.any(axis=1))
    if len(rows) == 0:
        return
    gaps = missing[rows]
    known = (~gaps).astype(D.dtype)
    observed = np.where(gaps, 0.0, Y[rows]).astype(D.dtype)
    # -|y - d|^2 / 2 over observed features.
    exponents = observed @ D.T - 0.5 * (known @ (D**2).T)
    exponents -= 0.5 * np.einsum("ij,ij->i", observed, observed)[:, None]
    # The features that are left may hardly differ at the kernel's width; half of the distance to the
    # nearest atom is a width at which they do.
    width = np.clip(-2.0 * SHARPNESS * exponents.max(axis=1, keepdims=True), 1e-12, 1.0)
    predicted = softmax(exponents / width, axis=1) @ D
    Y[rows] = np.where(gaps, predicted, Y[rows])
