"""Denoising errors of all methods on the paper's data, beside the paper's figures.

    RNLMF_DATA=folder python -m benchmarks.methods [--seeds 1] [--methods RPCA ...] [--cases ...]

Every method gets the same care: from the middle of its grid the parameters are moved, one at a time and
to the next value, for as long as the error on the first seed falls. The clean data decide, as in the
paper ("carefully tuned"). Results are added to ``benchmarks/results/methods.json`` as they come, and
``methods.md`` is written from it.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import rnlmf
from rnlmf.datasets import corrupt_entries, load_cmu_mocap, load_coil20, occlude, salt_and_pepper
from rnlmf.metrics import relative_mae, relative_rmse

RESULTS = Path(__file__).parent / "results"
SIZE = (20, 20)


def both(X: Any, seed: int) -> Any:
    """Salt and pepper, then occlusion of images chosen anew."""
    return occlude(salt_and_pepper(X, random_state=seed), SIZE, random_state=seed + 1)


CASES: dict[str, tuple[Callable[[], Any], Callable[[Any, int], Any]]] = {
    "COIL-20, salt and pepper": (load_coil20, lambda X, seed: salt_and_pepper(X, random_state=seed)),
    "COIL-20, occlusion": (load_coil20, lambda X, seed: occlude(X, SIZE, random_state=seed)),
    "COIL-20, both": (load_coil20, both),
    "mocap 01_09, 0.1": (load_cmu_mocap, lambda X, seed: corrupt_entries(X, 0.1, random_state=seed)),
    "mocap 01_09, 0.3": (load_cmu_mocap, lambda X, seed: corrupt_entries(X, 0.3, random_state=seed)),
}

# The paper's tables Tab_real_dn and Tab_real_mocap: (RMSE, MAE) in percent; it has no MAE of images.
PAPER: dict[str, dict[str, tuple[float, float | None]]] = {
    "COIL-20, salt and pepper": {
        "RPCA": (12.28, None),
        "LRR": (13.84, None),
        "SSC": (12.05, None),
        "RDL": (11.04, None),
        "RNLMF": (9.31, None),
    },
    "COIL-20, occlusion": {
        "RPCA": (20.54, None),
        "LRR": (18.34, None),
        "SSC": (15.26, None),
        "RDL": (14.89, None),
        "RNLMF": (10.25, None),
    },
    "COIL-20, both": {
        "RPCA": (21.26, None),
        "LRR": (21.81, None),
        "SSC": (18.84, None),
        "RDL": (18.91, None),
        "RNLMF": (12.67, None),
    },
    "mocap 01_09, 0.1": {
        "RPCA": (11.19, 7.10),
        "LRR": (9.89, 7.38),
        "SSC": (10.36, 8.52),
        "RDL": (12.75, 7.33),
        "RNLMF": (9.78, 4.90),
    },
    "mocap 01_09, 0.3": {
        "RPCA": (21.98, 21.85),
        "LRR": (17.54, 22.31),
        "SSC": (18.66, 23.75),
        "RDL": (23.51, 23.61),
        "RNLMF": (11.82, 10.11),
    },
}

# A weight with a factor is relative to what suits the data: see `denoise`.
GRIDS: dict[str, dict[str, list[float]]] = {
    "RPCA": {"factor": [0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0]},
    "RPCA, stopped early": {"factor": [0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0]},
    "RDL": {"factor": [0.05, 0.1, 0.2, 0.4, 0.8], "code_ratio": [0.25, 0.5, 1.0, 2.5, 5.0]},
    "LRR": {"factor": [0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 16.0]},
    "NLRR": {
        "factor": [0.0125, 0.025, 0.05, 0.1, 0.2, 0.4],
        "code_factor": [0.003, 0.01, 0.03, 0.1, 0.3],
    },
    "SSC": {"factor": [2.0, 3.0, 4.2, 6.0, 8.5, 12.0, 24.0, 48.0]},
    "RKPCA": {"factor": [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8], "kernel_scale": [0.5, 1.0, 2.0]},
    "RNLMF": {"factor": [1e-5, 2e-5, 4e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3]},
    "RNLMF, as in the paper": {"factor": [1e-5, 2e-5, 4e-5, 1e-4, 2e-4, 5e-4, 1e-3]},
}


NOTES = [
    "Robust PCA on motion capture misses the paper's RMSE: its minimum, at any weight of the grid,",
    "is not what the paper reports. The authors' program runs 500 iterations with a penalty parameter",
    "that does not fit the data's unit, and so stops early; done so here, it is nearer (at 0.3 the MAE",
    "agrees). What is left may be another preparation of the data. The paper has no RKPCA and no NLRR.",
    "RNLMF is the library's default noise model and neighbours with the weight tuned like everyone's;",
    '"as in the paper" is the plain l1 penalty and the dictionary alone.',
]


def denoise(method: str, X: Any, seed: int, images: bool, factor: float, **more: float) -> Any:
    """Denoised `X` by one method; the paper's numbers of atoms."""
    spread = float(X.std())
    if method == "RPCA":
        model = rnlmf.RobustPCA(factor * len(X) ** -0.5, tol=1e-4)
    elif method == "RPCA, stopped early":
        # As the paper does on motion capture: the data's unit makes the steps so short that the end is
        # not reached.
        weight = factor * len(X) ** -0.5
        model = rnlmf.RobustPCA(weight, mu=weight, tol=1e-5, max_iter=500)
    elif method == "RDL":
        model = rnlmf.RobustDictionaryLearning(
            196 if images else 31,
            noise_weight=factor * spread,
            code_weight=more["code_ratio"] * factor * spread,
            max_iter=100,
            tol=1e-3,
            random_state=seed,
        )
    elif method == "LRR":
        weight = factor * min(X.shape) / float(np.abs(X).sum())
        model = rnlmf.LowRankSubspaceClustering(noise_weight=weight, tol=1e-4, max_iter=80)
    elif method == "NLRR":
        code_weight = more["code_factor"] * float(np.sum(X.astype(float) ** 2)) / min(X.shape)
        model = rnlmf.LowRankSubspaceClustering(
            noise_weight=factor * spread,
            solver="factored",
            code_weight=code_weight,
            max_iter=20,
            tol=1e-3,
        )
    elif method == "SSC":
        model = rnlmf.SparseSubspaceClustering(noise_weight=factor, tol=1e-3, max_iter=100)
    elif method == "RKPCA":
        model = rnlmf.RobustKernelPCA(
            factor,
            kernel_scale=more["kernel_scale"],
            solver="randomized",
            n_components=300,
            max_iter=50,
            tol=1e-3,
            random_state=seed,
        )
    else:
        papers = {"noise_penalty": "l1", "neighbor_share": 0.0} if method != "RNLMF" else {}
        model = rnlmf.RNLMF(
            256 if images else 62,
            kernel_scale=1.0 if images else 0.5,
            noise_weight=factor,
            random_state=seed,
            **papers,
        )
    return model.fit_denoise(X)


