"""Arrays as PNG images inside a page."""

from __future__ import annotations

import base64
import io

import numpy as np

from rnlmf.io.dataset import need
from rnlmf.typing import Array

TOO_LARGE, TOO_SMALL = np.array([204, 74, 31]), np.array([47, 111, 176])
LARGEST_SIDE = 256


def data_uri(pixels: Array) -> str:
    """An image of bytes (grey, colour, or colour with transparency) as a ``data:`` address."""
    image = need("PIL.Image", "cli", "A report with images").fromarray(pixels)
    image.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def grey(image: Array, low: float, high: float) -> Array:
    """Numbers from `low` to `high` as bytes; missing ones are black."""
    scaled = (np.nan_to_num(image, nan=low) - low) / ((high - low) or 1.0)
    return np.rint(255.0 * np.clip(scaled, 0.0, 1.0)).astype(np.uint8)


def signed(image: Array, largest: float) -> Array:
    """Red where positive, blue where negative, transparent where zero."""
    if image.ndim == 3:
        strongest = np.abs(image).argmax(axis=2)[..., None]
        image = np.take_along_axis(image, strongest, axis=2)[..., 0]
    strength = np.clip(np.abs(image) / (largest or 1.0), 0.0, 1.0) ** 0.7
    colour = np.where(image[..., None] > 0.0, TOO_LARGE, TOO_SMALL)
    alpha = np.rint(255.0 * strength)[..., None]
    return np.concatenate([colour, alpha], axis=2).astype(np.uint8)


def without_single_channel(image: Array) -> Array:
    """Grey images with and without a channel axis are the same."""
    return image[..., 0] if image.ndim == 3 and image.shape[2] == 1 else image
