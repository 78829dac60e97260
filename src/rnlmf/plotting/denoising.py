"""Before, after, and what was removed."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from rnlmf.plotting.drawing import (
    axes,
    checked_image_shape,
    feature_names,
    show_image,
    tiles,
)


class DenoisingDisplay:
    """Images in three rows (before, after, removed), or one feature with its repairs marked.

    Parameters
    ----------
    noisy, clean : array of shape (n_samples, n_features)
        Before and after.
    image_shape : tuple of int or None
        Height and width (and channels) if samples are images.
    samples : array of int or None
        Which images; None: the `n_images` from which most was removed.
    feature : int or None
        Which feature, if samples are no images; None: that from which most was removed.
    feature_names : list of str or None
        For the axis.
    n_images : int
        How many images.

    Attributes
    ----------
    ax_, figure_
        Of the plot.
    samples_ : array of int
        The images that are shown.
    feature_ : int
        The feature that is shown.
    """

    def __init__(
        self,
        noisy: Any,
        clean: Any,
        *,
        image_shape: Any = None,
        samples: Any = None,
        feature: int | None = None,
        feature_names: list[str] | None = None,
        n_images: int = 8,
    ):
        self.noisy, self.clean = np.asarray(noisy), np.asarray(clean)
        if self.noisy.shape != self.clean.shape:
            raise ValueError(f"noisy has shape {self.noisy.shape}, clean {self.clean.shape}.")
        self.image_shape = checked_image_shape(image_shape, self.noisy.shape[1])
        self.samples = samples
        self.feature = feature
        self.feature_names = feature_names
        self.n_images = n_images

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        image_shape: Any = None,
        samples: Any = None,
        feature: int | None = None,
        n_images: int = 8,
        ax: Any = None,
    ) -> Self:
        """Denoise `X` with a fitted estimator and plot it."""
        noisy, clean = np.asarray(X), np.asarray(estimator.denoise(X))
        names = feature_names(estimator, noisy.shape[1])
        display = cls(
            noisy,
            clean,
            image_shape=image_shape,
            samples=samples,
            feature=feature,
            feature_names=names,
            n_images=n_images,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw."""
        self.ax_, self.figure_ = axes(ax)
        removed = np.nan_to_num(self.noisy - self.clean)
        if self.image_shape is not None:
            self._plot_images(removed)
        else:
            self._plot_feature(removed)
        return self

    def _plot_images(self, removed: Any) -> None:
        shape = self.image_shape
        assert shape is not None
        if self.samples is None:
            worst = np.argsort(-np.square(removed).sum(axis=1), kind="stable")
            self.samples_ = worst[: self.n_images]
        else:
            self.samples_ = np.asarray(self.samples)
        low, high = float(self.clean.min()), float(self.clean.max())
        half = (high - low) / 2 or 1.0
        # What was removed is shown about the middle grey.
        middle = low + half + removed[self.samples_] / 2
        rows = (np.nan_to_num(self.noisy[self.samples_]), self.clean[self.samples_], middle)
        sheet = tiles(np.concatenate(rows), shape, len(self.samples_))
        show_image(self.ax_, sheet, low, high)
        height = shape[0] + 1
        labels = ("before", "after", "removed")
        self.ax_.set_yticks([height * (row + 0.5) for row in range(3)], labels)
        self.ax_.tick_params(length=0)

    def _plot_feature(self, removed: Any) -> None:
        sizes = np.square(removed).mean(axis=0) / (np.var(self.clean, axis=0) + np.finfo(float).tiny)
        self.feature_ = int(np.argmax(sizes)) if self.feature is None else self.feature
        before, after = self.noisy[:, self.feature_], self.clean[:, self.feature_]
        names = self.feature_names
        name = f"x{self.feature_}" if names is None else names[self.feature_]
        rows = np.arange(len(before))
        repaired = before != after
        self.ax_.plot(rows, after, linewidth=1.2, label="after")
        self.ax_.plot(rows[repaired], before[repaired], "x", markersize=4, label="before, repaired")
        self.ax_.set(xlabel="sample", ylabel=name)
        self.ax_.legend()
