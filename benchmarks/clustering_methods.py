"""Clustering errors of the paper's methods beside its figures, all tuned with the same effort.

    RNLMF_DATA=folder python -m benchmarks.clustering_methods [--seeds 5] [--sets ...] [--methods ...]

On seed 0 every method tries four settings, and the one with the least error by the labels is taken to
the other seeds; ``RNLMF, default`` has one setting for all data and is tuned with nothing. A seed draws
the noise, the subspaces of EKSS, the dictionary of RNLMF, and the starts of k-means: a method that is
left with the last of these on clean data is fitted once, and its graph cut with every seed. Results are
added to ``benchmarks/results/clustering_methods.json`` as they come, and ``clustering_methods.md`` is
written from it.
"""

from __future__ import annotations

import argparse
import functools
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

import rnlmf
from benchmarks import cases
from benchmarks.clustering import Labelled, coil20, coil100, cut_graph, digits, noisy, yale
from benchmarks.record import keep
from rnlmf.metrics import clustering_error
from rnlmf.reproduce.paper import paper_values

Array = npt.NDArray[Any]
Settings = dict[str, Any]
RESULTS = Path(__file__).parent / "results"
FEATURES = 50


def fifth_of_coil100() -> Labelled:
    X, y = coil100()
    return X[::5], y[::5]


LOADERS: dict[str, Callable[[], Labelled]] = {
    "COIL-20": coil20,
    "COIL-100, every 5th": fifth_of_coil100,
    "digits": digits,
    "Yale B": yale,
}
SETS = [f"{name}{noise}" for noise in ("", ", noisy") for name in LOADERS]
PAPER_DATA = {"COIL-20": "COIL20", "COIL-100, every 5th": "COIL100", "Yale B": "Yale Face"}


@functools.lru_cache(maxsize=2)
def draw(name: str, seed: int) -> Labelled:
    """Samples of a set, with the noise of a seed."""
    base = name.removesuffix(", noisy")
    X, y = LOADERS[base]()
    return (X, y) if name == base else noisy(X, y, seed)


@functools.lru_cache(maxsize=2)
def cleaned(name: str, seed: int) -> Array:
    """The samples, of length one; noisy ones after robust PCA, as in the paper."""
    X, _ = draw(name, seed)
    if name.endswith("noisy"):
        X = rnlmf.RobustPCA(len(X) ** -0.5, tol=1e-4, max_iter=200).fit_denoise(X.astype(np.float64))
    return normalize(X)


def features(name: str, seed: int) -> Array:
    """Principal components of the cleaned samples."""
    return normalize(PCA(FEATURES, random_state=0).fit_transform(cleaned(name, seed)))


def as_drawn(name: str, seed: int) -> Array:
    return draw(name, seed)[0]


def unit(name: str, seed: int) -> Array:
    return normalize(draw(name, seed)[0])


def low_rank(k: int, name: str, X: Array, factor: float) -> BaseEstimator:
    penalty = "l1" if name.endswith("noisy") else "l21"
    size = np.abs(X).sum() if penalty == "l1" else np.linalg.norm(X, axis=1).sum()
    weight = factor * min(X.shape) / float(size)
    return rnlmf.LowRankSubspaceClustering(
        k, noise_penalty=penalty, noise_weight=weight, tol=1e-4, max_iter=100
    )


def sparse(k: int, name: str, X: Array, **settings: Any) -> BaseEstimator:
    if not name.endswith("noisy"):
        return rnlmf.SparseSubspaceClustering(k, noise_penalty=None, **settings)
    return rnlmf.SparseSubspaceClustering(k, noise_weight=12.0, tol=1e-3, max_iter=60, **settings)


def least_squares(k: int, name: str, X: Array, factor: float) -> BaseEstimator:
    weight = factor * float(np.sum(X**2)) / min(X.shape)
    return rnlmf.LeastSquaresSubspaceClustering(k, weight=weight, n_neighbors=15)


def of(kind: type[BaseEstimator], **fixed: Any) -> Callable[..., BaseEstimator]:
    def build(k: int, name: str, X: Array, **settings: Any) -> BaseEstimator:
        return kind(k, **fixed, **settings)

    return build


