"""Rows of a table of which nothing fits: noise, or another table's.

One such row spoils what others are predicted by, and its own cells are predicted badly all together, so
that no cell of it is strange: the row is. Two things tell it.

It is *hard*: with relations learned from the three quarters of the rows that are easiest, of the other
half of the table (a concentration step: Rousseeuw and Van Driessen 1999), and ``u_j`` the typical
residual of column ``j``,

    h_i = mean_j log(|z_ij - p_ij| / u_j + 0.1)

is large, and so is its mean over the better half of the row's cells: a single error, however far off,
does not make a row bad. Some rows are harder than others, and that is no error: those of a small group,
a long tail. But even these have columns that go together as elsewhere. With ``s_i`` the normal scores
of a row, and ``R`` the correlations of the columns without their diagonal, its *agreement*

    a_i = s_i' R s_i / |R|^2

is 1 on average for rows of the table and 0 for those whose cells have nothing to do with each other.
Several columns must go together for that; of two, one is wrong wherever they do not. A row of which
all that is usual holds is not bad, however hard it is: samples of another kind are far out as a whole.
So from the hardest row on, rows are bad as long as the sum of ``1/2 - a_i`` grows; they are believed
to be if their mean agreement is nearly zero, and below one half by more than chance makes it, and if
they are apart from the others: their mean hardness is farther from that of the others, in deviations of
both, than a tail of the normal distribution is from the rest of it. They must stay hard without the
cells that make them so, for an error makes all of its row hard that depends on it. Nor may they have
relations of their own, like rows of another kind: with ``s`` less its mean over the bad rows,

    mean over pairs i, k of [ (s_i's_k)^2 - sum_j s_ij^2 s_kj^2 ]

is what the squares of their own correlations add up to, without bias, and small beside ``|R|^2``.

In a table there is nothing to go by but the columns: what a bad row should be is their middle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, rankdata

from rnlmf.engine.batches import canonical_order
from rnlmf.opinions.column_verdict import MOST_WRONG
from rnlmf.opinions.densities import Witness
from rnlmf.opinions.linear import LinearOpinion
from rnlmf.opinions.mixing import logarithm, typical
from rnlmf.typing import Array

# With fewer columns that go together, or rows, nothing can be said: by the inverse of the mean share of
# what goes together that a column has, weighted by that share (as one counts parties).
FEWEST_COLUMNS, FEWEST_ROWS = 5, 100
# The share of the rows, the easiest, that relations are learned from, and how often they are chosen.
EASY, ROUNDS = 0.75, 4
# Fewer bad rows are a few odd ones.
FEWEST_BAD = 5
# What bad rows may agree at most, or disagree, on average, and by how many standard errors that is
# below one half: the number of rows is chosen to make it large.
MOST_AGREEMENT, ERRORS = 0.25, 3.0
# How many times as far apart they are as a tail: a choice. Rows of noise in many tables are 1.2 to 10
# times as far; of 130 tables without errors none has rows beyond 1.15 that do not agree.
APART = 1.2
# Rows that have more than this share of the usual relations, of their own, or vary by less than this
# share of the others' variance, are of another kind.
OWN, VARIED = 0.5, 0.25
# The better half of the cells of most bad rows is harder than that of this share of the others.
HARD = 0.9
# How many errors of a row, which makes others hard, are looked for.
MOST_CULPRITS = 3
# A row of which less than this share of the usual relations holds is at odds with the others. No score
# counts for more, be it ever so far out.
AT_ODDS, LARGEST_SCORE = 0.5, 3.0
# No row counts for more: half an agreement less, or two more, than none.
LEAST, MOST = -1.0, 2.0


@dataclass(frozen=True)
class RowVerdict:
    """Relations of the rows that are not bad, and from which hardness on rows are: if any.

    The better half of their cells must be hard as well, and their columns not go together as usual, by
    correlations without their diagonal.
    """

    relations: LinearOpinion | None = None
    unit: Array | None = None
    least: float = np.inf
    least_of_half: float = np.inf
    correlations: Array | None = None

    @classmethod
    def learn(cls, Z: Array, hidden: Array) -> RowVerdict:
        """From all rows of a table, in spreads of its columns; `hidden` cells say nothing."""
        if len(Z) < FEWEST_ROWS or Z.shape[1] < FEWEST_COLUMNS:
            return cls()
        hardness, easy = _concentrated(Z, hidden)
        scores = _Scores.of(Z, hidden, easy)
        if scores is None:
            return cls()
        others = np.ones(len(Z), dtype=bool)
        others[scores.at_odds(hardness)] = False
        relations = _relations(Z[others], hidden[others])
        residual = _residuals(relations, Z, hidden)
        unit = typical(residual, others[:, None] & ~hidden, np.zeros(Z.shape[1]))
        # By these relations, which all rows but the bad ones have made, rows are told once more.
        found = cls(relations, unit)
        hardness, better = found._hardness(Z, hidden)
        bad = scores.bad(hardness)
        if not len(bad):
            return cls()
        easier = np.delete(better, bad)
        if np.median(better[bad]) < np.quantile(easier, HARD):
            return cls()
        rest = found._without_worst(Z[bad], hidden[bad])
        if np.median(rest) < np.quantile(np.delete(hardness, bad), HARD):
            return cls()
        least = float(hardness[bad].min()), float(np.median(easier))
        return cls(relations, unit, *least, scores.correlations)

    def bad(self, Z: Array, hidden: Array) -> Array:
        """Rows that are noise."""
        if self.relations is None:
            return np.zeros(len(Z), dtype=bool)
        hardness, better = self._hardness(Z, hidden)
        hard = (hardness >= self.least) & (better >= self.least_of_half)
        hard[hard] = self._agreement(Z[hard], hidden[hard]) < AT_ODDS
        return hard

    def _agreement(self, Z: Array, hidden: Array) -> Array:
        """How far columns of rows go together as usual, no cell counting for more than it can."""
        assert self.relations is not None
        assert self.correlations is not None
        relative = np.where(hidden, 0.0, (Z - self.relations.mean) / self.relations.scale)
        return _agreement(np.clip(relative, -LARGEST_SCORE, LARGEST_SCORE), self.correlations)

    def _without_worst(self, Z: Array, hidden: Array) -> Array:
        """Hardness of rows without those cells, a third of them at most, that make them hard.

        A single error makes all cells of its row hard to predict that depend on it.
        """
        hidden = hidden.copy()
        hardness = self._hardness(Z, hidden)[0]
        for _ in range(min(Z.shape[1] // 3, MOST_CULPRITS)):
            least, culprit = hardness.copy(), np.full(len(Z), -1)
            for j in range(Z.shape[1]):
                without = hidden.copy()
                without[:, j] = True
                other = self._hardness(Z, without)[0]
                easier = other < least
                least[easier], culprit[easier] = other[easier], j
            rows = np.flatnonzero(culprit >= 0)
            hidden[rows, culprit[rows]] = True
            hardness = least
        return hardness

    def of_noise(self, witness: Witness, noise: Array) -> Witness:
        """What a witness says, but of rows that are `noise` what their columns usually are."""
        if self.relations is None:
            return witness
        usual = self.relations.mean, self.relations.scale
        said = zip((witness.prediction, witness.scale), usual, strict=True)
        return Witness(*(np.where(noise, own, other) for other, own in said))

    def _hardness(self, Z: Array, hidden: Array) -> tuple[Array, Array]:
        """Of rows, and of the better half of their cells."""
        assert self.relations is not None
        assert self.unit is not None
        residual = _residuals(self.relations, Z, hidden)
        better = _mean_logarithm(residual, hidden, self.unit, 0.5)
        return _mean_logarithm(residual, hidden, self.unit), better


def _relations(Z: Array, hidden: Array) -> LinearOpinion:
    return LinearOpinion.learn(Z, hidden, canonical_order(np.where(hidden, 0.0, Z)))


def _residuals(relations: LinearOpinion, Z: Array, hidden: Array) -> Array:
    """Zero where nothing is known."""
    return np.where(hidden, 0.0, Z - relations.predict(Z, hidden)[0])


def _mean_logarithm(residual: Array, hidden: Array, unit: Array, share: float = 1.0) -> Array:
    """Of the best `share` of the cells of every row that say something; -inf where none does."""
    logs = np.sort(np.where(hidden, np.inf, logarithm(np.abs(residual), unit)), axis=1)
    count = np.ceil(share * (~hidden).sum(axis=1, keepdims=True))
    total = np.where(np.arange(logs.shape[1]) < count, logs, 0.0).sum(axis=1)
    return np.where(count[:, 0] > 0, total / np.maximum(count[:, 0], 1.0), -np.inf)


def _agreement(scores: Array, R: Array) -> Array:
    """``s'Rs / |R|^2`` of every row."""
    agreement: Array = np.einsum("ij,ij->i", scores @ R, scores) / float((R**2).sum())
    return agreement


