"""``rnlmf info``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.cleaning import ColumnChoice, overview_of
from rnlmf.cleaning.page import overview_table
from rnlmf.cli.console import Terminal
from rnlmf.cli.settings import Reading
from rnlmf.io import read

# The rest is told by a number.
SHOWN_NAMES = 12


def describe(file: Path, reading: Reading, choice: ColumnChoice, terminal: Terminal) -> None:
    """Say what is in a data file or a model."""
    is_model = file.suffix.lower() == ".safetensors"
    facts = _model(file) if is_model else _data(file, reading, choice, terminal)
    terminal.answer(
        [f"{key.replace('_', ' ')}: {_shown(value)}" for key, value in facts.items()], facts
    )


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list):
        more = f", ... ({len(value)} in all)" if len(value) > SHOWN_NAMES else ""
        return ", ".join(str(item) for item in value[:SHOWN_NAMES]) + more
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _model(file: Path) -> dict[str, Any]:
    from rnlmf.estimators.persistence import load, read_header
    from rnlmf.report.findings import innermost_model

    header, model = read_header(file), load(file)
    facts: dict[str, Any] = {
        "file": str(file),
        "kind": "model",
        "class": header["class"],
        "saved_by_version": header["rnlmf"],
        "n_features": header["n_features"],
    }
    if header["feature_names"]:
        facts["feature_names"] = header["feature_names"]
    if hasattr(model, "components_"):
        facts["n_components"] = len(model.components_)
    inner = innermost_model(model)
    in_use = ("kernel_scale_", "noise_weight_", "code_weight_", "neighbor_share_")
    for name in ("n_iter_", "converged_", *in_use):
        if hasattr(inner, name):
            facts[name.rstrip("_")] = np.asarray(getattr(inner, name)).item()
    facts["parameters"] = header["parameters"]
    return facts | {f"fitted_on_{key}": value for key, value in header["about"].items()}


def _data(file: Path, reading: Reading, choice: ColumnChoice, terminal: Terminal) -> dict[str, Any]:
    overview = overview_of(read(file, **asdict(reading)), choice)
    if overview.columns and not terminal.as_json:
        terminal.table(*overview_table(overview.columns))
    dataset = overview.dataset
    values = dataset.values
    return {
        "file": str(file),
        "kind": dataset.kind,
        "read_as": list(dataset.notes) or ["as usual"],
        "n_samples": len(values),
        "n_features": values.shape[1],
        "sample_shape": list(dataset.sample_shape),
        "n_missing": int(np.isnan(values).sum()),
        "least_value": float(np.nanmin(values)),
        "largest_value": float(np.nanmax(values)),
        "feature_names": list(dataset.names),
        "left_alone": dataset.untouched,
        "rows_in_order_of_time": overview.timed,
        "questions": list(overview.questions) or ["none"],
        **({"columns": [column.as_dict() for column in overview.columns]} if terminal.as_json else {}),
    }
