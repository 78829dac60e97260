"""What a fit leaves behind: all that new samples need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rnlmf.engine import Corruption, Encoding, Problem, Samples, Units, encode
from rnlmf.fitting.neighbours import Neighbours
from rnlmf.typing import Array


@dataclass(frozen=True)
class FittedModel:
    """What a fit leaves behind for new samples, in the engine's units.

    A sample's treatment takes at most `max_iter` steps, and ends when one is shorter than `tol`.
    """

    units: Units
    problem: Problem
    atoms: Array
    code_metric: Array | None
    corruption: Corruption | None
    neighbours: Neighbours | None = None
    max_iter: int = 300
    tol: float = 3e-4

    @cached_property
    def _encoders(self) -> tuple[Array, Array]:
        """Once for all rows that come one by one."""
        return self.problem.encoders(self.atoms, self.code_metric)

    def encode(self, X: Array, *, alone: bool = False, **options: Any) -> Encoding:
        """Algorithm 2; with the neighbours' opinion on the noise, unless the model is to be `alone`.

        NaN is a missing value; ``filled`` of the result has predictions there, in the engine's units.
        The options are those of :func:`rnlmf.engine.encode`.
        """
        neighbours = None if alone else self.neighbours
        return encode(
            Samples.of(X, self.units),
            self.atoms,
            self.problem,
            known=self._encoders,
            corruption=self.corruption,
            opinion=None if neighbours is None else neighbours.mix,
            **{"max_iter": self.max_iter, "tol": self.tol, **options},
        )

    def denoised(self, X: Array, encoding: Encoding) -> Array:
        """``X - E``, over the noise of `encoding`: at a million samples a copy less matters."""
        encoding.noise *= self.units.width
        denoised = np.subtract(X, encoding.noise, out=encoding.noise)
        if encoding.filled is not None:
            missing = np.isnan(X)
            denoised[missing] = self.units.to_data(encoding.filled)[missing]
        return denoised
