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
from rnlmf.opinions.folds import Folds
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


def bounded(Z: Array) -> Array:
    """Scaled cells as the dictionary takes them."""
    return np.clip(Z, -FARTHEST, FARTHEST)


@dataclass(frozen=True)
class DictionaryOpinion:
    """Models of scaled and bounded cells: of all samples, and without those of every fold.

    Without folds all are asked of the first.
    """

    whole: FittedModel
    without: tuple[FittedModel, ...]
    folds: Folds | None
    n_threads: int = 1

    @classmethod
    def learn(
        cls, Z: Array, data: Array, whole: FittedModel, learner: Learner, tuning: Tuning
    ) -> DictionaryOpinion | None:
        """From scaled rows `Z`, and the same as the learner takes them; None of fewer than ten."""
        learner = learner.brief(MOST_ITERATIONS)
        count = next((folds for most, folds in FOLDS.items() if len(Z) <= most), MANY_ROWS_FOLDS)
        folds, own = Folds.of(Z, count)
        models = []
        for fold in range(count):
            rows = np.flatnonzero(own != fold)
            if len(rows) < FEWEST_ROWS:
                return None
            # Sums in single precision depend on the order.
            rows = rows[canonical_order(data[rows])[:: -(-len(rows) // MOST_ROWS)]]
            # From the same start whatever the seed: opinions are no lottery.
            some, learning = data[rows].astype(np.float64), _of_some(learner, len(rows))
            models.append(learning.learn(some, tuning, 0, single_precision=True)[0])
        return cls(whole, tuple(models), folds, learner.settings.n_threads)

    @classmethod
    def optimist(cls, whole: FittedModel, learner: Learner) -> DictionaryOpinion:
        """The one of all samples is asked about these: it knows them, and seems better than it is."""
        return cls(whole, (), None, learner.settings.n_threads)

    def __call__(self, Z: Array, hidden: Array) -> Array:
        """Predictions of all cells, none of which sees its cell; none of rows that were cut (NaN)."""
        if self.folds is None:
            return self._by(self.whole, Z, hidden)
        prediction, folds = np.empty(Z.shape), self.folds(Z)
        for fold, model in enumerate((*self.without, self.whole)):
            rows = folds == fold
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


def _of_some(learner: Learner, n_rows: int) -> Learner:
    """The same for `n_rows` rows: at most half as many atoms, then without a given start."""
    settings = learner.settings
    if settings.n_components is None or 2 * settings.n_components <= n_rows:
        return learner
    return Learner(replace(settings, n_components=n_rows // 2, init="random"))
