"""Several opinions on every cell, each made without seeing it, and a verdict.

Read in this order: :mod:`~rnlmf.opinions.columns` (units in which columns can be compared),
:mod:`~rnlmf.opinions.linear`, :mod:`~rnlmf.opinions.similar`, :mod:`~rnlmf.opinions.dictionary` and
:mod:`~rnlmf.opinions.temporal` (what a cell should be, by its row, by similar rows, by the
dictionary, by its neighbours in time), :mod:`~rnlmf.opinions.panel` (all of them together),
:mod:`~rnlmf.opinions.mixing` (how far each opinion is to be believed, cell by cell),
:mod:`~rnlmf.opinions.densities` (how likely a value is, right or wrong),
:mod:`~rnlmf.opinions.verdict` (the probability that a cell is wrong),
:mod:`~rnlmf.opinions.together` (errors that only all columns together tell),
:mod:`~rnlmf.opinions.evidence` (is what looks wrong really wrong?),
:mod:`~rnlmf.opinions.returning` (values that return: states or errors?),
:mod:`~rnlmf.opinions.levels` (columns of a few values), :mod:`~rnlmf.opinions.rows` (rows of which
nothing fits), :mod:`~rnlmf.opinions.excursions` (stretches in which a column is elsewhere),
:mod:`~rnlmf.opinions.settling` (what to hide while others are learned),
:mod:`~rnlmf.opinions.learning` (from blurred opinions to sharp ones),
:mod:`~rnlmf.opinions.material` (what is known before that), :mod:`~rnlmf.opinions.beginning` (rows of
noise, and whether order is used) and :mod:`~rnlmf.opinions.judge`, which puts them together to a
:mod:`~rnlmf.opinions.judgement`.

Images have a judge of their own: :mod:`~rnlmf.opinions.pixel_relations`,
:mod:`~rnlmf.opinions.pixel_verdict`, :mod:`~rnlmf.opinions.pixel_evidence` and
:mod:`~rnlmf.opinions.pixels`.
Nothing here knows of estimators, files or screens.
"""

from rnlmf.opinions.judge import Judge
from rnlmf.opinions.judgement import Judgement
from rnlmf.opinions.temporal import Sequence

__all__ = ["Judge", "Judgement", "Sequence"]
