"""Robust non-linear matrix factorization: remove gross errors from data on curved structure.

The public names are imported when they are first used, so that the command line answers at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rnlmf.cleaning.frame import Cleaned, clean
    from rnlmf.cluster import RNLMFClustering
    from rnlmf.compared.elastic_net import ElasticNetSubspaceClustering
    from rnlmf.compared.ensemble import EnsembleKSubspaces
    from rnlmf.compared.kernel_dictionary_learning import KernelDictionaryLearning
    from rnlmf.compared.kernel_sparse import KernelSparseSubspaceClustering
    from rnlmf.compared.least_squares import LeastSquaresSubspaceClustering
    from rnlmf.compared.low_rank import LowRankSubspaceClustering
    from rnlmf.compared.low_rank_sparse import LowRankSparseSubspaceClustering
    from rnlmf.compared.robust_dictionary_learning import RobustDictionaryLearning
    from rnlmf.compared.robust_kernel_pca import RobustKernelPCA
    from rnlmf.compared.robust_pca import RobustPCA
    from rnlmf.compared.self_expressive import SelfExpressiveRNLMF
    from rnlmf.compared.sparse import SparseSubspaceClustering
    from rnlmf.compared.sparse_omp import SparseSubspaceClusteringOMP
    from rnlmf.estimators.denoiser import RNLMFDenoiser
    from rnlmf.estimators.factorization import Factorization, factorize
    from rnlmf.estimators.mini_batch import MiniBatchRNLMF
    from rnlmf.estimators.outliers import RNLMFOutlierDetector
    from rnlmf.estimators.persistence import load, save
    from rnlmf.estimators.rnlmf import RNLMF
    from rnlmf.fitting.settings import SolverOptions
    from rnlmf.model_selection.held_out import Selection, held_out_score, select

__version__ = "0.1.0"

_HOME = {
    "RNLMF": "estimators.rnlmf",
    "Cleaned": "cleaning.frame",
    "SparseSubspaceClusteringOMP": "compared.sparse_omp",
    "ElasticNetSubspaceClustering": "compared.elastic_net",
    "KernelSparseSubspaceClustering": "compared.kernel_sparse",
    "LowRankSparseSubspaceClustering": "compared.low_rank_sparse",
    "EnsembleKSubspaces": "compared.ensemble",
    "KernelDictionaryLearning": "compared.kernel_dictionary_learning",
    "Factorization": "estimators.factorization",
    "LeastSquaresSubspaceClustering": "compared.least_squares",
    "LowRankSubspaceClustering": "compared.low_rank",
    "MiniBatchRNLMF": "estimators.mini_batch",
    "RNLMFClustering": "cluster",
    "RNLMFDenoiser": "estimators.denoiser",
    "RNLMFOutlierDetector": "estimators.outliers",
    "RobustDictionaryLearning": "compared.robust_dictionary_learning",
    "RobustKernelPCA": "compared.robust_kernel_pca",
    "RobustPCA": "compared.robust_pca",
    "Selection": "model_selection.held_out",
    "SelfExpressiveRNLMF": "compared.self_expressive",
    "SolverOptions": "fitting.settings",
    "SparseSubspaceClustering": "compared.sparse",
    "clean": "cleaning.frame",
    "factorize": "estimators.factorization",
    "held_out_score": "model_selection.held_out",
    "load": "estimators.persistence",
    "save": "estimators.persistence",
    "select": "model_selection.held_out",
}

__all__ = [
    "RNLMF",
    "Cleaned",
    "ElasticNetSubspaceClustering",
    "EnsembleKSubspaces",
    "Factorization",
    "KernelDictionaryLearning",
    "KernelSparseSubspaceClustering",
    "LeastSquaresSubspaceClustering",
    "LowRankSparseSubspaceClustering",
    "LowRankSubspaceClustering",
    "MiniBatchRNLMF",
    "RNLMFClustering",
    "RNLMFDenoiser",
    "RNLMFOutlierDetector",
    "RobustDictionaryLearning",
    "RobustKernelPCA",
    "RobustPCA",
    "Selection",
    "SelfExpressiveRNLMF",
    "SolverOptions",
    "SparseSubspaceClustering",
    "SparseSubspaceClusteringOMP",
    "clean",
    "factorize",
    "held_out_score",
    "load",
    "save",
    "select",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rnlmf' has no attribute {name!r}")
    # Kept from now on.
    value = globals()[name] = getattr(import_module(f"rnlmf.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
