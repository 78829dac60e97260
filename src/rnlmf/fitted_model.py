"""What a fit leaves behind: all that new samples need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.impute import KNNImputer

from rnlmf.engine import Corruption, Encoding, Problem, Samples, Units, encode

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class FittedModel:
    """What a fit leaves behind for new samples, in the engine's units.

    The `reference`, in the data's own, is there if values were missing: denoised training samples, with
    their gaps. An entry that nothing pulls takes any value that the dictionary cannot tell from the
    right one, some tenths of ``sigma``; the nearest samples know it better.
    """

    units: Units
    problem: Problem
    atoms: Array
    code_metric: Array | None
    corruption: Corruption | None
    reference: Array | None = None

    def encode(self, X: Array, **options: Any) -> Encoding:
        """Algorithm 2."""
        return encode(
            Samples.of(X, self.units),
            self.atoms,
            self.problem,
            code_metric=self.code_metric,
            corruption=self.corruption,
            **options,
        )

    def denoised(self, X: Array, encoding: Encoding) -> Array:
        """``X - E``, over the noise of `encoding`: at a million samples a copy less matters."""
        encoding.noise *= self.units.width
        denoised = np.subtract(X, encoding.noise, out=encoding.noise)
        if encoding.filled is not None:
            missing = np.isnan(X)
            if self.reference is None:
                filled = self.units.to_data(encoding.filled)
            else:
                neighbours = KNNImputer(weights="distance", keep_empty_features=True)
                filled = neighbours.fit(self.reference).transform(denoised)
            denoised[missing] = filled[missing]
        return denoised
