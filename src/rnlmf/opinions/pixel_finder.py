"""Who looks for wrong pixels has seen some: errors are made up of those found so far.

Predictions alone tell an error from a stroke badly: both surprise. What sets them apart is what they do
to the pixels around, and that is learned. Images without suspects (or all, with suspects filled in)
receive those of others, value by value and place by place: salt, blocks and lines stay what they are.
Which cells these are is known, so boosted trees, shared over all pixels, learn to find them among the
cells that are far from their prediction: by how far these are from several predictions, what is around
them, and how much better others are predicted without the suspects. Asked about the images as they are,
the trees give the probability that a cell is wrong. Where there are no errors, surprises that are moved
look other than those in their own place, and few of them are found again. That is the evidence: the
suspects are errors if more than half of them are found by somebody who has seen their like in other
images only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from rnlmf.engine.batches import canonical_order
from rnlmf.opinions.evidence import CREDIBLE, ERRORS
from rnlmf.opinions.pixel_panel import LEARNED_ROWS, PixelPanel
from rnlmf.opinions.pixel_relations import Relations, digests
from rnlmf.opinions.pixel_scale import Scale
from rnlmf.opinions.pixel_trees import Trees
from rnlmf.opinions.pixel_verdict import PixelVerdict
from rnlmf.opinions.similar import SimilarRows
from rnlmf.typing import Array

# Rows that receive errors have so many cells, and are at least so many.
CELLS, FEWEST_ROWS = 50_000, 200
# Rows without suspects receive the errors where they are this share of all.
LEAST_FREE = 0.3
# Fewer errors are no example.
FEWEST_ERRORS = 10.0
# Distances along the columns, both ways, at which a pixel's surroundings lie.
AROUND = 4


class FoundAgain(NamedTuple):
    """The share of suspects that are found again, and whether it is most of them for sure."""

    share: float
    credible: bool


def found_again(suspected: Array, revised: Array) -> FoundAgain:
    """Of cells that were suspected, each counted by its probability."""
    total = float(suspected.sum())
    if total < FEWEST_ERRORS:
        return FoundAgain(0.0, credible=False)
    more = (suspected * (revised - CREDIBLE)).sum(axis=1)
    credible = bool(more.sum() > ERRORS * np.linalg.norm(more))
    return FoundAgain(float((suspected * revised).sum()) / total, credible)


@runtime_checkable
class Finder(Protocol):
    """Revises the probability that cells are wrong."""

    def revised(self, Z: Array, P: Array, missing: Array, like: Array) -> Array:
        """Of rows that belong to the half of rows they are `like`."""


def found(finders: tuple[Finder, ...], Z: Array, missing: Array, like: Array | None = None) -> Array:
    """The probability that cells are wrong, by one finder after the other."""
    P = np.zeros(Z.shape)
    for finder in finders:
        P = finder.revised(Z, P, missing, Z if like is None else like)
    return P


@dataclass(frozen=True)
class ByPrediction:
    """What is too far from its prediction, beside what was suspected before."""

    panel: PixelPanel
    verdict: PixelVerdict

    @classmethod
    def learn(
        cls, Z: Array, missing: Array, scale: Scale, relations: Relations, near: Array
    ) -> ByPrediction:
        """With relations of the cells as they are."""
        panel = PixelPanel.learn(Z, missing, missing, scale, relations)
        said = panel.testify(Z, missing, missing)
        return cls(panel, PixelVerdict.learn(Z, missing, *said, scale, near))

    def revised(self, Z: Array, P: Array, missing: Array, like: Array) -> Array:
        """Not less than it was."""
        said = self.panel.testify(Z, missing, missing, like=like)
        more: Array = np.maximum(P, self.verdict.probability(Z, missing, *said))
        return more


@dataclass(frozen=True)
class ByExample:
    """Trees that have seen errors which were put into other rows."""

    believing: Relations
    afar: Relations
    doubting: Relations
    similar: SimilarRows
    distances: Array
    scale: Scale
    trees: Trees | None = None

    @classmethod
    def learn(
        cls,
        Z: Array,
        P: Array,
        missing: Array,
        scale: Scale,
        believing: Relations,
        afar: Relations,
        distances: Array,
        before: tuple[Finder, ...],
    ) -> ByExample:
        """From errors made up of those that finders `before` this one have found."""
        suspects = P > 0.5
        hidden = missing | suspects
        doubting = Relations.learn(Z, hidden)
        said = scale.clipped(doubting.predict(Z, hidden)[0])
        filled = np.where(hidden, said, Z)
        similar = SimilarRows.learn(filled, hidden, canonical_order(filled), LEARNED_ROWS)
        finder = cls(believing, afar, doubting, similar, distances, scale)

        free: Array = np.asarray(~suspects.any(axis=1))
        to: Array = free if free.mean() >= LEAST_FREE else np.ones_like(free)
        rows, others = _pairs(Z, to, max(CELLS // Z.shape[1], FEWEST_ROWS))
        put: Array = suspects[others] & scale.gross(Z[others] - filled[rows])
        if not put.any():
            return finder
        spoiled = np.where(put, Z[others], filled[rows])
        nowhere = np.zeros(spoiled.shape, dtype=bool)
        P = found(before, spoiled, nowhere, Z[rows])
        features, asked = finder._features(spoiled, P > 0.5, nowhere, Z[rows])
        known: Array = (put | ~hidden[rows])[asked]
        wrong = put[asked][known]
        if min(wrong.sum(), (~wrong).sum()) < FEWEST_ERRORS:
            return finder
        return replace(finder, trees=Trees.learn(features[known], wrong))

    def revised(self, Z: Array, P: Array, missing: Array, like: Array) -> Array:
        """By the trees; zero where a cell is missing or not far from its prediction."""
        revised = np.zeros(Z.shape)
        if self.trees is not None:
            features, asked = self._features(Z, P > 0.5, missing, like)
            if asked.any():
                revised[asked] = self.trees.probability(features)
        return revised

    def _features(self, Z: Array, suspects: Array, missing: Array, like: Array) -> tuple[Array, Array]:
        """What the trees are told of cells that are far from their prediction; and which are."""
        clipped, hidden = self.scale.clipped, missing | suspects
        doubted, deviation = self.doubting.predict(Z, hidden, like=like)
        doubted = clipped(doubted)
        believed = clipped(self.believing.predict(Z, missing, like=like)[0])
        from_afar = clipped(self.afar.predict(Z, missing, like=like)[0])
        V = np.where(missing, doubted, Z)
        by_similar, spread = self.similar.predict(np.where(hidden, doubted, V), hidden)
        off = V - doubted
        # How much worse others are predicted if the suspects are believed.
        harm = np.where(hidden, 0.0, np.abs(V - believed) - np.abs(off))
        asked: Array = ~missing & self.scale.gross(off)
        cells = np.nonzero(asked)
        of_rows = np.stack([np.abs(off).mean(axis=1), suspects.mean(axis=1), harm.sum(axis=1)])
        of_cells = [V, off, V - believed, V - from_afar, V - by_similar, deviation, spread]
        beside = [self._around(values, *cells) for values in (V, off, suspects)]
        told = [*(values[asked] for values in of_cells), *of_rows[:, cells[0]]]
        told += [*np.concatenate(beside), self._around(harm, *cells).sum(axis=0)]
        return np.stack([values.astype(np.float32) for values in told], axis=-1), asked

    def _around(self, V: Array, rows: Array, columns: Array) -> Array:
        """Values at the distances, either way; beyond the first and the last column, the cell's own."""
        places = columns + np.r_[self.distances, -self.distances][:, None]
        inside = (places >= 0) & (places < V.shape[1])
        values: Array = V[rows, np.where(inside, places, columns)]
        return values


def _pairs(Z: Array, to: Array, count: int) -> tuple[Array, Array]:
    """So many rows `to` which errors go, and the rows they come from, each as often as any other.

    They are matched by digests of their content: one row more or less changes no other pair.
    """
    receiving, rows, others = np.flatnonzero(to), [], []
    for turn in range(-(-count // len(Z))):
        keys, places = digests(Z, 2 * turn + 1), digests(Z[to], 2 * turn + 2)
        order = np.argsort(places)
        givers = np.argsort(keys)[: count - turn * len(Z)]
        rows.append(receiving[order[np.searchsorted(places[order], keys[givers]) % len(order)]])
        others.append(givers)
    return np.concatenate(rows), np.concatenate(others)
