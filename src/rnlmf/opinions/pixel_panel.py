"""What a pixel should be, by linear relations and similar images, and how far it may be off."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rnlmf.engine.batches import canonical_order
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
from rnlmf.opinions.pixel_relations import Relations
from rnlmf.opinions.pixel_scale import Scale
from rnlmf.opinions.similar import SimilarRows
from rnlmf.typing import Array

# Panels are learned from at most so many rows; all of them are there to be similar to.
LEARNED_ROWS = 3000
# Nothing below this share of the range from black to white is seen.
RESOLUTION = 0.01


@dataclass(frozen=True)
class PixelPanel:
    """Linear relations and similar rows; shares and scales of pixels."""

    linear: Relations
    similar: SimilarRows
    weights: Array
    sizes: ScaleModel
    scale: Scale

    @classmethod
    def learn(
        cls,
        Z: Array,
        hidden: Array,
        missing: Array,
        scale: Scale,
        linear: Relations,
        *,
        like: Array | None = None,
        seen: Array | None = None,
    ) -> PixelPanel:
        """From rows without their `hidden` cells.

        Scales are those of cells as they were `seen` (NaN: not to be believed), if that is given: what
        has been mixed with predictions is nearer to them than it should be.
        """
        order = canonical_order(np.where(hidden, 0.0, Z))
        by_line, deviation = linear.predict(Z, hidden, like=like)
        by_line = scale.clipped(by_line)
        filled = np.where(hidden, by_line, Z)
        similar = SimilarRows.learn(filled, hidden, order, LEARNED_ROWS)
        by_similar, spread = similar.predict(filled, hidden)
        said, deviations = np.stack([by_line, scale.clipped(by_similar)]), [deviation, spread]
        free, known = ~hidden & ~missing, ~missing
        weights = _shares(Z, free, said)
        prediction = scale.clipped(combine(weights, said))
        off = (Z if seen is None else seen) - prediction
        known &= ~np.isnan(off)
        resolution = np.full(Z.shape[1], RESOLUTION * scale.span)
        unit = typical(off, known, resolution)
        features = _features(Z - prediction, free, unit, said, deviations)
        sizes = ScaleModel.learn(off, free & known, features, resolution)
        relative = np.where(known, np.abs(off) / sizes.predict(features), np.nan)
        factor = np.nanquantile(relative, QUANTILE, axis=0) / NORMAL_QUANTILE
        sizes = replace(sizes, factor=sizes.factor * np.maximum(factor, 1.0))
        return cls(linear, similar, weights, sizes, scale)

    def testify(
        self, Z: Array, hidden: Array, missing: Array, *, like: Array | None = None
    ) -> tuple[Array, Array]:
        """What every cell should be by cells that are not hidden, itself left out; and the scale."""
        scale = self.scale
        by_line, deviation = self.linear.predict(Z, hidden, like=like)
        by_line = scale.clipped(by_line)
        by_similar, spread = self.similar.predict(np.where(hidden, by_line, Z), hidden)
        said, deviations = np.stack([by_line, scale.clipped(by_similar)]), [deviation, spread]
        prediction = scale.clipped(combine(self.weights, said))
        free = ~hidden & ~missing
        features = _features(Z - prediction, free, self.sizes.unit, said, deviations)
        return prediction, self.sizes.predict(features)


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
