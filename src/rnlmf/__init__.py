"""Robust non-linear matrix factorization: remove gross errors from data on curved structure."""

from rnlmf.estimators import RNLMF, RNLMFDenoiser
from rnlmf.factorize import Factorization, factorize

__version__ = "0.1.0"

__all__ = ["RNLMF", "Factorization", "RNLMFDenoiser", "factorize"]
