"""The methods of the tables of clustering: how each is built, and from which values it is tuned."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import rnlmf
from rnlmf.cluster import default_estimator
from rnlmf.reproduce.grids import ATOMS, NEIGHBOURS, SCALES, Grid, choose
from rnlmf.reproduce.problems import PaperProblem, relative_noise_weight
from rnlmf.typing import Array

# Principal components that the ensemble of k-subspaces sees.
EKSS_FEATURES = 50


def rnlmf_clusters(
    X: Array, problem: PaperProblem, seed: int, n_clusters: int, **parameters: Any
) -> Any:
    """Algorithm 3 as printed; without parameters the library's own settings."""
    if not parameters:
        return rnlmf.RNLMFClustering(n_clusters, random_state=seed)
    weight = relative_noise_weight(X, parameters.pop("threshold"), parameters["kernel_scale"])
    n_neighbors, scaling = parameters.pop("n_neighbors"), parameters.pop("affinity_scaling")
    return rnlmf.RNLMFClustering(
        n_clusters,
        estimator=default_estimator(*X.shape, noise_weight=weight, **parameters),
        link_by="neighbors",
        affinity="least-squares",
        affinity_weight=0.01,
        assign_labels="kmeans",
        min_relative_size=0,
        n_neighbors=n_neighbors,
        affinity_scaling=scaling,
        random_state=seed,
    )


def rnlmf_cluster_grid(problem: PaperProblem) -> Grid:
    """The paper's number of atoms and of neighbours; the kernel's width from those it uses.

    Affinities over their sum are what the authors' program has where the paper has the largest.
    """
    return {
        "affinity_scaling": choose(["max", "sum"], "sum"),
        "n_components": choose([ATOMS[problem.data]], ATOMS[problem.data]),
        "n_neighbors": choose([NEIGHBOURS[problem.data]], NEIGHBOURS[problem.data]),
        "code_weight": choose([1e-3, 5e-3, 1e-2], 1e-2),
        "threshold": choose([0.025, 0.05, 0.1], 0.05),
        "kernel_scale": choose(SCALES, 1.0 if problem.data.startswith("coil") else 3.0),
    }


def ssc_clusters(X: Array, problem: PaperProblem, seed: int, n_clusters: int, **parameters: Any) -> Any:
    """Sparse representation of samples of length one, with noise where there is some."""
    noisy = problem.noise != "none"
    settings: dict[str, Any] = {"noise_penalty": "l1" if noisy else None, "tol": 1e-3, "max_iter": 100}
    if noisy and "factor" in parameters:
        settings["noise_weight"] = parameters.pop("factor")
    model = rnlmf.SparseSubspaceClustering(n_clusters, random_state=seed, **settings, **parameters)
    return make_pipeline(Normalizer(), model)


def ssc_cluster_grid(problem: PaperProblem) -> Grid:
    """The paper says "carefully tuned"."""
    grid = {
        "affinity_mass": choose([0.7, 0.8, 0.9, 1.0], 0.9),
        "fit_weight": choose([5.0, 10.0, 20.0, 50.0, 100.0], 5.0 if problem.noise == "none" else 50.0),
    }
    if problem.noise != "none":
        grid["factor"] = choose([3.0, 6.0, 12.0, 24.0, 48.0], 12.0)
    return grid


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


def cleaned(problem: PaperProblem, model: Any, *before: Any) -> Any:
    """The method on samples of length one, after robust PCA where there is noise, as in the paper."""
    first = [Cleaner()] if problem.noise != "none" else []
    return make_pipeline(*first, *before, Normalizer(), model)


class Cleaner(TransformerMixin, BaseEstimator):
    """Robust PCA of the samples it is fitted to, as a step of a pipeline."""

    def fit(self, X: Array, y: Any = None) -> Cleaner:
        """Nothing to learn: it treats the samples that it transforms."""
        return self

    def transform(self, X: Array) -> Array:
        """The low-rank part."""
        model = rnlmf.RobustPCA(len(X) ** -0.5, tol=1e-4, max_iter=200)
        cleaned: Array = model.fit_denoise(X.astype(np.float64))
        return cleaned


def kssc_clusters(
    X: Array, problem: PaperProblem, seed: int, n_clusters: int, **parameters: Any
) -> Any:
    """Kernel sparse representation."""
    model = rnlmf.KernelSparseSubspaceClustering(n_clusters, random_state=seed, **parameters)
    return cleaned(problem, model)


def kssc_cluster_grid(problem: PaperProblem) -> Grid:
    """The kernels of its authors."""
    return {
        "kernel": choose(["rbf", "polynomial"], "polynomial"),
        "affinity_mass": choose([0.7, 0.8, 0.9, 1.0], 0.9),
        "fit_weight": choose([5.0, 10.0, 20.0, 50.0], 20.0),
    }


def gmc_clusters(X: Array, problem: PaperProblem, seed: int, n_clusters: int, **parameters: Any) -> Any:
    """Low-rank sparse representation with the minimax concave penalty."""
    model = rnlmf.LowRankSparseSubspaceClustering(
        n_clusters, penalty="gmc", random_state=seed, **parameters
    )
    return cleaned(problem, model)


def gmc_cluster_grid(problem: PaperProblem) -> Grid:
    """The values that its authors use."""
    return {
        "concavity": choose([0.1, 0.6, 1.0], 0.6),
        "strength": choose([1.0, 3.0, 20.0], 3.0),
        "sparsity": choose([0.01, 0.1, 1.0, 1000.0], 0.1),
    }


def s0l0_clusters(
    X: Array, problem: PaperProblem, seed: int, n_clusters: int, **parameters: Any
) -> Any:
    """Low-rank sparse representation that counts what is not zero."""
    model = rnlmf.LowRankSparseSubspaceClustering(n_clusters, random_state=seed, **parameters)
    return cleaned(problem, model)


def s0l0_cluster_grid(problem: PaperProblem) -> Grid:
    """The values that its authors use."""
    return {
        "strength": choose([1.0, 5.0, 20.0], 1.0),
        "sparsity": choose([0.3, 0.5, 0.7], 0.5),
    }


def ekss_clusters(
    X: Array, problem: PaperProblem, seed: int, n_clusters: int, **parameters: Any
) -> Any:
    """Ensemble of k-subspaces on principal components."""
    model = rnlmf.EnsembleKSubspaces(n_clusters, random_state=seed, **parameters)
    return cleaned(problem, model, PCA(EKSS_FEATURES, random_state=0))


def ekss_cluster_grid(problem: PaperProblem) -> Grid:
    """Around the values that its authors are said to use."""
    return {
        "n_neighbors": choose([4, 7, 10, 15], 7),
        "n_components": choose([2, 5, 9, 13], 9),
    }
