"""The state of samples from nothing but the samples: row steps at a fixed dictionary.

A sample's state depends on the sample and the model alone, so it can be made anew whenever it is not
there: for a batch of a stream, for a shard whose worker was lost, or in every pass over data whose
state would fit nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rnlmf.engine.corruption import Corruption
from rnlmf.engine.encoding import ClosedSteps, Pace, solve
from rnlmf.engine.problem import Problem
from rnlmf.engine.samples import Samples, block_rows, blocks
from rnlmf.engine.state import SampleState
from rnlmf.typing import Array

# A sample that moves less, in units of the kernel's width, is left where it is.
SETTLED = 1e-4


@dataclass(frozen=True)
class Settling:
    """A model at which samples settle, from ``Y = X`` and by at most `steps` accelerated steps.

    The noise penalty is adapted to the `corruption`, which gives every sample its threshold half-way.
    """

    problem: Problem
    dictionary: Array
    corruption: Corruption | None
    steps: int

    @cached_property
    def encoder(self) -> Array:
        """Not sent with the model, for it is seldom needed where that goes."""
        return self.problem.encoder(self.problem.atom_kernel(self.dictionary))

    def settle(self, samples: Samples, state: SampleState) -> None:
        """Set the `state` of `samples`, at rest."""
        D, m = self.dictionary, samples.shape[1]
        rows = block_rows(m, len(D), samples.dtype.itemsize)
        closed = ClosedSteps(samples, self.problem, D, self.encoder, rows)
        for span in blocks(slice(0, len(state.Y)), rows):
            found, _ = solve(closed, span, self.corruption, Pace.usual(self.steps, SETTLED))
            state.Y[span] = found.samples.Y
            state.threshold_scale[span] = found.samples.threshold_scale
        state.rest()
