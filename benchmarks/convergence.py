"""Time to a given error: against the plain engine, and to within 2% of the final error.

The dictionary alone, without a second opinion of the neighbours, which would lower our errors further.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks import plain
from benchmarks.cases import Case, all_cases
from benchmarks.measure import seconds
from rnlmf.engine.start import DataSummary, random_dictionary
from rnlmf.kernels import RBF

PLAIN_ITERATIONS = 300
BUDGETS = (10, 15, 20, 25, 30, 35, 40, 50, 60, 70, 80, 100, 120, 150, 200, 300)
REPEATS = 2


def plain_run(case: Case, dtype: Any) -> tuple[float, float]:
    """Error and time of the plain engine, from the same first dictionary."""
    X, p = case.noisy.astype(dtype), case.parameters
    rng = np.random.RandomState(case.seed)
    summary = DataSummary.of(X, rng)
    units = summary.units(RBF(), p["kernel_scale"], X.dtype)
    width = units.width
    D = random_dictionary(summary, units, p["n_components"], rng)
    result: list[Any] = []

    def job() -> None:
        weights = p.get("code_weight", 1e-2), p["noise_weight"] * width
        Y = plain.denoise(
            units.to_engine(X), D.astype(X.dtype), *map(X.dtype.type, weights), PLAIN_ITERATIONS
        )
        result.append(units.to_data(Y))

    time = seconds(job)
    return case.error(result[0]), time


def our_run(case: Case, **changes: Any) -> tuple[float, float, int]:
    """Error, time and iterations of fit and denoise, best of several."""
    model = case.model(neighbor_share=0.0, **changes)
    recovered: list[Any] = []
    time = min(seconds(lambda: recovered.append(model.fit_denoise(case.noisy))) for _ in range(REPEATS))
    return case.error(recovered[0]), time, model.n_iter_


def compare(case: Case) -> dict[str, Any]:
    plain_error, plain_time = plain_run(case, np.float64)
    _, single_time = plain_run(case, np.float32)
    final_error, final_time, iterations = our_run(case)
    to_plain = to_final = None
    for budget in BUDGETS:
        error, time, _ = our_run(case, max_iter=budget, tol=0.0)
        if to_plain is None and error <= plain_error:
            to_plain = time
        if to_final is None and error <= 1.02 * final_error:
            to_final = time
        if to_plain is not None and to_final is not None:
            break
    return {
        "data": case.name,
        "seed": case.seed,
        "plain error": plain_error,
        "our error": final_error,
        "our error / plain error": final_error / plain_error,
        "plain time / time to its error": None if to_plain is None else plain_time / to_plain,
        "plain time in float32 / time to its error": None
        if to_plain is None
        else single_time / to_plain,
        "plain time / our time": plain_time / final_time,
        "time to within 2% / our time": None if to_final is None else to_final / final_time,
        "iterations": iterations,
    }


def run(seeds: int = 3) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [compare(case) for seed in range(seeds) for case in all_cases(seed)]
