"""Values from which parameters are chosen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# Number of atoms: the paper's, by data set.
ATOMS = {"coil20": 256, "yale_b": 256, "ar": 512, "coil100": 768, "mocap_01_09": 62, "mocap_56_06": 62}
LINEAR_ATOMS = {
    "coil20": 196,
    "yale_b": 196,
    "ar": 256,
    "coil100": 512,
    "mocap_01_09": 31,
    "mocap_56_06": 31,
}
NEIGHBOURS = {"coil20": 15, "ar": 15, "yale_b": 5, "coil100": 5}
# Noise of images: lambda_E sigma^2, in standard deviations of the data.
THRESHOLDS = (0.0125, 0.018, 0.025, 0.035, 0.05, 0.07, 0.1, 0.14)
# Where the choice begins on images: the kernel's width, lambda_C and the threshold. Found by earlier
# searches, so that new ones are short.
FIRST = {
    "coil20": (1.0, 1e-2, 0.05),
    "coil100": (1.0, 1e-2, 0.025),
    "yale_b": (1.5, 1e-3, 0.05),
    "ar": (2.0, 1e-3, 0.05),
}
# Multiples of a weight that suits the data, where the paper has no grid.
POWERS = tuple(2.0**power for power in range(-4, 5))
# Kernel widths that occur in the paper, over the mean distance.
SCALES = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)


@dataclass(frozen=True)
class Candidates:
    """Values of a parameter, in order, and the one to begin with."""

    values: tuple[Any, ...]
    start: Any

    def __post_init__(self) -> None:
        if self.start not in self.values:
            raise ValueError(f"start={self.start!r} is not among {self.values}.")


Grid = dict[str, Candidates]


def choose(values: Iterable[Any], start: Any) -> Candidates:
    """Short for :class:`Candidates`."""
    return Candidates(tuple(values), start)
