"""``rnlmf denoise`` for Parquet files that are larger than memory should hold, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import typer

from rnlmf import RNLMF, MiniBatchRNLMF, save
from rnlmf.cli.console import Terminal
from rnlmf.cli.fitting import fitting_errors
from rnlmf.cli.settings import Fitting, Writing, parameters
from rnlmf.engine import IterationInfo
from rnlmf.engine.source import RowSource
from rnlmf.estimators.large import by_block
from rnlmf.io import FileError, outputs
from rnlmf.progress import Report, progress
from rnlmf.sources.opening import is_pattern, parquet_files
from rnlmf.sources.parquet import ParquetSource, uncompressed_bytes
from rnlmf.typing import Array

# A file that is larger, once decoded, is learned in batches and written by row group.
LARGE_FILE = 1 << 30
PENALTIES = {"entries": "adaptive", "samples": "l21", "dense": "l2"}
# Of the batches; more passes are seldom needed.
PASSES = 20


def is_large(source: Path) -> bool:
    """Whether these are data of that kind: a large Parquet file, a folder of them, or a pattern."""
    if is_pattern(source) and not source.exists():
        return True
    if source.is_dir():
        return any(source.rglob("*.parquet"))
    parquet = source.suffix in (".parquet", ".pq") and source.is_file()
    return parquet and uncompressed_bytes(source) >= LARGE_FILE


def denoise_large(
    source: Path, fitting: Fitting, writing: Writing, terminal: Terminal, scheduler: str | None = None
) -> None:
    """Learn from all columns with numbers, and write every file by row group."""
    if writing.report or writing.changes or writing.output is None:
        raise typer.BadParameter(
            f"{source} is treated by row group, without a report or list of changes: pass -o alone.",
            param_hint="--output",
        )
    kind: Any = MiniBatchRNLMF if scheduler is None else RNLMF
    allowed = [name for name in kind._get_param_names() if name not in ("callback", "verbose")]
    chosen = parameters(fitting.settings, allowed)
    writing.check(source)
    files = parquet_files(source)
    targets = _targets(files, source, writing.output)
    rows = ParquetSource(files)
    n, m = rows.shape
    how = "in batches" if scheduler is None else f"on {scheduler}"
    terminal.note(
        f"{source.name}: {n} rows of {m} columns with numbers in {len(files)} file(s), learned {how}; "
        "cells are judged by the dictionary alone"
    )
    settings: dict[str, Any] = {
        "noise_penalty": PENALTIES[fitting.noise],
        "feature_scale": None if fitting.scale is False else "robust",
        "n_jobs": fitting.jobs,
        "random_state": fitting.seed,
    }
    if scheduler is None:
        settings["max_iter"] = PASSES
    with (
        fitting_errors(source),
        cluster(scheduler) as client,
        progress(not terminal.quiet) as report,
        outputs() as written,
    ):

        def callback(info: IterationInfo) -> None:
            report("fitting", min(info.iteration / info.max_iter, 1.0))

        model = kind(**{**settings, "callback": callback, **chosen})
        model.fit(rows if client is None else _spread(rows))
        model.callback = None
        place = written.path(writing.output)
        if targets is not None:
            place.mkdir()
        pairs = [(file, place / name) for file, name in zip(files, targets or [""], strict=True)]
        altered = _treat_all(model, pairs, rows, client, report)
        if writing.model is not None:
            about = {"source": source.name, "kind": "table", "altered": altered / (n * m)}
            save(model, written.path(writing.model), about=about)
    facts = {"rows": n, "columns": rows.names, "altered_cells": altered, **writing.paths()}
    share = 100 * altered / (n * m)
    terminal.answer([f"{altered} cells ({share:.2g}%) were altered."], facts)


def _targets(files: list[Path], source: Path, output: Path) -> list[str] | None:
    """Names of the files in the folder OUT; None if it is a file."""
    if source.is_file():
        return None
    if output.suffix:
        raise FileError(output, "is a file, but there are several to write: name a folder.")
    names = [file.name for file in files]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise FileError(source, f"has several files {min(twice)!r}: move one elsewhere.")
    return names


@contextmanager
def cluster(address: str | None) -> Iterator[Any]:
    """A client of the scheduler there; None if none is wanted."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise typer.BadParameter(
            "needs Dask: make it available by pip install 'rnlmf[dask]'.", param_hint="--scheduler"
        ) from error
    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise typer.BadParameter(
            f"there is no scheduler at {address}; start one, or pass another address.",
            param_hint="--scheduler",
        ) from error
    with client:
        yield client


def _spread(rows: ParquetSource) -> RowSource:
    from rnlmf.distributed.source import spread

    return spread(rows)


def _treat_all(
    model: Any, pairs: list[tuple[Path, Path]], rows: ParquetSource, client: Any, report: Report
) -> int:
    """Write every file without its noise; returns how many cells are others."""
    names, done = list(rows.names or ()), 0
    if client is None:
        altered = 0
        for file, target in pairs:

            def tell(row: int, of: int, before: int = done) -> None:
                report("cleaning", (before + row) / len(rows))

            altered += treat_file(model, file, target, names, tell)
            done += len(ParquetSource([file], names))
        return altered
    from rnlmf.distributed.waiting import awaited, persevere

    there = client.scatter(model, broadcast=True)

    def attempt() -> int:
        waiting = [client.submit(treat_file, there, *pair, names, pure=False) for pair in pairs]
        altered = 0
        for i, future in enumerate(waiting):
            report("cleaning", i / len(pairs))
            altered += awaited(client, future)
        return altered

    return int(persevere(client, attempt))


def treat_file(
    model: Any,
    file: Path,
    target: Path,
    names: list[str],
    tell: Callable[[int, int], None] | None = None,
) -> int:
    """Write a file without its noise, wherever this runs; returns how many cells are others."""
    altered = 0

    def treat(block: Array) -> Array:
        nonlocal altered
        clean: Array = model._denoised(block)
        altered += int(np.count_nonzero(clean != block))
        return clean

    by_block(ParquetSource([file], names), treat, len(names), target, progress=tell)
    return altered
