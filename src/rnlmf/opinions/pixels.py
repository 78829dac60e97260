"""Images: many columns of one unit, of which some rows are spoiled and most are not.

Pixels share a unit and its ends (black, white), so one verdict holds for all of them. Similar rows are
asked first, for a block of errors cannot mislead them; what they find suspicious is hidden while the
linear relations between pixels are learned, which predict far better. Scales are calibrated with the
suspects among the residuals: else what is hidden makes others look wrong, and these others again.

Then the whole is put to the test. Let ``g_i`` be what the pixels of row ``i`` that nobody doubts gain,
in the loss of their predictions, if the suspects of all rows are hidden, from learning as from
predicting, instead of believed. Hiding surprises helps every row a little: what counts is what rows
with suspects gain more than those without, ``g_i - mean(g of rows without)``, every row counted by its
suspects. Errors mislead, and it is credibly positive; surprises that are right inform, and it is about
zero or less. Then nothing is touched. Where the gains of rows with suspects fall apart into two groups,
and the lower one is that of rows without, only the suspects of the upper one are errors.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.mixture import GaussianMixture

from rnlmf.engine.batches import canonical_order
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.evidence import LARGEST_LOSS
from rnlmf.opinions.judge import FARTHEST_TAIL, Judgement
from rnlmf.opinions.linear import LinearOpinion
from rnlmf.opinions.mixing import (
    NORMAL_QUANTILE,
    OWN_CELLS,
    QUANTILE,
    ScaleModel,
    combine,
    logarithm,
    of_row,
    typical,
)
from rnlmf.opinions.pixel_verdict import PixelVerdict
from rnlmf.opinions.similar import SimilarRows
from rnlmf.opinions.temporal import Sequence
from rnlmf.opinions.verdict import FALSE_REPAIRS, least_probability
from rnlmf.typing import Array

# Rounds in which relations are learned without the suspects; a third hardly changes any.
ROUNDS = 2
# Believing an error costs more than hiding a right cell: pixels of a block would vouch for each other.
DOUBT = 0.2
# Panels are learned from at most so many rows; all of them are there to be similar to.
LEARNED_ROWS = 3000
# Nothing below this share of the range from black to white is seen.
RESOLUTION = 0.01
# Rows with suspects must gain more than others, by so many standard errors and by this many scales for
# each of their pixels: the panels differ a little for other reasons, too.
CREDIBLE, LEAST_GAIN = 3.0, 0.05
# Two groups of gains are apart if their means are, by so many deviations (Ashman, Bird and Zepf 1994:
# from 2 on); the lower one is that of others within so many of theirs. Fewer rows are no group.
APART, SAME_GROUP, FEWEST_ROWS = 3.0, 2.0, 20
# Columns are pixels if the least and the largest value of all are values of this share of the columns.
SHARED = 0.5


def same_unit(X: Array) -> bool:
    """Whether the columns are pixels of one scale that has two ends: most of them reach both."""
    unit = Columns.of(X.reshape(-1, 1))
    values = np.where(unit.absurd(unit.scaled(X)), np.nan, X)
    low, high = np.nanmin(values), np.nanmax(values)
    varied = np.nanmax(values, axis=0) > np.nanmin(values, axis=0)
    ends = np.stack([(values == low).any(axis=0), (values == high).any(axis=0)])[:, varied]
    return bool(ends.shape[1]) and bool(np.all(ends.mean(axis=1) > SHARED))


@dataclass(frozen=True)
class PixelPanel:
    """Similar rows and, unless they are asked alone, linear relations; shares and scales of pixels."""

    linear: LinearOpinion | None
    similar: SimilarRows
    weights: Array
    scale: ScaleModel
    low: float
    high: float

    @classmethod
    def learn(
        cls, Z: Array, hidden: Array, missing: Array, ends: tuple[float, float], *, alone: bool = False
    ) -> PixelPanel:
        """From rows without their `hidden` cells; only similar rows if they are asked `alone`."""
        order = canonical_order(np.where(hidden, 0.0, Z))
        linear = None if alone else LinearOpinion.learn(Z, hidden, order)
        similar = SimilarRows.learn(_filled(Z, hidden, linear, ends), hidden, order, LEARNED_ROWS)
        said, deviations = _opinions(linear, similar, Z, hidden, ends)
        free, known = ~hidden & ~missing, ~missing
        weights = np.ones((1, Z.shape[1])) if alone else _shares(Z, free, said)
        residual = Z - np.clip(combine(weights, said), *ends)
        resolution = np.full(Z.shape[1], RESOLUTION * (ends[1] - ends[0]))
        unit = typical(residual, known, resolution)
        features = _features(residual, free, unit, said, deviations)
        scale = ScaleModel.learn(residual, free, features, resolution)
        relative = np.where(known, np.abs(residual) / scale.predict(features), np.nan)
        factor = np.nanquantile(relative, QUANTILE, axis=0) / NORMAL_QUANTILE
        scale = replace(scale, factor=scale.factor * np.maximum(factor, 1.0))
        return cls(linear, similar, weights, scale, *ends)

    def testify(self, Z: Array, hidden: Array, missing: Array) -> tuple[Array, Array]:
        """What every cell should be by cells that are not hidden, itself left out; and the scale."""
        ends = self.low, self.high
        said, deviations = _opinions(self.linear, self.similar, Z, hidden, ends)
        prediction = np.clip(combine(self.weights, said), *ends)
        free = ~hidden & ~missing
        features = _features(Z - prediction, free, self.scale.unit, said, deviations)
        return prediction, self.scale.predict(features)


def _filled(Z: Array, hidden: Array, linear: LinearOpinion | None, ends: tuple[float, float]) -> Array:
    filling = 0.0 if linear is None else np.clip(linear.predict(Z, hidden)[0], *ends)
    return np.where(hidden, filling, Z)


def _opinions(
    linear: LinearOpinion | None,
    similar: SimilarRows,
    Z: Array,
    hidden: Array,
    ends: tuple[float, float],
) -> tuple[Array, list[Array]]:
    """Predictions (K, n, m), and how sure each opinion is of them."""
    if linear is None:
        by_similar, spread = similar.predict(np.where(hidden, 0.0, Z), hidden)
        return np.clip(by_similar, *ends)[None], [spread]
    by_line, deviation = linear.predict(Z, hidden)
    by_line = np.clip(by_line, *ends)
    by_similar, spread = similar.predict(np.where(hidden, by_line, Z), hidden)
    return np.stack([by_line, np.clip(by_similar, *ends)]), [deviation, spread]


def _shares(Z: Array, free: Array, said: Array) -> Array:
    """Shares (2, m) of two opinions that predict a pixel best, by least squares; they add to 1.

    By absolute errors, and free to add to less, predictions would be black where a pixel mostly is.
    """
    difference = np.where(free, said[0] - said[1], 0.0)
    along = np.sum(difference * np.where(free, Z - said[1], 0.0), axis=0)
    size = np.sum(difference**2, axis=0)
    own = OWN_CELLS / len(Z)
    of_all = along.sum() / max(size.sum(), 1e-12)
    first = (along + own * size.mean() * of_all) / np.maximum(size + own * size.mean(), 1e-12)
    first = np.clip(first, 0.0, 1.0)
    return np.stack([first, 1.0 - first])


def _features(residual: Array, free: Array, unit: Array, said: Array, deviations: list[Array]) -> Array:
    sizes = [*deviations, np.abs(said[0] - said[1])] if len(said) > 1 else deviations
    return np.stack([of_row(residual, free, unit), *(logarithm(size, unit) for size in sizes)])


@dataclass(frozen=True)
class PixelJudge:
    """What is taken for wrong in images: panels that suspect, that believe and that doubt.

    Attributes
    ----------
    unit : Columns
        Centre, spread and plausible range of all pixels together.
    first, believing, doubting : PixelPanel
        Similar rows alone; all opinions, learned from the cells as they are; and without suspects.
    suspicion, verdict : PixelVerdict
        What is wrong by the first panel, and by the last.
    credible : bool
        Whether the suspects are errors; otherwise only absurd values are touched.
    least_gain : float
        What a row must gain by hiding its suspects for them to be errors.
    tail : float
        Root mean square over scale of the residuals of right cells.
    left_alone : dict
        Columns with suspects that are left as they are, and why.
    threshold : float
        Probability above which pixels are repaired.
    """

    unit: Columns
    first: PixelPanel
    believing: PixelPanel
    doubting: PixelPanel
    suspicion: PixelVerdict
    verdict: PixelVerdict
    credible: bool
    least_gain: float = -np.inf
    tail: float = 1.0
    left_alone: dict[int, str] = field(default_factory=dict)
    ordered: bool = False
    threshold: float = 0.5

    @classmethod
    def learn(cls, X: Array, *, false_repairs: float = FALSE_REPAIRS) -> tuple[PixelJudge, Judgement]:
        """Judge the pixels of `X` (NaN: missing); of those that are right a share may be repaired."""
        unit = Columns.of(X.reshape(-1, 1))
        Z = unit.scaled(X)
        rows = np.sort(canonical_order(Z)[:: -(-len(Z) // LEARNED_ROWS)])
        part = Z[rows]
        missing = np.isnan(part) | unit.absurd(part)
        ends = float(part[~missing].min()), float(part[~missing].max())

        first = PixelPanel.learn(part, missing, missing, ends, alone=True)
        believing = PixelPanel.learn(part, missing, missing, ends)
        said = first.testify(part, missing, missing)
        suspicion = PixelVerdict.learn(part, missing, *said, ends)
        hidden = missing | (suspicion.probability(part, missing, *said) > DOUBT)
        for _ in range(ROUNDS):
            doubting = PixelPanel.learn(part, hidden, missing, ends)
            said = doubting.testify(part, hidden, missing)
            verdict = PixelVerdict.learn(part, missing, *said, ends)
            probability = verdict.probability(part, missing, *said)
            hidden |= probability > DOUBT
        suspects = probability > 0.5

        judge = cls(unit, first, believing, doubting, suspicion, verdict, True)
        gain, with_suspects = judge._gain(part, suspects, missing), suspects.any(axis=1)
        usual = float(gain[~with_suspects].mean()) if not with_suspects.all() else 0.0
        least = least_gain(gain[with_suspects], gain[~with_suspects])
        counts = suspects.sum(axis=1) * (gain >= least)
        more = counts * (gain - usual)
        credible = float(more.sum()) > max(
            LEAST_GAIN * float(counts.sum()), CREDIBLE * float(np.linalg.norm(more))
        )
        judge = replace(judge, credible=credible, least_gain=least)
        if not credible:
            judge = replace(judge, left_alone=_reasons(suspects))
        judgement = judge.judge(X)
        judge = replace(judge, threshold=least_probability(judgement.probability, false_repairs))
        if judge.threshold > 0.5:
            judgement = judge.judge(X)
        judge = replace(judge, tail=_tail(X, judgement))
        return judge, replace(judgement, deviation=judgement.scale * judge.tail)

    def judge(
        self, X: Array, sequence: Sequence | None = None, *, force_order: bool = False
    ) -> Judgement:
        """The pixels of `X`: training data, or new ones; every row by itself, whatever the order."""
        Z = self.unit.scaled(X)
        absurd = self.unit.absurd(Z)
        missing = np.isnan(Z) | absurd
        probability = np.zeros(Z.shape)
        suspects = np.zeros(Z.shape, dtype=bool)
        if self.credible:
            said = self.first.testify(Z, missing, missing)
            hidden = missing | (self.suspicion.probability(Z, missing, *said) > DOUBT)
            for _ in range(ROUNDS):
                said = self.doubting.testify(Z, hidden, missing)
                probability = self.verdict.probability(Z, missing, *said)
                hidden |= probability > DOUBT
            probability = self._where_it_helps(Z, probability, missing)
            suspects = probability > self.threshold
        prediction, scale = self.doubting.testify(Z, suspects | missing, missing)
        probability = np.where(absurd, 1.0, probability)
        scale = scale * self.unit.spread
        return Judgement(
            self.unit.to_data(prediction),
            scale,
            scale * self.tail,
            np.where(np.isnan(Z), np.nan, probability),
            suspects | absurd,
            np.zeros(len(Z), dtype=bool),
            np.zeros(Z.shape, dtype=bool),
            np.zeros(Z.shape[1]),
        )

    def _where_it_helps(self, Z: Array, probability: Array, missing: Array) -> Array:
        """Probabilities; zero in rows that do not gain enough by hiding their suspects."""
        suspects = probability > 0.5
        rows = np.flatnonzero(suspects.any(axis=1))
        if self.least_gain == -np.inf or not len(rows):
            return probability
        gain = self._gain(Z[rows], suspects[rows], missing[rows])
        probability[rows[gain < self.least_gain]] = 0.0
        return probability

    def _gain(self, Z: Array, suspects: Array, missing: Array) -> Array:
        """Mean loss of every row's undoubted cells with all suspects believed, less that without."""
        prediction, scale = self.doubting.testify(Z, suspects | missing, missing)
        believed, _ = self.believing.testify(Z, missing, missing)
        undoubted = ~suspects & ~missing

        def loss(predicted: Array) -> Array:
            off = np.minimum(np.abs(Z - predicted) / scale, LARGEST_LOSS)
            mean: Array = np.where(undoubted, off, 0.0).sum(axis=1)
            return mean / np.maximum(undoubted.sum(axis=1), 1)

        gain: Array = loss(believed) - loss(prediction)
        return gain


