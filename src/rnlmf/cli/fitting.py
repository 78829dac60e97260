"""What the commands that fit have in common."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import typer
from sklearn.exceptions import ConvergenceWarning

from rnlmf.cli.console import Terminal
from rnlmf.io import Dataset, FileError
from rnlmf.typing import Array
from rnlmf.validation import InvalidParameterError


def fit(model: Any, values: Array, path: Path) -> None:
    """Fit, with errors that say which file or option is at fault."""
    if len(values) < 2:
        raise FileError(path, f"has {len(values)} sample; a structure cannot be learned from it.")
    with warnings.catch_warnings():
        # Said in words with the findings.
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(values)
        except InvalidParameterError as error:
            raise typer.BadParameter(str(error), param_hint="--set") from error
        except ValueError as error:
            raise one_line(error, path) from error


def one_line(error: Exception, path: Path) -> FileError:
    """The first line of an error about the content of a file."""
    return FileError(path, str(error).partition("\n")[0])


def tell_untouched(dataset: Dataset, terminal: Terminal) -> None:
    """Say which columns are passed through."""
    if dataset.untouched:
        columns = ", ".join(f"{name or '(unnamed)'} ({why})" for name, why in dataset.untouched.items())
        terminal.note(f"left alone: {columns}")
