"""Learn, judge and hide in turns: from opinions that errors still blur to sharp ones.

The first opinions are learned with all errors among the cells, and are unsure of everything; only the
grossest errors stand out. Once those are hidden the next opinions are surer, and so on. The last ones
are so sure that one error makes its whole row look wrong, and who meets a new row with them alone hides
the wrong cells. So the first stages are kept, and new rows go through them as the old ones did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rnlmf.engine.batches import canonical_order
from rnlmf.opinions.bad_rows import ManyErrors
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.densities import Witness
from rnlmf.opinions.mixing import quantiles, typical
from rnlmf.opinions.opinion import Opinion
from rnlmf.opinions.panel import BAD_ROW, Hearing, Panel
from rnlmf.opinions.settling import Stretches, in_bursts, most_suspicious, vouched_for
from rnlmf.opinions.temporal import Sequence
from rnlmf.opinions.verdict import Dealing, Verdict
from rnlmf.typing import Array

# Most rounds in which opinions are learned anew.
LEARNING_ROUNDS = 12
# While suspects are looked for, errors still blur the predictions and each other, and need not pay in
# full for being told apart; what was hidden for nothing is judged again at the end.
FIRST_PRICE = 0.5
# Learning has settled when fewer cells than this are hidden or shown again; those that were both before
# are hidden and shown in turns, and do not settle.
LEARNED, IN_TURNS = 5e-4, 2
# Typical distances from the middle of a column that are far, if less than this share of it is.
FAR_OUT, MOST_FAR_OUT = 6.0, 0.25
# Fewer suspects in most columns are what is always farthest out. How many times as many another
# beginning must find, and what it must gain for each cell that is judged otherwise, in logarithms of
# likelihood.
FEWEST_SUSPECTS, MANY_MORE, GAIN = 5, 1.2, 1.0
# Stages that are kept for new rows, and rounds in each of them.
STAGES, STAGE_ROUNDS = 2, 4
# Panels are learned from at most so many rows; of longer sequences, from stretches of so many.
LEARNED_ROWS, STRETCH_ROWS = 20_000, 2_000


@dataclass(frozen=True)
class Stage:
    """A panel that was learned while errors were not all hidden, and what it suspected.

    Attributes
    ----------
    panel : Panel
        The opinions.
    verdict : Verdict
        What is wrong by all witnesses.
    alone : Verdict
        The same for rows without an order.
    """

    panel: Panel
    verdict: Verdict
    alone: Verdict

    @classmethod
    def of(
        cls,
        panel: Panel,
        verdict: Verdict,
        Z: Array,
        judged: Array,
        hidden: Array,
        hearing: Hearing | None = None,
    ) -> Stage:
        """With a verdict for rows without an order, where there is one."""
        if panel.neighbours is None:
            return cls(panel, verdict, verdict)
        said = panel.testify(Z, hidden, judged, None, hearing)
        return cls(panel, verdict, Verdict.learn(Z, judged, said, FIRST_PRICE))


class Settlement(NamedTuple):
    """What was hidden in the end, the opinions learned without it, and the first stages.

    A hearing remembers what the opinions have said.
    """

    hidden: Array
    panel: Panel
    stages: tuple[Stage, ...]
    hearing: Hearing

    def witnesses(self, Z: Array, judged: Array, sequence: Sequence | None) -> list[Witness]:
        """What the opinions say of the cells that they were learned from."""
        return self.panel.testify(Z, self.hidden, judged, sequence, self.hearing)


def learned_rows(Z: Array, sequence: Sequence | None) -> Array:
    """Rows that panels are learned from: all, or some, of a sequence in long stretches."""
    n = len(Z)
    if n <= LEARNED_ROWS:
        return np.arange(n)
    if sequence is None:
        return np.sort(canonical_order(Z)[:: -(-n // LEARNED_ROWS)])
    starts = np.linspace(0, n - STRETCH_ROWS, LEARNED_ROWS // STRETCH_ROWS).astype(np.intp)
    return np.unique(starts[:, None] + np.arange(STRETCH_ROWS))


def settle(
    Z: Array,
    hidden: Array,
    judged: Array,
    columns: Columns,
    sequence: Sequence | None,
    further: tuple[Opinion, ...] = (),
    dealing: Dealing = Dealing.NOT,
    most_stages: int = STAGES,
    gross: bool = True,
) -> Settlement:
    """Learn, judge and hide in turns until the verdict does not change any more.

    Suspects are `gross` errors, or need not be (:func:`unblurred`).
    """
    always = np.isnan(Z) | columns.absurd(Z)
    stretches = Stretches(Z, judged, columns, sequence)
    changes = np.zeros(Z.shape, dtype=np.int8)
    stages: list[Stage] = []
    for _ in range(LEARNING_ROUNDS):
        hearing = Hearing()
        panel, witnesses = Panel.learn(Z, hidden, judged, columns, sequence, further, hearing)
        suspicion = Verdict.learn(Z, judged, witnesses, FIRST_PRICE, dealing=dealing, gross=gross)
        if len(stages) < most_stages:
            stages.append(Stage.of(panel, suspicion, Z, judged, hidden, hearing))
        wrong = _suspects(panel, suspicion, witnesses, Z, hidden, judged, always, sequence)
        wrong |= stretches.stuck(Z, witnesses[-1])
        if sequence is not None:
            # Right columns go and come back, too: who says that they are off pays in full.
            verdict = Verdict.learn(Z, judged, witnesses, dealing=dealing, gross=gross)
            wrong |= stretches.away(Z, witnesses[-1], hidden, verdict)
        wrong |= always
        rows = ManyErrors.among(Z, wrong, always, hidden, judged, witnesses, suspicion)
        new = most_suspicious(Z, wrong, hidden, witnesses[0], sequence, rows)
        if np.mean((new != hidden) & (changes < IN_TURNS)) < LEARNED:
            break
        changes += new != hidden
        hidden = new
    return Settlement(hidden, panel, tuple(stages), hearing)


def _suspects(
    panel: Panel,
    verdict: Verdict,
    witnesses: list[Witness],
    Z: Array,
    hidden: Array,
    judged: Array,
    always: Array,
    sequence: Sequence | None,
) -> Array:
    """Cells more likely wrong than right for whom no other suspects account."""
    probability = in_bursts(verdict.probability(Z, judged, witnesses), hidden, sequence)
    some = judged, always, witnesses, verdict, sequence
    suspects: Array = (probability > 0.5) & ~vouched_for(panel.fellows, Z, probability, *some)
    return suspects


def gradually(
    stages: tuple[Stage, ...],
    Z: Array,
    hidden: Array,
    judged: Array,
    always: Array,
    sequence: Sequence | None,
) -> Array:
    """What to hide of new rows before the last opinions are asked: stage by stage."""
    for stage in stages:
        hearing = Hearing()
        for _ in range(STAGE_ROUNDS):
            witnesses = stage.panel.testify(Z, hidden, judged, sequence, hearing)
            verdict = stage.verdict if len(witnesses) > 1 else stage.alone
            wrong = _suspects(stage.panel, verdict, witnesses, Z, hidden, judged, always, sequence)
            wrong |= always
            rows = ManyErrors.among(Z, wrong, always, hidden, judged, witnesses, verdict)
            new = most_suspicious(Z, wrong, hidden, witnesses[0], sequence, rows)
            if np.array_equal(new, hidden):
                break
            hidden = new
    return hidden


def with_further(
    Z: Array,
    first: Array,
    simple: Settlement,
    judged: Array,
    columns: Columns,
    sequence: Sequence | None,
    further: tuple[Opinion, ...],
    optimists: tuple[Opinion, ...],
    dealing: Dealing,
) -> Settlement:
    """Go on from a `simple` one with further opinions, or where they know better: begin with them.

    Relations between columns tell errors best when few are left in a row; on a curved structure they
    tell nothing, and what they hide is hidden for nothing. The dictionary bears errors from the start.
    """

    def size(prediction: Array) -> float:
        said = judged & ~np.isnan(prediction)
        return float(np.mean(np.log(typical(Z - prediction, said, columns.resolution))))

    if optimists:
        panel, _ = Panel.learn(Z, simple.hidden, judged, columns, sequence, optimists)
        if not panel.fellows.further:
            return simple
    later = settle(Z, simple.hidden, judged, columns, sequence, further, dealing, most_stages=0)
    later = later._replace(stages=simple.stages)
    known = later.witnesses(Z, judged, sequence)[0]
    wider = later
    if min(size(opinion(Z, first)) for opinion in further) < size(known.prediction):
        earlier = settle(Z, first, judged, columns, sequence, further, dealing)
        others = earlier.witnesses(Z, judged, sequence)[0]
        if size(others.prediction) < size(known.prediction):
            wider = earlier
    return wider if wider.panel.fellows.further else simple


def unmasked(Z: Array, simple: Settlement, first: Array, judged: Array, columns: Columns) -> Settlement:
    """Begin with what is far from the middle of its column, if that leads to something likelier.

    Errors of columns that go together mask each other where they meet: what they predict of each other
    is as wrong as they are. Right values that are far out are shown again, for their fellows vouch for
    them. That is believed only if there are far more suspects for it, and most columns tell errors in
    the end: who finds the same in another way knows no better. In a sequence, where one begins
    with what is far from its neighbours in time, it is not asked.
    """
    far = _far_out(Z, judged, columns.resolution)
    if not np.any(far & ~simple.hidden):
        return simple
    other = settle(Z, first | far, judged, columns, None, most_stages=0)
    suspects = other.hidden & judged
    few = np.median(suspects.sum(axis=0)) < FEWEST_SUSPECTS
    if few or suspects.sum() <= MANY_MORE * np.sum(simple.hidden & judged):
        return simple

    def likelihood(settlement: Settlement) -> tuple[float, bool]:
        said = settlement.witnesses(Z, judged, None)
        verdict = Verdict.learn(Z, judged, said)
        return verdict.likelihood(Z, judged, said), verdict.in_company

    likely, in_company = likelihood(other)
    changed = int(np.sum(other.hidden != simple.hidden))
    if not in_company or likely - likelihood(simple)[0] <= GAIN * changed:
        return simple
    return other._replace(stages=simple.stages)


def _far_out(Z: Array, judged: Array, resolution: Array) -> Array:
    """Cells far from the middle of their column, unless these, or those of their row, are many.

    Rows of which most is far out are large, or small: their cells go together.
    """
    (middle,) = quantiles(Z, judged, 0.5)
    off = Z - np.where(np.isnan(middle), 0.0, middle)
    far: Array = judged & (np.abs(off) > FAR_OUT * typical(off, judged, resolution))
    far &= far.mean(axis=1, keepdims=True) <= BAD_ROW
    return far & (far.mean(axis=0) < MOST_FAR_OUT)


def unblurred(
    Z: Array,
    first: Array,
    judged: Array,
    columns: Columns,
    sequence: Sequence | None,
    further: tuple[Opinion, ...],
) -> Settlement | None:
    """Begin with suspects that are not gross: errors that are many blur what would tell them.

    A third of the cells with noise of the column's own deviation makes predictions so unsure that no
    error is far off. Who hides the farthest ones sees more. That is believed only if gross errors are
    told by most columns in the end, which a heavy tail of right cells never does: it stays a tail.
    """
    begun = settle(Z, first, judged, columns, sequence, further, gross=False)
    if not np.any(begun.hidden & ~first):
        return None
    found = settle(Z, begun.hidden, judged, columns, sequence, further, most_stages=0)
    verdict = Verdict.learn(Z, judged, found.witnesses(Z, judged, sequence))
    return found._replace(stages=begun.stages) if verdict.in_company else None
