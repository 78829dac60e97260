"""From a table, or a sequence, to a verdict on each of its cells."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from rnlmf.opinions.anywhere import lives_elsewhere, not_anywhere
from rnlmf.opinions.bad_rows import ManyErrors, like_bad_rows
from rnlmf.opinions.beginning import Beginning
from rnlmf.opinions.densities import Witness, distance_in_scales
from rnlmf.opinions.evidence import CREDIBLE, misleading
from rnlmf.opinions.judgement import Judgement, tails_of
from rnlmf.opinions.learning import (
    LEARNED_ROWS,
    Stage,
    gradually,
    unblurred,
    with_further,
)
from rnlmf.opinions.linear import BEYOND
from rnlmf.opinions.opinion import Opinion, Remembered
from rnlmf.opinions.panel import BAD_ROW, BY_TIME, Hearing, Panel, mostly_hidden
from rnlmf.opinions.rows import RowVerdict
from rnlmf.opinions.settled import Settled
from rnlmf.opinions.settling import (
    CLOSE,
    Stretches,
    among_errors,
    first_suspicion,
    in_bursts,
    judgeable,
    most_suspicious,
    order_helps,
    vouched_for,
)
from rnlmf.opinions.temporal import Sequence
from rnlmf.opinions.verdict import FALSE_REPAIRS, OVERSURE, Verdict, least_probability
from rnlmf.typing import Array

# Most rounds in which the panel judges, should its verdict not settle before.
ROUNDS = 25
# Once the scales are known, and small, one error makes all cells of its row look wrong.
ONE_BY_ONE = 0.9
# Right cells are predicted as badly as odd ones with this chance; most of a row are by chance in one of
# thousands.
ODD = 0.05
# What is off by more scales in a bad row is repaired.
FAR = 4.0
# Rows without an order are judged so many at a time: that bounds the memory.
JUDGED_ROWS = 20_000


class Evidence(NamedTuple):
    """What a panel says, its suspects, and how far they mislead, together and by columns."""

    witnesses: list[Witness]
    suspects: Array
    overall: float
    shares: Array

    @property
    def doubts(self) -> int:
        """Suspects in columns of which less than half of them seem to be wrong."""
        return int(self.suspects[:, self.shares < CREDIBLE].sum())


@dataclass(frozen=True)
class Judge:
    """A panel of opinions and what it takes for wrong."""

    panel: Panel
    verdict: Verdict
    alone: Verdict
    ordered: bool
    trusted: Array
    least: Array
    credibility: float
    rows: RowVerdict
    left_alone: dict[int, str] = field(default_factory=dict)
    settled: Settled | None = None
    stages: tuple[Stage, ...] = ()
    tails: Array | None = None
    threshold: float = 0.5
    bounds: tuple[Array, Array] | None = None

    @classmethod
    def learn(
        cls,
        X: Array,
        sequence: Sequence | None = None,
        *,
        force_order: bool = False,
        further: tuple[Opinion, ...] = (),
        optimists: tuple[Opinion, ...] = (),
        false_repairs: float = FALSE_REPAIRS,
    ) -> tuple[Judge, Judgement]:
        """Judge the cells of `X` (NaN: missing); of those that are right a share may be repaired.

        The order of a `sequence` is used if it helps, or if it is forced. `further` opinions, the
        dictionary's, are heard besides those that are learned here, if they help; that is not asked if
        not even `optimists` do, who seem better than they are.
        """
        known = tuple(map(Remembered, further))
        given, rows, learned, dealing = Beginning.of(
            X, sequence, known, optimists, force_order=force_order
        )
        columns, sequence, part, judged = (
            given.columns,
            given.sequence,
            given.cells,
            given.judged,
        )

        def evidence(hidden: Array, panel: Panel, heard: Hearing) -> Evidence:
            hearing = heard.copy()
            witnesses = panel.testify(part, hidden, judged, sequence, hearing)

            def testify(cells: Array, some: Array) -> list[Witness]:
                # Only rows that are not as above are asked.
                missing = some | np.isnan(cells)
                return panel.testify(cells, missing, judged, sequence, hearing.copy())

            suspects = hidden & judged
            plain = Verdict.learn(part, judged, witnesses, dealing=dealing).plain
            harm = misleading(part, suspects, judged, witnesses, testify, sequence, plain=plain)
            return Evidence(witnesses, suspects, *harm)

        found = None
        if further:
            some = part, given.first, learned, judged, columns, sequence
            wider = with_further(*some, known, optimists, dealing)
            found = evidence(wider.hidden, wider.panel, wider.hearing)
            # Where further opinions make right cells suspicious one does better without them.
            simple = found
            if found.doubts and wider is not learned:
                simple = evidence(learned.hidden, learned.panel, learned.hearing)
            fewer = simple.suspects.sum() <= found.suspects.sum()
            if simple.doubts >= found.doubts or not fewer:
                known = known if wider is not learned else ()
                learned = wider
            else:
                found = simple
        found = found or evidence(learned.hidden, learned.panel, learned.hearing)
        if not found.suspects.any():
            clearer = unblurred(part, given.first, judged, columns, sequence, known)
            if clearer is not None:
                learned = clearer
                found = evidence(learned.hidden, learned.panel, learned.hearing)
        hidden, panel, stages, hearing = learned
        witnesses, suspects, overall, shares = found
        verdict = Verdict.learn(part, judged, witnesses, dealing=dealing)
        alone = verdict if sequence is None else Verdict.learn(part, judged, witnesses[-1:])
        least = _least_distances(part, suspects, witnesses[0], shares)
        if least.any():
            farthest = hidden & ~(suspects & (distance_in_scales(part, witnesses[0]) < least))
            shares = np.where(least > 0.0, evidence(farthest, panel, hearing).shares, shares)
        trusted, placed = shares >= CREDIBLE, np.zeros(X.shape[1], dtype=bool)
        if not verdict.in_company:
            placed = not_anywhere(part, suspects, witnesses[0], sequence) & trusted
            trusted &= ~placed
        states = lives_elsewhere(part, suspects, witnesses[0], sequence) & trusted
        trusted &= ~states
        judge = cls(panel, verdict, alone, sequence is not None, trusted, least, overall, rows)
        reasons = judge._reasons(suspects, shares, placed, states)
        judge = replace(judge, stages=stages, left_alone=reasons, bounds=_bounds(part, hidden))
        if len(X) <= LEARNED_ROWS:
            # What was found with patience while learning is where judging the same data begins.
            judge = replace(judge, settled=Settled.of(given.learned, hidden))
        judgement = judge.judge(X, given.whole, force_order=True, hearing=hearing.copy())
        least_sure = least_probability(judgement.probability, false_repairs, OVERSURE)
        judge = replace(judge, threshold=least_sure)
        if judge.threshold > 0.5:
            judgement = judge.judge(X, given.whole, force_order=True, hearing=hearing)
        tails = tails_of(X, judgement)
        judge = replace(judge, tails=tails, panel=panel.forgetting(further))
        stages = tuple(replace(s, panel=s.panel.forgetting(further)) for s in stages)
        judge = replace(judge, stages=stages)
        return judge, judgement.with_tails(tails)

    def judge(
        self,
        X: Array,
        sequence: Sequence | None = None,
        *,
        force_order: bool = False,
        hearing: Hearing | None = None,
    ) -> Judgement:
        """The cells of `X`: training data, or new ones.

        Without a sequence, or where its order does not help, rows are judged one by one. What opinions
        say of them may be known by a `hearing`.
        """
        columns = self.panel.columns
        Z = columns.scaled(X)
        judged = judgeable(columns, X, Z, sequence, fine=True)
        if not self.ordered or (
            sequence is not None
            and not force_order
            and not order_helps(Z, X, judged, columns, sequence, self.panel.fellows.further)
        ):
            sequence = None
            judged = judgeable(columns, X, Z, None, fine=True)
        if sequence is None and len(X) > JUDGED_ROWS:
            return Judgement.joined(
                [self.judge(X[i : i + JUDGED_ROWS]) for i in range(0, len(X), JUDGED_ROWS)]
            )
        absurd = columns.absurd(Z)
        probability, always = np.zeros(Z.shape), np.isnan(Z) | absurd
        hidden, known = first_suspicion(columns, X, Z, sequence), np.zeros(len(Z), dtype=bool)
        if self.settled is not None:
            hidden, known = self.settled.recalled(X, hidden)
        noise, could_be = self._noise(Z, hidden, judged, always, sequence)[:, None], judged
        judged, always = judged & ~noise, always | noise
        hidden, known = hidden | noise, known | noise[:, 0]
        # Suspects are believed, all of them, in every round.
        remembering = replace(
            self.panel.fellows, further=tuple(map(Remembered, self.panel.fellows.further))
        )
        hearing = hearing or Hearing()
        new_rows = self._doubtful(Z, hidden, judged, known, sequence, hearing)
        if new_rows.any():
            some = hidden[new_rows], judged[new_rows], always[new_rows], sequence
            hidden[new_rows] = gradually(self.stages, Z[new_rows], *some)
        stretches = Stretches(Z, judged, columns, sequence)
        # Errors beside each other can hide one another in turns: who is suspected again stays hidden.
        released, returned = np.zeros(Z.shape, dtype=bool), np.zeros(Z.shape, dtype=bool)
        for round_ in range(ROUNDS):
            witnesses = self.panel.testify(Z, hidden, judged, sequence, hearing)
            probability = self._probability(Z, judged, witnesses)
            probability = in_bursts(probability, hidden, sequence)
            excused = vouched_for(
                remembering, Z, probability, judged, always, witnesses, self.verdict, sequence
            )
            probability = np.where(excused, 0.0, probability)
            repeating = stretches.stuck(Z, witnesses[-1])
            probability[repeating] = 1.0
            probability[stretches.away(Z, witnesses[-1], hidden, self.verdict)] = 1.0
            wrong = probability > 0.5
            wrong |= like_bad_rows(Z, wrong | noise, could_be, witnesses) & judged
            wrong |= among_errors(Z, wrong, judged)
            if round_ == ROUNDS - 1:
                break
            suspects = wrong | always
            rows = ManyErrors.among(Z, suspects, always, hidden, judged, witnesses, self.verdict)
            new = most_suspicious(Z, suspects, hidden, witnesses[0], sequence, rows, ONE_BY_ONE)
            returned |= new & released
            new |= returned
            if np.array_equal(new, hidden):
                break
            released |= hidden & ~new
            hidden = new
        distance = distance_in_scales(Z, witnesses[0])
        credible = self.trusted & (distance >= self.least)
        if sequence is not None and self.credibility >= CREDIBLE:
            # A bad row is no matter of its columns.
            rows = ManyErrors.among(Z, wrong, always, hidden, judged, witnesses, self.verdict)
            bad = rows.wrong & mostly_hidden(wrong)[:, None] & judged & (distance > CLOSE)
            probability, credible = np.where(bad, 1.0, probability), credible | bad
        probability = np.where(absurd, 1.0, np.where(credible, probability, 0.0))
        wrong = (probability > self.threshold) & ~np.isnan(Z)
        witnesses = self.panel.testify(Z, wrong | always, judged, sequence, hearing)
        count = np.maximum(np.sum(~np.isnan(Z), axis=1), 1)
        bad_rows = wrong.sum(axis=1) > BAD_ROW * count
        if sequence is None:
            # A column need not have other errors for a row to be bad.
            odd = judged & (distance_in_scales(Z, witnesses[0]) > self.verdict.seldom(ODD))
            bad_rows = np.sum(wrong | odd, axis=1) > BAD_ROW * count
            # What is left of such a row says little of what it should be, as if the others were
            # missing; who is far off even so goes.
            doubtful = wrong | always | (odd & bad_rows[:, None])
            shown = np.where(doubtful & bad_rows[:, None], np.nan, Z)
            witnesses = self.panel.testify(shown, doubtful, judged, sequence, hearing)
            far = distance_in_scales(Z, witnesses[0]) > FAR
            wrong &= ~bad_rows[:, None] | absurd | far
            witnesses[0] = self.rows.of_noise(witnesses[0], noise)
        bad_rows |= noise[:, 0]
        wrong |= noise & ~np.isnan(Z)
        probability = np.where(noise, 1.0, probability)
        # Errors that vouch for each other lead their whole row to where no right cell is.
        prediction = witnesses[0].prediction
        prediction = prediction if self.bounds is None else np.clip(prediction, *self.bounds)
        scale = witnesses[0].scale * columns.spread
        judgement = Judgement(
            columns.to_data(prediction),
            scale,
            scale,
            np.where(np.isnan(Z), np.nan, probability),
            wrong,
            bad_rows,
            noise[:, 0],
            repeating & wrong,
            self.verdict.unseen(self.trusted, np.median(witnesses[0].scale, axis=0))
            * columns.spread**2,
        )
        return judgement if self.tails is None else judgement.with_tails(self.tails)

    def _noise(
        self, Z: Array, hidden: Array, judged: Array, missing: Array, sequence: Sequence | None
    ) -> Array:
        """Rows that are noise; in a sequence, for whom their neighbours in time do not account."""
        noise = self.rows.bad(Z, missing)
        if sequence is not None and noise.any():
            hidden = hidden | noise[:, None]
            by_time = self.panel.testify(Z, hidden, judged, sequence)[BY_TIME]
            told = judged & ~missing
            noise &= told.any(axis=1)
            distance = np.where(told, distance_in_scales(Z, by_time), np.nan)
            noise[noise] = np.nanmedian(distance[noise], axis=1) > CLOSE
        return noise

    def _doubtful(
        self,
        Z: Array,
        hidden: Array,
        judged: Array,
        known: Array,
        sequence: Sequence | None,
        hearing: Hearing,
    ) -> Array:
        """Rows that were not learned from and in which something is suspicious; of a sequence, all."""
        if known.all() or not self.stages:
            return np.zeros(len(Z), dtype=bool)
        if sequence is not None:
            return np.ones(len(Z), dtype=bool)
        witnesses = self.panel.testify(Z, hidden, judged, None, hearing)
        suspicious = np.any(self._probability(Z, judged, witnesses) > 0.5, axis=1)
        return np.asarray(suspicious & ~known)

    def _probability(self, Z: Array, judged: Array, witnesses: list[Witness]) -> Array:
        verdict = self.alone if self.ordered and len(witnesses) == 1 else self.verdict
        return verdict.probability(Z, judged, witnesses)

    def _reasons(self, suspects: Array, shares: Array, placed: Array, states: Array) -> dict[int, str]:
        """Columns with suspicious cells that are left alone, and why."""
        return {
            int(j): f"{int(suspects[:, j].sum())} values are hard to predict, but "
            + (
                "they come in certain rows, or on one side, as errors would not"
                if placed[j]
                else "they fill stretches to which such columns return again and again, as states do"
                if states[j]
                else "taking them for right does not harm the prediction of others as errors would "
                f"({shares[j]:.0%} of it)"
            )
            for j in np.flatnonzero(suspects.any(axis=0) & ~self.trusted)
        }


def _bounds(Z: Array, hidden: Array) -> tuple[Array, Array]:
    """What undoubted cells have shown, and somewhat more."""
    low = np.where(hidden, np.inf, Z).min(axis=0, initial=np.inf)
    high = np.where(hidden, -np.inf, Z).max(axis=0, initial=-np.inf)
    told = low <= high
    beyond = BEYOND * np.where(told, high - low, 0.0)
    return np.where(told, low - beyond, -np.inf), np.where(told, high + beyond, np.inf)


def _least_distances(Z: Array, suspects: Array, witness: Witness, shares: Array) -> Array:
    """How far off a cell must be in columns of whose suspects less than half seem to be wrong.

    The farther a cell is off, the likelier it is wrong: as many as seem to be are left of the suspects.
    """
    distance, least = distance_in_scales(Z, witness), np.zeros(Z.shape[1])
    for j in np.flatnonzero((shares > 0.0) & (shares < CREDIBLE) & suspects.any(axis=0)):
        least[j] = np.quantile(distance[suspects[:, j], j], max(1.0 - shares[j], 0.0))
    return least