def _concentrated(Z: Array, hidden: Array) -> tuple[Array, Array]:
    """How hard rows are, by relations learned from easy rows of the other half; and which are easy.

    With many columns, relations remember what is odd of the rows that they were learned from.
    """
    half, easy = np.zeros(len(Z), dtype=bool), np.ones(len(Z), dtype=bool)
    half[canonical_order(np.where(hidden, 0.0, Z))[::2]] = True
    for _ in range(ROUNDS):
        residual = np.empty(Z.shape)
        for part in (half, ~half):
            relations = _relations(Z[part & easy], hidden[part & easy])
            residual[~part] = _residuals(relations, Z[~part], hidden[~part])
        unit = typical(residual, easy[:, None] & ~hidden, np.zeros(Z.shape[1]))
        hardness = _mean_logarithm(residual, hidden, unit)
        before, easy = easy, hardness <= np.quantile(hardness, EASY)
        if np.array_equal(before, easy):
            break
    return hardness, easy


@dataclass(frozen=True)
class _Scores:
    """Normal scores of all cells, how far rows agree, and the usual correlations."""

    scores: Array
    agreement: Array
    correlations: Array

    @classmethod
    def of(cls, Z: Array, hidden: Array, easy: Array) -> _Scores | None:
        """Columns go together as they do in easy rows: several of them, or there is nothing to tell."""
        ranks = rankdata(np.where(hidden, np.nan, Z), axis=0, nan_policy="omit")
        known = np.maximum((~hidden).sum(axis=0), 1)
        scores = np.where(hidden, 0.0, norm.ppf((np.nan_to_num(ranks, nan=1.0) - 0.5) / known))
        spread = scores.std(axis=0)
        scores /= np.where(spread > 0.0, spread, 1.0)
        some = scores[easy] - scores[easy].mean(axis=0)
        length = np.sqrt((some**2).sum(axis=0))
        some /= np.where(length > 0.0, length, 1.0)
        R = some.T @ some
        np.fill_diagonal(R, 0.0)
        squares = (R**2).sum(axis=0)
        total = float(squares.sum())
        if total**2 < FEWEST_COLUMNS * float(squares @ squares) or total == 0.0:
            return None
        return cls(scores, np.clip(_agreement(scores, R), LEAST, MOST), R)

    def at_odds(self, hardness: Array) -> Array:
        """The hardest rows, as far as they do not agree; one at least."""
        order = np.argsort(-hardness, kind="stable")[: int(MOST_WRONG * len(hardness))]
        rest = np.cumsum(AT_ODDS - self.agreement[order])
        found: Array = order[: int(rest.argmax()) + 1]
        return found

    def bad(self, hardness: Array) -> Array:
        """Rows at odds with the others; none if that may be chance."""
        bad = self.at_odds(hardness)
        some = self.agreement[bad]
        error = float(np.std(some)) * np.sqrt(len(bad))
        credible = (
            len(bad) >= FEWEST_BAD
            and abs(float(some.mean())) < MOST_AGREEMENT
            and float(np.sum(AT_ODDS - some)) > ERRORS * error
            and _apart(hardness, bad) > APART
            and not self._related(bad)
        )
        return bad if credible else bad[:0]

    def _related(self, bad: Array) -> bool:
        """Whether rows go together among themselves, or hardly vary."""
        own = self.scores[bad] - self.scores[bad].mean(axis=0)
        pairs = (own @ own.T) ** 2 - own**2 @ (own**2).T
        count = len(own) * (len(own) - 1)
        squares = float(pairs.sum() - np.trace(pairs)) / count
        return bool(squares > OWN * float((self.correlations**2).sum()) or np.mean(own**2) < VARIED)


def _apart(hardness: Array, bad: Array) -> float:
    """How many times as far rows are from the others as the same share of a normal distribution."""
    others = np.delete(hardness, bad)
    wide = np.sqrt((np.var(hardness[bad]) + np.var(others)) / 2.0)
    share = len(bad) / len(hardness)
    # Means and variances of what is beyond a quantile of the normal distribution, and of the rest.
    quantile = norm.isf(share)
    tail, rest = norm.pdf(quantile) / np.array([share, share - 1.0])
    usual = np.sqrt(1.0 + (quantile * (tail + rest) - tail**2 - rest**2) / 2.0)
    return float((hardness[bad].mean() - others.mean()) / wide * usual / (tail - rest))
