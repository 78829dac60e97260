"""The methods of the experiments: how each is built, and from which values its parameters are chosen.

A method that is named in an experiment but is not in `METHODS` shows the paper's value and an empty
cell; adding it is one entry here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import rnlmf
from rnlmf.reproduce import clustering
from rnlmf.reproduce.grids import (
    ATOMS,
    FIRST,
    LINEAR_ATOMS,
    POWERS,
    SCALES,
    THRESHOLDS,
    Grid,
    choose,
)
from rnlmf.reproduce.problems import PaperProblem, relative_noise_weight
from rnlmf.typing import Array

Parameters = dict[str, Any]


@dataclass(frozen=True)
class Method:
    """A method of the library.

    Attributes
    ----------
    build : callable or None
        ``build(X, problem, seed, **parameters)``: the estimator, not fitted. None: it only clusters.
    grid : callable or None
        ``grid(problem)``: from what the parameters are chosen, on the error, in mode "paper".
    automatic : bool
        Whether it needs no parameter, so that mode "auto" can run it.
    clusters : callable or None
        ``clusters(X, problem, seed, n_clusters, **parameters)``: as `build`, for the tables of
        clustering; its grid is `cluster_grid`.
    """

    build: Callable[..., Any] | None
    grid: Callable[[PaperProblem], Grid] | None
    automatic: bool = True
    clusters: Callable[..., Any] | None = None
    cluster_grid: Callable[[PaperProblem], Grid] | None = None


def noise_penalty(problem: PaperProblem) -> str:
    """Wrong samples for column-wise noise, wrong entries for everything else."""
    return "l21" if problem.noise == "columns" else "l1"


# --- RNLMF -------------------------------------------------------------------------------------------


def atoms(problem: PaperProblem) -> int:
    """The paper's number of atoms: ``2 m k`` on synthetic data."""
    if problem.kind == "synthetic":
        return 2 * problem.features * problem.manifolds
    return ATOMS[problem.data]


def our(
    X: Array, problem: PaperProblem, seed: int, threshold: float | None = None, **parameters: Any
) -> Any:
    """RNLMF; `threshold` is ``lambda_E sigma^2`` in standard deviations of the data.

    With parameters it is the paper's model, with its penalty on the noise; without, in mode "auto", the
    library chooses everything but the kind of noise.
    """
    penalty = noise_penalty(problem)
    if parameters or penalty != "l1":
        parameters["noise_penalty"] = penalty
    if threshold is not None:
        scale = parameters.get("kernel_scale", 1.0)
        parameters["noise_weight"] = relative_noise_weight(X, threshold, scale, penalty)
    if "momentum" in parameters:
        method, momentum = parameters.pop("solver", "auto"), parameters.pop("momentum")
        parameters["solver"] = rnlmf.SolverOptions(method, momentum=momentum)
    return rnlmf.RNLMF(random_state=seed, **parameters)


def our_grid(problem: PaperProblem) -> Grid:
    """The paper's grids; ``lambda_E`` of images is not printed there, so that it is relative."""
    grid = {"n_components": choose([atoms(problem)], atoms(problem))}
    if problem.kind == "mocap":
        grid |= {
            "kernel_scale": choose([0.5], 0.5),
            "code_weight": choose([1e-2], 1e-2),
            "noise_weight": choose([2e-5, 4e-5, 5e-5], 4e-5),
        }
    elif problem.noise == "columns":
        grid |= {
            "kernel_scale": choose([1.0], 1.0),
            "code_weight": choose([1e-3, 5e-3, 1e-2], 1e-2),
            "threshold": choose((0.05 * power for power in POWERS), 0.05),
        }
    elif problem.kind == "synthetic":
        # The authors' program goes below the printed grid, which begins at 3e-4.
        grid |= {
            "kernel_scale": choose([1.0], 1.0),
            "code_weight": choose([1e-3, 5e-3, 1e-2], 1e-3),
            "noise_weight": choose([5e-5, 1e-4, 2e-4, 3e-4, 5e-4, 1e-3, 2e-3], 2e-4),
        }
    else:
        scale, weight, threshold = FIRST[problem.data]
        if problem.data == "coil100" and "occlusion" in problem.noise:
            scale, threshold = 0.5, 0.1 if problem.noise == "occlusion" else 0.035
        iterations = 100 if problem.data == "coil100" else 300
        grid |= {
            "max_iter": choose([iterations], iterations),
            "kernel_scale": choose(SCALES, scale),
            "code_weight": choose([1e-3, 5e-3, 1e-2], weight),
            "threshold": choose(THRESHOLDS, threshold),
        }
    return grid


