"""Tables as Markdown, LaTeX and HTML, with the paper's value beside ours and the better one marked."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rnlmf.reproduce.experiment import Experiment
from rnlmf.reproduce.methods import METHODS
from rnlmf.reproduce.paper import COMPLEXITIES
from rnlmf.reproduce.results import Results, Summary, paper_value

EMPTY = "-"


@dataclass(frozen=True)
class Value:
    """Ours and the paper's; smaller is better."""

    ours: float | None
    deviation: float | None = None
    paper: float | None = None
    lowest: bool = False

    @property
    def known(self) -> bool:
        """Whether there is anything to show."""
        return self.ours is not None or self.paper is not None

    @property
    def better(self) -> str:
        """Whose is better, or "" where there is nothing to compare; equal as printed is ours."""
        if self.ours is None or self.paper is None:
            return ""
        return "ours" if round(self.ours, 2) <= self.paper else "paper"


Entry = str | Value


@dataclass(frozen=True)
class Table:
    """Header, lines, and what the reader must know."""

    name: str
    title: str
    header: list[str]
    lines: list[list[Entry]]
    notes: list[str]


def error_table(experiment: Experiment, results: Results, mode: str) -> Table:
    """Errors of all methods on all rows."""
    names = [name for name, _ in experiment.rows[0].labels]
    several = len(experiment.metrics) > 1
    header = [*names, *(["error"] if several else []), *experiment.methods]
    lines: list[list[Entry]] = []
    for metric in experiment.metrics:
        for row in experiment.rows:
            values = results.means(experiment, row, metric, mode)
            least = min(values.values()) if len(values) > 1 else None
            line: list[Entry] = [str(value) for _, value in row.labels]
            if several:
                line.append(metric.replace("rmse", "RMSE").replace("mae", "MAE"))
            for method in experiment.methods:
                paper = paper_value(experiment, row, method, metric)
                summary = results.get(experiment, row, method, mode)
                line.append(_value(summary, metric, paper, least))
            if any(isinstance(entry, Value) and entry.known for entry in line):
                lines.append(line)
    notes = ["Ours ± deviation over the seeds / the paper's; the better of the two is bold."]
    notes.append("A star marks the lowest of ours in a row.")
    if mode == "auto":
        notes.append(
            "Automatic settings: nothing is chosen on the truth. The paper's values are tuned."
        )
    else:
        notes.append(
            "Parameters chosen from the grids on the error of the first seed, as in the paper."
        )
        if any(track.quick for track in results.tracks):
            what = "the weight of the noise"
            if experiment.task == "cluster":
                what = "the kernel's width of RNLMF, a weight of the others"
            notes.append(
                f"A quick run, which chooses one parameter: {what}. The others, and all of them on "
                "COIL-100, are those that earlier searches, on the same error, found; the searches for "
                "RNLMF went over more parameters than those for the other methods."
            )
    absent = [m for m in experiment.methods if m not in METHODS]
    if absent:
        notes.append(f"The library does not have {', '.join(absent)} yet.")
    missing = [row for row in experiment.rows if not row.problem.available()]
    if missing:
        sets = dict.fromkeys(str(dict(row.labels).get("data", row.problem.data)) for row in missing)
        notes.append(f"Data not present in this run: {', '.join(sets)}.")
    title = experiment.title + (" (automatic settings)" if mode == "auto" else "")
    suffix = "-auto" if mode == "auto" else ""
    return Table(experiment.name + suffix, title, header, lines, [*notes, *experiment.notes])


def _value(summary: Summary | None, metric: str, paper: float | None, least: float | None) -> Value:
    if summary is None:
        return Value(None, paper=paper)
    ours = summary.mean[metric]
    spread = summary.deviation[metric] if summary.seeds > 1 else None
    return Value(ours, spread, paper, ours == least)


