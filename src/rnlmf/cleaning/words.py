"""What was done to a table, in sentences."""

from __future__ import annotations

from rnlmf.cleaning.changes import words
from rnlmf.cleaning.table import CleanTable
from rnlmf.report.findings import count, in_words


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
    return [*doubt(table), *sentences, *more, *to_decide(table)]


def doubt(table: CleanTable) -> list[str]:
    """A sentence on why the result promises little, if it does."""
    doubts = table.doubts()
    return [f"Take this with care: {'; '.join(doubts)}."] if doubts else []


def to_decide(table: CleanTable) -> list[str]:
    """What the user should decide."""
    return [f"To decide: {question}" for question in table.overview.questions]


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
