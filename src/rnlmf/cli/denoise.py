"""``rnlmf denoise`` and ``rnlmf apply``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rnlmf import RNLMF, load, save
from rnlmf.cli.console import Terminal
from rnlmf.cli.fitting import clean_and_findings, fit, tell_untouched, write_page
from rnlmf.cli.options import Fitting, Reading, Writing, parameters
from rnlmf.io import Dataset, FileError, outputs, read, write
from rnlmf.io.dataset import MOTION
from rnlmf.report.findings import in_words

# Wrong entries are what the estimator is made for by default.
PENALTIES = {"entries": {}, "samples": {"noise_penalty": "l21"}, "dense": {"noise_penalty": "l2"}}
# Set by options of their own, or by the command itself.
RESERVED = ("callback", "random_state", "n_jobs", "noise_penalty")


def denoise_file(
    source: Path, reading: Reading, fitting: Fitting, writing: Writing, terminal: Terminal
) -> None:
    """Fit a model to a file, and write the file without its noise."""
    allowed = [name for name in RNLMF._get_param_names() if name not in RESERVED]
    chosen = parameters(fitting.settings, allowed)
    writing.check(source)
    with terminal.spinner(f"reading {source}"):
        dataset = read(source, **asdict(reading))
    tell_untouched(dataset, terminal)
    with terminal.fit_progress() as callback:
        model = RNLMF(
            **{**_usual(dataset, fitting), **chosen},
            **PENALTIES[fitting.noise],
            random_state=fitting.seed,
            n_jobs=fitting.jobs,
            callback=callback,
        )
        fit(model, dataset)
    _finish(model, dataset, writing, terminal)


def _usual(dataset: Dataset, fitting: Fitting) -> dict[str, Any]:
    """What the kind of data asks for: no pixel of an image is wrong by itself, however small it is."""
    opinions = "auto" if dataset.image_shape is None else "dictionary"
    return {"feature_scale": fitting.feature_scale(dataset), "opinions": opinions}


def apply_model(
    model_file: Path,
    source: Path,
    reading: Reading,
    jobs: int | None,
    writing: Writing,
    terminal: Terminal,
) -> None:
    """Write a file without its noise, by a model that was fitted before."""
    model = load(model_file)
    if not hasattr(model, "denoise"):
        raise FileError(model_file, f"is a {type(model).__name__}, which does not treat new samples.")
    writing.check(source)
    with terminal.spinner(f"reading {source}"):
        dataset = matched(read(source, **asdict(reading)), model, model_file)
    tell_untouched(dataset, terminal)
    inner = getattr(model, "estimator_", model)
    inner.n_jobs = jobs
    _finish(model, dataset, writing, terminal)


def matched(dataset: Dataset, model: Any, model_file: Path) -> Dataset:
    """The dataset with the features of the model, by name if both have names."""
    wanted = getattr(model, "feature_names_in_", None)
    width = model.n_features_in_
    if wanted is None or not dataset.named:
        if dataset.values.shape[1] != width:
            raise FileError(
                dataset.path,
                f"has {dataset.values.shape[1]} features, but the model {model_file} has {width}.",
            )
        return dataset
    missing = [name for name in wanted if name not in dataset.names]
    if missing:
        raise FileError(
            dataset.path,
            f"has no column {missing[0]!r}, which the model {model_file} needs ({len(missing)} of "
            f"{width} are missing).",
        )
    if dataset.kind == MOTION and list(wanted) != dataset.names:
        raise FileError(
            dataset.path, f"has other bones than the model {model_file}, or in another order."
        )
    return dataset.selected([str(name) for name in wanted], "not in the model")


def _finish(model: Any, dataset: Dataset, writing: Writing, terminal: Terminal) -> None:
    """Clean, write everything, and say what was found."""
    with terminal.spinner("cleaning"):
        clean, findings = clean_and_findings(model, dataset)
    with terminal.spinner("writing"), outputs() as files:
        write(
            dataset,
            clean,
            files.path(writing.output),
            like=writing.output,
            full_precision=writing.full_precision,
        )
        if writing.model is not None:
            about = {"source": dataset.path.name, "kind": dataset.kind}
            save(model, files.path(writing.model), about=about)
        if writing.report is not None:
            title = f"What rnlmf did to {dataset.path.name}"
            write_page(files.path(writing.report), model, dataset, clean, findings, title=title)
    written = {"output": writing.output, "model": writing.model, "report": writing.report}
    paths = {name: str(path) for name, path in written.items() if path is not None}
    facts = {
        **findings.as_dict(dataset.names, dataset.sample_names),
        "untouched_columns": list(dataset.untouched),
        **paths,
    }
    feature = "feature" if dataset.image_shape is None else "pixel"
    sentences = in_words(findings, dataset.names, dataset.sample_names, feature)
    terminal.answer([*sentences, *(f"{name}: {path}" for name, path in paths.items())], facts)
