"""What was done to a table, as a page for a browser."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.cleaning.overview import Column
from rnlmf.cleaning.table import CleanTable
from rnlmf.cleaning.words import bad_rows, doubt, left_alone, stuck, to_decide
from rnlmf.io.dataset import TABLE
from rnlmf.report.findings import LARGE


def write_page(path: str | Path, table: CleanTable, title: str | None = None, **more: Any) -> None:
    """The report on a table, with its names, its columns and all changes."""
    from rnlmf.report.page import write_report

    dataset, columns = table.overview.dataset, table.columns
    more = {
        "remarks": doubt(table),
        "notices": bad_rows(table) + stuck(table) + left_alone(table) + to_decide(table),
        **more,
    }
    write_report(
        path,
        table.model,
        table.overview.working,
        clean=table.without_gaps,
        findings=table.findings,
        image_shape=dataset.image_shape,
        feature_names=dataset.names,
        sample_names=table.row_names,
        untouched=table.untouched,
        changes=_changes(table) if dataset.kind == TABLE else None,
        columns=_with_counts(table, *overview_table(columns)) if columns else None,
        title=title,
        **more,
    )


def _changes(table: CleanTable) -> list[tuple[Any, ...]]:
    """Every change, with the places of before and after between the ends of its column."""
    changes, clean = table.changes, table.without_gaps
    low, high = clean.min(axis=0), clean.max(axis=0)
    cells = changes.rows, changes.features
    at, span = low[changes.features], (high - low)[changes.features]
    span = np.where(span > 0.0, span, 1.0)
    before = (table.overview.working[cells] - at) / span
    after = (table.values[cells] - at) / span
    spread = table.findings.spread[changes.features]
    small = np.abs(after - before) * span < LARGE * spread
    places = zip(before.tolist(), after.tolist(), small.tolist(), strict=True)
    return [(*change, place) for change, place in zip(changes, places, strict=True)]


def _with_counts(
    table: CleanTable, heads: list[str], rows: list[list[str]]
) -> tuple[list[str], list[list[str]]]:
    """The table of the columns, with how many cells of each were changed."""
    counts = Counter(table.changes.features.tolist())
    source = table.overview.dataset.source
    by_place = {place: counts[feature] for feature, place in enumerate(source.columns)}
    shown = [str(by_place.get(place) or "") for place in range(len(rows))]
    # What matters most comes first, for a phone shows no more.
    return [heads[0], heads[-1], "changed", *heads[1:-1]], [
        [row[0], row[-1], n, *row[1:-1]] for row, n in zip(rows, shown, strict=True)
    ]


def overview_table(columns: list[Column]) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of a table of the columns."""
    rows = []
    for column in columns:
        numbers = "" if column.low is None else f"{column.low:.6g} to {column.high:.6g}"
        if column.low == column.high and column.low is not None:
            numbers = f"{column.low:.6g}"
        if column.kind == "code":
            # Leading zeros are part of it.
            numbers = ""
        missing = f"{column.missing:.1%}" if column.missing else ""
        what = "cleaned" if column.kept is None else f"left alone: {column.kept}"
        remarks = "; ".join((what, *column.remarks))
        rows.append([column.name or "(unnamed)", column.kind, numbers, missing, remarks])
    return ["column", "kind", "range", "missing", "what is done"], rows
