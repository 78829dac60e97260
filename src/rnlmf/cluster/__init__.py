"""Clusters from codes or self-representations: affinity graph, spectral embedding, labels."""

from rnlmf.cluster.estimator import RNLMFClustering

__all__ = ["RNLMFClustering"]
