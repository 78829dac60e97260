"""Folders of images and stacks (multi-page .tiff), read and written by Pillow.

The features are the colour channels; transparency, resolution and colour profile pass through.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from rnlmf.io.dataset import (
    IMAGES,
    Dataset,
    FileError,
    natural_key,
    need,
    readable,
    with_changes,
    working_values,
)
from rnlmf.io.sizes import check_growth
from rnlmf.io.tiff import count_pages
from rnlmf.typing import Array

SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
STACKS = (".tif", ".tiff")
# Modes whose pixels are numbers, and what the others are turned into.
PLAIN_MODES = ("1", "L", "RGB", "RGBA", "LA", "I;16", "I", "F")
CONVERTED = {"P": "RGB", "PA": "RGBA", "CMYK": "RGB", "YCbCr": "RGB", "LAB": "RGB", "HSV": "RGB"}
KEPT_INFO = ("dpi", "icc_profile", "exif")
JPEG_QUALITY = 95


@dataclass(frozen=True)
class ImageFiles:
    """Pixels as they lie in the files, and what else is there."""

    pixels: Array
    alpha: Array | None
    files: list[Path]
    info: list[dict[str, Any]] = field(default_factory=list)


def read_folder(path: Path) -> Dataset:
    """All images of a folder, by name; they must have one size and kind."""
    files = [f for f in path.iterdir() if f.suffix.lower() in SUFFIXES and not f.name.startswith(".")]
    files.sort(key=lambda file: natural_key(file.name))
    if not files:
        raise FileError(path, f"has no images ({', '.join(SUFFIXES)}); pass another folder.")
    frames: list[Any] = []
    growth = _Growth()
    for file in files:
        pages = _pages(file, growth)
        if len(pages) > 1:
            raise FileError(file, "is a stack of images; pass it by itself, not in a folder.")
        frames.append(pages[0])
    return _dataset(path, files, [file.name for file in files], frames)


def read_stack(path: Path) -> Dataset:
    """The pages of a .tiff file."""
    frames = _pages(path, _Growth())
    if len(frames) < 2:
        raise FileError(path, "is a single image; pass a stack of pages or a folder of images.")
    return _dataset(path, [path], [f"page {page}" for page in range(1, len(frames) + 1)], frames)


class _Growth:
    """Bytes of the files so far, and of their pixels as numbers."""

    def __init__(self) -> None:
        self.stored = self.unpacked = 0

    def add_page(self, path: Path, image: Any) -> None:
        """Refuse pixels before they are unpacked, if there are too many for what the files hold."""
        self.unpacked += 4 * image.width * image.height * len(image.getbands())
        check_growth(path, self.stored, self.unpacked)


def _pages(path: Path, growth: _Growth) -> list[tuple[Array, str, dict[str, Any]]]:
    """Pixels, mode and what else is kept of every page."""
    image_module = need("PIL.Image", "cli", "Reading images")
    pages = []
    with readable(path, "an image"), warnings.catch_warnings():
        # Pillow only warns of a file that was cut off, and of one that unpacks to gigabytes.
        warnings.filterwarnings("error", message=".*[Tt]runcated")
        warnings.simplefilter("error", image_module.DecompressionBombWarning)
        growth.stored += path.stat().st_size
        with image_module.open(path) as image:
            for page in range(getattr(image, "n_frames", 1)):
                image.seek(page)
                growth.add_page(path, image)
                kept = {key: image.info[key] for key in KEPT_INFO if key in image.info}
                mode = _mode(path, image)
                picture = image if mode == image.mode else image.convert(mode)
                pages.append((np.asarray(picture), mode, kept))
            if image.format == "TIFF" and len(pages) != count_pages(path):
                raise ValueError("pages are missing")
    return pages


def _mode(path: Path, image: Any) -> str:
    """The mode in which the pixels of an image are numbers."""
    if image.mode == "P" and "transparency" in image.info:
        return "RGBA"
    mode: str = CONVERTED.get(image.mode, image.mode)
    if mode not in PLAIN_MODES and not mode.startswith("I;16"):
        raise FileError(
            path, f"has pixels of mode {image.mode}, which is not supported; convert it to RGB or grey."
        )
    return mode


def _dataset(path: Path, files: list[Path], names: list[str], frames: list[Any]) -> Dataset:
    first, mode, _ = frames[0]
    for name, (pixels, other_mode, _) in zip(names, frames, strict=True):
        if pixels.shape[:2] != first.shape[:2]:
            raise FileError(
                path,
                f"{name} is {pixels.shape[1]} x {pixels.shape[0]} pixels, but {names[0]} is "
                f"{first.shape[1]} x {first.shape[0]}: make all of one size.",
            )
        if other_mode != mode:
            raise FileError(
                path, f"{name} is of mode {other_mode}, but {names[0]} of {mode}: convert them to one."
            )
    stacked = np.stack([pixels for pixels, *_ in frames])
    alpha = None
    if mode in ("RGBA", "LA"):
        stacked, alpha = stacked[..., :-1], stacked[..., -1]
        if mode == "LA":
            stacked = stacked[..., 0]
    pixels = np.ascontiguousarray(stacked).reshape(len(stacked), -1)
    height, width, *channels = stacked.shape[1:]
    return Dataset(
        values=working_values(pixels),
        kind=IMAGES,
        names=PixelNames(height, width, *channels),
        sample_names=names,
        sample_shape=stacked.shape[1:],
        source=ImageFiles(pixels, alpha, files, [info for *_, info in frames]),
        path=path,
    )


class PixelNames(Sequence[str]):
    """``y3x7``, with the colour where there are several; made when asked for, as most never are."""

    def __init__(self, height: int, width: int, channels: int = 1) -> None:
        self.height, self.width = height, width
        self.colours = [""] if channels == 1 else list("rgba"[:channels])

    def __len__(self) -> int:
        return self.height * self.width * len(self.colours)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        found = range(len(self))[place]
        return self._name(found) if isinstance(found, int) else list(map(self._name, found))

    def _name(self, place: int) -> str:
        pixel, colour = divmod(place, len(self.colours))
        y, x = divmod(pixel, self.width)
        return f"y{y}x{x}{self.colours[colour]}"


def updated(dataset: Dataset, values: Array, path: Path) -> ImageFiles:
    """The images of a dataset with new pixels; made from an array of images if it came from one."""
    if len(dataset.sample_shape) not in (2, 3):
        raise FileError(
            path, f"{dataset.path.name} holds no images; say their size with --image-shape."
        )
    source = dataset.source
    if isinstance(source, ImageFiles):
        return replace(source, pixels=with_changes(source.pixels, values))
    stored = getattr(source, "array", values).dtype
    return ImageFiles(_as_pixels(values, stored, dataset.path, path), None, [], [])


def _as_pixels(values: Array, stored: np.dtype[Any], origin: Path, path: Path) -> Array:
    """Numbers as grey levels: those of the stored type, or the range from 0 to 1."""
    low, high = float(values.min()), float(values.max())
    if stored in (np.uint8, np.uint16):
        return np.clip(np.rint(values), 0, np.iinfo(stored).max).astype(stored)
    if path.suffix.lower() in STACKS:
        return values.astype(np.float32)
    if low >= 0.0 and high <= 1.0:
        return np.rint(255.0 * values).astype(np.uint8)
    if low >= 0.0 and high <= 255.0 and stored.kind in "iu":
        return np.rint(values).astype(np.uint8)
    raise FileError(
        path,
        f"{origin.name} has values from {low:.4g} to {high:.4g}, which are no grey levels; "
        "write .tiff or .npy.",
    )


def write_folder(dataset: Dataset, source: ImageFiles, folder: Path, suffix: str = ".png") -> None:
    """One file per image, under its old name; an image in which nothing changed is copied."""
    folder.mkdir()
    changed = np.ones(len(source.pixels), dtype=bool)
    if isinstance(dataset.source, ImageFiles):
        changed = (source.pixels != dataset.source.pixels).any(axis=1)
    one_file_each = len(source.files) == len(source.pixels)
    digits = len(str(len(source.pixels)))
    for sample, image in enumerate(_pictures(dataset, source)):
        if one_file_each and not changed[sample]:
            shutil.copyfile(source.files[sample], folder / source.files[sample].name)
            continue
        name = source.files[sample].name if one_file_each else f"{sample + 1:0{digits}d}{suffix}"
        info = source.info[sample] if source.info else {}
        quality = {"quality": JPEG_QUALITY, "subsampling": 0} if _is_jpeg(name) else {}
        image.save(folder / name, **info, **quality)


def write_stack(dataset: Dataset, source: ImageFiles, path: Path) -> None:
    """All images as the pages of one .tiff file."""
    first, *others = _pictures(dataset, source)
    info = {key: value for key, value in (source.info or [{}])[0].items() if key != "exif"}
    first.save(path, save_all=True, append_images=others, compression="tiff_adobe_deflate", **info)


def _is_jpeg(name: str) -> bool:
    return name.lower().endswith((".jpg", ".jpeg"))


def _pictures(dataset: Dataset, source: ImageFiles) -> list[Any]:
    image_module = need("PIL.Image", "cli", "Writing images")
    pictures = []
    for sample, row in enumerate(source.pixels):
        pixels = row.reshape(dataset.sample_shape)
        if pixels.ndim == 3 and pixels.shape[-1] == 1:
            pixels = pixels[..., 0]
        if source.alpha is not None:
            pixels = np.dstack([pixels, source.alpha[sample]])
        pictures.append(image_module.fromarray(pixels))
    return pictures
