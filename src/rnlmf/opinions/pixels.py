"""Images: many columns of one unit, of which some pixels are wrong.

Pixels share a unit and its ends (black, white), so one verdict holds for all of them. They are asked
about from afar first, as a block of errors misleads its neighbours
(:mod:`~rnlmf.opinions.pixel_doubt`). These suspects are believed if they do the harm that errors would.
If they do not, predictions by all other pixels raise suspicions: errors that stand alone do little
harm. Either suspects are put into other images, and who has learned to find them there revises all
suspicions (:mod:`~rnlmf.opinions.pixel_finder`); that is believed if most suspects are found again. If
neither is believed, nothing is touched. Before all that, noise that falls into all images alike is told
by where it falls, and has a way of its own (:mod:`~rnlmf.opinions.pixel_noise`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from rnlmf.engine.batches import canonical_order
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.judgement import FARTHEST_TAIL, Judgement
from rnlmf.opinions.pixel_doubt import ByDoubt
from rnlmf.opinions.pixel_finder import AROUND, ByExample, ByPrediction, Finder, found, found_again
from rnlmf.opinions.pixel_noise import PixelNoise, Testimony
from rnlmf.opinions.pixel_panel import LEARNED_ROWS, PixelPanel
from rnlmf.opinions.pixel_relations import Relations, distances, likeness, neighbours
from rnlmf.opinions.pixel_scale import Scale
from rnlmf.opinions.temporal import Sequence
from rnlmf.opinions.verdict import FALSE_REPAIRS, least_probability
from rnlmf.typing import Array

# How often suspicions are revised.
REVISIONS = 2
# Columns are pixels if black and white are values of this share of the columns.
SHARED = 0.5


def same_unit(X: Array) -> bool:
    """Whether the columns are pixels of one scale that has two ends: most of them reach both."""
    unit = Columns.of(X.reshape(-1, 1))
    values = np.where(unit.absurd(unit.scaled(X)), np.nan, X)
    scale = Scale.of(values[~np.isnan(values)])
    varied = np.nanmax(values, axis=0) > np.nanmin(values, axis=0)
    ends = np.stack([(values == end).any(axis=0) for end in (scale.low, scale.high)])[:, varied]
    return bool(ends.shape[1]) and bool(np.all(ends.mean(axis=1) > SHARED))


@dataclass(frozen=True)
class PixelJudge:
    """What is taken for wrong in images, and what should be there.

    Attributes
    ----------
    unit : Columns
        Centre, spread and plausible range of all pixels together.
    finders : tuple of Finder
        Those whose suspects are errors, in their order; without any, only absurd values are touched.
    panel : PixelPanel
        What pixels should be, learned without the suspects.
    tail : float
        Root mean square over scale of the residuals of right cells.
    left_alone : dict
        Columns with suspects that are left as they are, and why.
    threshold : float
        Probability above which pixels are repaired.
    noise : PixelNoise or None
        Where noise falls into all images alike: who finds it, and says what should be there.
    """

    unit: Columns
    finders: tuple[Finder, ...]
    panel: PixelPanel
    tail: float = 1.0
    left_alone: dict[int, str] = field(default_factory=dict)
    ordered: bool = False
    threshold: float = 0.5
    noise: PixelNoise | None = None

    @classmethod
    def learn(cls, X: Array, *, false_repairs: float = FALSE_REPAIRS) -> tuple[PixelJudge, Judgement]:
        """Judge the pixels of `X` (NaN: missing); of those that are right a share may be repaired."""
        unit = Columns.of(X.reshape(-1, 1))
        Z = unit.scaled(X)
        rows = np.sort(canonical_order(Z)[:: -(-len(Z) // LEARNED_ROWS)])
        part = Z[rows]
        missing = np.isnan(part) | unit.absurd(part)
        scale = Scale.of(part[~missing])
        alike = likeness(part, missing)
        near, around = neighbours(alike), distances(alike, AROUND)
        believing = Relations.learn(part, missing)
        noise = PixelNoise.learn(part, missing, scale, believing, alike, near)
        told: Testimony | None = None
        if noise is not None:
            finder, told = noise
            judge, P = cls(unit, (finder,), finder.rounds[-1].panel, noise=finder), told.probability
        else:
            judge, P = cls._by_suspects(unit, part, missing, scale, believing, near, around)
        if len(part) < len(X):
            told = judge._told(X)
        known = P if len(part) == len(X) else None if told is None else told.probability
        probability = judge.probability(X, known)
        judge = replace(judge, threshold=least_probability(probability, false_repairs))
        judgement = judge._judgement(X, probability, told)
        judge = replace(judge, tail=_tail(X, judgement))
        return judge, judgement.with_tails(judge.tail)

    @classmethod
    def _by_suspects(
        cls,
        unit: Columns,
        part: Array,
        missing: Array,
        scale: Scale,
        believing: Relations,
        near: Array,
        around: Array,
    ) -> tuple[PixelJudge, Array]:
        """By what suspects do to pixels around them; and the probability that the cells are wrong."""
        afar, nothing = believing.from_afar(), np.zeros(part.shape)
        doubt, evidence = ByDoubt.learn(part, missing, scale, believing, afar, near)
        first: Finder = doubt
        if not evidence.credible:
            first = ByPrediction.learn(part, missing, scale, believing, near)
        more: tuple[Finder, ...] = (first,)
        revised = first.revised(part, nothing, missing, part)
        P, heard = (revised, more) if evidence.credible else (nothing, ())
        for _ in range(REVISIONS):
            finder = ByExample.learn(part, revised, missing, scale, believing, afar, around, more)
            before, revised = revised, finder.revised(part, revised, missing, part)
            more = (*more, finder)
        again = found_again(before, revised)
        if again.credible:
            P, heard = revised, more

        hidden = missing | (P > 0.5)
        relations = Relations.learn(part, hidden) if heard else believing
        panel = PixelPanel.learn(part, hidden, missing, scale, relations)
        left_alone = {} if heard else _reasons(before > 0.5, again.share)
        return cls(unit, heard, panel, left_alone=left_alone), P

    def judge(
        self, X: Array, sequence: Sequence | None = None, *, force_order: bool = False
    ) -> Judgement:
        """The pixels of `X`: training data, or new ones; every row by itself, whatever the order."""
        told = self._told(X)
        P = None if told is None else told.probability
        return self._judgement(X, self.probability(X, P), told)

    def _told(self, X: Array) -> Testimony | None:
        """Where noise falls into all images alike: what there is to say of these."""
        if self.noise is None:
            return None
        Z = self.unit.scaled(X)
        return self.noise.testify(Z, np.isnan(Z) | self.unit.absurd(Z))

    def probability(self, X: Array, P: Array | None = None) -> Array:
        """That cells are wrong: absurd ones, and others by the finders, unless their `P` is known."""
        Z = self.unit.scaled(X)
        absurd, nothing = self.unit.absurd(Z), np.isnan(Z)
        if P is None:
            P = found(self.finders, Z, nothing | absurd)
        return np.where(nothing, np.nan, np.where(absurd, 1.0, P))

    def _judgement(self, X: Array, probability: Array, told: Testimony | None) -> Judgement:
        """With repairs where the probability is high."""
        Z = self.unit.scaled(X)
        absurd = self.unit.absurd(Z)
        missing = np.isnan(Z) | absurd
        suspects: Array = ~missing & (probability > self.threshold)
        if told is None:
            prediction, scale = self.panel.testify(Z, suspects | missing, missing)
        else:
            prediction, scale = np.where(suspects, told.mean(Z), told.prediction), told.scale
        scale = scale * self.unit.spread
        return Judgement(
            self.unit.to_data(prediction),
            scale,
            scale * self.tail,
            probability,
            suspects | absurd,
            np.zeros(len(Z), dtype=bool),
            np.zeros(len(Z), dtype=bool),
            np.zeros(Z.shape, dtype=bool),
            np.zeros(Z.shape[1]),
        )


def _reasons(suspects: Array, share: float) -> dict[int, str]:
    return {
        int(j): (
            f"{int(count)} values are hard to predict, but such values are not found like errors put "
            f"into other rows ({share:.0%} of them)"
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