def grid(names: str, *values: tuple[Any, ...]) -> list[Settings]:
    return [dict(zip(names.split(), row, strict=True)) for row in values]


# How a method is built, what it sees, and the four settings that it tries. Those of GMC and S0/l0 are
# the ones that their authors published for other data, but for the last of S0/l0: the published
# one, sparsity 0.3 and strength 20, does not converge in a hundred decompositions.
METHODS: dict[str, tuple[Callable[..., BaseEstimator], Callable[[str, int], Array], list[Settings]]] = {
    "RNLMF, default": (of(rnlmf.RNLMFClustering), as_drawn, [{}]),
    "SSC-OMP": (
        of(rnlmf.SparseSubspaceClusteringOMP),
        cleaned,
        grid("n_nonzero", (2,), (3,), (5,), (10,)),
    ),
    "LSR": (least_squares, cleaned, grid("factor", (0.01,), (0.05,), (0.2,), (1.0,))),
    "SSC": (
        sparse,
        unit,
        grid("fit_weight affinity_mass", (5.0, 0.7), (5.0, 0.9), (20.0, 0.7), (20.0, 0.9)),
    ),
    "elastic net": (
        of(rnlmf.ElasticNetSubspaceClustering),
        cleaned,
        grid("fit_weight l1_ratio", (10.0, 0.9), (50.0, 0.7), (50.0, 0.9), (200.0, 0.9)),
    ),
    "EKSS": (
        of(rnlmf.EnsembleKSubspaces),
        features,
        grid("n_components n_neighbors", (2, 6), (2, 15), (5, 15), (9, 7)),
    ),
    "KSSC": (
        of(rnlmf.KernelSparseSubspaceClustering),
        cleaned,
        grid(
            "kernel affinity_mass", ("rbf", 0.7), ("rbf", 0.9), ("polynomial", 0.7), ("polynomial", 0.9)
        ),
    ),
    "LRR": (low_rank, unit, grid("factor", (0.5,), (1.0,), (2.0,), (4.0,))),
    "S0/l0-LRSSC": (
        of(rnlmf.LowRankSparseSubspaceClustering, penalty="s0l0"),
        cleaned,
        grid("sparsity strength", (0.5, 1.0), (0.7, 20.0), (0.7, 5.0), (0.5, 5.0)),
    ),
    "GMC-LRSSC": (
        of(rnlmf.LowRankSparseSubspaceClustering, penalty="gmc"),
        cleaned,
        grid(
            "sparsity strength concavity",
            (1000.0, 3.0, 1.0),
            (0.1, 20.0, 0.6),
            (0.1, 1.0, 0.1),
            (0.01, 20.0, 0.1),
        ),
    ),
}


# The fit itself is random.
RANDOM = {"RNLMF, default", "EKSS"}


def fitted_once(name: str, method: str) -> bool:
    """Whether a seed draws the labels of a graph only."""
    return method not in RANDOM and not name.endswith("noisy")


@functools.lru_cache(maxsize=4)
def fitted(name: str, method: str, number: int, seed: int) -> tuple[Any, float]:
    """A method with one of its settings, fitted, and the seconds that it took."""
    build, view, settings = METHODS[method]
    X, y = view(name, seed), draw(name, seed)[1]
    begin = time.perf_counter()
    model: Any = build(len(np.unique(y)), name, X, **settings[number]).set_params(random_state=seed)
    model.fit(X)
    return model, time.perf_counter() - begin


def measure(name: str, method: str, number: int, seed: int) -> dict[str, float]:
    """Error in percent, and seconds of the fit."""
    fit_seed = 0 if fitted_once(name, method) else seed
    model, seconds = fitted(name, method, number, fit_seed)
    X, y = draw(name, seed)
    labels = model.labels_
    if seed != fit_seed:
        labels = cut_graph(model.affinity_matrix_, X, model.n_clusters, seed)
    return {"error": round(100.0 * clustering_error(y, labels), 2), "seconds": round(seconds, 1)}


