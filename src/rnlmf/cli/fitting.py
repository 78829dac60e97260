"""What the commands that fit have in common."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import typer
from sklearn.exceptions import ConvergenceWarning

from rnlmf.cli.console import Terminal
from rnlmf.io import Dataset, FileError
from rnlmf.io.dataset import with_names
from rnlmf.report.findings import Findings, findings_of
from rnlmf.typing import Array
from rnlmf.validation import InvalidParameterError


def fit(model: Any, dataset: Dataset) -> None:
    """Fit, with errors that say which file or option is at fault."""
    path, values = dataset.path, dataset.values
    if len(values) < 2:
        raise FileError(path, f"has {len(values)} sample; a structure cannot be learned from it.")
    with warnings.catch_warnings():
        # Said in words with the findings.
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(with_names(values, dataset.names) if dataset.named else values)
        except InvalidParameterError as error:
            raise typer.BadParameter(str(error), param_hint="--set") from error
        except ValueError as error:
            raise _one_line(error, path) from error
        except (TypeError, ArithmeticError) as error:
            raise typer.BadParameter(f"this does not work: {error}", param_hint="--set") from error


def clean_and_findings(model: Any, dataset: Dataset) -> tuple[Array, Findings]:
    """Values without their noise, and what was changed; the features are the model's, in its order."""
    names = getattr(model, "feature_names_in_", None)
    samples = dataset.values if names is None else with_names(dataset.values, names)
    try:
        clean = model.denoise(samples)
        return np.asarray(clean), findings_of(model, samples, clean)
    except ValueError as error:
        raise _one_line(error, dataset.path) from error


def write_page(
    path: Path, model: Any, dataset: Dataset, clean: Array, findings: Findings, **more: Any
) -> None:
    """The report on a dataset, with its names and the shape of its images."""
    from rnlmf.report import write_report

    write_report(
        path,
        model,
        dataset.values,
        clean=clean,
        findings=findings,
        image_shape=dataset.image_shape,
        feature_names=dataset.names,
        sample_names=dataset.sample_names,
        untouched=dataset.untouched,
        **more,
    )


def _one_line(error: Exception, path: Path) -> FileError:
    """The first line of an error about the content of a file."""
    return FileError(path, str(error).partition("\n")[0])


def tell_untouched(dataset: Dataset, terminal: Terminal) -> None:
    """Say which columns are passed through."""
    if dataset.untouched:
        columns = ", ".join(f"{name or '(unnamed)'} ({why})" for name, why in dataset.untouched.items())
        terminal.note(f"left alone: {columns}")
