"""The iteration of the method and nothing else.

Read in this order: :mod:`~rnlmf.engine.problem` (what is minimised), :mod:`~rnlmf.engine.dictionary`
(the dictionary step), :mod:`~rnlmf.engine.solver` (the protocol and the loop),
:mod:`~rnlmf.engine.paper_order` (Algorithm 1 as printed), :mod:`~rnlmf.engine.single_pass` (the same in
one pass over shards of samples), :mod:`~rnlmf.engine.encoding` (Algorithm 2). Nothing here knows of
estimators, files or screens.
"""

from rnlmf.engine.corruption import Corruption
from rnlmf.engine.encoding import Encoding, encode
from rnlmf.engine.paper_order import PaperOrder
from rnlmf.engine.problem import Problem
from rnlmf.engine.samples import Samples, Units, default_threads, has_missing
from rnlmf.engine.single_pass import SinglePass
from rnlmf.engine.solver import Callback, Fit, IterationInfo, Options, Solver, StopReason, run
from rnlmf.engine.state import SampleState, SolverState

__all__ = [
    "Callback",
    "Corruption",
    "Encoding",
    "Fit",
    "IterationInfo",
    "Options",
    "PaperOrder",
    "Problem",
    "SampleState",
    "Samples",
    "SinglePass",
    "Solver",
    "SolverState",
    "StopReason",
    "Units",
    "default_threads",
    "encode",
    "has_missing",
    "run",
]
