"""How the commands speak: one line on an error, a bar while they work, words or JSON at the end."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import typer
from rich.console import Console

# What a command returns beside 0, 1 and 2, which mean what they do everywhere.
BAD_FILE = 3
PROMISES_LITTLE = 4
INTERRUPTED = 130

EXIT_CODES = (
    "Exit codes: 0 done, 2 wrong usage, 3 a file cannot be used, 4 the result promises little (with "
    "--strict), 130 interrupted."
)

errors = Console(stderr=True)
answers = Console()


def fail(message: str, code: int = BAD_FILE) -> typer.Exit:
    """Say in one line what is wrong."""
    line = " ".join(message.split())
    errors.print(f"[red]error:[/red] {_plain(line)}", soft_wrap=True, highlight=False)
    return typer.Exit(code)


def _plain(text: str) -> str:
    """Text that neither rich nor the terminal takes for a command, nor UTF-8 cannot hold."""
    from rich.markup import escape

    shown = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
    return escape(shown.encode("utf-8", "replace").decode())


def _finite(value: Any) -> Any:
    """For JSON, which has neither NaN nor infinity."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Turn errors that a user can cause into one line and an exit code."""

    @wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> None:
        from rnlmf.io import FileError

        try:
            function(*args, **kwargs)
        except (FileError, ImportError) as error:
            raise fail(str(error)) from error
        except OSError as error:
            # A folder that may not be searched, a name that is too long, links in a circle.
            where = f"{error.filename}: " if error.filename else ""
            raise fail(f"{where}{error.strerror or error}") from error
        except KeyboardInterrupt as stop:
            raise fail("interrupted; nothing was written.", INTERRUPTED) from stop

    return guarded


class Terminal:
    """What a command prints besides its errors."""

    def __init__(self, quiet: bool, as_json: bool, *, words_aside: bool = False) -> None:
        self.quiet = quiet
        self.as_json = as_json
        # Standard output is for data.
        self.words_aside = words_aside

    @contextmanager
    def spinner(self, what: str) -> Iterator[None]:
        """A spinner on standard error."""
        if self.quiet:
            yield
            return
        with errors.status(what):
            yield

    def note(self, text: str) -> None:
        """A remark on standard error."""
        if not self.quiet:
            errors.print(f"[dim]{_plain(text)}[/dim]", soft_wrap=True, highlight=False)

    def table(self, heads: list[str], rows: list[list[str]]) -> None:
        """A table on standard error."""
        if not self.quiet:
            errors.print(_table(heads, rows))

    def answer(self, sentences: list[str], facts: dict[str, Any]) -> None:
        """The result on standard output: sentences, or the same as JSON."""
        if self.as_json:
            text = json.dumps(_finite(facts), indent=2, allow_nan=False)
            typer.echo(text, err=self.words_aside)
        elif not self.quiet:
            console = errors if self.words_aside else answers
            for sentence in sentences:
                console.print(_plain(sentence), soft_wrap=not console.is_terminal, highlight=False)


def _table(heads: list[str], rows: list[list[str]]) -> Any:
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(*heads, box=SIMPLE, pad_edge=False, header_style="dim")
    for row in rows:
        table.add_row(*map(_plain, row))
    return table
