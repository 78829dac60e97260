"""The atoms of a dictionary."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from rnlmf.plotting.drawing import axes, checked_image_shape, feature_names, show_image, tiles


class DictionaryDisplay:
    """Atoms as images, or as the rows of a heat map.

    Parameters
    ----------
    components : array of shape (n_components, n_features)
        The dictionary.
    image_shape : tuple of int or None
        Height and width (and channels) if atoms are images.
    feature_names : list of str or None
        For the heat map.

    Attributes
    ----------
    ax_, figure_, image_
        Of the plot.
    """

    def __init__(
        self, components: Any, *, image_shape: Any = None, feature_names: list[str] | None = None
    ):
        self.components = np.asarray(components)
        self.image_shape = checked_image_shape(image_shape, self.components.shape[1])
        self.feature_names = feature_names

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, image_shape: Any = None, n_atoms: int = 48, ax: Any = None
    ) -> Self:
        """Plot the first `n_atoms` of the ``components_`` of a fitted estimator."""
        components = estimator.components_[:n_atoms]
        names = feature_names(estimator, components.shape[1])
        return cls(components, image_shape=image_shape, feature_names=names).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        self.ax_, self.figure_ = axes(ax)
        n, m = self.components.shape
        low, high = float(self.components.min()), float(self.components.max())
        if self.image_shape is not None:
            columns = max(1, round((1.8 * n) ** 0.5))
            sheet = tiles(self.components, self.image_shape, columns)
            self.image_ = show_image(self.ax_, sheet, low, high)
        else:
            self.image_ = self.ax_.imshow(
                self.components, aspect="auto", interpolation="nearest", cmap="viridis"
            )
            self.figure_.colorbar(self.image_, ax=self.ax_)
            self.ax_.set(xlabel="feature", ylabel="atom")
            if self.feature_names is not None and m <= 30:
                self.ax_.set_xticks(range(m), self.feature_names, rotation=90)
        self.ax_.set_title(f"{n} atoms")
        return self