def with_code_penalty(penalty: str) -> Method:
    """RNLMF with another ``R(C)``; weights of its own scale, as it is tuned by itself."""
    weights = {"l2": [1e-3, 5e-3, 1e-2], "l1": [1e-4, 1e-3, 1e-2, 5e-2], "nuclear": [1e-2, 1e-1, 1.0]}

    def build(X: Array, problem: PaperProblem, seed: int, **parameters: Any) -> Any:
        return our(X, problem, seed, code_penalty=penalty, **parameters)

    def grid(problem: PaperProblem) -> Grid:
        values = weights[penalty]
        return our_grid(problem) | {"code_weight": choose(values, values[len(values) // 2])}

    return Method(build, grid, automatic=False)


# --- Linear methods ----------------------------------------------------------------------------------


def rpca(
    X: Array, problem: PaperProblem, seed: int, factor: float | None = None, **parameters: Any
) -> Any:
    """Robust PCA; `factor` is the weight times ``sqrt(n)``."""
    if factor is None:
        return rnlmf.RobustPCA(noise_penalty=noise_penalty(problem), tol=1e-5)
    weight = factor * len(X) ** -0.5
    if problem.kind == "mocap":
        # The paper's penalty parameter does not fit the data's unit and stops the method early.
        settings = {"mu": weight, "tol": 1e-5, "max_iter": 500}
    else:
        settings = {"tol": 1e-4, "max_iter": 500}
    return rnlmf.RobustPCA(weight, noise_penalty=noise_penalty(problem), **settings, **parameters)


def rpca_grid(problem: PaperProblem) -> Grid:
    """The paper's."""
    if problem.kind == "mocap":
        return {"factor": choose([1.0, 1.5, 2.0, 2.5], 1.5)}
    if problem.noise == "columns":
        return {"factor": choose(POWERS, 1.0)}
    return {"factor": choose([0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0], 1.5)}


def rdl(X: Array, problem: PaperProblem, seed: int, **parameters: Any) -> Any:
    """Robust dictionary learning; `factor` is the noise's threshold in deviations of the data."""
    penalty = noise_penalty(problem)
    if "factor" not in parameters:
        return rnlmf.RobustDictionaryLearning(noise_penalty=penalty, random_state=seed, max_iter=200)
    factor = parameters["factor"] * float(X.std())
    return rnlmf.RobustDictionaryLearning(
        parameters["n_components"],
        noise_penalty=penalty,
        noise_weight=factor,
        code_weight=parameters["ratio"] * factor if "ratio" in parameters else "auto",
        max_iter=100,
        tol=1e-3,
        random_state=seed,
    )


def rdl_grid(problem: PaperProblem) -> Grid:
    """The paper's numbers of atoms; the weights relative to the data, as its own are in their unit."""
    if problem.kind == "synthetic":
        full = problem.features * problem.manifolds
        sizes = choose([full // 2, full], full)
    else:
        sizes = choose([LINEAR_ATOMS[problem.data]], LINEAR_ATOMS[problem.data])
    if problem.noise == "columns":
        return {"n_components": sizes, "factor": choose(POWERS, 0.25)}
    ratio, factor = (0.5, 0.1) if problem.kind == "mocap" else (1.0, 0.2)
    if "occlusion" in problem.noise:
        ratio = 2.5
    return {
        "n_components": sizes,
        "ratio": choose([0.1, 0.25, 0.5, 1.0, 2.5, 5.0], ratio),
        "factor": choose([0.025, 0.05, 0.1, 0.2, 0.4, 0.8], factor),
    }


# --- Methods that represent samples by each other ----------------------------------------------------


def lrr(
    X: Array, problem: PaperProblem, seed: int, factor: float | None = None, **parameters: Any
) -> Any:
    """Low-rank representation, on COIL-100 its factored form, as in the paper."""
    penalty = noise_penalty(problem)
    if problem.data == "coil100":
        settings: Parameters = {"solver": "factored", "max_iter": 20, "tol": 1e-3}
        if factor is not None:
            settings["noise_weight"] = factor * float(X.std())
            mean_square = float(np.sum(X.astype(np.float64) ** 2)) / min(X.shape)
            settings["code_weight"] = parameters.pop("code_factor") * mean_square
    else:
        settings = {"tol": 1e-4, "max_iter": 100}
        if factor is not None:
            size = np.abs(X).sum() if penalty == "l1" else np.linalg.norm(X, axis=1).sum()
            settings["noise_weight"] = factor * min(X.shape) / float(size)
    return rnlmf.LowRankSubspaceClustering(noise_penalty=penalty, **settings, **parameters)


def lrr_grid(problem: PaperProblem) -> Grid:
    """The paper says "carefully tuned"."""
    if problem.data == "coil100":
        return {
            "code_factor": choose([0.003, 0.01, 0.03, 0.1, 0.3], 0.03),
            "factor": choose([0.05, 0.1, 0.2, 0.4], 0.2),
        }
    if problem.noise == "columns":
        return {"factor": choose(POWERS, 1.0)}
    return {"factor": choose([0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0], 2.0)}


def ssc(X: Array, problem: PaperProblem, seed: int, factor: float = 12.0, **parameters: Any) -> Any:
    """Sparse representation; `factor` is the noise's weight over the smallest of use."""
    return rnlmf.SparseSubspaceClustering(
        noise_weight=factor, noise_penalty=noise_penalty(problem), tol=1e-3, max_iter=100, **parameters
    )


def ssc_grid(problem: PaperProblem) -> Grid:
    """The paper says "carefully tuned"."""
    if problem.noise == "columns":
        return {"factor": choose((8.0 * power for power in POWERS), 8.0)}
    return {"factor": choose([1.5, 3.0, 6.0, 12.0, 24.0, 48.0], 12.0)}


def only_clusters(clusters: Callable[..., Any], grid: Callable[[PaperProblem], Grid]) -> Method:
    """A method of the tables of clustering that does not denoise."""
    return Method(None, None, True, clusters, grid)


METHODS: dict[str, Method] = {
    "RPCA": Method(rpca, rpca_grid),
    "LRR": Method(lrr, lrr_grid, True, clustering.lrr_clusters, clustering.lrr_cluster_grid),
    "SSC": Method(ssc, ssc_grid, True, clustering.ssc_clusters, clustering.ssc_cluster_grid),
    "KSSC": only_clusters(clustering.kssc_clusters, clustering.kssc_cluster_grid),
    "GMC-LRSSC": only_clusters(clustering.gmc_clusters, clustering.gmc_cluster_grid),
    "S0/l0-LRSSC": only_clusters(clustering.s0l0_clusters, clustering.s0l0_cluster_grid),
    "EKSS": only_clusters(clustering.ekss_clusters, clustering.ekss_cluster_grid),
    "RDL": Method(rdl, rdl_grid),
    "RNLMF": Method(our, our_grid, True, clustering.rnlmf_clusters, clustering.rnlmf_cluster_grid),
    "RNLMF, l2": with_code_penalty("l2"),
    "RNLMF, l1": with_code_penalty("l1"),
    "RNLMF, nuclear": with_code_penalty("nuclear"),
}
