"""Pictures of fitted estimators, in the manner of scikit-learn's displays."""

from rnlmf.plotting.affinity import AffinityDisplay, EmbeddingDisplay

__all__ = ["AffinityDisplay", "EmbeddingDisplay"]
