"""Right data: tables, sequences, motion capture, images and a synthetic set."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import benchmarks.cases as cases
from benchmarks.unseen import packaged
from rnlmf import datasets
from rnlmf.typing import Array

assert cases.data_present(), "RNLMF_DATA must name the folder with the data."

TABLES = ("abalone", "california_housing", "dry_bean", "image_segmentation", "magic", "nir_soil")
SEQUENCES = ("daphnet_gait", "ecg_ptb_s0010", "imu_fusion", "occupancy", "robot_wall_sonar24")
MOTION = ("mocap_01_09", "mocap_56_06")
IMAGES = ("coil20", "coil100", "yale_b", "mnist", "digits")
SYNTHETIC = ("synthetic",)
KINDS: dict[str, tuple[str, ...]] = {
    "table": TABLES,
    "sequence": SEQUENCES,
    "motion": MOTION,
    "image": IMAGES,
    "synthetic": SYNTHETIC,
}
# Sets of other packages take part where they have been fetched.
PACKAGED = os.environ.get("RNLMF_PACKAGED")
if PACKAGED:
    KINDS["table"] += tuple(packaged.TABLES)
    KINDS["sequence"] += tuple(packaged.SEQUENCES)
    KINDS["image"] += tuple(packaged.IMAGES)
KIND = {name: kind for kind, names in KINDS.items() for name in names}
# Constants of the library were chosen with the other sets in view; these only report.
REPORT = {"california_housing", "magic", "robot_wall_sonar24", "mocap_56_06", "coil100", "mnist"}
REPORT |= {*packaged.TABLES, *packaged.SEQUENCES, *packaged.IMAGES} - packaged.DEVELOPMENT
MOST_ROWS, MOST_STEPS = 3000, 4000


def _file(*parts: str, folder: str | None = None) -> Array:
    path = Path(folder or os.environ["RNLMF_DATA"]).joinpath(*parts)
    return np.load(path, allow_pickle=False)["X"].astype(float)


def _images(load: Callable[[], Array]) -> Array:
    X = np.asarray(load(), dtype=float)
    return X[:: -(-len(X) // 1500)] / X.max()


LOADERS: dict[str, Callable[[], Array]] = {
    "coil20": lambda: _images(lambda: datasets.load_coil20().data),
    "coil100": lambda: _images(lambda: datasets.load_coil100().data),
    "yale_b": lambda: _images(lambda: datasets.load_extended_yale_b().data),
    "mnist": lambda: _images(lambda: _file("mnist_test10k_28x28.npz").reshape(10_000, -1)),
    "digits": lambda: load_digits().data / 16.0,
    "synthetic": lambda: datasets.make_polynomial_manifolds(3, random_state=0)[0],
}


def load(name: str) -> Array:
    """A set, in order where it has one; at most a few thousand rows, no constant column."""
    kind = KIND[name]
    if name in LOADERS:
        return np.ascontiguousarray(LOADERS[name]())
    if kind == "motion":
        X = _file(f"{name}.npz")
    elif name in packaged.TABLES or name in packaged.SEQUENCES or name in packaged.IMAGES:
        X = _file(f"{name}.npz", folder=PACKAGED)
    else:
        X = _file("real", f"{kind}_{name}.npz")
    if kind == "sequence":
        X = X[:MOST_STEPS]
    elif kind == "table":
        X = some_rows(X, MOST_ROWS)
    return np.ascontiguousarray(X[:, X.std(axis=0) > 1e-9 * X.std()])


def some_rows(X: Array, count: int) -> Array:
    """Rows drawn at random, in the order they had."""
    return X[np.sort(np.random.default_rng(0).permutation(len(X))[:count])]
