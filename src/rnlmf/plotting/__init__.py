"""Pictures of a model, as Display objects in the style of scikit-learn."""

from rnlmf.plotting.affinity import AffinityDisplay, EmbeddingDisplay
from rnlmf.plotting.convergence import ConvergenceDisplay
from rnlmf.plotting.denoising import DenoisingDisplay
from rnlmf.plotting.dictionary import DictionaryDisplay
from rnlmf.plotting.noise import NoiseMapDisplay

__all__ = [
    "AffinityDisplay",
    "ConvergenceDisplay",
    "DenoisingDisplay",
    "DictionaryDisplay",
    "EmbeddingDisplay",
    "NoiseMapDisplay",
]