def settings_table(experiment: Experiment, results: Results, mode: str) -> Table:
    """What was run: parameters, seeds and seconds of every entry."""
    names = [name for name, _ in experiment.rows[0].labels]
    lines: list[list[Entry]] = []
    for row in experiment.rows:
        for method in experiment.methods:
            summary = results.get(experiment, row, method, mode)
            if summary is None:
                continue
            chosen = ", ".join(f"{name} = {_short(value)}" for name, value in summary.parameters)
            weight = summary.mean.get("noise_weight")
            if weight is not None and "noise_weight" not in dict(summary.parameters):
                chosen += f" (noise_weight {weight:.2g})"
            line = [str(value) for _, value in row.labels]
            lines.append(
                [*line, method, chosen or "automatic", str(summary.seeds), f"{summary.seconds:.1f}"]
            )
    header = [*names, "method", "parameters", "seeds", "processor seconds"]
    return Table(f"{experiment.name}-settings-{mode}", "What was run", header, lines, [])


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def growth_table(experiment: Experiment, results: Results) -> Table:
    """Exponents of the growth with the number of samples, beside the paper's formulas."""
    lines: list[list[Entry]] = []
    for method in experiment.methods:
        found = [
            (dict(row.labels)["samples"], summary)
            for row in experiment.rows
            if (summary := results.get(experiment, row, method)) is not None
        ]
        line: list[Entry] = [method]
        for metric, formula in zip(experiment.metrics, COMPLEXITIES[method], strict=True):
            if len(found) < 2:
                line += [EMPTY, f"O({formula})", EMPTY]
                continue
            sizes = [size for size, _ in found]
            values = [summary.mean[metric] for _, summary in found]
            exponent = np.polyfit(np.log(sizes), np.log(values), 1)[0]
            last = values[-1]
            largest = f"{1000 * last:.1f} ms" if "second" in metric else f"{last / 2**20:.1f} MB"
            line += [f"n^{exponent:.2f}", f"O({formula})", f"{largest} at n = {sizes[-1]}"]
        lines.append(line)
    header = ["method", "time", "paper", "of an iteration", "space", "paper", "beyond the input"]
    return Table(experiment.name, experiment.title, header, lines, list(experiment.notes))


# --- Three ways to write one -------------------------------------------------------------------------


def markdown(table: Table) -> str:
    """The table in Markdown, with its notes below."""
    lines = ["| " + " | ".join(table.header) + " |", "|" + "---|" * len(table.header)]
    for line in table.lines:
        lines.append("| " + " | ".join(_written(entry, "**{}**", "±", "\\*") for entry in line) + " |")
    return "\n".join([*lines, "", *(f"{note}  " for note in table.notes)]).rstrip() + "\n"


def latex(table: Table) -> str:
    """The table in LaTeX, with `booktabs`."""
    lines = [
        r"\begin{table}",
        rf"\caption{{{_tex(table.title)}}}",
        rf"\begin{{tabular}}{{{'l' * len(table.header)}}}",
        r"\toprule",
        " & ".join(_tex(name) for name in table.header) + r" \\",
        r"\midrule",
    ]
    for line in table.lines:
        cells = [_written(entry, r"\textbf{{{}}}", r"$\pm$", r"$^\star$", _tex) for entry in line]
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", *(rf"\par {_tex(note)}" for note in table.notes)]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def to_html(table: Table) -> str:
    """The table in HTML."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.header)
    body = []
    for line in table.lines:
        cells = (_written(entry, "<b>{}</b>", "±", "<sup>*</sup>", html.escape) for entry in line)
        body.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in table.notes)
    rows = "\n".join(body)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>\n{notes}\n"


def _written(
    entry: Entry, bold: str, plus_minus: str, star: str, escape: Callable[[str], str] = str
) -> str:
    if isinstance(entry, str):
        return escape(entry)
    if not entry.known:
        return EMPTY
    ours = EMPTY if entry.ours is None else f"{entry.ours:.2f}"
    if entry.better == "ours":
        ours = bold.format(ours)
    if entry.deviation is not None:
        ours += f" {plus_minus} {entry.deviation:.2f}"
    if entry.lowest:
        ours += star
    if entry.paper is None:
        return ours
    paper = f"{entry.paper:.2f}"
    return f"{ours} / {bold.format(paper) if entry.better == 'paper' else paper}"


def _tex(text: str) -> str:
    for plain, escaped in {
        "\\": r"\textbackslash ",
        "_": r"\_",
        "%": r"\%",
        "#": r"\#",
        "&": r"\&",
        "^": r"\^{}",
        "²": r"$^2$",
        "±": r"$\pm$",
    }.items():
        text = text.replace(plain, escaped)
    return text
