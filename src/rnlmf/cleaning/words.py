"""What was done to a table, in sentences."""

from __future__ import annotations

import numpy as np

from rnlmf.cleaning.changes import words
from rnlmf.cleaning.table import CleanTable
from rnlmf.report.findings import count, in_words

# The rest is told by a number.
SHOWN = 5


def in_sentences(table: CleanTable) -> list[str]:
    """First what is doubtful, then what was found, then what should be decided."""
    overview = table.overview
    dataset = overview.dataset
    feature = "feature" if dataset.image_shape is None else "pixel"
    sentences = in_words(table.findings, dataset.names, table.row_names, feature)
    more = []
    n_words = int((words(overview) & ~overview.codes).sum())
    if n_words:
        more.append(f"{count(n_words, 'cell')} that {_is(n_words)} no number got one.")
    if overview.outside.any():
        n_outside = int(overview.outside.sum())
        more.append(f"{count(n_outside, 'cell')} outside of the limits got a new value.")
    more += bad_rows(table) + stuck(table) + left_alone(table)
    return [*doubt(table), *sentences, *more, *to_decide(table)]


def bad_rows(table: CleanTable) -> list[str]:
    """A sentence on the rows of which most is wrong."""
    rows = table.repaired.bad_rows
    if len(rows) == 0:
        return []
    names = table.row_names or [f"row {i}" for i in range(len(table.values))]
    shown = ", ".join(names[row] for row in rows[:SHOWN])
    more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    return [f"Bad as a whole: {shown}{more}."]


def stuck(table: CleanTable) -> list[str]:
    """A sentence on stretches in which a column repeats a value though it should not."""
    marks = table.repaired.stuck
    if marks is None or not marks.any():
        return []
    names = table.row_names or [f"row {i}" for i in range(len(table.values))]
    stretches = []
    for feature in np.flatnonzero(marks.any(axis=0)):
        edges = np.flatnonzero(np.diff(marks[:, feature].astype(int), prepend=0, append=0))
        for start, end in edges.reshape(-1, 2):
            column = table.overview.dataset.names[int(feature)]
            stretches.append(f"{column} from {names[start]} to {names[end - 1]}")
    more = f" and {len(stretches) - SHOWN:,} more" if len(stretches) > SHOWN else ""
    return [f"Stuck: {'; '.join(stretches[:SHOWN])}{more}."]


def left_alone(table: CleanTable) -> list[str]:
    """A sentence on the columns in which suspicious values stay as they are, and why."""
    if not table.left_alone or not table.findings.judged:
        return []
    shown = [f"{name} ({why})" for name, why in list(table.left_alone.items())[:SHOWN]]
    rest = len(table.left_alone) - SHOWN
    more = f" and {rest:,} more" if rest > 0 else ""
    return [f"Left as it is: {'; '.join(shown)}{more}."]


def doubt(table: CleanTable) -> list[str]:
    """A sentence on why the result promises little, if it does."""
    doubts = table.doubts()
    return [f"Take this with care: {'; '.join(doubts)}."] if doubts else []


def to_decide(table: CleanTable) -> list[str]:
    """What the user should decide."""
    return [f"To decide: {question}" for question in table.overview.questions]


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
