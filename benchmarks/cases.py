"""Noisy data with their truth, at the settings that the paper has for them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rnlmf import RNLMF, datasets
from rnlmf.metrics import relative_rmse

Array = npt.NDArray[Any]

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"
if "RNLMF_DATA" not in os.environ and SHARED_DATA.is_dir():
    os.environ["RNLMF_DATA"] = str(SHARED_DATA)


def data_present() -> bool:
    """Whether there is a folder with the real data."""
    return "RNLMF_DATA" in os.environ


@dataclass(frozen=True)
class Case:
    """Truth, noisy data, and the paper's parameters."""

    name: str
    seed: int
    truth: Array
    noisy: Array
    parameters: dict[str, Any]

    def model(self, **changes: Any) -> RNLMF:
        return RNLMF(**{**self.parameters, "random_state": self.seed, **changes})

    def error(self, recovered: Array) -> float:
        """Relative RMSE in per cent."""
        return 100 * relative_rmse(self.truth, recovered)


def motion_capture(subject: int, trial: int, density: float, seed: int) -> Case:
    X = datasets.load_cmu_mocap(subject, trial).data
    noisy = datasets.corrupt_entries(X, density, random_state=seed)
    parameters = {"n_components": 62, "kernel_scale": 0.5, "noise_weight": 2e-5}
    name = f"motion capture {subject:02d}_{trial:02d}, rho {density}"
    return Case(name, seed, X, noisy.astype(np.float32), parameters)


def coil20(seed: int) -> Case:
    X = datasets.load_coil20().data
    noisy = datasets.salt_and_pepper(X, random_state=seed)
    parameters = {"n_components": 256, "kernel_scale": 1.0, "noise_weight": 5e-4}
    return Case("COIL-20, salt and pepper", seed, X, noisy, parameters)


def synthetic(seed: int) -> Case:
    X, _ = datasets.make_polynomial_manifolds(3, random_state=seed)
    noisy = datasets.corrupt_entries(X, 0.3, random_state=seed)
    parameters = {
        "n_components": 180,
        "kernel_scale": 1.0,
        "code_weight": 1e-3,
        "noise_weight": 1e-4,
    }
    return Case("synthetic, k 3, rho 0.3", seed, X, noisy.astype(np.float32), parameters)


def all_cases(seed: int) -> Iterator[Case]:
    """The four sets; those whose data are absent are left out."""
    yield synthetic(seed)
    if data_present():
        yield motion_capture(1, 9, 0.3, seed)
        yield motion_capture(56, 6, 0.3, seed)
        yield coil20(seed)
