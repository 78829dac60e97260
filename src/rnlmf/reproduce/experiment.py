"""What an experiment is: rows, methods, what is measured, and how many seeds each gets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rnlmf.reproduce.problems import PaperProblem

FULL_SEEDS = 20
QUICK_SEEDS = 1


@dataclass(frozen=True)
class Row:
    """A row of a table, or a point of a figure.

    Attributes
    ----------
    labels : tuple of (name, value)
        Where it belongs: they lead to the paper's value in a table, to the place in a figure.
    problem : PaperProblem
    parameters : tuple of (name, value)
        Given to the methods; what is given is not chosen from the grid.
    quick : bool
        Whether a quick run has it.
    """

    labels: tuple[tuple[str, Any], ...]
    problem: PaperProblem
    parameters: tuple[tuple[str, Any], ...] = ()
    quick: bool = True


@dataclass(frozen=True, eq=False)
class Experiment:
    """A table or a figure.

    Attributes
    ----------
    name : str
        By which it is asked for.
    title : str
        The paper's caption.
    rows : tuple of Row
    methods : tuple of str
    task : str
        What is done, and measured, with the chosen parameters.
    choose_by : str
        The task whose RMSE chooses the parameters.
    metrics : tuple of str
        What is shown.
    seeds : dict
        Most seeds, by mode "quick" or "full".
    alone : bool
        Whether nothing else may run at the same time, because time is measured.
    automatic : bool
        Whether mode "auto" has it.
    tuned : bool
        Whether parameters are chosen; else they are those with which the choice would begin.
    given : dict
        Parameters of single methods, by name: a value, or values to choose from.
    notes : tuple of str
        What the reader must know.
    """

    name: str
    title: str
    rows: tuple[Row, ...]
    methods: tuple[str, ...]
    task: str = "denoise"
    choose_by: str = "denoise"
    metrics: tuple[str, ...] = ("rmse",)
    seeds: dict[str, int] = field(default_factory=lambda: {"quick": QUICK_SEEDS, "full": FULL_SEEDS})
    alone: bool = False
    automatic: bool = False
    tuned: bool = True
    given: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


# Most seeds of the methods in a quick and in a full run, by data and method; "" is all other data. None
# at all: the cell stays empty. The tables say how many there were.
LIMITS: dict[tuple[str, str], dict[str, int]] = {
    ("", "RPCA"): {"quick": 1, "full": 20},
    ("", "LRR"): {"quick": 1, "full": 10},
    ("", "SSC"): {"quick": 1, "full": 5},
    ("", "RDL"): {"quick": 1, "full": 5},
    ("", "KSSC"): {"quick": 1, "full": 5},
    ("", "GMC-LRSSC"): {"quick": 1, "full": 3},
    ("", "S0/l0-LRSSC"): {"quick": 1, "full": 3},
    ("", "EKSS"): {"quick": 1, "full": 5},
    ("coil100", "KSSC"): {"quick": 0, "full": 1},
    # Dozens of decompositions of matrices of 7,200 x 7,200: hours.
    ("coil100", "GMC-LRSSC"): {"quick": 0, "full": 0},
    ("coil100", "S0/l0-LRSSC"): {"quick": 0, "full": 0},
    ("coil100", "EKSS"): {"quick": 0, "full": 1},
    ("coil100", "RPCA"): {"quick": 1, "full": 3},
    ("coil100", "LRR"): {"quick": 0, "full": 1},
    ("coil100", "SSC"): {"quick": 0, "full": 0},
    ("coil100", "RDL"): {"quick": 0, "full": 1},
    ("coil100", "RNLMF"): {"quick": 5, "full": 5},
    ("yale_b", "SSC"): {"quick": 0, "full": 1},
    ("yale_b", "RDL"): {"quick": 0, "full": 3},
    ("mocap_01_09", "SSC"): {"quick": 0, "full": 1},
    ("mocap_56_06", "SSC"): {"quick": 0, "full": 0},
}


def trials(
    method: str, problem: PaperProblem, experiment: Experiment, size: str, seeds: int | None
) -> int:
    """How many seeds a method gets."""
    most = experiment.seeds[size] if seeds is None else seeds
    limit = LIMITS.get((problem.data, method)) or LIMITS.get(("", method), {})
    return min(most, limit.get(size, most))


def rows(cases: Iterable[tuple[dict[str, Any], PaperProblem, dict[str, Any], bool]]) -> tuple[Row, ...]:
    """Rows from plain dictionaries."""
    return tuple(
        Row(tuple(labels.items()), problem, tuple(sorted(parameters.items())), quick)
        for labels, problem, parameters, quick in cases
    )
