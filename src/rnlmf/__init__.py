"""Robust non-linear matrix factorization: remove gross errors from data on curved structure."""

from rnlmf.cluster import RNLMFClustering
from rnlmf.estimators import RNLMF, RNLMFDenoiser
from rnlmf.factorize import Factorization, factorize
from rnlmf.linear.robust_dictionary_learning import RobustDictionaryLearning
from rnlmf.linear.robust_kernel_pca import RobustKernelPCA
from rnlmf.linear.robust_pca import RobustPCA
from rnlmf.selection import Selection, held_out_score, select
from rnlmf.subspace.least_squares import LeastSquaresSubspaceClustering
from rnlmf.subspace.low_rank import LowRankSubspaceClustering
from rnlmf.subspace.sparse import SparseSubspaceClustering

__version__ = "0.1.0"

__all__ = [
    "RNLMF",
    "Factorization",
    "LeastSquaresSubspaceClustering",
    "LowRankSubspaceClustering",
    "RNLMFClustering",
    "RNLMFDenoiser",
    "RobustDictionaryLearning",
    "RobustKernelPCA",
    "RobustPCA",
    "Selection",
    "SparseSubspaceClustering",
    "factorize",
    "held_out_score",
    "select",
]
