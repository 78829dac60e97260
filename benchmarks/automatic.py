"""What is reached without ground truth, and how sure it is.

    RNLMF_DATA=folder python -m benchmarks.automatic [--seeds 3] [--cases ...] [--columns ...]

For every set and kind of noise the relative RMSE, in percent, of: plain l1 and adaptive noise with
the scale-free weight; no parameter given but that the dictionary decides alone, as it does in all
columns but the next; no parameter given; the paper's number of atoms and kernel scale with the weight
automatic, and with the weight tuned on the truth; the wrong entries known (an oracle); robust PCA tuned
on the truth. Beside them, without truth but checked against it, the dictionary's corruption scores and
estimate of the remaining error. Results go to ``benchmarks/results/automatic.json`` as they come; the
tables, with that of the README, are written at the end.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import KNNImputer
from sklearn.metrics import roc_auc_score

from benchmarks.cases import SHARED_DATA, data_present
from benchmarks.clustering import mnist
from benchmarks.methods import RESULTS
from rnlmf import RNLMF, RobustPCA, datasets
from rnlmf.metrics import relative_rmse

assert SHARED_DATA is not None

Noise = Callable[[Any, int], Any]


def salt(X: Any, seed: int) -> Any:
    return datasets.salt_and_pepper(X, random_state=seed)


def occlusion(X: Any, seed: int) -> Any:
    side = round(X.shape[1] ** 0.5)
    return datasets.occlude(X, (side, side), random_state=seed)


def both(X: Any, seed: int) -> Any:
    return occlusion(salt(X, seed), seed + 1)


def entries(density: float) -> Noise:
    return lambda X, seed: datasets.corrupt_entries(X, density, random_state=seed)


def uniform(X: Any, seed: int) -> Any:
    """10% of the entries anywhere in the range of their feature."""
    rng = np.random.RandomState(seed)
    wrong = rng.uniform(X.min(axis=0), X.max(axis=0), X.shape)
    return np.where(rng.random_sample(X.shape) < 0.1, wrong, X).astype(X.dtype)


def bursts(X: Any, seed: int) -> Any:
    """Runs of 20 samples in which one feature is off by its range."""
    rng = np.random.RandomState(seed)
    noisy = X.copy()
    for _ in range(X.size // 400):
        start, feature = rng.randint(len(X) - 20), rng.randint(X.shape[1])
        noisy[start : start + 20, feature] += np.ptp(X[:, feature])
    return noisy


def dead_features(X: Any, seed: int) -> Any:
    """5% of the features are zero."""
    rng = np.random.RandomState(seed)
    noisy = X.copy()
    noisy[:, rng.choice(X.shape[1], max(1, X.shape[1] // 20), replace=False)] = 0.0
    return noisy


def bad_samples(X: Any, seed: int) -> Any:
    """5% of the samples are noise of each feature's mean and spread."""
    rng = np.random.RandomState(seed)
    noisy = X.copy()
    rows = rng.choice(len(X), len(X) // 20, replace=False)
    noisy[rows] = X.mean(axis=0) + X.std(axis=0) * rng.standard_normal((len(rows), X.shape[1]))
    return noisy


def clean(X: Any, seed: int) -> Any:
    return X.copy()


def synthetic(k: int) -> Any:
    return datasets.make_polynomial_manifolds(k, random_state=0)[0]


COIL = datasets.load_coil20
YALE = datasets.load_extended_yale_b
IMAGES = {"salt and pepper": salt, "occlusion": occlusion, "both": both}
# Data, noise, and the paper's number of atoms, kernel scale and code weight.
CASES: dict[str, tuple[Callable[[], Any], Noise, tuple[int, float, float]]] = {
    **{f"COIL-20, {k}": (lambda: COIL().data, v, (256, 1.0, 1e-2)) for k, v in IMAGES.items()},
    **{f"Yale B, {k}": (lambda: YALE().data, v, (256, 3.0, 1e-2)) for k, v in IMAGES.items()},
    **{
        f"COIL-100, {k}": (lambda: datasets.load_coil100().data, v, (768, 1.0, 1e-2))
        for k, v in IMAGES.items()
    },
    "mocap 01_09, 0.1": (lambda: datasets.load_cmu_mocap(1, 9).data, entries(0.1), (62, 0.5, 1e-2)),
    "mocap 01_09, 0.3": (lambda: datasets.load_cmu_mocap(1, 9).data, entries(0.3), (62, 0.5, 1e-2)),
    "mocap 56_06, 0.1": (lambda: datasets.load_cmu_mocap(56, 6).data, entries(0.1), (62, 0.5, 1e-2)),
    "mocap 56_06, 0.3": (lambda: datasets.load_cmu_mocap(56, 6).data, entries(0.3), (62, 0.5, 1e-2)),
    "synthetic k 3, 0.3": (lambda: synthetic(3), entries(0.3), (180, 1.0, 1e-3)),
    "synthetic k 2, 0.1": (lambda: synthetic(2), entries(0.1), (120, 1.0, 1e-3)),
    **{f"MNIST, {k}": (lambda: mnist()[0], v, (256, 1.0, 1e-2)) for k, v in IMAGES.items()},
    **{f"digits, {k}": (lambda: load_digits().data, v, (128, 1.0, 1e-2)) for k, v in IMAGES.items()},
    **{
        f"mocap 01_09, {noise.__name__.replace('_', ' ')}": (
            lambda: datasets.load_cmu_mocap(1, 9).data,
            noise,
            (62, 0.5, 1e-2),
        )
        for noise in (uniform, bursts, dead_features, bad_samples, clean)
    },
    "COIL-20, clean": (lambda: COIL().data, clean, (256, 1.0, 1e-2)),
}
PAPER = {
    "COIL-20, salt and pepper": 9.31,
    "COIL-20, occlusion": 10.25,
    "COIL-20, both": 12.67,
    "Yale B, salt and pepper": 7.71,
    "Yale B, occlusion": 10.96,
    "Yale B, both": 12.20,
    "COIL-100, salt and pepper": 9.15,
    "COIL-100, occlusion": 13.82,
    "COIL-100, both": 14.86,
    "mocap 01_09, 0.1": 9.78,
    "mocap 01_09, 0.3": 11.82,
    "mocap 56_06, 0.1": 6.11,
    "mocap 56_06, 0.3": 11.27,
}
COLUMNS = (
    "untouched",
    "plain l1",
    "adaptive",
    "dictionary alone",
    "no parameter",
    "paper's d and scale",
    "the same, tuned",
    "wrong entries known",
    "robust PCA, tuned",
)
README = RESULTS.parents[1] / "README.md"
BEGIN, END = "<!-- headline -->", "<!-- end headline -->"
CHECKS = ("AUC of entries", "AUC of samples", "estimated / true error")


def best(errors: list[float]) -> float:
    return min(errors)


def measure(case: str, column: str, seed: int) -> dict[str, float]:
    """One cell: the error in percent, and the checks where the column has them."""
    load, spoil, (atoms, scale, code_weight) = CASES[case]
    X = np.asarray(load(), dtype=np.float32)
    noisy = np.asarray(spoil(X, seed), dtype=np.float32)

    def error(denoised: Any) -> float:
        return 100 * relative_rmse(X, denoised)

    def model(**parameters: Any) -> RNLMF:
        return RNLMF(opinions="dictionary", random_state=seed, **parameters)

    papers = {"n_components": atoms, "kernel_scale": scale, "code_weight": code_weight}
    quick = {**papers, "noise_weight": "scale"}

    def quick_weight() -> float:
        return model(**quick, max_iter=1).fit(noisy).noise_weight_

    if column == "untouched":
        return {"rmse": error(noisy)}
    if column == "plain l1":
        return {"rmse": error(model(**quick, noise_penalty="l1").fit_denoise(noisy))}
    if column == "adaptive":
        return {"rmse": error(model(**quick).fit_denoise(noisy))}
    if column == "paper's d and scale":
        return {"rmse": error(model(**papers).fit_denoise(noisy))}
    if column == "the same, tuned":
        weights = [factor * quick_weight() for factor in (0.25, 0.5, 1.0, 1.4, 2.0, 2.8, 4.0)]
        return {
            "rmse": best([error(model(**papers, noise_weight=w).fit_denoise(noisy)) for w in weights])
        }
    if column == "wrong entries known":
        # With such a weight nothing else is altered.
        known = model(**papers, noise_weight=1e3 * quick_weight())
        return {"rmse": error(known.fit_denoise(noisy, mask=noisy != X))}
    if column == "robust PCA, tuned":
        weights = [factor * len(X) ** -0.5 for factor in (0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)]
        return {"rmse": best([error(RobustPCA(w, tol=1e-4).fit_denoise(noisy)) for w in weights])}
    if column == "no parameter":
        return {"rmse": error(RNLMF(random_state=seed).fit_denoise(noisy))}
    fitted = model().fit(noisy)
    result = {"rmse": error(fitted.denoise(noisy)), "kernel scale": fitted.kernel_scale_}
    wrong = noisy != X
    scores = fitted.corruption_scores(noisy)
    if wrong.any() and not wrong.all():
        result["AUC of entries"] = float(roc_auc_score(wrong.ravel(), scores.ravel()))
        if not wrong.any(axis=1).all():
            size = np.square(fitted.residuals(noisy)).mean(axis=1)
            result["AUC of samples"] = float(roc_auc_score(wrong.any(axis=1), size))
    result["estimated / true error"] = 100 * fitted.estimate_error(noisy) / max(result["rmse"], 1e-9)
    return result


def missing(seed: int) -> dict[str, float]:
    """A fifth of motion capture's entries missing, alone and with a tenth of the others wrong."""
    X = np.asarray(datasets.load_cmu_mocap(1, 9).data, dtype=np.float32)
    gaps = np.random.RandomState(seed).random_sample(X.shape) < 0.2
    result = {}
    for name, noisy in (("", X), (", a tenth wrong", entries(0.1)(X, seed).astype(np.float32))):
        gappy = np.where(gaps, np.nan, noisy).astype(np.float32)
        result[f"RNLMF{name}"] = 100 * relative_rmse(X, RNLMF(random_state=seed).fit_denoise(gappy))
        cleaned = gappy if not name else RobustPCA(tol=1e-4).fit_denoise(gappy)
        cleaned = np.where(gaps, np.nan, cleaned)
        result[f"KNNImputer{name}"] = 100 * relative_rmse(X, KNNImputer().fit_transform(cleaned))
        result[f"IterativeImputer{name}"] = 100 * relative_rmse(X, iterative(cleaned, seed))
    return result


def iterative(X: Any, seed: int) -> Any:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return IterativeImputer(random_state=seed, max_iter=10).fit_transform(X)


def regret(columns: dict[str, Any]) -> float | None:
    """By how many percent the automatic weight is above the best, over the seeds that have both."""
    ours, best_ones = columns.get("paper's d and scale", {}), columns.get("the same, tuned", {})
    both_there = sorted(set(ours) & set(best_ones))
    if not both_there:
        return None
    ratios = [ours[seed]["rmse"] / best_ones[seed]["rmse"] for seed in both_there]
    return 100 * (float(np.mean(ratios)) - 1)


def table(results: dict[str, Any]) -> str:
    """Markdown of all results."""

    def cell(rows: dict[str, dict[str, float]], key: str) -> str:
        values = [row[key] for row in rows.values() if key in row]
        if not values:
            return ""
        spread = f" ± {np.std(values):.2f}" if len(values) > 1 else ""
        return f"{np.mean(values):.2f}{spread}"

    lines = [
        "# Without ground truth",
        "",
        "Relative RMSE in percent, mean and standard deviation over seeds (`python -m",
        "benchmarks.automatic`); without a deviation, of one seed. The paper's figures, tuned columns",
        "and the oracle use the truth.",
        "",
        "| data | " + " | ".join(COLUMNS) + " | paper, tuned | seeds |",
        "|---" * (len(COLUMNS) + 3) + "|",
    ]
    shown = [case for case in CASES if case in results]
    regrets = [value for case in shown if (value := regret(results[case])) is not None]
    for case in shown:
        columns = results[case]
        cells = [cell(columns.get(column, {}), "rmse") for column in COLUMNS]
        seeds = max(len(rows) for rows in columns.values())
        lines.append(f"| {case} | " + " | ".join(cells) + f" | {PAPER.get(case, '')} | {seeds} |")
    if regrets:
        lines += [
            "",
            f"Regret of the automatic weight, paper's d and scale: {np.mean(regrets):.1f}% above the",
            f"best of seven weights, mean of {len(regrets)} sets; worst {max(regrets):.1f}%.",
        ]
    lines += ["", "What the dictionary alone says of itself, against the truth.", ""]
    lines += ["| data | " + " | ".join(CHECKS) + " |", "|---" * (len(CHECKS) + 1) + "|"]
    for case in shown:
        rows = results[case].get("dictionary alone", {})
        lines.append(f"| {case} | " + " | ".join(cell(rows, check) for check in CHECKS) + " |")
    if "missing" in results:
        rows = results["missing"]
        lines += [
            "",
            "A fifth of motion capture missing (imputers after robust PCA where wrong).",
            "",
        ]
        names = list(next(iter(rows.values())))
        lines += ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
        lines.append("| " + " | ".join(cell(rows, name) for name in names) + " |")
    return "\n".join(lines) + "\n"


def headline(results: dict[str, Any]) -> str:
    """The table of the README: sets of the paper, the columns of a row over the same seeds."""
    columns = ("untouched", "robust PCA, tuned", "dictionary alone", "no parameter")
    lines = [
        "| data | untouched | robust PCA, tuned on the truth | the paper, tuned on the truth | "
        '`RNLMF(opinions="dictionary")` | `RNLMF()` | seeds |',
        "|---|---|---|---|---|---|---|",
    ]
    for case, papers in PAPER.items():
        rows = [results.get(case, {}).get(column, {}) for column in columns]
        seeds = set(rows[2]).intersection(*(row for row in rows if row))
        if seeds:
            before, linear, alone, ours = (
                f"{np.mean([row[seed]['rmse'] for seed in seeds]):.1f}" if row else "" for row in rows
            )
            cells = [before, linear, f"{papers:.1f}", alone, f"**{ours}**" if ours else "", len(seeds)]
            lines.append(f"| {case} | " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def write_tables(results: dict[str, Any]) -> None:
    """All results, and those of the README."""
    (RESULTS / "automatic.md").write_text(table(results))
    before, _, rest = README.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    README.write_text(f"{before}{BEGIN}\n{headline(results)}\n{END}{after}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--cases", nargs="+", choices=[*CASES, "missing"], default=[*CASES, "missing"])
    parser.add_argument("--columns", nargs="+", choices=COLUMNS, default=list(COLUMNS))
    arguments = parser.parse_args()
    if not data_present():
        parser.error("set RNLMF_DATA to the folder of the data")
    warnings.simplefilter("ignore", ConvergenceWarning)
    path = RESULTS / "automatic.json"

    def stored() -> dict[str, Any]:
        return json.loads(path.read_text()) if path.is_file() else {}

    def rows(results: dict[str, Any], case: str, column: str) -> dict[str, Any]:
        found = results.setdefault(case, {})
        return found if case == "missing" else found.setdefault(column, {})

    for seed in arguments.seeds:
        for case in arguments.cases:
            for column in ["missing"] if case == "missing" else arguments.columns:
                if str(seed) in rows(stored(), case, column):
                    continue
                started = time.perf_counter()
                cell = missing(seed) if case == "missing" else measure(case, column, seed)
                took = time.perf_counter() - started
                print(f"{case}, {column}, seed {seed}: {cell} ({took:.0f} s)", flush=True)
                # Read anew: another process may have added to it.
                results = stored()
                rows(results, case, column)[str(seed)] = cell
                path.write_text(json.dumps(results, indent=1) + "\n")
    write_tables(stored())


if __name__ == "__main__":
    main()
