"""A shard: some samples with their state, that answer a model with the sums it needs of them."""

from __future__ import annotations

import numpy as np

from rnlmf.engine.arithmetic import PassModel, ThreadArithmetic
from rnlmf.engine.corruption import Corruption, NoiseSums, ShareSums
from rnlmf.engine.dictionary import Statistics
from rnlmf.engine.missing import fill_from_observed
from rnlmf.engine.samples import Samples, blocks
from rnlmf.engine.settle import Settling
from rnlmf.engine.state import SampleState
from rnlmf.typing import Array


class Shard:
    """Samples and what belongs to them alone.

    Everything that goes in is the model, and everything that comes out are sums, so a shard may be in
    another thread, process or machine.

    Parameters
    ----------
    samples : Samples
        As they were given.
    state : SampleState
        Changed in place.
    arithmetic : ThreadArithmetic
        What works on a block.
    rows : int
        Samples of a block, at most.
    """

    def __init__(
        self, samples: Samples, state: SampleState, arithmetic: ThreadArithmetic, rows: int
    ) -> None:
        self.samples = samples
        self.state = state
        self.arithmetic = arithmetic
        self.rows = rows
        self.blocks = blocks(slice(0, samples.shape[0]), rows)
        self.counts = np.empty(0)

    def reset(self) -> None:
        """``Y = X``, at rest."""
        for rows in self.blocks:
            self.samples.load_filled(rows, self.state.Y[rows])
        self.state.rest()
        self.state.let_go()

    def settle(self, model: Settling) -> None:
        """A state from the samples alone, by steps at a fixed dictionary."""
        model.settle(self.samples, self.state)
        self.state.let_go()

    def made_anew(self, model: Settling) -> Shard:
        """The same samples with a state that is not kept."""
        state = SampleState.at(np.empty(self.samples.shape, self.samples.dtype))
        shard = Shard(self.samples, state, self.arithmetic, self.rows)
        shard.settle(model)
        return shard

    def rest(self) -> None:
        """No velocity."""
        self.state.rest()

    def step(self, model: PassModel) -> Statistics:
        """One pass over the samples: they move, and the sums of where they were are returned."""
        arithmetic = self.arithmetic.here
        d, m = len(model.lifted_atoms), self.samples.shape[1]
        weighted_samples = np.zeros((d, m + 2), self.samples.dtype)
        code_gram = np.zeros((d, d), self.samples.dtype)
        loss = noise = 0.0
        for rows in self.blocks:
            moved = arithmetic.pass_block(self.samples.X[rows], self.state[rows], model)
            weighted_samples += arithmetic.weighted_samples
            code_gram += arithmetic.code_gram
            loss += moved[0]
            noise += moved[1]
        self.state.let_go()
        return Statistics(weighted_samples[:, :m], weighted_samples[:, m], code_gram, loss, noise)

    def fill(self, D: Array) -> None:
        """Missing values from what was observed, in the samples' precision."""
        for rows in self.blocks:
            fill_from_observed(self.state.Y[rows], np.isnan(self.samples.X[rows]), D)
        self.state.rest()
        self.state.let_go()

    def noise_sums(self) -> NoiseSums:
        """Of the noise found so far."""
        total = NoiseSums()
        for rows in self.blocks:
            total = total.plus(
                self.arithmetic.here.noise_sums(self.samples.X[rows], self.state.Y[rows])
            )
        self.state.let_go()
        return total

    def share_sums(self, size: float) -> ShareSums:
        """Of the shares of corrupted entries; the samples' counts are kept until they are used."""
        self.counts = np.empty(len(self.state.Y))
        total = ShareSums()
        for rows in self.blocks:
            X = self.samples.X[rows]
            self.counts[rows] = self.arithmetic.here.noise_counts(X, self.state.Y[rows], size)
            total = total.plus(ShareSums.of(self.counts[rows], self.samples.observed(rows)))
        self.state.let_go()
        return total

    def scale_thresholds(self, corruption: Corruption) -> None:
        """Give every sample the threshold that its count asks for, counted anew if need be."""
        if len(self.counts) == 0:
            self.share_sums(corruption.size)
        for rows in self.blocks:
            scales = corruption.threshold_scales(self.counts[rows], self.samples.observed(rows))
            self.state.threshold_scale[rows] = scales
        self.counts = np.empty(0)
