"""What is chosen for the user where nothing is given; all of it follows the data's scale and shift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from rnlmf.engine import Units, start
from rnlmf.engine.source import Rows
from rnlmf.engine.start import DataSummary
from rnlmf.kernels import Kernel
from rnlmf.model_selection.grid_walk import Axis
from rnlmf.penalties import Penalty
from rnlmf.typing import Array

# An iteration costs the square of the number of atoms (a choice).
MAX_ATOMS = 256
# Threshold of sparse noise, in standard deviations of the data. On motion capture, images and synthetic
# data the best lies between 0.02 and 0.09.
RELATIVE_THRESHOLD = 0.05
# The same for dense noise, whose weight is a ratio and not a threshold.
RELATIVE_RIDGE = 0.1


@dataclass(frozen=True)
class Tuning:
    """The parameters that can be chosen by held-out entries; the threshold in standard deviations."""

    kernel_scale: float = 1.0
    threshold: float = RELATIVE_THRESHOLD
    code_weight: float = 1e-2


AXES = {
    "kernel_scale": Axis((0.5, 1.0, 2.0), 1, "distance"),
    "code_weight": Axis((1e-4, 1e-3, 1e-2, 1e-1), 2, "distance"),
    "threshold": Axis((0.0125, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6), 2, "missed"),
}


def search_axes(**wanted: bool) -> dict[str, Axis]:
    """The axes of the parameters that are wanted, the one that matters most first."""
    return {name: axis for name, axis in AXES.items() if wanted[name]}


def number_of_atoms(X: Rows, n_components: int | None) -> int:
    """As many as given; else six times the features, at most 256 and a fifth of the samples."""
    n, m = X.shape
    if n_components is None:
        return max(1, min(6 * m, MAX_ATOMS, n // 5))
    if n_components > n:
        raise ValueError(
            f"n_components={n_components} must not exceed n_samples={n}: take fewer atoms or more "
            "samples."
        )
    return int(n_components)


def noise_weight(
    X: Rows, kernel: Kernel, units: Units, spread: float, penalty: Penalty, threshold: float
) -> float:
    """The weight whose threshold, ``lambda_E`` over the curvature, is a multiple of the data's spread.

    Dense noise has no threshold: its weight is a ratio, which goes with the multiple. A threshold for
    whole samples is the square root of the number of features times that for entries.
    """
    # The curvature of a stationary kernel is the same everywhere.
    step = len(X) if kernel.stationary else -(-len(X) // start.DISTANCE_SAMPLES)
    some = X[::step]
    arguments = kernel.self_argument(np.nan_to_num(units.to_engine(some), nan=0.0))
    curvature = float(np.median(kernel.slope(arguments)))
    if penalty.degree == 2:
        return RELATIVE_RIDGE * threshold / RELATIVE_THRESHOLD * curvature
    size = X.shape[1] ** (0.0 if penalty.entrywise else 0.5)
    return threshold * size * spread / units.width * curvature


def first_dictionary(
    X: Rows, init: Any, units: Units, summary: DataSummary, n_atoms: int, rng: np.random.RandomState
) -> Array:
    """The parameter `init` as atoms in the engine's units."""
    if isinstance(init, str):
        if init == "random":
            return start.random_dictionary(summary, units, n_atoms, rng)
        atoms = X[rng.choice(len(X), n_atoms, replace=False)]
        atoms = np.where(np.isnan(atoms), summary.means.astype(X.dtype), atoms)
    else:
        atoms = check_array(init, dtype=X.dtype, input_name="init")
        if atoms.shape != (n_atoms, X.shape[1]):
            raise ValueError(
                f"init has shape {atoms.shape}, but (n_components, n_features) is "
                f"{(n_atoms, X.shape[1])}."
            )
    return units.to_engine(atoms).astype(np.float64)
