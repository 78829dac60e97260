"""What was found of rows while learning, for when they are met again."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from rnlmf.typing import Array


@dataclass(frozen=True)
class Settled:
    """What was hidden, in the end, of every row that was learned from: rows are known by a digest."""

    digests: Array
    hidden: Array

    @classmethod
    def of(cls, X: Array, hidden: Array) -> Settled:
        digests, first = np.unique(_digests(X), return_index=True)
        return cls(digests, np.packbits(hidden[first], axis=1))

    def recalled(self, X: Array, hidden: Array) -> tuple[Array, Array]:
        """The same of rows of `X` that are known, and `hidden` of others; and which are known."""
        digests = _digests(X)
        place = np.minimum(np.searchsorted(self.digests, digests), len(self.digests) - 1)
        known = self.digests[place] == digests
        bits = np.unpackbits(self.hidden[place], axis=1, count=X.shape[1])
        return np.where(known[:, None], bits.astype(bool), hidden), known


def _digests(X: Array) -> Array:
    rows = np.ascontiguousarray(X)
    return np.frombuffer(
        b"".join(blake2b(row.tobytes(), digest_size=8).digest() for row in rows), dtype=np.int64
    )
