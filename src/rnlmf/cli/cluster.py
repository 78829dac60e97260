"""``rnlmf cluster``."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rnlmf import RNLMF, RNLMFClustering
from rnlmf.cleaning import ColumnChoice, clean_table, repaired_by
from rnlmf.cleaning.page import write_page
from rnlmf.cli.console import Terminal
from rnlmf.cli.fitting import fitting_errors, seen
from rnlmf.cli.settings import Fitting, Reading, parameters
from rnlmf.cluster import default_estimator
from rnlmf.io import FileError, check_new, outputs
from rnlmf.io.dataset import check_parent, with_names
from rnlmf.io.tables import write_labels
from rnlmf.report.findings import count

# Set by options of their own, or by the command itself.
RESERVED = ("n_clusters", "estimator", "random_state", "n_jobs", "verbose", "callback")
PREFIX = "estimator__"
LABEL_FORMATS = (".csv", ".tsv", ".parquet", ".npy")
# Above this confidence the number of clusters can be trusted.
CONFIDENT = 0.5


def cluster_file(
    source: Path,
    n_clusters: int | None,
    target: Path | None,
    report: Path | None,
    reading: Reading,
    choice: ColumnChoice,
    fitting: Fitting,
    overwrite: bool,
    terminal: Terminal,
) -> None:
    """Cluster the samples of a file, and write or print which is where."""
    own, inner = _parameters(fitting.settings)
    _check(source, target, report, overwrite)
    overview = seen(source, reading, choice, terminal)
    dataset = overview.dataset
    scale = "robust" if fitting.scales(dataset) else None
    estimator: Any = default_estimator(
        *dataset.values.shape, **{"n_jobs": fitting.jobs, "feature_scale": scale, **inner}
    )
    model = RNLMFClustering(
        n_clusters, estimator=estimator, **own, random_state=fitting.seed, n_jobs=fitting.jobs
    )
    values: Any = overview.working
    if dataset.named:
        values = with_names(values, dataset.names)
    with terminal.spinner("clustering"), fitting_errors(source), warnings.catch_warnings():
        # Said in words.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(values)
    sentences = in_words(model)
    with terminal.spinner("writing"), outputs() as files:
        if target is not None:
            write_labels(dataset, model.labels_, files.path(target))
        if report is not None:
            with fitting_errors(source):
                table = clean_table(overview, lambda values: repaired_by(model, values))
            write_page(
                files.path(report),
                table,
                f"Clusters of {dataset.path.name}",
                labels=model.labels_,
                embedding=model.embedding_,
                remarks=sentences,
            )
    written = {"output": target, "report": report}
    paths = {name: str(path) for name, path in written.items() if path is not None}
    facts = {
        "n_samples": len(dataset.values),
        "n_clusters": int(model.n_clusters_),
        "confidence": model.n_clusters_confidence_,
        "sizes": np.bincount(model.labels_).tolist(),
        "converged": bool(model.converged_),
        "labels": model.labels_.tolist(),
        **paths,
    }
    terminal.answer([*sentences, *(f"{name}: {path}" for name, path in paths.items())], facts)


def in_words(model: Any) -> list[str]:
    """What was found, as sentences."""
    sizes = np.bincount(model.labels_)
    shown = ", ".join(f"{size:,}" for size in sizes[:12]) + (", ..." if len(sizes) > 12 else "")
    sentences = [f"The samples are in {count(len(sizes), 'cluster')}, of {shown} samples."]
    confidence = model.n_clusters_confidence_
    if confidence is not None:
        trust = "can be trusted" if confidence > CONFIDENT else "is uncertain: pass -k if you know it"
        sentences.append(f"Their number was found by itself and {trust} (confidence {confidence:.2f}).")
    if not model.converged_:
        sentences.append("The spectral step had not converged: the clusters may not be the best.")
    return sentences


def _parameters(settings: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of the clustering, and those of the factorization under it."""
    own = [name for name in RNLMFClustering._get_param_names() if name not in RESERVED]
    inner = [PREFIX + name for name in RNLMF._get_param_names() if name not in RESERVED]
    chosen = parameters(settings, own + inner)
    return (
        {name: value for name, value in chosen.items() if name in own},
        {name.removeprefix(PREFIX): value for name, value in chosen.items() if name in inner},
    )


def _check(source: Path, target: Path | None, report: Path | None, overwrite: bool) -> None:
    for path in (target, report):
        if path is None:
            continue
        check_parent(path)
        check_new(path, source, overwrite=overwrite)
    if target is not None and target.suffix.lower() not in LABEL_FORMATS:
        raise FileError(target, f"clusters are written as {', '.join(LABEL_FORMATS)}; name it so.")
