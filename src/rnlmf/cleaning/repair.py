"""The one place where a model repairs a table."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rnlmf.estimators.judging import TOO_FEW, UNJUDGED
from rnlmf.estimators.rnlmf import RNLMF
from rnlmf.io.dataset import are_curves, with_names
from rnlmf.typing import Array

# Wrong entries are what the estimator is made for by default.
PENALTIES = {"entries": {}, "samples": {"noise_penalty": "l21"}, "dense": {"noise_penalty": "l2"}}
REPAIRED, FILLED, CODE, STUCK, BAD_ROW = "repaired", "filled", "code", "stuck", "bad row"
FEATURE_SCALE = {True: "robust", False: None, None: "auto"}
# In a hurry a model is learned from so many rows.
FAST_ROWS = 4000


@dataclass(frozen=True)
class RepairOptions:
    """How to fit.

    Attributes
    ----------
    noise : {"entries", "samples", "dense"}
        What is wrong with the data.
    scale : bool or None
        Bring features to one scale first; None: as the estimator does by itself.
    sequence : {"auto"} or bool
        Whether the rows follow one another in time, if the estimator wants to know.
    fast : bool
        Learn from some of the rows.
    settings : dict
        Parameters of the estimator.
    random_state, n_jobs, verbose
        Of the estimator.
    named : bool
        The model shall know the features by their names.
    """

    noise: str = "entries"
    scale: bool | None = True
    sequence: bool | str = "auto"
    fast: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    random_state: int | None = 0
    n_jobs: int | None = None
    verbose: bool = False
    named: bool = True


@dataclass(frozen=True)
class Repaired:
    """What a model made of a table.

    Attributes
    ----------
    values : array of shape (n_samples, n_features)
        Repaired, gaps filled; NaN where the model does not know.
    probability : array
        That a cell is wrong; NaN at gaps.
    kinds : array of str
        What is wrong with a cell that was changed.
    left_alone : dict
        Features in which the model left what it suspected, by their place, and why.
    model : estimator
        Fitted.
    bad_rows : array of int
        Rows of which most is wrong.
    stuck : array of bool or None
        Cells that repeat a value though they should not.
    """

    values: Array
    probability: Array
    kinds: Array
    left_alone: dict[int, str]
    model: Any
    bad_rows: Array = field(default_factory=lambda: np.empty(0, dtype=int))
    stuck: Array | None = None


def repair_table(values: Array, names: Sequence[str], options: RepairOptions) -> Repaired:
    """Learn the structure of a table, and repair what does not fit it.

    Parameters
    ----------
    values : array of shape (n_samples, n_features)
        NaN where no value is.
    names : list of str
        Of the features.
    options : RepairOptions
        How to fit.

    Returns
    -------
    Repaired
        New values, and how sure the model is of them.
    """
    rows = values[:: -(-len(values) // FAST_ROWS)] if options.fast else values
    # Of rows that were drawn, those that follow one another are no neighbours.
    model = new_model(options if len(rows) == len(values) else replace(options, sequence=False))
    with warnings.catch_warnings():
        # Said in words with the findings.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=re.escape(UNJUDGED))
        model.fit(with_names(rows, names) if options.named else rows)
    return repaired_by(model, values, fitted=len(rows) == len(values))


def usual_scale(values: Array) -> bool | None:
    """Columns of a table have units of their own, but for tables whose rows are curves."""
    return None if are_curves(values) else True


def new_model(options: RepairOptions) -> Any:
    """The estimator that the options ask for."""
    chosen: dict[str, Any] = {
        **PENALTIES[options.noise],
        "sequence": options.sequence,
        "feature_scale": FEATURE_SCALE[options.scale],
    }
    return RNLMF(
        **chosen | options.settings,
        random_state=options.random_state,
        n_jobs=options.n_jobs,
        verbose=options.verbose,
    )


def as_known(model: Any, values: Array) -> Any:
    """Values with the names that a model knows its features by, if it does."""
    names = getattr(model, "feature_names_in_", None)
    return values if names is None else with_names(values, names)


def repaired_by(model: Any, values: Array, *, fitted: bool = False) -> Repaired:
    """What a fitted model makes of a table, the features being its own in its order.

    What it knows of rows it knows of those it was `fitted` to.
    """
    # Clusters are built on a model that knows.
    judge = model if hasattr(model, "denoise_and_score") else model.estimator_
    clean, probability = map(np.array, judge.denoise_and_score(as_known(judge, values)))
    left_alone = {int(i): str(why) for i, why in getattr(judge, "left_alone_", {}).items()}
    if TOO_FEW in left_alone.values():
        # Who cannot judge what is there does not know what is missing.
        clean = values.copy()
    kinds = np.where(np.isnan(values), FILLED, REPAIRED).astype(object)
    bad_rows, stuck = np.empty(0, dtype=int), None
    if fitted:
        bad_rows = np.asarray(getattr(model, "bad_rows_", ()), dtype=int)
        marks = getattr(model, "stuck_", None)
        stuck = None if marks is None else np.asarray(marks, dtype=bool)
    kinds[bad_rows] = BAD_ROW
    if stuck is not None:
        kinds[stuck] = STUCK
    return Repaired(clean, probability, kinds, left_alone, model, bad_rows, stuck)
