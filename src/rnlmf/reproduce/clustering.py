"""The methods of the tables of clustering: how each is built, and from which values it is tuned."""

from __future__ import annotations

from typing import Any

import numpy as np

import rnlmf
from rnlmf.cluster import default_estimator
from rnlmf.reproduce.grids import ATOMS, NEIGHBOURS, SCALES, Grid, choose
from rnlmf.reproduce.problems import PaperProblem, relative_noise_weight
from rnlmf.typing import Array


def rnlmf_clusters(
    X: Array, problem: PaperProblem, seed: int, n_clusters: int, **parameters: Any
) -> Any:
    """Algorithm 3 with the paper's affinity; without parameters the library's own settings."""
    if not parameters:
        return rnlmf.RNLMFClustering(n_clusters, random_state=seed)
    weight = relative_noise_weight(X, parameters.pop("threshold"), parameters["kernel_scale"])
    n_neighbors = parameters.pop("n_neighbors")
    return rnlmf.RNLMFClustering(
        n_clusters,
        estimator=default_estimator(*X.shape, noise_weight=weight, **parameters),
        affinity="least-squares",
        affinity_weight=0.01,
        n_neighbors=n_neighbors,
        random_state=seed,
    )


def rnlmf_cluster_grid(problem: PaperProblem) -> Grid:
    """The paper's number of atoms and of neighbours; the kernel's width from those it uses."""
    return {
        "n_components": choose([ATOMS[problem.data]], ATOMS[problem.data]),
        "n_neighbors": choose([NEIGHBOURS[problem.data]], NEIGHBOURS[problem.data]),
        "code_weight": choose([1e-3, 5e-3, 1e-2], 1e-2),
        "threshold": choose([0.025, 0.05, 0.1], 0.05),
        "kernel_scale": choose(SCALES, 1.0 if problem.data.startswith("coil") else 3.0),
    }


def ssc_clusters(X: Array, problem: PaperProblem, seed: int, n_clusters: int, **parameters: Any) -> Any:
    """Sparse representation, with noise where there is some."""
    noisy = problem.noise != "none"
    settings: dict[str, Any] = {"noise_penalty": "l1" if noisy else None, "tol": 1e-3, "max_iter": 100}
    if noisy and "factor" in parameters:
        settings["noise_weight"] = parameters["factor"]
    if "fit_weight" in parameters:
        settings["fit_weight"] = parameters["fit_weight"]
    return rnlmf.SparseSubspaceClustering(n_clusters, random_state=seed, **settings)


def ssc_cluster_grid(problem: PaperProblem) -> Grid:
    """The paper says "carefully tuned"."""
    if problem.noise == "none":
        return {"fit_weight": choose([5.0, 10.0, 20.0, 50.0, 100.0, 200.0], 20.0)}
    return {
        "fit_weight": choose([5.0, 10.0, 20.0, 50.0, 100.0, 200.0], 50.0),
        "factor": choose([3.0, 6.0, 12.0, 24.0, 48.0], 12.0),
    }


def lrr_clusters(X: Array, problem: PaperProblem, seed: int, n_clusters: int, **parameters: Any) -> Any:
    """Low-rank representation, with wrong samples as noise where the data are clean."""
    penalty = "l21" if problem.noise == "none" else "l1"
    settings: dict[str, Any] = {"tol": 1e-4, "max_iter": 100}
    if "factor" in parameters:
        size = np.abs(X).sum() if penalty == "l1" else np.linalg.norm(X, axis=1).sum()
        settings["noise_weight"] = parameters["factor"] * min(X.shape) / float(size)
    return rnlmf.LowRankSubspaceClustering(
        n_clusters, noise_penalty=penalty, random_state=seed, **settings
    )


def lrr_cluster_grid(problem: PaperProblem) -> Grid:
    """The paper says "carefully tuned"."""
    return {"factor": choose([0.25, 0.5, 1.0, 2.0, 4.0, 8.0], 1.0)}
