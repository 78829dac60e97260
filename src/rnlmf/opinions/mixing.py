"""How far an opinion is to be believed: shares of several, and a scale for every single cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from rnlmf.typing import Array

# Shares are found by least squares with weights between absolute and squared errors: as absolute
# errors beyond this many deviations, hardly counted beyond the second.
SMALL, GROSS = 0.3, 6.0
STEPS = 6
# Residuals are calibrated at this quantile: a median may be exactly zero (a sensor at rest), higher
# ones feel the errors that were not yet found. The number is the normal distribution's.
QUANTILE, NORMAL_QUANTILE = 0.7, 1.0364
# More cells of a column do not change shares and slopes.
MOST_CELLS = 2000
# Logarithms of residuals start here, in typical residuals.
LEAST = 0.1
# A column's own dependence on the features counts from so many cells on.
OWN_CELLS = 100.0


def quantiles_of(values: Array, *chances: float) -> list[float]:
    """As NumPy's, of a few thousand values, without what it does around a partition of them."""
    places = [chance * (len(values) - 1) for chance in chances]
    around = [(int(place), min(int(place) + 1, len(values) - 1)) for place in places]
    ordered = np.partition(values, [rank for pair in around for rank in pair])
    found = []
    for place, (below, above) in zip(places, around, strict=True):
        low, high = float(ordered[below]), float(ordered[above])
        found.append(low if low == high else low + (place - below) * (high - low))
    return found


def quantiles(values: Array, used: Array, *chances: float) -> Array:
    """Quantiles (one below the other) of the values of every column that are used; NaN of none."""
    found = np.full((len(chances), values.shape[1]), np.nan)
    for j, (column, rows) in enumerate(zip(values.T, used.T, strict=True)):
        if rows.any():
            found[:, j] = quantiles_of(column[rows], *chances)
    return found


def typical(residual: Array, used: Array, resolution: Array) -> Array:
    """Typical size of the residuals of every column; not less than the column's resolution."""
    middle, upper = quantiles(np.abs(residual), used, 0.5, 0.8)
    size = np.where(np.isnan(middle), 1.0, np.maximum(1.4826 * middle, upper / 4.0))
    return np.maximum(size, np.maximum(resolution, 1e-6))


def logarithm(sizes: Array, unit: Array) -> Array:
    """Logarithm of sizes in units of the typical one, bounded below."""
    return np.log(sizes / unit + LEAST)


def of_row(residual: Array, used: Array, unit: Array) -> Array:
    """Mean logarithm of the other residuals of the row: some rows are hard to predict altogether."""
    logs = np.where(used, logarithm(np.minimum(np.abs(residual), 1e3 * unit), unit), 0.0)
    others = used.sum(axis=1, keepdims=True) - used
    mean: Array = (logs.sum(axis=1, keepdims=True) - logs) / np.maximum(others, 1)
    return mean


