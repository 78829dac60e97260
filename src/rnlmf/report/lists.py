"""Lists of the page: every change, and what the columns are."""

from __future__ import annotations

from rnlmf.report.content import PageContent, Section
from rnlmf.report.findings import count

# The page holds so many changes to sort and to download, and shows so many at a time.
MAX_CHANGES = 4000
CHANGE_HEADS = ["row", "column", "before", "after", "probability", "kind"]


def changes(page: PageContent) -> Section:
    """What was changed, cell by cell: those first that are most probably wrong."""
    section = Section("changes", "Changes")
    if not page.changes:
        return section
    held = sorted(page.changes, key=lambda change: -change[4] if change[4] == change[4] else 0.0)
    rows = [
        [row + 1, column, before, after, "" if chance != chance else round(chance, 3), kind]
        for row, column, before, after, chance, kind in held[:MAX_CHANGES]
    ]
    section.content = {"changes": {"heads": CHANGE_HEADS, "rows": rows}}
    part = count(len(page.changes), "change")
    if len(page.changes) > MAX_CHANGES:
        part = f"{MAX_CHANGES:,} of {part}; --changes FILE.csv lists all"
    section.parts.append(
        {"kind": "changes", "heads": CHANGE_HEADS, "caption": f"{part}. Rows count from 1."}
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
