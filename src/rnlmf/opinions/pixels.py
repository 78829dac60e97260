"""Images: many columns of one unit, of which some rows are spoiled and most are not.

Pixels share a unit and its ends (black, white), so one verdict holds for all of them. A pixel is first
asked about among those that are far from it, and similar rows: a block of errors cannot mislead them.
What they find suspicious is hidden while the relations between all pixels are learned, which predict
far better. Scales are calibrated with the suspects among the residuals: else what is hidden makes
others look wrong, and these others again. Then the whole is put to the test, whether believing the
suspects does the harm that errors would: see :mod:`~rnlmf.opinions.pixel_evidence`. If it does not,
nothing is touched.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from rnlmf.engine.batches import canonical_order
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.judgement import FARTHEST_TAIL, Judgement
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
from rnlmf.opinions.pixel_evidence import harm, misleading
from rnlmf.opinions.pixel_relations import Relations, neighbours
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
    """Linear relations and similar rows; shares and scales of pixels."""

    linear: Relations
    similar: SimilarRows
    weights: Array
    scale: ScaleModel
    low: float
    high: float

    @classmethod
    def learn(
        cls,
        Z: Array,
        hidden: Array,
        missing: Array,
        ends: tuple[float, float],
        linear: Relations,
    ) -> PixelPanel:
        """From rows without their `hidden` cells."""
        order = canonical_order(np.where(hidden, 0.0, Z))
        by_line, deviation = linear.predict(Z, hidden)
        by_line = np.clip(by_line, *ends)
        filled = np.where(hidden, by_line, Z)
        similar = SimilarRows.learn(filled, hidden, order, LEARNED_ROWS)
        by_similar, spread = similar.predict(filled, hidden)
        said, deviations = np.stack([by_line, np.clip(by_similar, *ends)]), [deviation, spread]
        free, known = ~hidden & ~missing, ~missing
        weights = _shares(Z, free, said)
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
        by_line, deviation = self.linear.predict(Z, hidden)
        by_line = np.clip(by_line, *ends)
        by_similar, spread = self.similar.predict(np.where(hidden, by_line, Z), hidden)
        said, deviations = np.stack([by_line, np.clip(by_similar, *ends)]), [deviation, spread]
        prediction = np.clip(combine(self.weights, said), *ends)
        free = ~hidden & ~missing
        features = _features(Z - prediction, free, self.scale.unit, said, deviations)
        return prediction, self.scale.predict(features)


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
    sizes = [*deviations, np.abs(said[0] - said[1])]
    return np.stack([of_row(residual, free, unit), *(logarithm(size, unit) for size in sizes)])


@dataclass(frozen=True)
class PixelJudge:
    """What is taken for wrong in images: panels that suspect and that doubt.

    Attributes
    ----------
    unit : Columns
        Centre, spread and plausible range of all pixels together.
    believing : Relations
        Of the cells as they are.
    first, doubting : PixelPanel
        Asked about pixels from afar, learned from the cells as they are; and from all others, learned
        without suspects.
    suspicion, verdict : PixelVerdict
        What is wrong by the first panel, and by the last.
    credible : bool
        Whether the suspects are errors; otherwise only absurd values are touched.
    tail : float
        Root mean square over scale of the residuals of right cells.
    left_alone : dict
        Columns with suspects that are left as they are, and why.
    threshold : float
        Probability above which pixels are repaired.
    """

    unit: Columns
    believing: Relations
    first: PixelPanel
    doubting: PixelPanel
    suspicion: PixelVerdict
    verdict: PixelVerdict
    credible: bool
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
        near = neighbours(part, missing)

        believing = Relations.learn(part, missing)
        first = PixelPanel.learn(part, missing, missing, ends, believing.from_afar())
        said = first.testify(part, missing, missing)
        suspicion = PixelVerdict.learn(part, missing, *said, ends, near)
        hidden = missing | (suspicion.probability(part, missing, *said) > DOUBT)
        for _ in range(ROUNDS):
            doubting = PixelPanel.learn(part, hidden, missing, ends, Relations.learn(part, hidden))
            said = doubting.testify(part, hidden, missing)
            verdict = PixelVerdict.learn(part, missing, *said, ends, near)
            probability = verdict.probability(part, missing, *said)
            hidden |= probability > DOUBT
        suspects = probability > 0.5

        found = misleading(part, suspects, missing, believing, ends)
        judge = cls(unit, believing, first, doubting, suspicion, verdict, found.credible)
        if not found.credible:
            judge = replace(judge, left_alone=_reasons(suspects, found.phi))
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
            probability = self._probability(Z, missing)
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

    def _probability(self, Z: Array, missing: Array) -> Array:
        """That cells are wrong, as it was found while learning; not in rows which they inform."""
        said = self.first.testify(Z, missing, missing)
        hidden = missing | (self.suspicion.probability(Z, missing, *said) > DOUBT)
        for _ in range(ROUNDS):
            said = self.doubting.testify(Z, hidden, missing)
            probability = self.verdict.probability(Z, missing, *said)
            hidden = hidden | (probability > DOUBT)
        suspects = probability > 0.5
        rows = np.flatnonzero(suspects.any(axis=1))
        ends = self.first.low, self.first.high
        worse, _ = harm(Z[rows], suspects[rows], missing[rows], self.believing, ends)
        probability[rows[worse <= 0.0]] = 0.0
        return probability


def _reasons(suspects: Array, phi: float) -> dict[int, str]:
    return {
        int(j): (
            f"{int(count)} values are hard to predict, but taking them for right does not harm the "
            f"prediction of others as errors would ({max(phi, 0.0):.0%} of it)"
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
