"""Data of the paper's experiments, and its ways of spoiling them."""

from rnlmf.datasets.corruption import corrupt_entries, corrupt_samples, occlude, salt_and_pepper
from rnlmf.datasets.files import load_cmu_mocap, load_coil20, load_extended_yale_b, resize_images
from rnlmf.datasets.synthetic import make_polynomial_manifolds

__all__ = [
    "corrupt_entries",
    "corrupt_samples",
    "load_cmu_mocap",
    "load_coil20",
    "load_extended_yale_b",
    "make_polynomial_manifolds",
    "occlude",
    "resize_images",
    "salt_and_pepper",
]