def shares(Z: Array, used: Array, predictions: Array, scale: Array | None = None) -> Array:
    """Shares (K, m), none negative, of predictions (K, n, m) that together predict columns best."""
    count, _, m = predictions.shape
    weights = np.zeros((count, m))
    weights[0] = 1.0
    of_columns = np.ascontiguousarray(predictions.transpose(2, 0, 1))
    for j in range(m):
        rows = used[:, j]
        if rows.sum() < 3 * count:
            continue
        rows = np.flatnonzero(rows)[:: -(-int(rows.sum()) // MOST_CELLS)]
        unit = np.ones(len(rows)) if scale is None else scale[rows, j]
        A, y = of_columns[j][:, rows] / unit, Z[rows, j] / unit
        w = np.eye(count)[np.argmin(np.median(np.abs(y - A), axis=1))]
        for _ in range(STEPS):
            r = np.abs(y - w @ A)
            middle, upper = quantiles_of(r, 0.5, 0.8)
            a = r / (max(1.4826 * middle, upper / 4.0) + 1e-9)
            u = 1.0 / np.maximum(a, SMALL)
            u *= (GROSS / np.maximum(a, GROSS)) ** 2
            w = _not_negative(A, u, y)
        weights[:, j] = w
    return weights


def _not_negative(A: Array, weights: Array, y: Array) -> Array:
    """Least squares of ``y - w A``, no ``w`` being negative, by the few equations that matter."""
    weighted = A * weights
    values, vectors = np.linalg.eigh(weighted @ A.T)
    root = np.sqrt(np.maximum(values, 0.0))
    # What is rounding decides nothing.
    told = root > 1e-7 * root[-1]
    right = np.where(told, (vectors.T @ (weighted @ y)) / np.where(told, root, 1.0), 0.0)
    solution: Array = nnls((vectors * (told * root)).T, right)[0]
    return solution


def combine(weights: Array, predictions: Array) -> Array:
    """The mixture of predictions."""
    mixture: Array = np.einsum("km,knm->nm", weights, predictions)
    return mixture


@dataclass(frozen=True)
class ScaleModel:
    """Size of a residual from features of the cell: log-linear, each column with slopes of its own.

    An entry is judged by how much it is off *compared with others that are predicted equally badly*.
    """

    unit: Array
    center: Array
    width: Array
    slopes: Array
    factor: Array
    resolution: Array

    @classmethod
    def learn(cls, residual: Array, used: Array, features: Array, resolution: Array) -> ScaleModel:
        """From the residuals of the cells that are `used`, and features (F, n, m)."""
        count, _, m = features.shape
        unit = typical(residual, used, resolution)
        if not used.any():
            flat = np.zeros(count)
            return cls(unit, flat, flat + 1.0, np.zeros((count, m)), np.ones(m), resolution)
        y = logarithm(np.abs(residual), unit)
        G = np.moveaxis(features, 0, -1)
        chosen = np.stack([feature[used] for feature in features])
        center, width = chosen.mean(axis=1), chosen.std(axis=1) + 1e-9
        step = -(-int(used.sum()) // (10 * MOST_CELLS)) or 1
        some_G, some_y = (chosen[:, ::step].T - center) / width, y[used][::step]
        pooled = _robust_slopes(some_G, some_y, 1e-3 * len(some_y), np.zeros(count))
        slopes = np.empty((count, m))
        for j in range(m):
            rows = np.flatnonzero(used[:, j])
            rows = rows[:: -(-len(rows) // MOST_CELLS) or 1]
            own = (G[rows, j] - center) / width
            slopes[:, j] = _robust_slopes(own, y[rows, j], OWN_CELLS, pooled)
        model = cls(unit, center, width, slopes, np.ones(m), resolution)
        relative = np.abs(residual) / model.predict(features)
        factor = quantiles(relative, used, QUANTILE)[0] / NORMAL_QUANTILE
        factor = np.where(np.isnan(factor), 1.0, np.maximum(factor, 1e-3))
        return cls(unit, center, width, slopes, factor, resolution)

    def predict(self, features: Array) -> Array:
        """Scale of every cell's residual."""
        G = (np.moveaxis(features, 0, -1) - self.center) / self.width
        exponent = np.clip(np.einsum("nmf,fm->nm", G, self.slopes), -30.0, 30.0)
        # Below where logarithms start nothing was learned.
        scale: Array = self.unit * np.maximum(np.exp(exponent), LEAST) * self.factor
        return np.maximum(scale, np.maximum(self.resolution, 1e-9))


def _robust_slopes(G: Array, y: Array, ridge: float, prior: Array) -> Array:
    """Slopes of a linear regression with an intercept, drawn to the `prior`, by Huber's weights."""
    if len(y) < 3:
        return prior
    slopes, weights = prior, np.ones(len(y))
    for _ in range(4):
        total = weights.sum()
        mean, level = weights @ G / total, weights @ y / total
        C = G - mean
        rest = y - level - C @ prior
        weighted = (C * weights[:, None]).T
        H = weighted @ C + ridge * np.eye(len(prior))
        slopes = prior + np.linalg.solve(H, weighted @ rest)
        error = np.abs(y - level - C @ slopes)
        size = 1.4826 * quantiles_of(error, 0.5)[0] + 1e-9
        weights = np.minimum(1.0, 2.0 * size / np.maximum(error, 1e-12))
    return slopes
