"""Loaders of the image sets of the paper, from the files their authors distribute."""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from rnlmf.datasets.files import PathLike, locate, read_arrays
from rnlmf.io.dataset import natural_key, need
from rnlmf.typing import Array

Size = tuple[int, int]

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2")


@dataclass(frozen=True)
class ImageSet:
    """How a set of labelled images is distributed.

    Attributes
    ----------
    title : str
    names : tuple of str
        Files and folders that may hold it.
    pattern : str
        Of the name of an image: its first group is the label, the second the image's place among
        those of the label.
    advice : str
        Where to get it.
    """

    title: str
    names: tuple[str, ...]
    pattern: str
    advice: str

    def load(self, size: Size | None, path: PathLike | None) -> Bunch:
        """Images as rows with values in [0, 1], their labels, and their shape."""
        source = locate(self.title, self.names, path, self.advice)
        if source.suffix in (".npz", ".mat"):
            X, y, shape = _from_arrays(source)
            if size is not None and size != shape:
                X = resize_images(X, shape, size)
        else:
            X, y, shape = self._from_pictures(source, size)
        return Bunch(data=X, target=y, image_shape=size or shape)

    def _from_pictures(self, source: Path, size: Size | None) -> tuple[Array, Array, Size]:
        named = []
        for name, content in _pictures(source):
            match = re.search(self.pattern, name, re.IGNORECASE)
            if match:
                named.append((natural_key(match[1]), natural_key(match[2]), content))
        if not named:
            raise ValueError(
                f"{self.title}: there is no image in {source} whose name matches {self.pattern!r}. "
                f"{self.advice}"
            )
        named.sort(key=lambda entry: entry[:2])
        labels = sorted({label for label, _, _ in named})
        images = [_grey(content) for _, _, content in named]
        shapes = {image.shape for image in images}
        if size is None and len(shapes) > 1:
            raise ValueError(f"{self.title}: images have the shapes {sorted(shapes)}; give `size`.")
        shape = size or images[0].shape
        rows = [
            image.ravel()
            if image.shape == shape
            else resize_images(image.reshape(1, -1), image.shape, shape)[0]
            for image in images
        ]
        y = np.array([labels.index(label) + 1 for label, _, _ in named], dtype=np.int32)
        return np.stack(rows), y, shape


