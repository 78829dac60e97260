"""What a cell does with its problem and its method."""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rnlmf.metrics import clustering_error, relative_mae, relative_rmse
from rnlmf.reproduce.cells import Cell, Outcome, code_fingerprint
from rnlmf.reproduce.methods import METHODS
from rnlmf.reproduce.problems import Instance
from rnlmf.typing import Array

Result = tuple[dict[str, float], dict[str, Array]]

# Images in the pictures before and after, and atoms in the pictures of dictionaries.
SHOWN = 15
ATOMS_SHOWN = 100


def model_of(cell: Cell, X: Array) -> Any:
    """The cell's estimator for the data `X`."""
    build = METHODS[cell.method].build
    assert build is not None
    return build(X, cell.problem, cell.seed, **dict(cell.parameters))


def errors(truth: Array, recovered: Array, prefix: str = "") -> dict[str, float]:
    """RMSE and MAE in per cent."""
    return {
        f"{prefix}rmse": 100.0 * relative_rmse(truth, recovered),
        f"{prefix}mae": 100.0 * relative_mae(truth, recovered),
    }


def about(model: Any) -> dict[str, float]:
    """What a fit says of itself."""
    names = ("n_iter_", "noise_weight_", "weight_", "code_weight_", "n_components_")
    values = {name: getattr(model, name, None) for name in names}
    return {
        name.rstrip("_"): float(value)
        for name, value in values.items()
        if isinstance(value, int | float | np.number)
    }


def denoise(cell: Cell, drawn: Instance) -> Result:
    """Errors of the denoised training data."""
    model = model_of(cell, drawn.noisy)
    recovered = model.fit_denoise(drawn.noisy)
    return {**errors(drawn.truth, recovered), **about(model)}, {}


def out_of_sample(cell: Cell, drawn: Instance) -> Result:
    """Errors on a random half of the samples, and on the other, which the fit has not seen."""
    order = np.random.default_rng(cell.seed).permutation(len(drawn.truth))
    train, test = order[: len(order) // 2], order[len(order) // 2 :]
    model = model_of(cell, drawn.noisy[train])
    metrics = errors(drawn.truth[train], model.fit_denoise(drawn.noisy[train]), "training ")
    metrics |= errors(drawn.truth[test], model.denoise(drawn.noisy[test]), "testing ")
    metrics["rmse"] = 0.5 * (metrics["training rmse"] + metrics["testing rmse"])
    return metrics | about(model), {}


def cluster(cell: Cell, drawn: Instance) -> Result:
    """Clustering error."""
    build = METHODS[cell.method].clusters
    assert build is not None
    assert drawn.labels is not None
    n_clusters = len(np.unique(drawn.labels))
    model = build(drawn.noisy, cell.problem, cell.seed, n_clusters, **dict(cell.parameters))
    error = clustering_error(drawn.labels, model.fit_predict(drawn.noisy))
    return {"error": 100.0 * error}, {}


def picture(cell: Cell, drawn: Instance) -> Result:
    """Some images before and after, and the dictionary where there is one."""
    model = model_of(cell, drawn.noisy)
    recovered = model.fit_denoise(drawn.noisy)
    spoiled = np.flatnonzero((drawn.noisy != drawn.truth).any(axis=1))
    shown = spoiled[np.linspace(0, len(spoiled) - 1, SHOWN).astype(int)]
    arrays = {
        "original": drawn.truth[shown],
        "noisy": drawn.noisy[shown],
        "recovered": recovered[shown],
        "image_shape": np.array(drawn.image_shape),
    }
    if hasattr(model, "components_"):
        arrays["dictionary"] = model.components_[:ATOMS_SHOWN]
    return errors(drawn.truth, recovered), arrays


def objective(cell: Cell, drawn: Instance) -> Result:
    """The objective at every iteration."""
    model = model_of(cell, drawn.noisy)
    recovered = model.fit_denoise(drawn.noisy)
    return errors(drawn.truth, recovered) | about(model), {"objective": np.asarray(model.objective_)}


def growth(cell: Cell, drawn: Instance) -> Result:
    """Time of an iteration, and memory beyond the input, of a few iterations of a fit."""
    model = model_of(cell, drawn.noisy)
    short, long = 2, 6

    def seconds(iterations: int) -> float:
        started = time.perf_counter()
        model.set_params(max_iter=iterations, tol=0.0).fit(drawn.noisy)
        return time.perf_counter() - started

    seconds(short)
    best = min((seconds(long) - seconds(short)) / (long - short) for _ in range(3))
    tracemalloc.start()
    seconds(short)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"seconds of an iteration": max(best, 1e-9), "bytes": float(peak)}, {}


TASKS: dict[str, Callable[[Cell, Instance], Result]] = {
    "denoise": denoise,
    "out-of-sample": out_of_sample,
    "cluster": cluster,
    "picture": picture,
    "objective": objective,
    "growth": growth,
}


def perform(cell: Cell) -> tuple[Outcome, dict[str, Array]]:
    """Do what the cell says."""
    drawn = cell.problem.load(cell.seed)
    started = time.process_time()
    with warnings.catch_warnings():
        # The tables say how many iterations were allowed.
        warnings.simplefilter("ignore", ConvergenceWarning)
        metrics, arrays = TASKS[cell.task](cell, drawn)
    return Outcome(metrics, time.process_time() - started, code_fingerprint()), arrays
