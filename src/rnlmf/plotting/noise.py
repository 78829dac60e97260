"""Where the noise is."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from rnlmf.plotting.drawing import axes, feature_names
from rnlmf.typing import Array


def block_means(values: Array, rows: int, columns: int) -> Array:
    """Means over blocks, so that there are at most so many rows and columns."""
    for axis, most in ((0, rows), (1, columns)):
        size = values.shape[axis]
        if size > most:
            starts = np.linspace(0, size, most, endpoint=False).astype(int)
            lengths = np.diff(np.append(starts, size))
            sums = np.add.reduceat(values, starts, axis=axis)
            values = sums / (lengths[:, None] if axis == 0 else lengths)
    return values


class NoiseMapDisplay:
    """Heat map of what was removed, samples by features, in standard deviations of the features.

    Parameters
    ----------
    noise : array of shape (n_samples, n_features)
        What was removed.
    spread : array of shape (n_features,) or None
        Standard deviations of the clean features; None: one.
    feature_names : list of str or None
        For the axis.
    max_rows, max_columns : int
        Larger maps show means over blocks.

    Attributes
    ----------
    ax_, figure_, image_
        Of the plot.
    """

    def __init__(
        self,
        noise: Any,
        *,
        spread: Any = None,
        feature_names: list[str] | None = None,
        max_rows: int = 400,
        max_columns: int = 400,
    ):
        self.noise = np.asarray(noise)
        self.spread = spread
        self.feature_names = feature_names
        self.max_rows = max_rows
        self.max_columns = max_columns

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Any = None) -> Self:
        """Plot what a fitted estimator removes from `X`; missing entries count as zero."""
        before, clean = np.asarray(X), np.asarray(estimator.denoise(X))
        names = feature_names(estimator, before.shape[1])
        noise = np.nan_to_num(before - clean)
        return cls(noise, spread=clean.std(axis=0), feature_names=names).plot(ax)

    def plot(self, ax: Any = None, **image: Any) -> Self:
        """Draw; `image` goes to Matplotlib's ``imshow``."""
        self.ax_, self.figure_ = axes(ax)
        n, m = self.noise.shape
        unit = np.ones(m) if self.spread is None else np.asarray(self.spread, dtype=float)
        sizes = np.abs(self.noise) / np.where(unit > 0.0, unit, 1.0)
        settings = {"aspect": "auto", "cmap": "magma_r", "interpolation": "nearest", **image}
        shown = block_means(sizes, self.max_rows, self.max_columns)
        self.image_ = self.ax_.imshow(shown, extent=(-0.5, m - 0.5, n - 0.5, -0.5), **settings)
        self.figure_.colorbar(self.image_, ax=self.ax_, label="removed, in standard deviations")
        self.ax_.set(xlabel="feature", ylabel="sample")
        if self.feature_names is not None and m <= 30:
            self.ax_.set_xticks(range(m), self.feature_names, rotation=90)
        return self
