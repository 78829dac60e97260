"""What a cell should be by the dictionary: the paper's Algorithm 2 with the cell missing.

Columns are asked about in a few groups; while a group is asked about, all of its cells are missing.
That is not enough to be independent of them: with few samples an atom sits on a sample, and knows its
errors. So there are several dictionaries, each learned (Algorithm 1) from all noisy samples but those
of one fold, and asked about these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rnlmf.engine.batches import canonical_order
from rnlmf.engine.corruption import AdaptationSchedule
from rnlmf.engine.encoding import Pace
from rnlmf.fitting.defaults import Tuning
from rnlmf.fitting.learner import Learner
from rnlmf.fitting.model import FittedModel
from rnlmf.opinions.similar import column_groups
from rnlmf.typing import Array

# No scaled cell is farther than so many spreads: none rules the distances.
FARTHEST = 4.0
# A prediction need not be more exact than the dictionary is.
PACE = Pace(40, 3e-3, fills=(0, 8), schedule=AdaptationSchedule(first=15, every=3, least=2))
# Nor is a dictionary that is only asked better after more iterations.
MOST_ITERATIONS = 100
# Rows that are asked about at a time.
CHUNK_ROWS = 1 << 14
# Of fewer samples nothing is learned; more do not make a dictionary better that is only asked.
FEWEST_ROWS, MOST_ROWS = 10, 10_000
# Folds by the number of samples: few cannot spare a quarter, of many a half is as good as the whole.
FOLDS = {500: 8, 5000: 4}
MANY_ROWS_FOLDS = 2
# Cells are told from each other by so many steps in a spread.
STEPS_PER_SPREAD = 1024.0


def bounded(Z: Array) -> Array:
    """Scaled cells as the dictionary takes them."""
    return np.clip(Z, -FARTHEST, FARTHEST)


def row_keys(Z: Array) -> Array:
    """A number by which a row is known: the least of its cells' hashes (Broder 1997).

    It is the same wherever the row stands, and nearly always also when a few of its cells are changed.
    """
    # Rounding, after a change of units, say, must not make another row of it.
    cells: Array = np.rint(np.nan_to_num(Z) * STEPS_PER_SPREAD).astype(np.int64).view(np.uint64)
    # Steele, Lea and Flood 2014: a finaliser that mixes all bits.
    mixed: Array = cells + np.arange(1, Z.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    keys: Array = np.where(np.isnan(Z), np.uint64(2**64 - 1), mixed).min(axis=1)
    return keys


@dataclass(frozen=True)
class DictionaryOpinion:
    """Models of scaled and bounded cells: of all samples, and without those of every fold.

    Samples that were learned from are known by their keys, in order; a fold has those of one remainder.
    """

    whole: FittedModel
    without: tuple[FittedModel, ...]
    known: Array
    n_threads: int = 1

    @classmethod
    def learn(
        cls, Z: Array, data: Array, whole: FittedModel, learner: Learner, tuning: Tuning
    ) -> DictionaryOpinion | None:
        """From scaled rows `Z`, and the same as the learner takes them; None of fewer than ten."""
        learner = learner.brief(MOST_ITERATIONS)
        count = next((folds for most, folds in FOLDS.items() if len(Z) <= most), MANY_ROWS_FOLDS)
        keys, models = row_keys(Z), []
        for fold in range(count):
            rows = np.flatnonzero(_fold(keys, count) != fold)
            if len(rows) < FEWEST_ROWS:
                return None
            # Sums in single precision depend on the order.
            rows = rows[canonical_order(data[rows])[:: -(-len(rows) // MOST_ROWS)]]
            # From the same start whatever the seed: opinions are no lottery.
            some, learning = data[rows].astype(np.float64), _of_some(learner, len(rows))
            models.append(learning.learn(some, tuning, 0, single_precision=True)[0])
        return cls(whole, tuple(models), np.unique(keys).view(np.int64), learner.settings.n_threads)

    @classmethod
    def optimist(cls, whole: FittedModel, learner: Learner) -> DictionaryOpinion:
        """The one of all samples is asked about these: it knows them, and seems better than it is."""
        return cls(whole, (), np.zeros(0, dtype=np.int64), learner.settings.n_threads)

    def __call__(self, Z: Array, hidden: Array) -> Array:
        """Predictions of all cells, none of which sees its cell; none of rows that were cut (NaN)."""
        if not self.without:
            return self._by(self.whole, Z, hidden)
        prediction, keys = np.empty(Z.shape), row_keys(Z)
        known = self.known.view(np.uint64)
        new = known[np.minimum(np.searchsorted(known, keys), len(known) - 1)] != keys
        folds = _fold(keys, len(self.without))
        asked = [(self.whole, new), *((m, ~new & (folds == k)) for k, m in enumerate(self.without))]
        for model, rows in asked:
            if rows.any():
                prediction[rows] = self._by(model, Z[rows], hidden[rows])
        prediction[np.any(~hidden & (np.abs(Z) > FARTHEST), axis=1)] = np.nan
        return prediction

    def by_all(self, Z: Array, hidden: Array) -> list[Array]:
        """What each of the dictionaries predicts, whoever has learned from these rows."""
        return [self._by(model, Z, hidden) for model in (self.whole, *self.without)]

    def _by(self, model: FittedModel, Z: Array, hidden: Array) -> Array:
        groups = column_groups(Z.shape[1])
        asked = np.unique(groups)[:, None] == groups
        prediction = np.empty(Z.shape)
        for first in range(0, len(Z), CHUNK_ROWS):
            part = slice(first, first + CHUNK_ROWS)
            V = np.where(hidden[part], np.nan, bounded(Z[part])).astype(np.float32)
            # All groups together: what a step costs apart from its rows is paid once.
            without = np.where(asked[:, None], np.float32(np.nan), V)
            encoding = model.encode(
                without.reshape(-1, Z.shape[1]),
                alone=True,
                with_codes=False,
                pace=PACE,
                n_threads=self.n_threads,
            )
            assert encoding.filled is not None
            filled = model.units.to_data(encoding.filled).reshape(without.shape)
            for group, said in zip(asked, filled, strict=True):
                prediction[part, group] = said[:, group]
        return prediction


def _fold(keys: Array, count: int) -> Array:
    fold: Array = (keys % np.uint64(count)).astype(np.intp)
    return fold


def _of_some(learner: Learner, n_rows: int) -> Learner:
    """The same for `n_rows` rows: at most half as many atoms, then without a given start."""
    settings = learner.settings
    if settings.n_components is None or 2 * settings.n_components <= n_rows:
        return learner
    return Learner(replace(settings, n_components=n_rows // 2, init="random"))
