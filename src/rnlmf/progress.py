"""How far a fit is: a bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

# What is being done, and which share of it is done; None where that is not known.
Report = Callable[[str, float | None], None]

# A line says something new if it is so much farther, and so many seconds later, than the last.
LINE_STEP = 0.1
LINE_SECONDS = 1.0


def silent(stage: str, share: float | None) -> None:
    """Report nothing."""


@contextmanager
def progress(wanted: Any) -> Iterator[Report]:
    """Where to report to: standard error, if it is `wanted`.

    Examples
    --------
    >>> from rnlmf.progress import progress
    >>> with progress(False) as report:
    ...     report("fitting", 0.5)
    """
    if not wanted:
        yield silent
    elif sys.stderr.isatty() and find_spec("rich") is not None:
        with _bar() as report:
            yield report
    else:
        yield Lines(sys.stderr.write)


class Lines:
    """Reports as lines of text: the beginning of every stage, and then not too many.

    Parameters
    ----------
    write : callable
        Takes a line.
    """

    def __init__(self, write: Callable[[str], Any]) -> None:
        self.write = write
        self.stage: str | None = None
        self.share, self.time = 0.0, 0.0

    def __call__(self, stage: str, share: float | None) -> None:
        now, begins = time.monotonic(), stage != self.stage
        farther = share is not None and share >= self.share + LINE_STEP
        if not begins and not (farther and now >= self.time + LINE_SECONDS):
            return
        self.stage, self.share, self.time = stage, share or 0.0, now
        self.write(f"{stage}\n" if share is None else f"{stage}: {share:.0%}\n")


@contextmanager
def _bar() -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
    with Progress(
        *columns, TaskProgressColumn(), Elapsed(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("", total=None)

        def report(stage: str, share: float | None) -> None:
            bar.update(task, description=stage, total=None if share is None else 1.0, completed=share)

        yield report
