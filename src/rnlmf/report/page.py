"""One HTML page, with all it needs inside, that shows what a model did to data."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.io.atomic import whole_file
from rnlmf.io.dataset import need, numbered
from rnlmf.report import sections
from rnlmf.report.content import PageContent, Section
from rnlmf.report.findings import Findings, count, findings_of, in_short, in_words, percent
from rnlmf.report.packing import packed

TEMPLATES = Path(__file__).parent / "templates"
# An option of the command line, which is not broken at its hyphens.
OPTION = re.compile(r"(?<!\S)--[a-z]+")


def write_report(
    path: str | Path,
    model: Any,
    X: Any,
    *,
    clean: Any = None,
    findings: Findings | None = None,
    image_shape: tuple[int, ...] | None = None,
    feature_names: Sequence[str] | None = None,
    sample_names: list[str] | None = None,
    labels: Any = None,
    embedding: Any = None,
    remarks: list[str] | None = None,
    notices: list[str] | None = None,
    untouched: dict[str, str] | None = None,
    changes: list[tuple[Any, ...]] | None = None,
    columns: tuple[list[str], list[list[str]]] | None = None,
    title: str | None = None,
) -> None:
    """Write a self-contained, interactive HTML page: what was found, before, after and removed.

    The page needs no network. Of large data it shows a part: the samples and features that were hit
    worst, and some of the others.

    Parameters
    ----------
    path : path
        The file; it appears whole or not at all.
    model : RNLMF or alike
        Fitted, with ``components_``, ``objective_``, ``converged_`` and ``denoise``.
    X : array or data frame of shape (n_samples, n_features)
        Noisy samples.
    clean : array or None
        ``model.denoise(X)``, if it is known already.
    findings : Findings or None
        ``findings_of(model, X, clean)``, if they are known already.
    image_shape : tuple of int or None
        Height and width (and channels) if samples are images.
    feature_names, sample_names : list of str or None
        By default those of the data frame.
    labels : array of int or None
        Cluster of every sample.
    embedding : array of shape (n_samples, n_dimensions) or None
        Where the map places the samples; None: the cleaned samples themselves.
    remarks : list of str or None
        Sentences to put before the findings.
    notices : list of str or None
        Sentences to put after them, such as what the reader should decide.
    untouched : dict or None
        Columns that were left alone, and why.
    changes : list of tuple or None
        Row from 0, column, before, after, probability (or NaN) and kind of every change, and, if it is
        known, where before and after lie between the ends of the column, from 0 to 1, and whether it is
        small.
    columns : tuple or None
        Heads and rows of a table that tells what the columns are.
    title : str or None
        Of the page.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rnlmf import RNLMF
    >>> from rnlmf.report import write_report
    >>> X = load_digits().data
    >>> model = RNLMF(random_state=0).fit(X)  # doctest: +SKIP
    >>> write_report("report.html", model, X, image_shape=(8, 8))  # doctest: +SKIP
    """
    if clean is None:
        clean = model.denoise(X)
    if findings is None:
        findings = findings_of(model, X, clean, images=image_shape is not None)
    values, clean = np.asarray(X), np.asarray(clean)
    if feature_names is None:
        given = getattr(X, "columns", None)
        feature_names = numbered(values.shape[1]) if given is None else [str(name) for name in given]
    if sample_names is None and hasattr(X, "index"):
        sample_names = [str(label) for label in X.index]
    page = PageContent(
        model=model,
        X=values,
        clean=clean,
        findings=findings,
        names=feature_names,
        sample_names=sample_names,
        image_shape=image_shape,
        labels=None if labels is None else np.asarray(labels),
        embedding=None if embedding is None else np.asarray(embedding),
        untouched=untouched or {},
        changes=changes,
        columns=columns,
    )
    text = render(page, title or "What rnlmf found", remarks or [], notices or [])
    with whole_file(path) as file:
        file.write_text(text, encoding="utf-8", errors="replace")


def render(page: PageContent, title: str, remarks: list[str], notices: list[str]) -> str:
    """The page as text."""
    jinja = need("jinja2", "cli", "A report")
    safe = need("markupsafe", "cli", "A report").Markup
    parts = [section for section in sections.all_sections(page) if section.parts]
    version = import_module("rnlmf").__version__
    words = in_words(page.findings, page.names, page.sample_names, page.feature_word)
    today = datetime.date.today().isoformat()
    environment = jinja.Environment(
        loader=jinja.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja.StrictUndefined
    )
    environment.filters["options"] = _with_options
    return environment.get_template("page.html").render(
        title=title,
        subtitle=f"{_model_in_words(page)} · rnlmf {version} · {today}",
        version=version,
        remarks=remarks,
        words=in_short(page.findings, len(page.untouched), page.feature_word),
        notices=notices,
        more=words,
        figures=_figures(page),
        sections=parts,
        content=safe(packed(_as_json(_content(parts)))),
        style=safe((TEMPLATES / "style.css").read_text()),
        script=safe((TEMPLATES / "page.js").read_text()),
        plotly=safe(_chart_library()),
    )


def _with_options(line: str) -> Any:
    """A line with the options of the command line in it set as code."""
    markup = need("markupsafe", "cli", "A report")
    # As plain text: what is put into markup is escaped.
    return markup.Markup(OPTION.sub(r"<code>\g<0></code>", str(markup.escape(line))))


@cache
def _chart_library() -> str:
    return packed(need("plotly.offline", "cli", "A report").get_plotlyjs())


def _as_json(content: dict[str, Any]) -> str:
    return json.dumps(content, allow_nan=False, separators=(",", ":"))


def _content(parts: list[Section]) -> dict[str, Any]:
    content: dict[str, Any] = {"charts": {}}
    for section in parts:
        content["charts"] |= section.charts
        content |= section.content
    return content


def _model_in_words(page: PageContent) -> str:
    atoms = count(len(page.factorization.components_), "atom")
    return f"{type(page.model).__name__} with {atoms}"


def _figures(page: PageContent) -> list[dict[str, str]]:
    findings = page.findings
    n, m = findings.shape
    alone = len(page.untouched)
    left = percent(findings.remaining_error or 0.0) if findings.knows_error else "unknown"
    figures = {
        "entries repaired": f"{findings.n_large:,} ({percent(findings.n_large / (n * m))})",
        "samples with repairs": f"{findings.n_samples_hit:,} ({percent(findings.n_samples_hit / n)})",
        "typical repair, in standard deviations": f"{findings.typical_size:.2g}",
        "missing entries filled": f"{findings.n_missing:,}" if findings.n_missing else "none",
        "error left, estimated": left,
    }
    if alone:
        figures["columns left alone"] = str(alone)
    return [{"label": label, "value": value} for label, value in figures.items()]