def _pictures(source: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file of a folder or an archive."""
    if source.is_dir():
        for file in sorted(source.rglob("*")):
            if file.is_file():
                yield file.relative_to(source).as_posix(), file.read_bytes()
    elif source.name.endswith(".zip"):
        with zipfile.ZipFile(source) as archive:
            for name in sorted(archive.namelist()):
                yield name, archive.read(name)
    elif source.name.endswith(ARCHIVES):
        with tarfile.open(source) as tar:
            for member in tar:
                file_object = tar.extractfile(member)
                if file_object is not None:
                    yield member.name, file_object.read()
    else:
        known = ", ".join((".npz", ".mat", *ARCHIVES))
        raise ValueError(f"{source.name} is neither a folder nor a file of a known kind ({known}).")


def _grey(content: bytes) -> Array:
    """An image file as an array with values in [0, 1]; colours become their luminance."""
    image_module = need("PIL.Image", "images", "A set of images")
    with image_module.open(io.BytesIO(content)) as picture:
        return np.asarray(picture.convert("L"), dtype=np.float32) / np.float32(255.0)


def _from_arrays(source: Path) -> tuple[Array, Array, Size]:
    """Images of an ``.npz`` file (``X``, ``y``) or of the usual MATLAB files (``fea``, ``gnd``)."""
    content = read_arrays(source)
    matlab = source.suffix == ".mat"
    names = ("fea", "gnd") if matlab else ("X", "y")
    missing = [name for name in names if name not in content]
    if missing:
        raise ValueError(f"{source.name} has no array {missing[0]!r}, only {', '.join(content)}.")
    X, y = (content[name] for name in names)
    if X.shape[0] != y.size and X.shape[1] == y.size:
        X = X.T
    if "image_shape" in content:
        height, width = (int(side) for side in content["image_shape"])
    else:
        height = width = round(X.shape[1] ** 0.5)
    if height * width != X.shape[1]:
        raise ValueError(f"{source.name}: {X.shape[1]} pixels are not a {height} x {width} image.")
    integer = np.issubdtype(X.dtype, np.integer) or X.max() > 1.0
    X = X.astype(np.float32) / np.float32(255.0 if integer else 1.0)
    if matlab:
        # Columns of an image come one after the other there.
        X = X.reshape(-1, width, height).transpose(0, 2, 1).reshape(len(X), -1)
    return X, y.ravel().astype(np.int32), (height, width)


def resize_images(X: Array, shape: Size, new_shape: Size) -> Array:
    """Bicubic, antialiased resize of images with values in [0, 1], one per row."""
    image_module = need("PIL.Image", "images", "A set of images")

    def resized(image: Array) -> Array:
        picture = image_module.fromarray(image.reshape(shape).astype(np.float32))
        bicubic = image_module.Resampling.BICUBIC
        return np.asarray(picture.resize(new_shape[::-1], bicubic)).ravel()

    return np.clip(np.stack([resized(image) for image in X]), 0.0, 1.0)


COIL20 = ImageSet(
    "COIL-20",
    ("coil20_32x32.npz", "COIL20.mat", "coil-20-proc.zip", "coil-20-proc.tar.gz", "coil-20-proc"),
    r"\b(obj\d+)__(\d+)\.png$",
    "rnlmf.datasets.fetch('coil20') downloads it.",
)
COIL100 = ImageSet(
    "COIL-100",
    ("coil100_32x32.npz", "COIL100.mat", "coil-100.zip", "coil-100.tar.gz", "coil-100"),
    r"\b(obj\d+)__(\d+)\.png$",
    "rnlmf.datasets.fetch('coil100') downloads it.",
)
# Names with "Ambient" have no light source, and those that end in ".bad" are damaged: 2414 are left.
YALE_B = ImageSet(
    "Extended Yale B",
    ("yaleB_32x32.npz", "YaleB_32x32.mat", "CroppedYale.zip", "CroppedYale"),
    r"\b(yaleB\d+)_(P00A[+-]\d+E[+-]\d+)\.pgm$",
    "rnlmf.datasets.fetch('yale_b') downloads it.",
)
AR = ImageSet(
    "AR faces",
    ("AR.zip", "AR"),
    r"\b([mw]-\d+)-(\d+)\.(?:bmp|png|pgm|jpg|jpeg|tif|tiff)$",
    "It may not be passed on: ask its authors, at the Ohio State University, for the cropped images, "
    "named like M-001-01.bmp, and give their folder as `path`.",
)


def load_coil20(size: Size | None = (20, 20), *, path: PathLike | None = None) -> Bunch:
    """COIL-20: 1440 grey images of 20 objects, 72 poses each, values in [0, 1].

    Parameters
    ----------
    size : (height, width) or None
        To which the images are resized; None keeps their own. The paper has 20 x 20.
    path : path or None
        ``coil-20-proc.zip`` or its unpacked folder, ``COIL20.mat`` (``fea``, ``gnd``), an ``.npz`` file
        (``X``, ``y``), or a folder with one of these. None: the data folder, see
        :func:`rnlmf.datasets.data_folder`.

    Returns
    -------
    Bunch
        ``data`` (one image per row), ``target`` (object, from 1) and ``image_shape``.

    References
    ----------
    S. A. Nene, S. K. Nayar and H. Murase, "Columbia Object Image Library (COIL-20)", CUCS-005-96, 1996.
    """
    return COIL20.load(size, path)


def load_coil100(size: Size | None = (20, 20), *, path: PathLike | None = None) -> Bunch:
    """COIL-100: 7200 images of 100 objects, made grey, values in [0, 1].

    Parameters and result are those of :func:`load_coil20`; the files are ``coil-100.zip``, its unpacked
    folder, or ``COIL100.mat``.

    References
    ----------
    S. A. Nene, S. K. Nayar and H. Murase, "Columbia Object Image Library (COIL-100)", 1996.
    """
    return COIL100.load(size, path)


def load_extended_yale_b(size: Size | None = (20, 20), *, path: PathLike | None = None) -> Bunch:
    """Extended Yale B: 2414 grey images of 38 faces under different light, values in [0, 1].

    Parameters and result are those of :func:`load_coil20`; the files are ``CroppedYale.zip``, its
    unpacked folder, or ``YaleB_32x32.mat``. Subjects are numbered from 1 without a gap.

    References
    ----------
    K.-C. Lee, J. Ho and D. Kriegman, "Acquiring linear subspaces for face recognition under variable
    lighting", IEEE Transactions on Pattern Analysis and Machine Intelligence, 2005.
    """
    return YALE_B.load(size, path)


def load_ar(size: Size | None = (33, 24), *, path: PathLike | None = None) -> Bunch:
    """AR faces: 26 images of each of 50 men and 50 women, made grey, values in [0, 1].

    Parameters and result are those of :func:`load_coil20`. The images may not be passed on; the cropped
    ones, named like ``M-001-01.bmp``, are expected in a folder or an archive. The paper has 33 x 24.

    References
    ----------
    A. Martinez and R. Benavente, "The AR face database", CVC technical report 24, 1998.
    """
    return AR.load(size, path)
