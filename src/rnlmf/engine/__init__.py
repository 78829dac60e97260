"""The iteration of the method and nothing else.

Read in this order: :mod:`~rnlmf.engine.problem` (what is minimised), :mod:`~rnlmf.engine.dictionary`
(the dictionary step), :mod:`~rnlmf.engine.paper_order` (Algorithm 1 as printed),
:mod:`~rnlmf.engine.single_pass` (the same in one pass over blocks), :mod:`~rnlmf.engine.encode`
(Algorithm 2). Nothing here knows of estimators, files or screens.
"""

from rnlmf.engine.corruption import Corruption
from rnlmf.engine.encode import Encoding, encode
from rnlmf.engine.problem import Callback, Fit, IterationInfo, Options, Problem
from rnlmf.engine.samples import Samples, Units, default_threads, has_missing

__all__ = [
    "Callback",
    "Corruption",
    "Encoding",
    "Fit",
    "IterationInfo",
    "Options",
    "Problem",
    "Samples",
    "Units",
    "default_threads",
    "encode",
    "has_missing",
]
