"""What has been found out of a table, and how far it is to be believed."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from rnlmf.typing import Array

# No residual counts as more than so many squared scales in what predictions are off.
FARTHEST_TAIL = 1e4
# Predictions are worse, and right cells repaired more often, than residuals tell that were not looked
# for: by about this factor on the development sets of benchmarks/unseen. Errors that were found are
# found again more easily than those that were not, by about its root.
CALIBRATION = 2.0
# With fewer right cells beside wrong ones, all right cells tell what predictions are off.
FEWEST_BESIDE = 50


@dataclass(frozen=True)
class Judgement:
    """What has been found out of a table.

    Attributes
    ----------
    prediction : array of shape (n, m)
        What every cell should be, in the data's units, by opinions that did not see it.
    scale : array of shape (n, m)
        How far such predictions are off, usually.
    deviation : array of shape (n, m)
        The same as a root mean square, which is more: predictions of some cells are far off.
    probability : array of shape (n, m)
        That a cell is wrong; 0 where it cannot be judged.
    wrong : array of bool of shape (n, m)
        The cells to be repaired.
    bad_rows : array of bool of shape (n,)
        Rows of which most is wrong.
    noise : array of bool of shape (n,)
        Those of them that are noise: nothing but the columns tells what they should be.
    stuck : array of bool of shape (n, m)
        Cells of stretches in which a column repeats a value that its fellows contradict.
    unseen : array of shape (m,)
        Mean square of the errors in columns whose cells cannot be judged, as far as others tell.
    """

    prediction: Array
    scale: Array
    deviation: Array
    probability: Array
    wrong: Array
    bad_rows: Array
    noise: Array
    stuck: Array
    unseen: Array

    @classmethod
    def joined(cls, parts: list[Judgement]) -> Judgement:
        """Of rows one part below the other; what is of columns by the mean."""
        rows = [f.name for f in fields(cls) if f.name != "unseen"]
        return cls(
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in rows},
            unseen=np.average([p.unseen for p in parts], axis=0, weights=[len(p.wrong) for p in parts]),
        )

    def repaired(self, X: Array) -> Array:
        """`X` with predictions where it is wrong or missing; everything else to the bit."""
        limit = float(np.finfo(X.dtype).max)
        prediction = np.clip(self.prediction, -limit, limit).astype(X.dtype)
        return np.where(self.wrong | np.isnan(X), prediction, X)

    def with_tails(self, tails: Array | float) -> Judgement:
        """The same, with deviations so many times the scales; how far columns vary is known."""
        deviation = self.scale * np.where(self.noise[:, None], 1.0, tails)
        return replace(self, deviation=deviation)

    def error_left(self, X: Array, tried: float = 0.0, codes: Array | None = None) -> float:
        """Relative error of the repaired data, estimated; NaN where nothing was found.

        What predictions are off, as far as scales and probabilities tell, is one estimate. If errors
        that were found have been put in once more, the error `tried` is another. Either may be off by
        a factor, but for `codes`, which nobody can mistake; hence their geometric mean. What nobody can
        repair comes on top.
        """
        repaired = self.repaired(X).astype(np.float64)
        changed = self.wrong | np.isnan(X)
        size = float(np.linalg.norm(repaired))
        if not (changed.any() or self.bad_rows.any()) or size == 0.0:
            return float("nan")
        off = np.nan_to_num(X - self.prediction) ** 2
        kept = np.nan_to_num(self.probability, nan=1.0) * off
        # What is left of a bad row is as wrong as it looks.
        lost = np.maximum(np.where(self.bad_rows[:, None], off, 0.0), self.unseen) * ~changed
        squares, noise = self.deviation**2, self.noise[:, None]
        told = np.where(changed & ~noise, squares, np.where(changed | (lost > kept), 0.0, kept))
        sure = np.zeros(X.shape, dtype=bool) if codes is None else codes & changed
        plain = float(np.sqrt(told.sum())) / size
        expected = float(np.sqrt((told * np.where(sure, 1.0, CALIBRATION**2)).sum())) / size
        if tried > 0.0 and plain > 0.0:
            expected = float(np.sqrt(expected * np.sqrt(expected / plain) * tried))
        unrepaired = CALIBRATION * np.sqrt(np.where(lost > kept, lost, 0.0).sum()) / size
        varied = np.sqrt(np.where(changed & noise, squares, 0.0).sum()) / size
        return float(np.linalg.norm([expected, unrepaired, varied]))


def tails_of(X: Array, judgement: Judgement) -> Array:
    """Root mean square over scale of the residuals of right cells, for every column; at least 1.

    Of those beside wrong cells, if there are enough: what is to be repaired has fewer to go by.
    """
    right = ~judgement.wrong & ~np.isnan(X)
    beside = right & judgement.wrong.any(axis=1, keepdims=True)
    right = np.where(beside.sum(axis=0) >= FEWEST_BESIDE, beside, right)
    with np.errstate(over="ignore", invalid="ignore"):
        relative = np.where(right, (X - judgement.prediction) / judgement.scale, 0.0)
    weights = np.where(right, judgement.scale**2, 0.0)
    total = weights.sum(axis=0)
    squares = (weights * np.minimum(relative**2, FARTHEST_TAIL)).sum(axis=0)
    return np.sqrt(np.maximum(squares / np.where(total > 0.0, total, 1.0), 1.0))
