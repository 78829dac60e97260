"""Whole samples wrong, on the paper's synthetic data: the paper's methods with the l21 penalty.

    python -m benchmarks.column_noise [--seeds 3]

Each method's noise weight is tuned against the truth on the same wide grid of multiples of a base that
suits the data, on the first seed, and kept for the others. Written to
``benchmarks/results/column_noise.md`` and ``.json``.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import rnlmf
from rnlmf.datasets import corrupt_samples, make_polynomial_manifolds
from rnlmf.metrics import relative_rmse

Array = npt.NDArray[Any]
Method = Callable[[Array, int, float], Array]

RESULTS = Path(__file__).parent / "results"
CASES = [(k, density) for k in (2, 3) for density in (0.1, 0.3)]
MULTIPLES = 2.0 ** np.arange(-4.0, 5.0)


def rpca(X: Array, k: int, multiple: float) -> Array:
    model = rnlmf.RobustPCA(multiple * len(X) ** -0.5, noise_penalty="l21", tol=1e-4, max_iter=300)
    return model.fit_denoise(X)


def lrr(X: Array, k: int, multiple: float) -> Array:
    weight = multiple * min(X.shape) / float(np.linalg.norm(X, axis=1).sum())
    model = rnlmf.LowRankSubspaceClustering(
        noise_weight=weight, noise_penalty="l21", tol=1e-4, max_iter=200
    )
    return model.fit_denoise(X)


def ssc(X: Array, k: int, multiple: float) -> Array:
    model = rnlmf.SparseSubspaceClustering(
        noise_weight=8 * multiple, noise_penalty="l21", tol=1e-3, max_iter=100
    )
    return model.fit_denoise(X)


def rdl(X: Array, k: int, multiple: float) -> Array:
    model = rnlmf.RobustDictionaryLearning(
        X.shape[1] * k,
        noise_penalty="l21",
        noise_weight=multiple * float(X.std()),
        max_iter=200,
        tol=1e-3,
        random_state=0,
    )
    return model.fit_denoise(X)


def our(X: Array, k: int, multiple: float) -> Array:
    first = rnlmf.RNLMF(2 * X.shape[1] * k, noise_penalty="l21", random_state=0)
    base = first.set_params(max_iter=1).fit(X).noise_weight_
    return first.set_params(max_iter=300, noise_weight=multiple * base).fit_denoise(X)


METHODS: dict[str, Method] = {
    "RPCA": rpca,
    "LRR": lrr,
    "SSC": ssc,
    "RDL": rdl,
    "RNLMF": our,
}


def measure(k: int, density: float, seeds: int) -> dict[str, Any]:
    """Mean and spread of the error of every method, in per cent."""
    pairs = []
    for seed in range(seeds):
        truth, _ = make_polynomial_manifolds(k, random_state=seed)
        pairs.append((truth, corrupt_samples(truth, density, random_state=seed)))
    row: dict[str, Any] = {"k": k, "rho": density}
    row["noisy"] = [100 * float(np.mean([relative_rmse(*pair) for pair in pairs])), 0.0]
    for name, method in METHODS.items():
        truth, noisy = pairs[0]
        errors = [relative_rmse(truth, method(noisy, k, multiple)) for multiple in MULTIPLES]
        best = float(MULTIPLES[int(np.argmin(errors))])
        over_seeds = [100 * relative_rmse(truth, method(noisy, k, best)) for truth, noisy in pairs]
        row[name] = [float(np.mean(over_seeds)), float(np.std(over_seeds)), best]
        print(k, density, name, row[name], flush=True)
    return row


def render(rows: list[dict[str, Any]], seeds: int) -> str:
    names = ["noisy", *METHODS]
    lines = [
        "# Column-wise noise",
        "",
        f"Relative RMSE in per cent, mean and deviation of {seeds} seeds, l21 penalty, weights",
        "tuned against the truth. The lowest of a row is bold.",
        "",
        f"| k | rho | {' | '.join(names)} |",
        "|---|---|" + "---|" * len(names),
    ]
    for row in rows:
        lowest = min(METHODS, key=lambda name: row[name][0])
        cells = [
            f"**{row[name][0]:.1f}** ± {row[name][1]:.1f}"
            if name == lowest
            else f"{row[name][0]:.1f} ± {row[name][1]:.1f}"
            for name in names
        ]
        lines.append(f"| {row['k']} | {row['rho']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args().seeds
    warnings.simplefilter("ignore")
    rows = []
    for case in CASES:
        rows.append(measure(*case, seeds))
        (RESULTS / "column_noise.json").write_text(json.dumps(rows, indent=1) + "\n")
        (RESULTS / "column_noise.md").write_text(render(rows, seeds))
    print(render(rows, seeds))


if __name__ == "__main__":
    main()
