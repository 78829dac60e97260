"""One call that cleans a data frame."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw

from rnlmf.cleaning.overview import ColumnChoice, overview_of
from rnlmf.cleaning.page import write_page
from rnlmf.cleaning.repair import RepairOptions, repair_table, usual_scale
from rnlmf.cleaning.table import CleanTable, clean_table
from rnlmf.cleaning.words import in_sentences
from rnlmf.io.frames import read_frame, write_frame


@dataclass(frozen=True)
class Report:
    """What was found in a data frame; as text it is a few sentences.

    Attributes
    ----------
    table : CleanTable
        Everything that is known.
    """

    table: CleanTable

    def __str__(self) -> str:
        return "\n".join(in_sentences(self.table))

    @property
    def columns(self) -> list[dict[str, Any]]:
        """What every column is, and why it was left alone if it was."""
        return [column.as_dict() for column in self.table.columns]

    @property
    def doubts(self) -> list[str]:
        """Why the result promises little; nothing if it does not."""
        return self.table.doubts()

    @property
    def questions(self) -> tuple[str, ...]:
        """What you should decide, such as whether a value stands for a missing one."""
        return self.table.overview.questions

    def write(self, path: str | Path) -> None:
        """As a page for a browser."""
        write_page(path, self.table)


@dataclass(frozen=True)
class Cleaned:
    """A cleaned data frame.

    Attributes
    ----------
    frame : data frame
        Like the one given, with its types and index.
    changes : data frame
        ``row`` (the label of the index, or the number of the row), ``column``, ``before`` and
        ``after`` as text, ``probability`` that the value was wrong, and ``kind``.
    report : Report
        What was found; ``print`` it, or :meth:`Report.write` it as a page.
    """

    frame: Any
    changes: Any
    report: Report


def clean(
    frame: Any,
    *,
    include: tuple[str, ...] | list[str] = (),
    skip: tuple[str, ...] | list[str] = (),
    missing: tuple[Any, ...] | list[Any] = (),
    guess: bool = False,
    limits: dict[str, tuple[float, float]] | None = None,
    sequence: str = "auto",
    fast: bool = False,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    **settings: Any,
) -> Cleaned:
    """Remove gross errors from a data frame, and fill what is missing.

    It goes the way of ``rnlmf denoise``. Text, dates, categories, identifiers and codes are left alone,
    whole numbers stay whole and ratings on their scale. Fewer than 30 rows cannot be judged and come
    back as they are, unless ``opinions="dictionary"`` or a ``noise_weight`` says who decides.

    Parameters
    ----------
    frame : data frame
        Of pandas, polars or any other that narwhals knows.
    include, skip : list of str
        Columns to clean, or to leave alone, whatever they look like; ``*`` stands for any letters.
    missing : list
        Codes for missing values: ``-200``, or ``"column=-200"``.
    guess : bool
        Take values for such codes that look like it.
    limits : dict or None
        Least and largest possible value by column.
    sequence : {"auto", "yes", "no"}
        Whether the rows follow one another in time; "auto" uses their order where it helps.
    fast : bool
        Learn from some of the rows only, if there are more than 4,000; their order has no say then.
    random_state, n_jobs : int or None
        Of the estimator.
    **settings
        Any other parameter of :class:`RNLMF`.

    Returns
    -------
    Cleaned
        The frame, the list of changes and a report.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import rnlmf
    >>> t = np.linspace(0, 6, 200)
    >>> waves = {f"q{k}": np.round(np.sin(t + k), 3) for k in range(6)}
    >>> frame = pd.DataFrame({"customer_id": np.arange(200) * 7 + 10_000, **waves})
    >>> frame.loc[50, "q2"] = 40.0
    >>> cleaned = rnlmf.clean(frame, n_components=20)
    >>> bool(abs(cleaned.frame.loc[50, "q2"] - np.sin(t[50] + 2)) < 0.2)
    True
    >>> cleaned.frame["customer_id"].equals(frame["customer_id"])
    True
    """
    codes = tuple(str(code) for code in missing)
    choice = ColumnChoice(tuple(include), tuple(skip), codes, guess, limits or {}, sequence)
    overview = overview_of(read_frame(frame), choice)
    names = overview.dataset.names
    options = RepairOptions(
        scale=usual_scale(overview.working),
        sequence=overview.sequence,
        fast=fast,
        settings=settings,
        random_state=random_state,
        n_jobs=n_jobs,
        named=overview.dataset.named,
    )
    table = clean_table(overview, lambda values: repair_table(values, names, options))
    return Cleaned(write_frame(table.overview.dataset, table.values), _changes(table), Report(table))


def _changes(table: CleanTable) -> Any:
    changes, frame = table.changes, table.overview.dataset.source.origin
    rows = changes.rows
    index = nw.maybe_get_index(frame)
    labels = rows if index is None else index[rows]
    columns = {
        "row": labels if index is None else list(labels),
        "column": [changes.names[i] for i in changes.features],
        "before": changes.before,
        "after": changes.after,
        "probability": changes.probability,
        "kind": changes.kinds,
    }
    return nw.from_dict(columns, backend=frame.implementation).to_native()
