"""Noise that falls into all images alike, wherever in them: many errors, large and small.

Nothing around such an error gives it away, and to hide a third of the pixels leaves too little to
predict the others by. So nothing is hidden. A pixel that is wrong with probability ``P`` becomes the
mean of what it may be,

    f = z - P (z - p),

and what is learned from images with these values, and predicted by them, is less blurred by errors than
before: in every round relations, similar images and the verdict are better. The repaired pixel is that
mean, too, which is what has the least squared error; one that is rather right than wrong stays what it
is, to the bit.

That it is noise is told by where it falls. Surprises that belong to images are in some images more than
in others, beside each other, and where it is hard to predict anything; wrong pixels of blocks and lines
are beside each other as well, and salt and pepper is in some images only. What is in nearly all images
about equally often, no oftener beside another, and no less often where it is easy to predict what
should be there, is not of the images. This can be asked where pixels beside each other are alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rnlmf.opinions.pixel_noise_verdict import NoiseVerdict
from rnlmf.opinions.pixel_panel import PixelPanel
from rnlmf.opinions.pixel_relations import Relations
from rnlmf.opinions.pixel_scale import Scale
from rnlmf.typing import Array

# Later rounds hardly predict better.
ROUNDS = 5
# Noise is in more than this share of the images; rates differ by less than this share of their mean,
# beyond chance; and a pixel beside a suspect is one less than so many times as often as any. Choices:
# noise in three sets has 0.88 or more, at most 0.2 and 1.6; salt and pepper in some of the images has
# at most 0.55, and 1.2 and 2.7 or more; in images as they are at most every tenth has a suspect.
MOST, UNEVEN, TOGETHER = 0.5, 0.5, 2.0
# Among the easier half of the pixels suspects are more than so many times as often as among all: noise
# reaches 0.93 and more, strokes that nobody can predict 0.67 and less.
EASY = 0.8
# Pixels beside each other are alike by so many times as much as usual ones.
ALIKE = 1.5


class Testimony(NamedTuple):
    """The probability that pixels are wrong, what they should be, and how far that may be off."""

    probability: Array
    prediction: Array
    scale: Array

    def mean(self, Z: Array) -> Array:
        """What a pixel is on average if it is wrong with this probability, right otherwise."""
        off = np.where(self.probability > 0.0, Z - self.prediction, 0.0)
        mean: Array = Z - self.probability * off
        return mean


@dataclass(frozen=True)
class Round:
    """What pixels should be by images as the round before left them, and which ones are wrong."""

    panel: PixelPanel
    verdict: NoiseVerdict

    def testify(self, Z: Array, filled: Array, missing: Array, like: Array) -> Testimony:
        """Of rows `Z` that are `filled` with what they are on average."""
        return self.believed(Z, missing, *self.panel.testify(filled, missing, missing, like=like))

    def believed(self, Z: Array, missing: Array, prediction: Array, scale: Array) -> Testimony:
        """What comes of predictions and their scales."""
        probability = self.verdict.probability(Z, missing, prediction, scale)
        return Testimony(probability, prediction, self.verdict.factor * scale)


@dataclass(frozen=True)
class PixelNoise:
    """Finds noise that falls anywhere, round by round."""

    rounds: tuple[Round, ...]

    @classmethod
    def learn(
        cls,
        Z: Array,
        missing: Array,
        scale: Scale,
        believing: Relations,
        alike: Array,
        near: Array,
    ) -> tuple[PixelNoise, Testimony] | None:
        """None if errors, if there are any, do not fall anywhere.

        Relations are those of the cells as they are, and how `alike` pixels are by their distance.
        """
        if not places_tell(alike, near):
            return None
        rounds: list[Round] = []
        told = Testimony(np.zeros(Z.shape), Z, Z)
        for step in range(ROUNDS):
            filled = told.mean(Z)
            relations = Relations.learn(filled, missing, like=Z) if step > 0 else believing
            seen = np.where(told.probability > 0.5, np.nan, Z)
            panel = PixelPanel.learn(filled, missing, missing, scale, relations, like=Z, seen=seen)
            said = panel.testify(filled, missing, missing, like=Z)
            verdict = NoiseVerdict.learn(Z, missing, *said, scale)
            rounds.append(Round(panel, verdict))
            told = rounds[-1].believed(Z, missing, *said)
            suspects = told.probability > 0.5
            if step == 0 and not in_most(suspects):
                return None
            # Blurred predictions find more in some images than in others: where, is asked once they
            # are sharper. Later on it has been believed, and more than noise is gone.
            if step == 1 and not anywhere(suspects, near, said[1]):
                return None
        return cls(tuple(rounds)), told

    def testify(self, Z: Array, missing: Array, *, like: Array | None = None) -> Testimony:
        """After all rounds, of rows that belong to the half of rows that they are `like`."""
        half = Z if like is None else like
        told = self.rounds[0].testify(Z, Z, missing, half)
        for later in self.rounds[1:]:
            told = later.testify(Z, told.mean(Z), missing, half)
        return told

    def revised(self, Z: Array, P: Array, missing: Array, like: Array) -> Array:
        """Whatever was suspected before."""
        return self.testify(Z, missing, like=like).probability


def places_tell(alike: Array, near: Array) -> bool:
    """Whether pixels beside each other are more alike than pixels usually are."""
    beside = np.abs(np.arange(len(near))[:, None] - near)
    pairs = np.arange(len(alike), 0, -1)[1:]
    usual = float(np.average(np.abs(alike[1:]), weights=pairs))
    return bool(alike[beside].mean() > ALIKE * usual)


def in_most(suspects: Array) -> bool:
    """Whether most rows have suspects."""
    return float(np.mean(suspects.any(axis=1))) > MOST


def anywhere(suspects: Array, near: Array, deviation: Array) -> bool:
    """Whether suspects are in most rows, about equally often, not beside each other, and in easy cells.

    These have a small `deviation` of predictions.
    """
    if not in_most(suspects):
        return False
    counts, share = suspects.sum(axis=1), float(suspects.mean())
    mean = float(counts.mean())
    # Counts vary by chance as those of rare events; what is beyond that is between the rows.
    uneven = float(counts.var()) - mean > (UNEVEN * mean) ** 2
    rows, columns = np.nonzero(suspects)
    beside = float(suspects[rows[:, None], near[columns]].mean())
    easy = float(suspects[deviation <= np.median(deviation)].mean())
    return not uneven and beside < TOGETHER * share and easy > EASY * share
