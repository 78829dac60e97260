"""What was done to a table, as a page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rnlmf.cleaning.overview import Column
from rnlmf.cleaning.table import CleanTable
from rnlmf.cleaning.words import doubt, to_decide
from rnlmf.io.dataset import TABLE


def write_page(path: str | Path, table: CleanTable, title: str | None = None, **more: Any) -> None:
    """The report on a table, with its names, its columns and all changes."""
    from rnlmf.report.page import write_report

    dataset, columns = table.overview.dataset, table.columns
    more = {"remarks": doubt(table) + to_decide(table), **more}
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
        changes=list(table.changes) if dataset.kind == TABLE else None,
        columns=overview_table(columns) if columns else None,
        title=title,
        **more,
    )


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
