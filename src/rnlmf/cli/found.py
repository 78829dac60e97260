"""What ``rnlmf detect`` found: cells that are wrong, and how sure that is of every cell."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from rnlmf.cleaning import Changes, CleanTable
from rnlmf.cleaning.changes import distinct_names
from rnlmf.cleaning.repair import CODE, FILLED

HEADER = ("row", "column", "value", "probability", "kind")
# The rest is told by a number.
SHOWN = 10
# Not wrong, but not there.
GAPS = (FILLED, CODE)


def write_found(changes: Changes, path: Path) -> None:
    """The cells that are wrong; rows count from 1."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for row, column, before, _, probability, kind in changes:
            if kind not in GAPS:
                writer.writerow([row + 1, column, before, f"{probability:.3f}", kind])


def write_scores(table: CleanTable, path: Path) -> None:
    """How probable it is that a cell is wrong, for all of them; empty where no value is."""
    names = distinct_names(table.overview.dataset)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for row in table.probability:
            writer.writerow(["" if np.isnan(value) else f"{value:.3f}" for value in row])


def found_in_words(table: CleanTable) -> list[str]:
    """The cells that are most probably wrong."""
    found = [change for change in table.changes if change[5] not in GAPS]
    found.sort(key=lambda change: -change[4])
    lines = [
        f"row {row + 1}, {column}: {before} (probability {probability:.2f}, expected about {after})"
        for row, column, before, after, probability, _ in found[:SHOWN]
    ]
    if len(found) > SHOWN:
        lines.append(f"... and {len(found) - SHOWN:,} more; -o FILE.csv lists them all.")
    return lines