def tune(error: Callable[..., float], grid: dict[str, list[float]]) -> dict[str, float]:
    """Coordinate search on the grid, from its middle, until no neighbour is better."""
    position = {name: len(values) // 2 for name, values in grid.items()}
    seen: dict[tuple[int, ...], float] = {}

    def at(position: dict[str, int]) -> float:
        key = tuple(position.values())
        if key not in seen:
            seen[key] = error(**{name: grid[name][index] for name, index in position.items()})
        return seen[key]

    moved = True
    while moved:
        moved = False
        for name in grid:
            for direction in (1, -1):
                while 0 <= position[name] + direction < len(grid[name]):
                    neighbour = {**position, name: position[name] + direction}
                    if at(neighbour) >= at(position):
                        break
                    position, moved = neighbour, True
    return {name: grid[name][index] for name, index in position.items()}


def measure(case: str, method: str, seeds: int) -> dict[str, Any]:
    """Errors, in percent, of one method in one case with tuned parameters."""
    load, spoil = CASES[case]
    X = load().data
    images = case.startswith("COIL")
    started = time.perf_counter()

    def error(**parameters: float) -> float:
        noisy = spoil(X, 0)
        value = 100 * relative_rmse(X, denoise(method, noisy, 0, images, **parameters))
        print(f"  {method} {parameters}: {value:.2f}", flush=True)
        return value

    best = tune(error, GRIDS[method])
    tuned = time.perf_counter()
    errors = []
    for seed in range(seeds):
        denoised = denoise(method, spoil(X, seed), seed, images, **best)
        errors.append((100 * relative_rmse(X, denoised), 100 * relative_mae(X, denoised)))
    rmse, mae = np.mean(errors, axis=0)
    return {
        "rmse": round(float(rmse), 2),
        "mae": round(float(mae), 2),
        "parameters": best,
        "seeds": seeds,
        "seconds_tuning": round(tuned - started, 1),
        "seconds_fit": round((time.perf_counter() - tuned) / seeds, 1),
    }


def table(results: dict[str, dict[str, Any]]) -> str:
    """Markdown of all results."""
    lines = [
        "# Denoising errors",
        "",
        "Relative RMSE and MAE in percent, parameters tuned on the grids of `benchmarks/methods.py`,",
        "beside the paper's (Tables Tab_real_dn and Tab_real_mocap; a dash where it has none).",
        "",
        "| data | method | RMSE | paper | MAE | paper | parameters | seeds | seconds of a fit |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for case, methods in results.items():
        for method, r in methods.items():
            rmse, mae = PAPER[case].get(method.split(",")[0], (None, None))
            parameters = ", ".join(f"{name} {value:g}" for name, value in r["parameters"].items())
            cells = [case, method, r["rmse"], rmse or "-", r["mae"], mae or "-", parameters, r["seeds"]]
            lines.append("| " + " | ".join(map(str, [*cells, r["seconds_fit"]])) + " |")
    lines.append("")
    for case, methods in results.items():
        best = min(methods, key=lambda name: methods[name]["rmse"])
        lines.append(f"- {case}: lowest RMSE {best}, {methods[best]['rmse']}.")
        for method, r in methods.items():
            paper = PAPER[case].get(method.split(",")[0], (None, None))[0]
            if paper is not None and r["rmse"] > 1.1 * paper:
                over = 100 * (r["rmse"] / paper - 1)
                lines.append(f"  - {method} is {over:.0f}% above the paper's figure.")
    lines += ["", *NOTES]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--methods", nargs="+", choices=list(GRIDS), default=list(GRIDS))
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    path = RESULTS / "methods.json"
    results = json.loads(path.read_text()) if path.is_file() else {}
    for method in arguments.methods:
        for case in arguments.cases:
            print(f"{case}, {method}", flush=True)
            results.setdefault(case, {})[method] = measure(case, method, arguments.seeds)
            path.write_text(json.dumps(results, indent=2) + "\n")
            (RESULTS / "methods.md").write_text(table(results))


if __name__ == "__main__":
    main()
