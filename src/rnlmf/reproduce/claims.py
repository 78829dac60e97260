"""What the paper claims, and whether our results agree; all of it is computed from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from rnlmf.reproduce import spec
from rnlmf.reproduce.experiment import Experiment, Row
from rnlmf.reproduce.results import Results, paper_value
from rnlmf.reproduce.tracks import MODES


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim, on how many of the rows it holds, and where it does not."""

    claim: str
    holds: int
    of: int
    exceptions: list[str]

    def __str__(self) -> str:
        text = f"{self.claim}: holds on {self.holds} of {self.of}"
        return text + (f"; not on {', '.join(self.exceptions)}" if self.exceptions else "") + "."


def label(row: Row) -> str:
    """A row in words."""
    return " ".join(
        f"{value}" if isinstance(value, str) else f"{name} {value:g}" for name, value in row.labels
    )


def _verdict(claim: str, cases: Iterable[tuple[str, bool]]) -> ClaimVerdict | None:
    found = list(cases)
    if not found:
        return None
    failed = [name for name, good in found if not good]
    return ClaimVerdict(claim, len(found) - len(failed), len(found), failed)


def not_above_paper(experiment: Experiment, results: Results, mode: str) -> ClaimVerdict | None:
    """RNLMF at or below the paper's own value."""
    cases = []
    for metric in experiment.metrics:
        for row in experiment.rows:
            ours = results.get(experiment, row, "RNLMF", mode)
            paper = paper_value(experiment, row, "RNLMF", metric)
            if ours is not None and paper is not None:
                value = ours.mean[metric]
                name = f"{label(row)} {metric} ({value:.2f} against {paper:.2f})"
                cases.append((name, round(value, 2) <= paper))
    how = "chosen" if mode == "paper" else "automatic"
    return _verdict(f"{experiment.name}: RNLMF, {how} parameters, at or below the paper's RNLMF", cases)


def lowest(experiment: Experiment, results: Results, mode: str, best: str) -> ClaimVerdict | None:
    """One method lower than all others that were run."""
    cases = []
    for metric in experiment.metrics:
        for row in experiment.rows:
            values = results.means(experiment, row, metric, mode)
            if best in values and len(values) > 1:
                least = min(values, key=values.__getitem__)
                name = f"{label(row)} {metric} ({least} {values[least]:.2f}, {best} {values[best]:.2f})"
                cases.append((name, least == best))
    how = "" if mode == "paper" else ", automatic settings"
    return _verdict(f"{experiment.name}: {best} lowest of all methods that were run{how}", cases)


def falls_until(results: Results, size: int) -> ClaimVerdict | None:
    """The error falls with d until `size`, and changes little after it."""
    experiment = spec.FIGURE_1B
    found = [
        (int(dict(row.labels)["d"]), summary.mean["rmse"])
        for row in experiment.rows
        if (summary := results.get(experiment, row, "RNLMF, l2")) is not None
    ]
    pairs = list(pairwise(found))
    cases = [
        (f"d {a} to {b} ({x:.2f} to {y:.2f})", y < x if b <= size else y <= 1.1 * x)
        for (a, x), (b, y) in pairs
    ]
    claim = f"figure1b: the error falls with d until {size}, and rises by less than a tenth after it"
    return _verdict(claim, cases)


def faster_with_momentum(results: Results) -> ClaimVerdict | None:
    """A larger eta gives a lower objective early on, until it is too large."""
    early: dict[float, float] = {}
    for row, _, arrays in results.arrays(spec.FIGURE_2):
        values = arrays["objective"]
        early[float(dict(row.labels)["eta"])] = float(values[min(49, len(values) - 1)])
    moderate = [eta for eta in sorted(early) if eta <= 0.7]
    pairs = list(pairwise(moderate))
    cases = [
        (f"eta {a:g} to {b:g} ({early[a]:.5g} to {early[b]:.5g})", early[b] <= early[a])
        for a, b in pairs
    ]
    if early:
        large, best = max(early), min(early.values())
        name = f"eta {large:g} ({early[large]:.5g}, the lowest is {best:.5g})"
        cases.append((name, not early[large] <= best))
    claim = (
        "figure2: the objective after 50 iterations is lower for every larger eta up to 0.7, "
        "and the largest eta is not the best"
    )
    return _verdict(claim, cases)


def all_claims(results: Results) -> list[ClaimVerdict]:
    """Every claim of which there are results."""
    verdicts: list[ClaimVerdict | None] = []
    for mode in MODES:
        for experiment in (spec.TABLE_4, spec.TABLE_5, spec.TABLE_6, spec.TABLE_7, spec.TABLE_8):
            verdicts.append(not_above_paper(experiment, results, mode))
            verdicts.append(lowest(experiment, results, mode, "RNLMF"))
        for experiment in (spec.FIGURE_4, spec.FIGURE_5, spec.FIGURE_6):
            verdicts.append(lowest(experiment, results, mode, "RNLMF"))
    for experiment in (spec.FIGURE_1A, spec.FIGURE_1B):
        verdicts.append(lowest(experiment, results, "paper", "RNLMF, l2"))
    verdicts += [falls_until(results, 135), faster_with_momentum(results)]
    return [verdict for verdict in verdicts if verdict is not None]
