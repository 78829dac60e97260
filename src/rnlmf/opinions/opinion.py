"""What an opinion is, and two that stand for another: it is asked once, or learned when it is asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from rnlmf.typing import Array

# From cells and which of them are hidden to a prediction of every cell that does not see it, or NaN.
Opinion = Callable[[Array, Array], Array]

# Rows of which it is remembered what was said.
REMEMBERED = 100_000


class Remembered:
    """An opinion that is asked about the same rows again and again while others are learned.

    Parameters
    ----------
    opinion : callable
        What is asked about rows that are new, or have other cells hidden.
    """

    def __init__(self, opinion: Opinion) -> None:
        self.opinion = opinion
        self._said: dict[bytes, Array] = {}

    def __call__(self, Z: Array, hidden: Array) -> Array:
        """What it says now, or has said before."""
        keys = [z.tobytes() + h.tobytes() for z, h in zip(Z, hidden, strict=True)]
        new = np.array([key not in self._said for key in keys], dtype=bool)
        if len(self._said) + new.sum() > REMEMBERED:
            self._said.clear()
            new[:] = True
        prediction = np.empty(Z.shape)
        if new.any():
            prediction[new] = self.opinion(Z[new], hidden[new])
        for i, key in enumerate(keys):
            if new[i]:
                self._said[key] = prediction[i].copy()
            else:
                prediction[i] = self._said[key]
        return prediction


class WhenAsked:
    """An opinion that is learned when it is asked for the first time; it may turn out to have none.

    Parameters
    ----------
    learn : callable
        Without arguments; it returns the opinion, or None.
    """

    def __init__(self, learn: Callable[[], Opinion | None]) -> None:
        self._learn = learn

    @cached_property
    def learned(self) -> Opinion | None:
        """Once."""
        return self._learn()

    def __call__(self, Z: Array, hidden: Array) -> Array:
        """What it says."""
        return np.full(Z.shape, np.nan) if self.learned is None else self.learned(Z, hidden)
