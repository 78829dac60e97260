"""What a cell should be by the other cells of its row, if columns depend on each other linearly.

With ``P`` the inverse of the columns' covariance, restricted to the cells of a row that are not
hidden, a cell's prediction from all others is ``z_j - (P z)_j / P_jj`` with variance ``1 / P_jj``:
every cell is left out in one stroke. Hidden cells ``M`` are taken out of a precision matrix by a Schur
complement, ``P_OO - P_OM P_MM^-1 P_MO``, and have the prediction ``-P_MM^-1 P_MO z_O`` themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rnlmf.opinions.columns import WILD
from rnlmf.opinions.folds import Folds
from rnlmf.typing import Array

# While relations are learned no cell pulls with more than so many spreads. Predictions take the cells
# as they are: two columns that are far out in the same way vouch for each other.
LARGEST_PULL = 8.0
RIDGES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
# Ridge while the covariance is learned from rows with gaps, and how often gaps are filled anew.
FIRST_RIDGE = 1e-3
FILLINGS = 2
# Gaps are no chance if the mean of what fills them is off by so many standard errors. Relations are
# learned from rows without gaps then, if there are so many times as many as columns.
NO_CHANCE, WHOLE_ROWS = 5.0, 5
# Predictions leave the range that a column has shown by at most this share of it.
BEYOND = 0.5
# Rows so many times as long as usual ones, from the centre, count as much as these.
LONG = 2.0
CHUNK_CELLS = 1 << 22
# A row is as extreme as this share of its cells is at most: the others may be errors.
MOST_OF_ROW = 0.75
# Rows vouch for themselves if they, or one of them, have so much of a say in what is said of them.
# Relations without the rows of a fold are kept for so many folds, of many columns for fewer.
USUAL_SAY, MOST_SAY = 0.1, 0.5
FOLDS, KEPT_CELLS = 8, 1 << 22


def _patterns(hidden: Array) -> Iterator[tuple[Array, Array]]:
    """Rows and the columns hidden in them, in chunks of rows that have equally many."""
    counts = hidden.sum(axis=1)
    for count in np.unique(counts[counts > 0]):
        rows = np.flatnonzero(counts == count)
        columns = np.nonzero(hidden[rows])[1].reshape(len(rows), count)
        step = max(1, CHUNK_CELLS // (int(count) * hidden.shape[1]))
        for first in range(0, len(rows), step):
            yield rows[first : first + step], columns[first : first + step]


def row_weights(A: Array, known: Array) -> Array:
    """1 for rows of usual length; of longer ones the product of two cells counts as theirs.

    A row far out would else be a direction of its own, and excuse its errors (Raymaekers and Rousseeuw
    2019: a generalised spatial sign covariance).
    """
    length = np.sqrt((A**2).sum(axis=1) / np.maximum(known.sum(axis=1), 1.0))
    usual = LONG * float(np.median(length[length > 0.0])) if length.any() else 1.0
    weights: Array = np.minimum(1.0, usual / np.maximum(length, usual)) ** 2
    return weights[:, None]


def fill(A: Array, hidden: Array, P: Array) -> tuple[Array, Array]:
    """Conditional means for hidden cells, and the sum of their conditional covariances."""
    filled, m = A.copy(), A.shape[1]
    covariance = np.zeros((m, m))
    pull = A @ P
    for rows, columns in _patterns(hidden):
        inverse = np.linalg.inv(P[columns[:, :, None], columns[:, None, :]])
        np.add.at(covariance, (columns[:, :, None], columns[:, None, :]), inverse)
        asked = np.take_along_axis(pull[rows], columns, axis=1)
        filled[rows[:, None], columns] = -np.einsum("bij,bj->bi", inverse, asked)
    return filled, covariance


def _by_pairs(A: Array, known: Array, weights: Array) -> Array:
    """Covariance of the cells that both of two columns have."""
    R = (A * weights).T @ A / np.maximum((known * weights).T @ known, 1.0)
    values, vectors = np.linalg.eigh(R)
    positive: Array = (vectors * np.maximum(values, FIRST_RIDGE)) @ vectors.T
    return positive


def _filled(
    A: Array, hidden: Array, weights: Array, R: Array, center: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    """Cells with gaps filled, less the centre; their covariance, that of gaps, and the centre.

    A `center` moves as gaps are filled; without one it is where it is.
    """
    identity, middle = np.eye(len(R)), np.zeros(len(R)) if center is None else center
    for _ in range(FILLINGS):
        filled, gaps = fill(np.where(hidden, 0.0, A - middle), hidden, np.linalg.inv(R))
        if center is not None:
            moved = (filled * weights).sum(axis=0) / weights.sum()
            filled, middle = filled - moved, middle + moved
        R = (filled * weights).T @ filled / weights.sum() + gaps / len(A) + FIRST_RIDGE * identity
    return filled, R - FIRST_RIDGE * identity, gaps, middle


def _no_chance(filled: Array, hidden: Array) -> bool:
    """Whether gaps of some column are where it is high, or low, by what they are filled with."""
    counts = np.maximum(hidden.sum(axis=0), 1)
    means = np.where(hidden, filled, 0.0).sum(axis=0) / counts
    return bool(np.any(np.abs(means) * np.sqrt(counts) > NO_CHANCE))


@dataclass(frozen=True)
class LinearOpinion:
    """Mean, scale and precision of the columns, and the range of their predictions.

    If rows that were learned from vouch for themselves they are asked of precisions without those of
    their fold, and of their means, in scales.
    """

    mean: Array
    scale: Array
    precision: Array
    low: Array
    high: Array
    folds: Folds | None = None
    without: tuple[tuple[Array, Array], ...] = ()

    @classmethod
    def learn(cls, Z: Array, hidden: Array, order: Array) -> LinearOpinion:
        """From rows with hidden cells; the ridge is the one that predicts other rows best."""
        V = np.clip(Z, -LARGEST_PULL, LARGEST_PULL)
        known = (~hidden).astype(float)
        total = np.maximum(known.sum(axis=0), 1.0)
        mean = np.where(hidden, 0.0, V).sum(axis=0) / total
        A = np.where(hidden, 0.0, V - mean)
        scale = np.sqrt((A**2).sum(axis=0) / total)
        scale = np.where(scale > 0.0, scale, 1.0)
        A /= scale
        weights = row_weights(A, known)
        filled, R, covariance, center = _filled(A, hidden, weights, _by_pairs(A, known, weights))
        whole = known.all(axis=1)
        if whole.sum() > WHOLE_ROWS * len(R) and _no_chance(filled, hidden):
            # Pairs of columns contradict each other; in whole rows relations are what they are.
            rows, w = A[whole], weights[whole]
            center = (rows * w).sum(axis=0) / w.sum()
            R = ((rows - center) * w).T @ (rows - center) / w.sum() + FIRST_RIDGE * np.eye(len(R))
            filled, R, covariance, center = _filled(A, hidden, weights, R, center)
        mean, identity = mean + center * scale, np.eye(len(R))
        half = np.zeros(len(A), dtype=bool)
        half[order[::2]] = True

        def loss(ridge: float) -> float:
            total = 0.0
            for part in (half, ~half):
                rows, w = filled[part], weights[part]
                own = (rows * w).T @ rows / max(w.sum(), 1e-9) + covariance / len(A)
                P = np.linalg.inv(own + ridge * identity)
                residuals = np.abs(filled[~part] @ P) / np.diag(P)
                total += float(np.mean(np.log(np.median(residuals, axis=0) + 1e-9)))
            return total

        ridge = min(RIDGES, key=loss)
        shown = np.clip(np.where(np.isnan(Z), mean, Z), -WILD, WILD)
        low, high = shown.min(axis=0), shown.max(axis=0)
        beyond = BEYOND * (high - low)
        precision = np.linalg.inv(R + ridge * identity)
        found = cls(mean, scale, precision, low - beyond, high + beyond)
        say = weights * np.sum(filled * (filled @ precision), axis=1)[:, None] / weights.sum()
        count = min(FOLDS, KEPT_CELLS // R.size)
        if (say.mean() < USUAL_SAY and say.max() < MOST_SAY) or count < 2:
            return found
        folds, own = Folds.of(Z, count)
        gaps = covariance / len(A) + ridge * identity
        without = tuple(_without(own == k, filled, weights, gaps) for k in range(count))
        return replace(found, folds=folds, without=without)

    def predict(self, Z: Array, hidden: Array) -> tuple[Array, Array]:
        """Every cell from those of its row that are not hidden, itself left out; and its deviation."""
        A = np.where(hidden, 0.0, Z - self.mean) / self.scale
        if self.folds is None:
            prediction, deviation = _predicted(A, hidden, self.precision)
        else:
            prediction, deviation = np.empty(Z.shape), np.empty(Z.shape)
            folds = self.folds(Z)
            for fold, (mean, P) in enumerate((*self.without, (np.zeros(A.shape[1]), self.precision))):
                rows = folds == fold
                if rows.any():
                    shifted = np.where(hidden[rows], 0.0, A[rows] - mean)
                    said, deviation[rows] = _predicted(shifted, hidden[rows], P)
                    prediction[rows] = said + mean
        return (
            np.clip(prediction * self.scale + self.mean, self.low, self.high),
            deviation * self.scale,
        )

    def extremity(self, Z: Array, hidden: Array, prediction: Array) -> Array:
        """How far predictions are from the middle of their columns, as a logarithm.

        Relations bend, and bent ones are off most where hardly any sample is. A few errors lead
        predictions there, too: no cell is more extreme than most of its row.
        """
        distance = np.abs(prediction - self.mean) / self.scale
        row = np.where(hidden, distance, np.abs(Z - self.mean) / self.scale)
        most = np.quantile(row, MOST_OF_ROW, axis=1, keepdims=True)
        extremity: Array = np.log1p(np.minimum(distance, most) ** 2)
        return extremity

    def for_want(self, Z: Array, unit: Array) -> Array:
        """How far predictions are off at least for want of the cells of their row that are missing.

        Of the variance that is the part beyond the usual one, of rows in which nothing is missing; less
        where all opinions together, whose residuals are of size `unit`, know better than the line. Of
        three columns that are tied by one equation, two say nothing of each other when the third is
        missing, and one that happens to be predicted well does not make the other easy to predict.
        """
        missing = np.isnan(Z)
        rows = missing.any(axis=1)
        want = np.zeros(Z.shape)
        if rows.any():
            usual = self.scale / np.sqrt(np.diag(self.precision))
            _, deviation = _predicted(np.zeros((rows.sum(), Z.shape[1])), missing[rows], self.precision)
            beyond = np.sqrt(np.maximum((deviation * self.scale) ** 2 - usual**2, 0.0))
            want[rows] = beyond * np.minimum(unit / usual, 1.0)
        return want


def _predicted(A: Array, hidden: Array, P: Array) -> tuple[Array, Array]:
    """Conditional means and deviations of all cells given the others that are not hidden."""
    pull = A @ P
    prediction = A - pull / np.diag(P)
    variance = np.broadcast_to(1.0 / np.diag(P), A.shape).copy()
    for rows, columns in _patterns(hidden):
        inverse = np.linalg.inv(P[columns[:, :, None], columns[:, None, :]])
        G = P[columns]
        T = inverse @ G
        asked = np.take_along_axis(pull[rows], columns, axis=1)
        own = pull[rows] - np.einsum("bkm,bk->bm", T, asked)
        diagonal = np.maximum(np.diag(P) - np.einsum("bkm,bkm->bm", G, T), 1e-12)
        prediction[rows] = A[rows] - own / diagonal
        variance[rows] = 1.0 / diagonal
        prediction[rows[:, None], columns] = -np.einsum("bij,bj->bi", inverse, asked)
        variance[rows[:, None], columns] = np.diagonal(inverse, axis1=1, axis2=2)
    return prediction, np.sqrt(np.maximum(variance, 0.0))


def _without(fold: Array, filled: Array, weights: Array, gaps: Array) -> tuple[Array, Array]:
    """Mean and precision of the rows that are not in a fold; `gaps` are added to their covariance."""
    rows, w = filled[~fold], weights[~fold]
    if not len(rows):
        return np.zeros(filled.shape[1]), np.linalg.inv(gaps)
    mean = (rows * w).sum(axis=0) / w.sum()
    return mean, np.linalg.inv(((rows - mean) * w).T @ (rows - mean) / w.sum() + gaps)
