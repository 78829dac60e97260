"""Data of the paper's experiments, and its ways of spoiling them."""

from rnlmf.datasets.corruption import corrupt_entries, corrupt_samples, occlude, salt_and_pepper
from rnlmf.datasets.files import load_cmu_mocap, load_coil20, load_extended_yale_b
from rnlmf.datasets.motion import Motion, read_amc, write_amc
from rnlmf.datasets.synthetic import make_polynomial_manifolds

__all__ = [
    "Motion",
    "corrupt_entries",
    "corrupt_samples",
    "load_cmu_mocap",
    "load_coil20",
    "load_extended_yale_b",
    "make_polynomial_manifolds",
    "occlude",
    "read_amc",
    "salt_and_pepper",
    "write_amc",
]
