"""What is to be judged: cells in units that can be compared, and which opinions are learned from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rnlmf.opinions.columns import Columns
from rnlmf.opinions.learning import learned_rows
from rnlmf.opinions.opinion import Opinion
from rnlmf.opinions.optimism import with_optimism
from rnlmf.opinions.returning import without_errors
from rnlmf.opinions.settling import first_suspicion, judgeable, order_helps
from rnlmf.opinions.temporal import Sequence
from rnlmf.typing import Array


@dataclass(frozen=True)
class Material:
    """Cells as they came, what is known of their columns, the order of rows, if it is used, and the
    `rows` that are learned from."""

    X: Array
    columns: Columns
    whole: Sequence | None
    rows: Array

    @classmethod
    def of(
        cls,
        X: Array,
        sequence: Sequence | None,
        further: tuple[Opinion, ...],
        optimists: tuple[Opinion, ...] = (),
        *,
        force_order: bool,
    ) -> Material:
        """With the order of a `sequence` if it is forced, or helps; and which values are states."""
        columns = Columns.of(X)
        Z = columns.scaled(X)
        material = cls(X, columns, sequence, learned_rows(Z, sequence))
        if not (force_order or material._order_helps(further, optimists)):
            material = cls(X, columns, None, learned_rows(Z, None))
        if material.whole is not None:
            material = material.with_columns(material.columns.with_exceptions(material.learned))
        states = without_errors(material.columns, material.learned, material.cells, material.sequence)
        material = material.with_columns(states)
        used = material.judged & ~material.first
        return material.with_columns(
            with_optimism(material.columns, material.cells, material.first, used, material.sequence)
        )

    def with_columns(self, columns: Columns) -> Material:
        """The same cells in the light of what else is known of their columns."""
        return replace(self, columns=columns)

    def without(self, bad: Array) -> Material:
        """The same without some of the rows that are learned from; in a sequence they are gaps."""
        if not bad.any():
            return self
        if self.whole is None:
            return replace(self, rows=self.rows[~bad])
        X = self.X.copy()
        X[self.rows[bad]] = np.nan
        return replace(self, X=X)

    @cached_property
    def learned(self) -> Array:
        """Cells that are learned from, as they came."""
        return self.X[self.rows]

    @cached_property
    def cells(self) -> Array:
        """The same, in spreads of their columns."""
        return self.columns.scaled(self.learned)

    @property
    def missing(self) -> Array:
        """Those that say nothing."""
        return np.isnan(self.cells) | self.columns.absurd(self.cells)

    @cached_property
    def sequence(self) -> Sequence | None:
        """Their order."""
        return None if self.whole is None else self.whole.part(self.rows)

    @cached_property
    def judged(self) -> Array:
        """Those of them that can be judged."""
        return judgeable(self.columns, self.learned, self.cells, self.sequence)

    @cached_property
    def first(self) -> Array:
        """Those that are suspicious before anything is learned."""
        return first_suspicion(self.columns, self.learned, self.cells, self.sequence)

    def _order_helps(self, further: tuple[Opinion, ...], optimists: tuple[Opinion, ...]) -> bool:
        """Beside fellows that say more than they know it helps all the more beside others."""
        if self.sequence is None:
            return False
        some = self.cells, self.learned, self.judged, self.columns, self.sequence
        if not order_helps(*some, ()):
            return False
        return bool(optimists and order_helps(*some, optimists)) or order_helps(*some, further)
