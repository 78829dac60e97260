"""What is chosen for the user where nothing is given; all of it follows the data's scale and shift."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from rnlmf.engine import Units, start
from rnlmf.kernels import Kernel
from rnlmf.penalties import L2, L21, Penalty

Array = npt.NDArray[Any]

MAX_ATOMS = 256
# Threshold of sparse noise, in standard deviations of the data.
RELATIVE_THRESHOLD = 0.05
# The same for dense noise, whose weight is a ratio and not a threshold.
RELATIVE_RIDGE = 0.1


def number_of_atoms(X: Array, n_components: int | None) -> int:
    """As many as given; else twice the features, at most 256 and at most half of the samples."""
    n, m = X.shape
    if n_components is None:
        return max(1, min(2 * m, MAX_ATOMS, n // 2))
    if n_components > n:
        raise ValueError(
            f"n_components={n_components} must not exceed n_samples={n}: take fewer atoms or more "
            "samples."
        )
    return int(n_components)


def noise_weight(X: Array, kernel: Kernel, units: Units, spreads: Array, penalty: Penalty) -> float:
    """The weight whose threshold, ``lambda_E`` over the curvature, is 5% of the data's spread."""
    some = units.to_engine(X[: start.DISTANCE_SAMPLES])
    curvature = float(np.median(kernel.slope(kernel.self_argument(some))))
    if isinstance(penalty, L2):
        return RELATIVE_RIDGE * curvature
    threshold = RELATIVE_THRESHOLD * float(np.sqrt(np.mean(spreads**2)))
    if isinstance(penalty, L21):
        threshold *= X.shape[1] ** 0.5
    return threshold * curvature


def first_dictionary(
    X: Array, init: Any, units: Units, spreads: Array, n_atoms: int, rng: np.random.RandomState
) -> Array:
    """The parameter `init` as atoms in the engine's units."""
    if isinstance(init, str):
        if init == "random":
            return start.random_dictionary(X, units, spreads, n_atoms, rng)
        atoms = X[rng.choice(len(X), n_atoms, replace=False)]
    else:
        atoms = check_array(init, dtype=X.dtype, input_name="init")
        if atoms.shape != (n_atoms, X.shape[1]):
            raise ValueError(
                f"init has shape {atoms.shape}, but (n_components, n_features) is "
                f"{(n_atoms, X.shape[1])}."
            )
    return units.to_engine(atoms).astype(np.float64)
