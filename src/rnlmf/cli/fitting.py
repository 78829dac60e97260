"""What the commands that fit have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from rnlmf.cleaning import CleanTable, Column, ColumnChoice, Overview, look
from rnlmf.cli.console import Terminal
from rnlmf.cli.options import Reading
from rnlmf.io import FileError, read
from rnlmf.validation import InvalidParameterError

# A wider table is told in a line.
MOST_COLUMNS = 40


@contextmanager
def fitting_errors(path: Path) -> Iterator[None]:
    """Say which file or option is at fault."""
    try:
        yield
    except FileError:
        raise
    except InvalidParameterError as error:
        raise typer.BadParameter(str(error), param_hint="--set") from error
    except ValueError as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise FileError(path, f"{reason}. Pass other data, or other options.") from error
    except (TypeError, ArithmeticError) as error:
        raise typer.BadParameter(
            f"this does not work: {error}. Pass other values.", param_hint="--set"
        ) from error


def write_page(path: Path, table: CleanTable, title: str, **more: Any) -> None:
    """The report on a table, with its names and the shape of its images."""
    from rnlmf.report import write_report

    dataset = table.overview.dataset
    write_report(
        path,
        table.model,
        table.overview.working,
        clean=table.without_gaps,
        findings=table.findings,
        image_shape=dataset.image_shape,
        feature_names=dataset.names,
        sample_names=dataset.sample_names,
        untouched=table.untouched,
        title=title,
        **more,
    )


def seen(source: Path, reading: Reading, choice: ColumnChoice, terminal: Terminal) -> Overview:
    """Read a file and look at its columns."""
    with terminal.spinner(f"reading {source}"):
        dataset = read(source, **asdict(reading))
        count = len(dataset.values)
        if count < 2:
            raise FileError(
                dataset.path,
                f"has {count} sample; a structure cannot be learned from it: pass more rows.",
            )
        overview = look(dataset, choice)
    show_overview(overview, terminal)
    return overview


def show_overview(overview: Overview, terminal: Terminal) -> None:
    """Say how the file was read, what its columns are, and what should be decided."""
    dataset = overview.dataset
    if dataset.notes:
        terminal.note(f"{dataset.path.name}: {', '.join(dataset.notes)}")
    if 0 < len(overview.columns) <= MOST_COLUMNS:
        terminal.table(*overview_table(overview.columns))
    elif dataset.untouched:
        columns = ", ".join(f"{name or '(unnamed)'} ({why})" for name, why in dataset.untouched.items())
        terminal.note(f"left alone: {columns}")
    for question in overview.questions:
        terminal.note(question)


def overview_table(columns: list[Column]) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of a table of the columns."""
    rows = []
    for column in columns:
        numbers = "" if column.low is None else f"{column.low:.6g} to {column.high:.6g}"
        missing = f"{column.missing:.1%}" if column.missing else ""
        what = "cleaned" if column.kept is None else f"left alone: {column.kept}"
        rows.append(
            [
                column.name or "(unnamed)",
                column.kind,
                numbers,
                missing,
                "; ".join((what, *column.remarks)),
            ]
        )
    return ["column", "kind", "range", "missing", "what is done"], rows
