"""Clusters from codes or self-representations: affinity graph, spectral embedding, labels."""

from rnlmf.cluster.estimator import RNLMFClustering, default_estimator

__all__ = ["RNLMFClustering", "default_estimator"]
