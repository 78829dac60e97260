"""Damaged files, read by the library: cut off, with bits flipped, with pieces doubled or taken out.

A file must be read or refused by a :class:`rnlmf.io.FileError`. A file that was cut off and has fewer
samples than before, or other ones, is a silent loss; text is exempt where it ends at the end of a line.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

from probes.corpus import make
from probes.record import FINE, REFUSED, WRONG, Record, options
from rnlmf import io

# A process of its own for each takes its time.
APART = ("mat", "feather")
# Rows of text do not say how many there are.
TEXT = ("csv", "tsv", "jsonl", "amc")


def mutants(content: bytes, count: int, rng: np.random.Generator):
    """Damaged versions, and what was done."""
    for trial in range(count):
        damaged = bytearray(content)
        place = int(rng.integers(len(damaged)))
        kind = ("cut", "bit", "bytes", "double", "remove")[trial % 5]
        if kind == "cut":
            del damaged[place:]
        elif kind == "bit":
            damaged[place] ^= 1 << int(rng.integers(8))
        elif kind == "bytes":
            for other in rng.integers(len(damaged), size=4):
                damaged[other] = int(rng.integers(256))
        else:
            length = int(rng.integers(1, 64))
            damaged[place:place] = damaged[place : place + length] if kind == "double" else b""
            if kind == "remove":
                del damaged[place : place + length]
        yield kind, bytes(damaged)


def outcome(path: Path, before: io.Dataset, kind: str, cut: bool) -> tuple[str, str]:
    """What became of reading a damaged file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = io.read(path)
    except io.FileError as error:
        one_line = "\n" not in str(error)
        return (REFUSED, "") if one_line else (WRONG, f"several lines: {error}")
    except Exception as error:
        return WRONG, f"{type(error).__name__}: {error}"
    if cut and kind not in TEXT and found.values.shape != before.values.shape:
        return WRONG, f"cut off, and read as {found.values.shape}"
    return FINE, ""


def probe(record: Record, count: int, seed: int, formats: tuple[str, ...] | None = None) -> None:
    """Try `count` mutants of every format."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        for kind, path in make(Path(folder)).items():
            if formats is not None and kind not in formats:
                continue
            before = io.read(path)
            file = path / "3.png" if path.is_dir() else path
            content = file.read_bytes()
            for damage, damaged in mutants(content, count // 20 if kind in APART else count, rng):
                file.write_bytes(damaged)
                result, why = outcome(path, before, kind, damage == "cut")
                record.add(kind, result, f"{damage}: {why}")


def main() -> int:
    """Try, and write what was found."""
    given = options(__doc__, count=2000, seed=0)
    record = Record("damaged files, read")
    probe(record, given.count, given.seed)
    return record.save("damage")


if __name__ == "__main__":
    sys.exit(main())
