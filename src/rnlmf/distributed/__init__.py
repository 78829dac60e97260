"""Fits on a cluster, by Dask: samples stay on their workers, models go out, sums come back."""

from rnlmf.distributed.source import DaskSource, dask_source

__all__ = ["DaskSource", "dask_source"]
