"""What is judged, in which order, and what is suspected before others than fellows and time are heard.

Rows that are noise as a whole are found first. Where the order of rows tells no errors, but the rows
as a table do, plainly, their order is not used: values that are repeated from row to row jump now and
then, and jumps look like errors of all sizes in time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rnlmf.opinions.learning import Settlement, settle, unmasked
from rnlmf.opinions.levels import with_levels
from rnlmf.opinions.material import Material
from rnlmf.opinions.opinion import Opinion
from rnlmf.opinions.rows import RowVerdict
from rnlmf.opinions.settling import in_stretches
from rnlmf.opinions.temporal import Sequence
from rnlmf.opinions.verdict import Dealing, Verdict
from rnlmf.typing import Array

# Columns with levels make others clearer, which may have levels, too: so many times.
LEVELS = 3


class Beginning(NamedTuple):
    """What is given but for rows of noise, these, what is suspected, and whether values are dealt."""

    given: Material
    rows: RowVerdict
    learned: Settlement
    dealing: Dealing

    @classmethod
    def of(
        cls,
        X: Array,
        sequence: Sequence | None,
        further: tuple[Opinion, ...],
        optimists: tuple[Opinion, ...],
        *,
        force_order: bool,
    ) -> Beginning:
        """With the order of a `sequence` if it is forced, or helps."""
        found = cls._with(Material.of(X, sequence, further, optimists, force_order=force_order))
        if not (force_order or found.told_in_order):
            table = cls._with(Material.of(X, None, further, optimists, force_order=False))
            found = table if table.told.plain else found
        for _ in range(LEVELS):
            strict = with_levels(found.given.columns, found.given.learned, found.told)
            if strict is found.given.columns:
                break
            given = found.given.with_columns(strict)
            found = cls(given, found.rows, *_settled(given, found.learned))
        return found

    @classmethod
    def _with(cls, given: Material) -> Beginning:
        rows = RowVerdict.learn(given.cells, given.missing)
        given = given.without(rows.bad(given.cells, given.missing))
        return cls(given, rows, *_settled(given))

    @property
    def told(self) -> Verdict:
        """What the opinions say of errors."""
        return _told(self.given, self.learned, self.dealing)

    @property
    def told_in_order(self) -> bool:
        """Whether rows in order tell errors, or a sensor that is stuck, which nobody else would.

        Of few rows that are alike fellows seem to know more than they do: nobody else is asked.
        """
        sequence = self.given.sequence
        if sequence is None or self.given.columns.optimism is not None:
            return True
        stuck = self.given.judged & (sequence.repeated(self.given.cells) > 0)
        return bool(np.any(self.learned.hidden & stuck)) or self.told.in_company


def _settled(given: Material, before: Settlement | None = None) -> tuple[Settlement, Dealing]:
    """What opinions learned here suspect, going on from `before`, and whether values are dealt."""
    some = given.judged, given.columns, given.sequence
    if before is None:
        learned = settle(given.cells, given.first, *some)
        if given.sequence is None:
            learned = unmasked(given.cells, learned, given.first, *some[:2])
    else:
        hidden = before.hidden | given.columns.absurd(given.cells)
        learned = settle(given.cells, hidden, *some, most_stages=0)._replace(stages=before.stages)
    dealing = _told(given, learned, Dealing.BY_COLUMN).dealing
    if dealing is Dealing.TOGETHER and in_stretches(learned.hidden, given.sequence):
        dealing = Dealing.NOT
    if not dealing:
        return learned, dealing
    again = settle(given.cells, learned.hidden, *some, dealing=dealing, most_stages=0)
    # What is dealt must still look so when it is hidden.
    dealing = _told(given, again, dealing).dealing
    return again._replace(stages=learned.stages) if dealing else learned, dealing


def _told(given: Material, learned: Settlement, dealing: Dealing) -> Verdict:
    said = learned.witnesses(given.cells, given.judged, given.sequence)
    return Verdict.learn(given.cells, given.judged, said, dealing=dealing)
