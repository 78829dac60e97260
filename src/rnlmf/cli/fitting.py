"""What the commands that fit have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import typer

from rnlmf.cleaning import ColumnChoice, Overview, overview_of
from rnlmf.cleaning.page import overview_table
from rnlmf.cli.console import Terminal
from rnlmf.cli.settings import Reading
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
            f"with these data the fit does not work: {error}. Pass other values, or other data.",
            param_hint="--set",
        ) from error


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
        overview = overview_of(dataset, choice)
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