def least_gain(gain: Array, others: Array) -> float:
    """Where two groups of gains part, the lower of which is like `others`; else there is no least."""
    if min(len(gain), len(others)) < FEWEST_ROWS:
        return -np.inf
    groups = GaussianMixture(2, random_state=0).fit(gain[:, None])
    order = np.argsort(groups.means_[:, 0])
    (low, high), (narrow, wide) = groups.means_[order, 0], np.sqrt(groups.covariances_[order, 0, 0])
    level = float(np.median(others))
    deviation = 1.4826 * float(np.median(np.abs(others - level)))
    if high - low < APART * np.sqrt((narrow**2 + wide**2) / 2.0):
        return -np.inf
    if abs(low - level) > SAME_GROUP * deviation:
        return -np.inf
    return float((low * wide + high * narrow) / (narrow + wide))


def _reasons(suspects: Array) -> dict[int, str]:
    return {
        int(j): (
            f"{int(count)} values are hard to predict, but hiding them does not help to predict the "
            "other values of their rows"
        )
        for j, count in enumerate(suspects.sum(axis=0))
        if count
    }


def _tail(X: Array, judgement: Judgement) -> float:
    right = ~judgement.wrong & ~np.isnan(X)
    if not right.any():
        return 1.0
    scale = judgement.scale[right]
    squares = np.minimum(((X - judgement.prediction)[right] / scale) ** 2, FARTHEST_TAIL)
    return float(np.sqrt(max(np.average(squares, weights=scale**2), 1.0)))
