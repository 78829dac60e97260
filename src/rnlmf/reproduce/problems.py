"""The noisy data of the experiments: a data set and a way to spoil it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rnlmf import datasets
from rnlmf.kernels import mean_distance
from rnlmf.typing import Array

LOADERS: dict[str, Callable[[], Any]] = {
    "coil20": datasets.load_coil20,
    "coil100": datasets.load_coil100,
    "yale_b": datasets.load_extended_yale_b,
    "ar": datasets.load_ar,
    "mocap_01_09": functools.partial(datasets.load_cmu_mocap, 1, 9),
    "mocap_56_06": functools.partial(datasets.load_cmu_mocap, 56, 6),
}
IMAGES = ("coil20", "coil100", "yale_b", "ar")
# Samples that the mean distance is taken of.
DISTANCE_SAMPLES = 1000
MOCAP = ("mocap_01_09", "mocap_56_06")


@dataclass(frozen=True)
class PaperProblem:
    """A data set with noise.

    Attributes
    ----------
    data : str
        "synthetic" or one of the real sets.
    noise : str
        "none"; "entries" or "columns", Gaussian, on a fraction `rho` with `magnitude` times the data's
        standard deviation; "random", "occlusion" or "random+occlusion" of 30% of the images.
    rho, magnitude : float
        See above.
    manifolds : int
        ``k`` of the synthetic data.
    samples : int
        Samples on each of its manifolds.
    features : int
        Their dimension.
    """

    data: str
    noise: str = "none"
    rho: float = 0.0
    magnitude: float = 1.0
    manifolds: int = 3
    samples: int = 300
    features: int = 30

    @property
    def kind(self) -> str:
        """What the methods' grids depend on."""
        if self.data == "synthetic":
            return "synthetic"
        return "images" if self.data in IMAGES else "mocap"

    def available(self) -> bool:
        """Whether the data are there."""
        return self.data == "synthetic" or _available(self.data)

    def load(self, seed: int = 0) -> Instance:
        """Clean data, labels and shape of the images, with the noise of a seed."""
        if self.data == "synthetic":
            X, y = datasets.make_polynomial_manifolds(
                self.manifolds, self.samples, self.features, random_state=seed
            )
            return Instance(X, self._spoil(X, None, seed), y, None)
        data = _load(self.data)
        shape = data.get("image_shape")
        return Instance(data.data, self._spoil(data.data, shape, seed), data.get("target"), shape)

    def _spoil(self, X: Array, shape: tuple[int, int] | None, seed: int) -> Array:
        if self.noise == "none":
            return X.copy()
        if self.noise in ("entries", "columns"):
            spoil = datasets.corrupt_entries if self.noise == "entries" else datasets.corrupt_samples
            return spoil(X, self.rho, magnitude=self.magnitude, random_state=seed)
        noisy = X
        # The two kinds of noise hit images that are chosen apart, as in the authors' program.
        if "random" in self.noise:
            noisy = datasets.salt_and_pepper(noisy, random_state=seed)
        if "occlusion" in self.noise:
            assert shape is not None
            noisy = datasets.occlude(noisy, shape, random_state=seed + 1)
        return noisy


@dataclass(frozen=True)
class Instance:
    """One draw of a problem: samples are rows."""

    truth: Array
    noisy: Array
    labels: Array | None
    image_shape: tuple[int, int] | None


@functools.lru_cache(maxsize=2)
def _load(name: str) -> Any:
    return LOADERS[name]()


@functools.cache
def _available(name: str) -> bool:
    try:
        _load(name)
    except FileNotFoundError:
        return False
    return True


def relative_noise_weight(
    X: Array, threshold: float, kernel_scale: float, penalty: str = "l1"
) -> float:
    """``lambda_E`` of a threshold in standard deviations of the data."""
    some = X[:: max(1, len(X) // DISTANCE_SAMPLES)]
    width = kernel_scale * mean_distance(some)
    spread = float(X.std()) * (X.shape[1] ** 0.5 if penalty == "l21" else 1.0)
    return threshold * spread / width**2
