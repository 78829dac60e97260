"""``rnlmf denoise`` for Parquet files that are larger than memory should hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import typer

from rnlmf import MiniBatchRNLMF, save
from rnlmf.cli.console import Terminal
from rnlmf.cli.fitting import fitting_errors
from rnlmf.cli.settings import Fitting, Writing, parameters
from rnlmf.engine import IterationInfo
from rnlmf.estimators.large import by_block
from rnlmf.io import outputs
from rnlmf.progress import progress
from rnlmf.sources.parquet import ParquetSource, uncompressed_bytes
from rnlmf.typing import Array

# A file that is larger, once decoded, is learned in batches and written by row group.
LARGE_FILE = 1 << 30
PENALTIES = {"entries": "adaptive", "samples": "l21", "dense": "l2"}


def is_large(source: Path) -> bool:
    """Whether a file is one of these."""
    parquet = source.suffix in (".parquet", ".pq") and source.is_file()
    return parquet and uncompressed_bytes(source) >= LARGE_FILE


def denoise_large(source: Path, fitting: Fitting, writing: Writing, terminal: Terminal) -> None:
    """Learn from batches of all columns with numbers, and write the file by row group."""
    if writing.report or writing.changes or writing.output is None:
        raise typer.BadParameter(
            f"{source} is treated by row group, without a report or list of changes: pass -o alone.",
            param_hint="--output",
        )
    allowed = [name for name in MiniBatchRNLMF._get_param_names() if name != "callback"]
    chosen = parameters(fitting.settings, allowed)
    writing.check(source)
    rows = ParquetSource([source])
    n, m = rows.shape
    terminal.note(f"{source.name}: {n} rows of {m} columns with numbers, learned in batches")
    altered = 0
    with fitting_errors(source), progress(not terminal.quiet) as report, outputs() as files:

        def callback(info: IterationInfo) -> None:
            report("fitting", min(info.iteration / info.max_iter, 1.0))

        settings: dict[str, Any] = {
            "noise_penalty": PENALTIES[fitting.noise],
            "feature_scale": None if fitting.scale is False else "robust",
            "n_jobs": fitting.jobs,
            "random_state": fitting.seed,
            "max_iter": 20,
        }
        model = MiniBatchRNLMF(**{**settings, "callback": callback, **chosen}).fit(rows)

        def treat(block: Array) -> Array:
            nonlocal altered
            clean: Array = model._denoised(block)
            altered += int(np.count_nonzero(clean != block))
            return clean

        by_block(rows, treat, m, files.path(writing.output))
        if writing.model is not None:
            about = {"source": source.name, "kind": "table", "altered": altered / (n * m)}
            save(model, files.path(writing.model), about=about)
    facts = {"rows": n, "columns": rows.names, "altered_cells": altered, **writing.paths()}
    share = 100 * altered / (n * m)
    terminal.answer([f"{altered} cells ({share:.2g}%) were altered."], facts)
