"""What a fit leaves behind: all that new samples need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rnlmf.engine import Corruption, Encoding, Problem, Samples, Units, encode
from rnlmf.fitting.neighbours import Neighbours

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class FittedModel:
    """What a fit leaves behind for new samples, in the engine's units."""

    units: Units
    problem: Problem
    atoms: Array
    code_metric: Array | None
    corruption: Corruption | None
    neighbours: Neighbours | None = None

    def encode(self, X: Array, *, alone: bool = False, **options: Any) -> Encoding:
        """Algorithm 2; with the neighbours' opinion on the noise, unless the model is to be `alone`."""
        neighbours = None if alone else self.neighbours
        return encode(
            Samples.of(X, self.units),
            self.atoms,
            self.problem,
            code_metric=self.code_metric,
            corruption=self.corruption,
            opinion=None if neighbours is None else neighbours.mix,
            **options,
        )

    def denoised(self, X: Array, encoding: Encoding) -> Array:
        """``X - E``, over the noise of `encoding`: at a million samples a copy less matters."""
        encoding.noise *= self.units.width
        denoised = np.subtract(X, encoding.noise, out=encoding.noise)
        if encoding.filled is not None:
            missing = np.isnan(X)
            denoised[missing] = self.units.to_data(encoding.filled)[missing]
        return denoised
