"""Samples of a file, whatever its format, and the errors of reading and writing them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.typing import Array

TABLE, ARRAY, IMAGES, MOTION = "table", "array", "images", "motion"
# As a path: standard input, or output.
STANDARD = "-"

# Rows are curves if they have so many points, and neighbours among these are so much nearer to each
# other than any two; so many rows tell.
CURVE_POINTS = 16
SMOOTH = 0.5
CURVE_ROWS = 200


class FileError(ValueError):
    """A file that cannot be used: says in one line which, what is wrong, and what to do.

    Parameters
    ----------
    path : path
        The file.
    message : str
        What is wrong with it, and where.
    """

    def __init__(self, path: Path | str, message: str) -> None:
        super().__init__(f"{'standard input' if str(path) == STANDARD else path}: {message}")
        self.path = Path(path)
        self.message = message


def need(module: str, extra: str, purpose: str) -> Any:
    """Import an optional library, or say how to get it."""
    try:
        return import_module(module)
    except ImportError as missing:
        library = module.partition(".")[0]
        raise ImportError(
            f"{purpose} needs {library}, which is not installed: pip install 'rnlmf[{extra}]'"
        ) from missing


@contextmanager
def readable(path: Path, what: str) -> Iterator[None]:
    """Say in one line that a file cannot be read: what is raised depends on where the damage is."""
    try:
        yield
    except (FileError, PermissionError, ImportError):
        raise
    except MemoryError as error:
        raise FileError(path, "does not fit in memory; pass a part of it.") from error
    except Exception as error:
        if "Object arrays" in str(error):
            raise FileError(path, "holds Python objects, not loaded; save numbers.") from error
        raise FileError(
            path, f"is not {what}, or cut off. Copy it again, or name it by its format."
        ) from error


def are_curves(X: Array) -> bool:
    """Whether a row is one quantity over an axis, such as a spectrum: neighbours are much alike."""
    m = X.shape[1]
    if m < CURVE_POINTS:
        return False
    some = np.asarray(X[:: -(-len(X) // CURVE_ROWS)], dtype=float)
    mixed = some[:, np.random.RandomState(0).permutation(m)]
    near, any_two = (np.abs(np.diff(rows, axis=1)) for rows in (some, mixed))
    # Spikes have no say.
    most = np.nanquantile(any_two, 0.9)
    return bool(np.nanmean(np.minimum(near, most)) < SMOOTH * np.nanmean(np.minimum(any_two, most)))


def check_parent(path: Path) -> None:
    """Refuse an output file whose folder does not exist, or that is a folder itself."""
    if not path.absolute().parent.is_dir():
        raise FileError(path, f"there is no folder {path.absolute().parent}; make it first.")
    if path.is_dir():
        raise FileError(path, "is a folder, but its name is that of a file; pass another name.")
    if os.path.islink(os.path.realpath(path)):
        raise FileError(path, "is a link that leads back to itself; pass another name.")


@dataclass(frozen=True)
class Dataset:
    """Samples as rows, with what is needed to write them back as they came.

    Attributes
    ----------
    values : array of shape (n_samples, n_features)
        The numbers, in single or double precision; NaN where one is missing.
    kind : {"table", "array", "images", "motion"}
        What the file is about.
    names : sequence of str
        Of the features.
    sample_names : list of str or None
        Of the samples: dates, file names, frames.
    sample_shape : tuple
        Of one sample: ``(m,)``, ``(height, width)`` or ``(height, width, channels)``.
    untouched : dict
        Columns that are passed through, and why.
    source : object
        The format's own: what :func:`rnlmf.io.write` needs to keep everything else.
    path : Path
        Where it came from.
    notes : tuple of str
        What was found out about the file that is not as usual, such as its encoding.
    suffix : str
        Of the file, or of what is packed in it.
    """

    values: Array
    kind: str
    names: Sequence[str]
    sample_names: list[str] | None
    sample_shape: tuple[int, ...]
    source: Any
    path: Path
    untouched: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    suffix: str = ""

    @property
    def named(self) -> bool:
        """Whether the names tell the features apart, so that a model can go by them."""
        return self.kind in (TABLE, MOTION) and len(set(self.names)) == len(self.names)

    @property
    def image_shape(self) -> tuple[int, ...] | None:
        """Height, width and, if there are several, channels, where a sample is an image."""
        return self.sample_shape if self.kind == IMAGES else None

    def selected(self, names: list[str], reason: str) -> Dataset:
        """The features of these names, in this order; the others are passed through."""
        positions = [self.names.index(name) for name in names]
        chosen = set(positions)
        left = {i: reason for i in range(len(self.names)) if i not in chosen}
        return self.at(positions, left)

    def at(self, positions: list[int], left: dict[int, str]) -> Dataset:
        """The features at some places; those that are left are passed through, for a reason each."""
        if positions == list(range(len(self.names))):
            return self
        return replace(
            self,
            values=self.values[:, positions],
            names=[self.names[i] for i in positions],
            sample_shape=(len(positions),),
            source=self.source.selected(positions),
            untouched=self.untouched | {self.names[i]: reason for i, reason in left.items()},
        )


def with_names(values: Array, names: Any) -> Any:
    """The values as an Arrow table, so that an estimator keeps their names, or checks them."""
    return need("pyarrow", "cli", "A table").table(list(values.T), names=[str(name) for name in names])


def working_values(original: Array) -> Array:
    """Numbers to compute with: floats as they are, small integers in single precision."""
    if original.dtype in (np.float32, np.float64):
        return original
    exact_in_single = original.dtype.itemsize <= 2
    return original.astype(np.float32 if exact_in_single else np.float64)


def differing(new: Array, old: Array) -> Array:
    """Entries that are not the same; a missing one equals a missing one."""
    return (new != old) & ~(np.isnan(new) & np.isnan(old))


def rounded(values: Array, dtype: Any) -> Array:
    """Whole numbers of a type, kept in its range."""
    limits = np.iinfo(dtype)
    high = float(limits.max)
    if high > limits.max:
        # As a float the largest whole number of 64 bits is one too many.
        high = np.nextafter(high, 0.0)
    return np.clip(np.rint(values), limits.min, high).astype(dtype)


def with_changes(original: Array, values: Array, *, full_precision: bool = False) -> Array:
    """`original` with the entries that differ in `values`, in its own type.

    Repaired entries of whole numbers are rounded, and kept in the type's range. With
    `full_precision` whole numbers become double precision instead.
    """
    changed = differing(values, working_values(original))
    if original.dtype.kind in "iub":
        if full_precision:
            return np.where(changed, values, original).astype(np.float64)
        repaired = values[changed]
        repaired = repaired > 0.5 if original.dtype.kind == "b" else rounded(repaired, original.dtype)
    else:
        repaired = values[changed]
    result = original.copy()
    result[changed] = repaired.astype(original.dtype)
    return result


def natural_key(name: str) -> tuple[str | int, ...]:
    """Sort key in which frame 9 comes before frame 10."""
    parts = re.split(r"(\d+)", name.lower())
    return tuple(int(part) if part.isdecimal() else part for part in parts)


def numbered(count: int, prefix: str = "x") -> list[str]:
    """Names for features that have none."""
    return [f"{prefix}{i}" for i in range(count)]
