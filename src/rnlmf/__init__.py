"""Robust non-linear matrix factorization: remove gross errors from data on curved structure.

The public names are imported when they are first used, so that the command line answers at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rnlmf.cluster import RNLMFClustering
    from rnlmf.estimators import RNLMF, RNLMFDenoiser
    from rnlmf.factorization import Factorization, factorize
    from rnlmf.linear.robust_dictionary_learning import RobustDictionaryLearning
    from rnlmf.linear.robust_kernel_pca import RobustKernelPCA
    from rnlmf.linear.robust_pca import RobustPCA
    from rnlmf.persistence import load, save
    from rnlmf.scaled import ScaledRNLMF
    from rnlmf.selection import Selection, held_out_score, select
    from rnlmf.subspace.least_squares import LeastSquaresSubspaceClustering
    from rnlmf.subspace.low_rank import LowRankSubspaceClustering
    from rnlmf.subspace.sparse import SparseSubspaceClustering
    from rnlmf.uncertainty import RNLMFOutlierDetector

__version__ = "0.1.0"

_HOME = {
    "RNLMF": "estimators",
    "Factorization": "factorization",
    "LeastSquaresSubspaceClustering": "subspace.least_squares",
    "LowRankSubspaceClustering": "subspace.low_rank",
    "RNLMFClustering": "cluster",
    "RNLMFDenoiser": "estimators",
    "RNLMFOutlierDetector": "uncertainty",
    "RobustDictionaryLearning": "linear.robust_dictionary_learning",
    "RobustKernelPCA": "linear.robust_kernel_pca",
    "RobustPCA": "linear.robust_pca",
    "ScaledRNLMF": "scaled",
    "Selection": "selection",
    "SparseSubspaceClustering": "subspace.sparse",
    "factorize": "factorization",
    "held_out_score": "selection",
    "load": "persistence",
    "save": "persistence",
    "select": "selection",
}

__all__ = [
    "RNLMF",
    "Factorization",
    "LeastSquaresSubspaceClustering",
    "LowRankSubspaceClustering",
    "RNLMFClustering",
    "RNLMFDenoiser",
    "RNLMFOutlierDetector",
    "RobustDictionaryLearning",
    "RobustKernelPCA",
    "RobustPCA",
    "ScaledRNLMF",
    "Selection",
    "SparseSubspaceClustering",
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
