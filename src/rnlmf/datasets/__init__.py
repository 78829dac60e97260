"""Data of the paper's experiments, and its ways of spoiling them."""

from rnlmf.datasets.corruption import corrupt_entries, corrupt_samples, occlude, salt_and_pepper
from rnlmf.datasets.fetch import fetch
from rnlmf.datasets.files import data_folder
from rnlmf.datasets.images import (
    load_ar,
    load_coil20,
    load_coil100,
    load_extended_yale_b,
    resize_images,
)
from rnlmf.datasets.mocap import load_cmu_mocap
from rnlmf.datasets.motion import MotionCapture, read_amc, write_amc
from rnlmf.datasets.synthetic import make_polynomial_manifolds

__all__ = [
    "MotionCapture",
    "corrupt_entries",
    "corrupt_samples",
    "data_folder",
    "fetch",
    "load_ar",
    "load_cmu_mocap",
    "load_coil20",
    "load_coil100",
    "load_extended_yale_b",
    "make_polynomial_manifolds",
    "occlude",
    "read_amc",
    "resize_images",
    "salt_and_pepper",
    "write_amc",
]
