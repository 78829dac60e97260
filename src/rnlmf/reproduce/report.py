"""Writes the results of a run into a folder: values, tables, figures and a page with all of them."""

from __future__ import annotations

import html
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from joblib import cpu_count

import rnlmf
from rnlmf.io.atomic import Outputs, outputs
from rnlmf.reproduce import tables
from rnlmf.reproduce.claims import all_claims
from rnlmf.reproduce.experiment import Experiment
from rnlmf.reproduce.figures import FIGURES
from rnlmf.reproduce.results import Results

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "matplotlib")
STYLE = (
    "body{font-family:sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;font-size:90%}td,th{border:1px solid #ccc;padding:.2em .5em}"
    "img{max-width:100%}p{margin:.3em 0}"
)


def write(
    results: Results, experiments: Iterable[Experiment], folder: Path, settings: dict[str, str]
) -> Path:
    """Write everything, or nothing if something fails, and return the page."""
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    (folder / "figures").mkdir(exist_ok=True)
    with outputs() as files:
        _write(results, list(experiments), folder, settings, files)
    return folder / "index.md"


def _write(
    results: Results,
    experiments: list[Experiment],
    folder: Path,
    settings: dict[str, str],
    files: Outputs,
) -> None:
    import pandas as pd

    frame = pd.DataFrame(results.records())
    if len(frame):
        frame["paper"] = frame["paper"].astype(float)
    frame.to_csv(files.path(folder / "results.csv"), index=False)
    frame.to_parquet(files.path(folder / "results.parquet"), index=False)

    page = Page("Results")
    page.text(
        f"Made by `rnlmf reproduce` on {datetime.now(UTC):%Y-%m-%d}; nothing here is typed by hand."
    )
    page.list([f"{name}: {value}" for name, value in {**settings, **environment()}.items()])
    codes = results.codes()
    if len(codes) > 1:
        page.text(
            f"The cells of this run come from {len(codes)} states of the code (column `code` of "
            "results.csv): those that an earlier run had cached were not computed again."
        )
    page.heading("What the paper claims, and what holds here")
    page.list([str(verdict) for verdict in all_claims(results)])

    for experiment in experiments:
        shown = _tables(experiment, results)
        if not shown:
            continue
        page.heading(f"{_number(experiment.name)}: {experiment.title}")
        for table, settings_of in shown:
            files.path(folder / "tables" / f"{table.name}.tex").write_text(tables.latex(table))
            page.table(table, settings_of)
    for name, (shown_by, draw, caption) in FIGURES.items():
        if any(e in experiments and results.has(e) for e in shown_by):
            draw(results, files.path(folder / "figures" / f"{name}.png"))
            page.heading(caption)
            page.picture(f"figures/{name}.png", caption)
    for name, lines in (("index.html", page.html), ("index.md", page.markdown)):
        files.path(folder / name).write_text("\n".join(lines).rstrip() + "\n")


def _tables(experiment: Experiment, results: Results) -> list[tuple[tables.Table, tables.Table | None]]:
    if experiment.task == "growth":
        return [(tables.growth_table(experiment, results), None)] if results.has(experiment) else []
    if experiment.task in ("picture", "objective"):
        return []
    real = experiment.name.startswith("table")
    return [
        (
            tables.error_table(experiment, results, mode),
            tables.settings_table(experiment, results, mode),
        )
        for mode in ("paper", "auto")
        if results.has(experiment, mode) or (real and mode == "paper")
    ]


def _number(name: str) -> str:
    return name.replace("figure", "Figure ").replace("table", "Table ")


def environment() -> dict[str, str]:
    """Versions, and the machine."""
    versions = {"Python": platform.python_version(), "rnlmf": rnlmf.__version__}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    return {"versions": listed, "machine": f"{platform.machine()}, {cpu_count()} cores"}


class Page:
    """One page, written as Markdown and as HTML."""

    def __init__(self, title: str):
        self.markdown = [f"# {title}", ""]
        self.html = [
            "<!doctype html>",
            f"<html lang='en'><meta charset='utf-8'><title>{title}</title><style>{STYLE}</style>",
            f"<h1>{title}</h1>",
        ]

    def text(self, text: str) -> None:
        """A paragraph."""
        self.markdown += [text, ""]
        self.html.append(f"<p>{html.escape(text)}</p>")

    def heading(self, text: str) -> None:
        """A heading."""
        self.markdown += [f"## {text}", ""]
        self.html.append(f"<h2>{html.escape(text)}</h2>")

    def list(self, lines: list[str]) -> None:
        """A list."""
        self.markdown += [*(f"- {line}" for line in lines), ""]
        self.html.append("<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in lines) + "</ul>")

    def table(self, table: tables.Table, details: tables.Table | None) -> None:
        """A table, and what was run for it, folded."""
        if table.name.endswith("-auto"):
            self.text(f"{table.title}:")
        self.markdown += [tables.markdown(table)]
        self.html.append(tables.to_html(table))
        if details is not None and details.lines:
            head = f"<details><summary>{details.title}</summary>"
            self.markdown += [head, "", tables.markdown(details), "</details>", ""]
            self.html.append(f"{head}{tables.to_html(details)}</details>")

    def picture(self, path: str, caption: str) -> None:
        """A picture."""
        self.markdown += [f"![{caption}]({path})", ""]
        self.html.append(f"<img src='{html.escape(path)}' alt='{html.escape(caption)}'>")
