"""What the displays share. Matplotlib is imported when something is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from rnlmf.typing import Array


def axes(ax: Any) -> tuple[Any, Any]:
    """The axes given, or new ones, and their figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as missing:
        raise ImportError("Plots need matplotlib: pip install 'rnlmf[plot]'") from missing
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    return ax, ax.figure


def checked_image_shape(image_shape: Any, n_features: int) -> tuple[int, ...] | None:
    """Height, width and, for colour, channels; or None."""
    if image_shape is None:
        return None
    shape = tuple(int(side) for side in image_shape)
    if len(shape) not in (2, 3) or int(np.prod(shape)) != n_features:
        raise ValueError(f"image_shape={image_shape!r} does not fit {n_features} features.")
    return shape


def tiles(images: Array, shape: tuple[int, ...], columns: int, fill: float = np.nan) -> Array:
    """Flat images side by side in rows, with a gap of one pixel."""
    height, width, *channels = shape
    rows = -(-len(images) // columns)
    sheet = np.full((rows * (height + 1) - 1, columns * (width + 1) - 1, *channels), fill)
    for number, image in enumerate(images):
        top, left = (number // columns) * (height + 1), (number % columns) * (width + 1)
        sheet[top : top + height, left : left + width] = image.reshape(shape)
    return sheet


def show_image(ax: Any, sheet: Array, low: float, high: float, cmap: str = "gray") -> Any:
    """An image without ticks; colour is scaled to the range."""
    if sheet.ndim == 3:
        gaps = np.isnan(sheet)
        sheet = np.clip((np.where(gaps, high, sheet) - low) / ((high - low) or 1.0), 0.0, 1.0)
    image = ax.imshow(sheet, cmap=cmap, vmin=low, vmax=high, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    return image


def principal_plane(points: Array) -> tuple[Array, float]:
    """Coordinates along the first two principal components, and the share of the variance they hold."""
    with np.errstate(invalid="ignore"):
        model = PCA(min(2, *points.shape), random_state=0).fit(points)
    plane = model.transform(points)
    held = float(np.nan_to_num(model.explained_variance_ratio_).sum())
    return np.pad(plane, [(0, 0), (0, 2 - plane.shape[1])]), held


def feature_names(model: Any, n_features: int) -> list[str]:
    """The names the model was fitted with, or numbers."""
    names = getattr(model, "feature_names_in_", None)
    return [f"x{i}" for i in range(n_features)] if names is None else [str(name) for name in names]