def tune(name: str, method: str, known: dict[str, Any], save: Callable[[], None]) -> int:
    """The number of the setting with the least error on seed 0; all that were tried are kept."""
    tried = known.setdefault("tried", [])
    for number, settings in enumerate(METHODS[method][2]):
        if number >= len(tried):
            tried.append({"settings": settings, **measure(name, method, number, 0)})
            print(name, method, tried[-1], flush=True)
            save()
    return min(range(len(tried)), key=lambda number: tried[number]["error"])


def paper_error(name: str, method: str) -> str:
    """The paper's figure; in parentheses where it has more samples."""
    base = name.removesuffix(", noisy")
    table, condition = ("table6", "random+occlusion") if name != base else ("table5", "clean")
    key = (table, PAPER_DATA.get(base, ""), condition, "error", method.removesuffix(", default"))
    value = paper_values().get(key)
    if value is None:
        return "-"
    return f"({value[0]:.1f})" if "every" in base else f"{value[0]:.1f}"


def render(results: dict[str, Any]) -> str:
    """The table."""
    sets = [name for name in SETS if name in results]
    lines = [
        "# Clustering errors of the paper's methods",
        "",
        "Errors in percent under the best match of clusters and classes, mean and deviation over",
        "seeds, their number in parentheses; behind the stroke what the paper prints, in parentheses",
        "that of the whole set. 20 x 20 images, digits 8 x 8. Noisy: 30% of the images have salt and",
        "pepper of density 0.25; the paper does not say which noise its own table has. On clean data a",
        "seed is one of the last k-means only, but for RNLMF and EKSS. LRR and SSC treat the",
        "noise themselves, the others are given what robust PCA leaves, EKSS its 50 first principal",
        "components, RNLMF the noisy images. Every method tried the four settings below on seed 0 and",
        "kept the best by the labels, the same effort for each, but RNLMF, which has one setting for",
        "all and tries nothing. The settings of SSC, KSSC, EKSS, SSC-OMP and the elastic net were",
        "written down after looking at some errors on COIL-20, which flatters them there; those of GMC",
        "and S0/l0 are the ones that their authors published for other data, but for one of S0/l0.",
        "",
        f"| method | {' | '.join(sets)} |",
        "|---|" + "---|" * len(sets),
    ]
    for method in METHODS:
        cells = []
        for name in sets:
            runs = list(results[name].get(method, {}).get("runs", {}).values())
            errors = [run["error"] for run in runs]
            text = f"{np.mean(errors):.1f}" if errors else "-"
            if len(errors) > 1:
                text += f" ± {np.std(errors):.1f}"
            text += f" ({len(errors)})" if errors else ""
            cells.append(f"{text} / {paper_error(name, method)}")
        lines.append(f"| {method} | {' | '.join(cells)} |")
    lines += [
        "",
        "## All that was tried, on seed 0",
        "",
        "| set | method | settings | error | seconds |",
    ]
    lines.append("|---|---|---|---|---|")
    for name in sets:
        for method in METHODS:
            for trial in results[name].get(method, {}).get("tried", []):
                settings = ", ".join(f"{key} {value}" for key, value in trial["settings"].items())
                measured = f"{trial['error']:.1f} | {trial['seconds']:.0f}"
                lines.append(f"| {name} | {method} | {settings} | {measured} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    arguments = parser.parse_args()
    if not cases.data_present():
        parser.error("no data folder: set RNLMF_DATA")
    warnings.simplefilter("ignore", ConvergenceWarning)
    path = RESULTS / "clustering_methods.json"

    def update() -> None:
        # Read again, so that several processes can work on different sets.
        stored = json.loads(path.read_text()) if path.is_file() else {}
        stored |= {name: results[name] for name in arguments.sets if name in results}
        keep(path, stored, render(stored))

    results: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    for first in range(arguments.seeds):
        for name in arguments.sets:
            for method in arguments.methods:
                known = results.setdefault(name, {}).setdefault(method, {})
                best = tune(name, method, known, update)
                runs = known.setdefault("runs", {})
                trial = known["tried"][best]
                runs["0"] = {key: trial[key] for key in ("error", "seconds")}
                for seed in range(arguments.seeds) if fitted_once(name, method) else [first]:
                    if str(seed) not in runs:
                        runs[str(seed)] = measure(name, method, best, seed)
                        print(name, method, seed, runs[str(seed)], flush=True)
                update()


if __name__ == "__main__":
    main()
