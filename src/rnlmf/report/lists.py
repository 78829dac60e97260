"""Lists of the page: every change, and what the columns are."""

from __future__ import annotations

import math

from rnlmf.report.content import PageContent, Section
from rnlmf.report.findings import count

# The page holds so many changes to sort and to download, and shows so many at a time.
MAX_CHANGES = 4000
CHANGE_HEADS = ["row", "column", "before", "after", "probability", "kind"]
NUMBER_HEADS = ["row", "before", "after", "probability"]


def _glance(before: float, after: float, _: bool) -> list[float | None] | None:
    """Two places for the script; none for a value that was not there."""
    if not math.isfinite(after):
        return None
    return [round(before, 3) if math.isfinite(before) else None, round(after, 3)]


def changes(page: PageContent) -> Section:
    """What was changed, cell by cell: those first that are most probably wrong."""
    section = Section("changes", "Changes")
    if not page.changes:
        return section
    held = sorted(page.changes, key=lambda change: -change[4] if change[4] == change[4] else 0.0)
    held = held[:MAX_CHANGES]
    rows = [
        [row + 1, column, before, after, "" if chance != chance else round(chance, 3), kind]
        for row, column, before, after, chance, kind, *_ in held
    ]
    glances = [_glance(*where) for *_, where in held] if len(held[0]) > len(CHANGE_HEADS) else None
    section.content = {
        "changes": {
            "heads": CHANGE_HEADS,
            "numbers": NUMBER_HEADS,
            "rows": rows,
            "glances": glances,
            "small": [small for *_, (_, _, small) in held] if glances else [],
        }
    }
    part = count(len(page.changes), "change")
    if len(page.changes) > MAX_CHANGES:
        part = f"{MAX_CHANGES:,} of {part}; --changes FILE.csv lists all"
    legend = (
        " At a glance: the cross was, the dot is, between the ends of the column." if glances else ""
    )
    section.parts.append(
        {
            "kind": "changes",
            "heads": CHANGE_HEADS,
            "numbers": NUMBER_HEADS,
            "glances": glances is not None,
            "caption": f"{part}. Rows count from 1; small changes are in italics.{legend}",
        }
    )
    return section


def columns(page: PageContent) -> Section:
    """What was seen in the columns before anything was done."""
    section = Section("columns", "Columns")
    if page.columns is not None:
        heads, rows = page.columns
        section.parts.append(
            {
                "kind": "table",
                "heads": heads,
                "rows": rows,
                "caption": "What the columns are, and what was done with them.",
                "numbers": False,
            }
        )
    return section
