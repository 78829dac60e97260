"""``rnlmf denoise``, ``rnlmf detect`` and ``rnlmf apply``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import typer

from rnlmf import RNLMF, load, save
from rnlmf.cleaning import (
    CleanTable,
    ColumnChoice,
    Overview,
    Repaired,
    RepairOptions,
    clean_table,
    in_sentences,
    overview_of,
    repair_table,
    repaired_by,
)
from rnlmf.cleaning.page import write_page
from rnlmf.cleaning.table import OFF_THE_MODEL
from rnlmf.cli.console import PROMISES_LITTLE, Terminal
from rnlmf.cli.fitting import fitting_errors, seen, show_overview
from rnlmf.cli.found import found_in_words, write_found, write_scores
from rnlmf.cli.large import denoise_large, is_large
from rnlmf.cli.settings import Fitting, Reading, Writing, parameters
from rnlmf.estimators.persistence import read_header
from rnlmf.io import Dataset, FileError, outputs, read, write
from rnlmf.io.dataset import MOTION
from rnlmf.report.findings import percent

# Set by options of their own, or by the command itself.
RESERVED = ("callback", "verbose", "random_state", "n_jobs", "noise_penalty", "sequence")


def denoise_file(
    source: Path,
    reading: Reading,
    choice: ColumnChoice,
    fitting: Fitting,
    writing: Writing,
    terminal: Terminal,
    scheduler: str | None = None,
) -> None:
    """Fit a model to a file, and write the file without its noise."""
    if scheduler is not None or is_large(source):
        denoise_large(source, fitting, writing, terminal, scheduler)
        return
    table = _fitted(source, reading, choice, fitting, writing, terminal)
    _write(table, writing, terminal)
    sentences = in_sentences(table)
    _answer(table, sentences, writing, terminal)
    _end(table.doubts(), writing)


def detect_file(
    source: Path,
    reading: Reading,
    choice: ColumnChoice,
    fitting: Fitting,
    writing: Writing,
    terminal: Terminal,
) -> None:
    """Fit a model to a file, and say which cells are wrong; the file stays what it is."""
    target = writing.output
    if target is not None and target.suffix.lower() != ".csv":
        raise FileError(target, "the list of cells is written as .csv; name it so.")
    table = _fitted(source, reading, choice, fitting, writing, terminal)
    with terminal.spinner("writing"), outputs() as files:
        if target is not None:
            write_found(table.changes, files.path(target))
        _write_files(table, writing, files)
    _answer(table, [*in_sentences(table), *found_in_words(table)], writing, terminal)
    _end(table.doubts(), writing)


def _fitted(
    source: Path,
    reading: Reading,
    choice: ColumnChoice,
    fitting: Fitting,
    writing: Writing,
    terminal: Terminal,
) -> CleanTable:
    allowed = [name for name in RNLMF._get_param_names() if name not in RESERVED]
    chosen = parameters(fitting.settings, allowed)
    writing.check(source)
    overview = seen(source, reading, choice, terminal)
    dataset = overview.dataset
    options = RepairOptions(
        noise=fitting.noise,
        scale=fitting.scales(dataset),
        sequence=overview.sequence,
        fast=fitting.fast,
        settings=chosen,
        random_state=fitting.seed,
        n_jobs=fitting.jobs,
        verbose=not terminal.quiet,
        named=dataset.named,
    )
    return _cleaned(overview, lambda values: repair_table(values, dataset.names, options), writing)


def apply_model(
    model_file: Path,
    source: Path,
    reading: Reading,
    choice: ColumnChoice,
    jobs: int | None,
    writing: Writing,
    terminal: Terminal,
) -> None:
    """Write a file without its noise, by a model that was fitted before."""
    model = load(model_file)
    if not hasattr(model, "denoise"):
        raise FileError(
            model_file,
            f"is a {type(model).__name__}, which does not treat new samples: pass a model that rnlmf "
            "denoise saved.",
        )
    writing.check(source)
    with terminal.spinner(f"reading {source}"):
        dataset = matched(read(source, **asdict(reading)), model, model_file)
        overview = overview_of(dataset, choice, chosen_already=True)
    show_overview(overview, terminal)
    inner = getattr(model, "estimator_", model)
    inner.n_jobs = jobs
    with terminal.spinner("cleaning"):
        table = _cleaned(overview, lambda values: repaired_by(model, values), writing)
    off = off_the_model(table, model_file, source)
    _write(table, writing, terminal)
    _answer(table, [*off, *in_sentences(table)], writing, terminal)
    _end(off, writing)


def off_the_model(table: CleanTable, model_file: Path, source: Path) -> list[str]:
    """A warning, if much more is altered than in the data of the model, or if much lies elsewhere."""
    usual = float(read_header(model_file)["about"].get("altered", 0.0))
    reasons = []
    if table.altered > max(OFF_THE_MODEL, 3 * usual):
        reasons.append(
            f"{percent(table.altered)} of its cells are altered (of the data it was fitted to, "
            f"{percent(usual)})"
        )
    if table.elsewhere > OFF_THE_MODEL:
        reasons.append(f"{percent(table.elsewhere)} of its cells are far from all it has learned")
    if not reasons:
        return []
    remedy = f"Fit anew: rnlmf denoise {source} -o OUT."
    return [f"{source} lies off the model {model_file}: {' and '.join(reasons)}. {remedy}"]


def matched(dataset: Dataset, model: Any, model_file: Path) -> Dataset:
    """The dataset with the features of the model, by name if both have names."""
    wanted = getattr(model, "feature_names_in_", None)
    width = model.n_features_in_
    if wanted is None or not dataset.named:
        if dataset.values.shape[1] != width:
            raise FileError(
                dataset.path,
                f"has {dataset.values.shape[1]} features, but the model {model_file} has {width}: pass "
                "data of the kind it was fitted to.",
            )
        return dataset
    missing = [name for name in wanted if name not in dataset.names]
    if missing and missing[0] in dataset.untouched:
        reason = dataset.untouched[missing[0]]
        raise FileError(
            dataset.path,
            f"column {missing[0]!r} has {reason}, but the model {model_file} needs numbers: mend it, "
            "or fit anew.",
        )
    if missing:
        raise FileError(
            dataset.path,
            f"has no column {missing[0]!r}, which the model {model_file} needs ({len(missing)} of "
            f"{width} are missing): name it so, or fit anew.",
        )
    if dataset.kind == MOTION and list(wanted) != dataset.names:
        raise FileError(
            dataset.path,
            f"has other bones than the model {model_file}, or in another order: fit anew.",
        )
    return dataset.selected([str(name) for name in wanted], "not in the model")


def _cleaned(overview: Overview, repair: Callable[..., Repaired], writing: Writing) -> CleanTable:
    with fitting_errors(overview.dataset.path):
        table = clean_table(overview, repair, full_precision=writing.full_precision)
    return replace(table, findings=replace(table.findings, applied=writing.writes_data))


def _write(table: CleanTable, writing: Writing, terminal: Terminal) -> None:
    """Everything that was asked for."""
    dataset, target = table.overview.dataset, writing.output
    precision = writing.full_precision
    with terminal.spinner("writing"), outputs() as files:
        if target is not None and not writing.to_standard_output:
            write(dataset, table.values, files.path(target), like=target, full_precision=precision)
        _write_files(table, writing, files)
    if target is not None and writing.to_standard_output:
        write(dataset, table.values, target, full_precision=precision)


def _write_files(table: CleanTable, writing: Writing, files: Any) -> None:
    dataset = table.overview.dataset
    if writing.model is not None:
        about = {"source": dataset.path.name, "kind": dataset.kind, "altered": table.altered}
        save(table.model, files.path(writing.model), about=about)
    if writing.changes is not None:
        table.changes.write(files.path(writing.changes))
    if writing.scores is not None:
        write_scores(table, files.path(writing.scores))
    if writing.report is not None:
        did = "did" if writing.writes_data else "would do"
        title = f"What rnlmf {did} to {dataset.path.name}"
        write_page(files.path(writing.report), table, title)


def _answer(table: CleanTable, sentences: list[str], writing: Writing, terminal: Terminal) -> None:
    dataset, paths = table.overview.dataset, writing.paths()
    facts = {
        **table.findings.as_dict(dataset.names, table.row_names),
        "changes": table.changes.counts() if dataset.kind == "table" else None,
        "doubts": table.doubts(),
        "questions": list(table.overview.questions),
        "rows_in_order_of_time": table.overview.timed,
        "sequence": table.overview.sequence,
        "untouched_columns": list(table.untouched),
        **paths,
    }
    terminal.answer([*sentences, *(f"{name}: {path}" for name, path in paths.items())], facts)


def _end(doubts: list[str], writing: Writing) -> None:
    if doubts and writing.strict:
        raise typer.Exit(PROMISES_LITTLE)
