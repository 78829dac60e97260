"""Every table and figure of the paper, by one command: ``python -m rnlmf.reproduce``.

Start with :mod:`rnlmf.reproduce.spec`, the list of experiments, and :mod:`rnlmf.reproduce.methods`, the
methods and their grids. A track (:mod:`~rnlmf.reproduce.tracks`) is one method on one row of an
experiment; it asks for cells (:mod:`~rnlmf.reproduce.cells`), which :mod:`~rnlmf.reproduce.runner`
computes and keeps; :mod:`~rnlmf.reproduce.report` writes what came of it.
"""

from rnlmf.reproduce.run import run
from rnlmf.reproduce.spec import EXPERIMENTS

__all__ = ["EXPERIMENTS", "run"]
