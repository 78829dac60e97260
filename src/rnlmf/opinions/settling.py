"""Which cells to hide while opinions are learned: the most suspicious first, until nothing changes."""

from __future__ import annotations

import numpy as np

from rnlmf.engine.batches import canonical_order
from rnlmf.opinions.bad_rows import ManyErrors
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.densities import Witness, distance_in_scales
from rnlmf.opinions.excursions import Trips, contradicted, excursions, round_trips
from rnlmf.opinions.kindred import with_kin
from rnlmf.opinions.mixing import quantiles, typical
from rnlmf.opinions.opinion import Opinion
from rnlmf.opinions.panel import BAD_ROW, HELPS, Fellows, Panel, mostly_hidden
from rnlmf.opinions.temporal import GOLDEN, Sequence
from rnlmf.opinions.verdict import Verdict
from rnlmf.typing import Array

# The most suspicious cell of a row misleads the opinions on its fellows. While others are looked at,
# only cells at least half as suspicious are hidden together with it; in time, within so many rows.
AT_ONCE, AT_ONCE_ROWS = 0.5, 7
# Suspects account for each other if they are off by less than so many scales, and than this share of
# what they are off if none of them is believed.
CLOSE, VOUCHED, CHANCE_CELLS = 2.0, 0.25, 4
# In a row that is mostly suspicious, so many of them do if it is a movement.
MOVED = 2.0 / 3.0
# Fewer suspects of a row, or a smaller share of it, may be in another row by chance; and where more
# rows have many, they are no rarity.
FEWEST_REPEATED, MANY, MOST_REPEATED = 6, 0.1, 100
# Of so many cells with the nearest values more than this share is wrong.
LIKE_IT, MOSTLY_WRONG = 10, 0.85
# So many rows tell how often errors fit each other by chance.
EXCHANGED_ROWS = 500
# Fellows that are off by more scales contradict a movement to where the column never is; elsewhere, and
# a level to which it returns, they do if they are so far off less than once in a thousand times.
CONTRADICTED, SELDOM = 6.0, 1e-3
# A stuck value need not be far off all the time: root mean square, no scale counting for more.
STUCK, FARTHEST_STUCK = 3.0, 10.0
# Scales that fellows must be away from a stretch elsewhere: where errors come in stretches, or do not.
AWAY, SURELY_AWAY = 5.0, 7.0
# Neighbours of hidden cells count from so many on.
FEW = 10.0
# Where fellows know as much, order is used if neighbours in time know most columns to this share of
# what they vary.
SMOOTH = 0.1
# With fewer rows no order can be told from chance.
FEWEST_ROWS = 30


def judgeable(
    columns: Columns, X: Array, Z: Array, sequence: Sequence | None, *, fine: bool = False
) -> Array:
    """Cells that have a plausible value which is none of those that return again and again.

    Those of a `fine` scale are judged, too, but nothing is learned from how well they are predicted.
    """
    recurring = columns.recurring(X, Z, ordered=sequence is not None, fine=fine)
    judged: Array = ~np.isnan(Z) & ~recurring & ~columns.absurd(Z)
    return judged


def first_suspicion(columns: Columns, X: Array, Z: Array, sequence: Sequence | None) -> Array:
    """What is hidden before anything is learned: gaps, absurd values, and spikes in a sequence."""
    hidden: Array = np.isnan(Z) | columns.absurd(Z)
    if sequence is not None:
        bounded = np.where(hidden, 0.0, Z)
        jumps = excursions(sequence, bounded, columns.resolution)
        suspects = sequence.suspicious(bounded, columns.resolution) | jumps
        hidden |= sequence.without_short_gaps(suspects) & ~columns.recurring(X, Z, ordered=True)
        hidden |= sequence.repeated(Z) > 0
        # Running medians suspect much where a curve bends; jumps there and back are seldom right.
        hidden |= (mostly_hidden(hidden) | mostly_hidden(jumps))[:, None]
    return hidden


class Stretches:
    """Stretches of a sequence that are judged as a whole, by the fellows alone.

    One in which a column repeats a value to the letter, near as that may be to the truth: a sensor that
    does not move among others that do is stuck. And one between two jumps that take each other back:
    within it every cell has neighbours in time that speak for it, all wrong alike.
    """

    def __init__(self, Z: Array, judged: Array, columns: Columns, sequence: Sequence | None) -> None:
        self._repeated = np.zeros(Z.shape, dtype=np.int64)
        self._trips: dict[int, Trips] = {}
        self._sequence, self._judged = sequence, judged
        # Of few rows fellows are surer than they should be.
        self._few = columns.optimism is not None
        there = ~np.isnan(Z) & ~columns.absurd(Z)
        self._there = there & ~columns.of_device(Z)
        if sequence is not None:
            self._repeated = np.where(judged, sequence.repeated(Z), 0)
            self._trips = round_trips(sequence, np.where(there, Z, 0.0), columns.resolution)

    def stuck(self, Z: Array, row: Witness) -> Array:
        """Cells of stretches that repeat a value and are contradicted."""
        return _contradicted(self._repeated, Z, row, STUCK)

    def away(self, Z: Array, row: Witness, hidden: Array, verdict: Verdict) -> Array:
        """Cells of stretches elsewhere that are contradicted, and far away.

        Columns go and come back by themselves, too, to an end of their range above all: unless rows
        are many, most columns have errors, by a `verdict`, and most of what is `hidden` comes in
        stretches, jumps must be plain, fellows surer, and values that return are right. Where nothing
        else is wrong, a column that goes and comes back has two branches.
        """
        if not verdict.tells:
            return np.zeros(Z.shape, dtype=bool)
        usual = verdict.in_company and not self._few and in_stretches(hidden, self._sequence)
        least, some = (AWAY, self._there) if usual else (SURELY_AWAY, self._judged)
        found = np.zeros(Z.shape, dtype=bool)
        off = np.where(some, Z - row.prediction, 0.0)
        for j, trips in self._trips.items():
            asked = trips if usual else trips.only_plain()
            for first, last in contradicted(asked, off[:, j], row.scale[:, j], least):
                found[first:last, j] = some[first:last, j]
        return found


def _stretches(numbers: Array) -> list[Array]:
    """Rows with the same number, but zero, one after the other."""
    rows = np.flatnonzero(numbers)
    return np.split(rows, np.flatnonzero(np.diff(numbers[rows])) + 1)


def _contradicted(numbers: Array, Z: Array, row: Witness, least: float) -> Array:
    """Stretches, by their numbers, from which the fellows are far: by root mean square."""
    found = np.zeros(Z.shape, dtype=bool)
    squares = np.minimum(distance_in_scales(Z, row), FARTHEST_STUCK) ** 2
    for j in np.flatnonzero(numbers.any(axis=0)):
        for run in _stretches(numbers[:, j]):
            found[run, j] = np.mean(squares[run, j]) > least**2
    return found


def most_suspicious(
    Z: Array,
    wrong: Array,
    hidden: Array,
    witness: Witness,
    sequence: Sequence | None,
    rows: ManyErrors,
    at_once: float = AT_ONCE,
) -> Array:
    """Cells to hide next: those that stay wrong, and of the new ones the most suspicious first.

    Of `rows` with many errors it is known which they are.
    """
    distance = np.nan_to_num(distance_in_scales(Z, witness), nan=np.inf)
    fresh = np.where(wrong & ~hidden, distance, 0.0)
    largest = fresh.max(axis=1, keepdims=True)
    if sequence is not None:
        largest = np.maximum(largest, sequence.largest(fresh, AT_ONCE_ROWS))
    chosen: Array = wrong & (hidden | (distance >= at_once * largest))
    if sequence is not None:
        chosen = sequence.without_short_gaps(np.where(rows.there[:, None], rows.wrong, chosen))
    return chosen


def in_bursts(probability: Array, hidden: Array, sequence: Sequence | None) -> Array:
    """Probabilities in the light of what is hidden before and after a cell.

    Of a column in which the share ``pi`` is hidden, and the share ``kappa`` of the cells beside hidden
    ones, a hidden neighbour changes the odds by ``kappa / pi``, another by
    ``(1 - kappa) / (1 - pi)``: a Markov chain. Where errors come one by one both are 1.
    """
    if sequence is None or len(hidden) < 2:
        return probability
    first = np.zeros(len(hidden), dtype=bool)
    first[list(sequence.starts)] = True
    before = np.vstack([hidden[:1], hidden[:-1]])
    pairs = hidden & ~first[:, None]
    often = np.clip(hidden.mean(axis=0), 1e-6, 1.0 - 1e-6)
    again = (np.sum(pairs & before, axis=0) + FEW * often) / (pairs.sum(axis=0) + FEW)
    again = np.clip(again, often, 1.0 - 1e-3)
    beside_hidden, beside_other = np.log(again / often), np.log((1.0 - again) / (1.0 - often))
    change = np.where(before, beside_hidden, beside_other)
    change[first] = 0.0
    last = np.r_[first[1:], True]
    after = np.where(np.vstack([hidden[1:], hidden[-1:]]), beside_hidden, beside_other)
    after[last] = 0.0
    odds = probability / np.maximum(1.0 - probability, 1e-12) * np.exp(change + after)
    return odds / (1.0 + odds)


def in_stretches(hidden: Array, sequence: Sequence | None) -> bool:
    """Whether most of what is hidden follows on each other; what is dealt out comes one by one."""
    return sequence is not None and bool(2 * np.sum(hidden[1:] & hidden[:-1]) > hidden.sum())


def among_errors(Z: Array, wrong: Array, judged: Array) -> Array:
    """Cells of rows with suspects whose values, in their column, hardly any but wrong cells have.

    Errors of a row may vouch for each other; what else is where they are tells.
    """
    found = np.zeros(wrong.shape, dtype=bool)
    for j in np.flatnonzero(wrong.sum(axis=0) >= LIKE_IT):
        cells = np.flatnonzero(judged[:, j] | wrong[:, j])
        cells = cells[np.argsort(Z[cells, j], kind="stable")]
        count = np.r_[0, np.cumsum(wrong[cells, j])]
        first = np.clip(np.arange(len(cells)) - LIKE_IT // 2, 0, max(len(cells) - LIKE_IT - 1, 0))
        beside = count[np.minimum(first + LIKE_IT + 1, len(cells))] - count[first] - wrong[cells, j]
        found[cells[beside > MOSTLY_WRONG * LIKE_IT], j] = True
    return found & judged & ~wrong & wrong.any(axis=1, keepdims=True)


def vouched_for(
    fellows: Fellows,
    Z: Array,
    probability: Array,
    judged: Array,
    always: Array,
    witnesses: list[Witness],
    verdict: Verdict,
    sequence: Sequence | None,
) -> Array:
    """Suspects that account for each other: right, though nobody else would have expected them.

    Errors are independent; whoever believes one does not predict the other. So cells of a row that
    predict each other are no errors, nor is an event in time.
    """
    row, wrong = witnesses[-1], probability > 0.5
    excused = np.zeros(wrong.shape, dtype=bool)
    many = wrong.mean(axis=1) > BAD_ROW
    for mostly, chosen in ((True, many), (False, ~many & (wrong.sum(axis=1) > 1))):
        if chosen.any():
            some = Z[chosen], wrong[chosen], judged[chosen], always[chosen], row.of(chosen)
            excused[chosen] = _accounted_for(fellows, *some, mostly=mostly)
    few = excused & ~many[:, None]
    if few.any():
        by_chance = _alike(fellows, Z, wrong & ~many[:, None], judged, always, row)
        excused &= many[:, None] | _more_than(few, *by_chance)
    if sequence is not None:
        expected, distance = witnesses[0].prediction, distance_in_scales(Z, row)
        farthest = np.maximum(verdict.seldom(SELDOM), CONTRADICTED)
        undoubted = np.where(wrong | ~judged, np.nan, Z)
        undoubted[:, ~np.any(judged & ~wrong, axis=0)] = np.finfo(float).max
        low, high = np.nanquantile(undoubted, (SELDOM, 1.0 - SELDOM), axis=0)
        elsewhere = ~((low <= Z) & (high >= Z))
        contradicted = distance > np.where(elsewhere, CONTRADICTED, farthest)
        excused |= sequence.events(Z, wrong, expected, VOUCHED, contradicted)
        excused |= sequence.branches(Z, wrong, expected) & (distance < farthest)
    if sequence is None:
        excused |= _repeated(Z, wrong, witnesses[0].prediction)
    if not verdict.in_company:
        excused |= with_kin(Z, wrong, witnesses[0].prediction, sequence)
    return excused & ~always


def _repeated(Z: Array, wrong: Array, prediction: Array) -> Array:
    """Suspects of rows with many of them that are in another row as well: no error is twice the same.

    Samples that were measured again, of a kind of which there are few. Where most of the row is not
    suspected, the other row is the one that is most like it there.
    """
    found = np.zeros(wrong.shape, dtype=bool)
    rows = np.flatnonzero(wrong.sum(axis=1) > np.maximum(MANY * wrong.shape[1], FEWEST_REPEATED - 1))
    if len(rows) > MOST_REPEATED:
        return found
    for i in rows:
        some, apart = wrong[i], np.abs(Z - Z[i])
        same = apart[:, some] <= VOUCHED * np.abs(Z[i, some] - prediction[i, some])
        alike = same.sum(axis=1)
        alike[i] = 0
        if some.mean() <= BAD_ROW:
            others = np.minimum(np.nan_to_num(apart[:, ~some], nan=1.0), 1.0).mean(axis=1)
            others[i] = np.inf
            alike[np.arange(len(Z)) != others.argmin()] = 0
        if alike.max() > BAD_ROW * some.sum():
            found[i, some] = same[alike.argmax()]
    return found


def _fitting(
    fellows: Fellows, Z: Array, suspects: Array, judged: Array, missing: Array, row: Witness
) -> Array:
    """Suspects that others of their row predict if all are believed, and nobody if none is."""
    believed = fellows.testify(Z, missing, judged & ~missing)
    off, unbelieved = np.abs(Z - believed.prediction), np.abs(Z - row.prediction)
    close = suspects & (off < np.minimum(CLOSE * row.scale, VOUCHED * unbelieved))
    found: Array = close & (close.sum(axis=1, keepdims=True) > 1)
    return found


def _accounted_for(
    fellows: Fellows,
    Z: Array,
    suspects: Array,
    judged: Array,
    missing: Array,
    row: Witness,
    *,
    mostly: bool,
) -> Array:
    """Suspects whom others of the row account for, if not by chance, in rows that are `mostly` so."""
    found = _fitting(fellows, Z, suspects, judged, missing, row)
    if not found.any():
        return found
    # Where errors are many some fit each other by chance: as many as if they were exchanged. In doubt,
    # where there are only a few, suspects are right.
    some = slice(None, None, -(-len(Z) // EXCHANGED_ROWS))
    made_up = _exchanged(Z, suspects, row.prediction)[some]
    by_chance = _fitting(fellows, made_up, suspects[some], judged[some], missing[some], row.of(some))
    if mostly:
        # Of a row that is wrong as a whole some always fit; of a movement most do.
        count = found.sum(axis=1)
        moved = (count > by_chance.sum(axis=1).max()) & (count > MOVED * suspects.sum(axis=1))
        return found & moved[:, None]
    return found & _more_than(found, by_chance, len(Z) / len(made_up))


def _more_than(found: Array, by_chance: Array, times: float) -> bool:
    """Whether far more were found than by chance in a part of the rows."""
    return bool(found.sum() + CHANCE_CELLS > 2 * by_chance.sum() * times)


def _alike(
    fellows: Fellows, Z: Array, suspects: Array, judged: Array, missing: Array, row: Witness
) -> tuple[Array, float]:
    """Suspects that would fit each other if the values of every column were dealt to other rows.

    Errors that are all alike (zeros) fit wherever two of them meet. Of states that come together, two
    meet more often than by chance. Also, of how many times as many rows a part was looked at.
    """
    cells, dealt = np.where(suspects, row.prediction, Z), np.zeros(Z.shape, dtype=bool)
    order = canonical_order(np.nan_to_num(Z))
    for k, j in enumerate(np.flatnonzero(suspects.any(axis=0))):
        some = suspects[order, j]
        rows, other = order[some], np.roll(order, int(len(Z) * ((k + 1) * GOLDEN % 1.0)))[some]
        cells[other, j], dealt[other, j] = Z[rows, j], True
    dealt &= ~missing
    met = np.flatnonzero(dealt.sum(axis=1) > 1)
    some = met[:: -(-len(met) // EXCHANGED_ROWS) or 1]
    cells, dealt, gaps = np.where(missing, Z, cells)[some], dealt[some], missing[some]
    known = judged[some] | dealt
    unbelieved = fellows.testify(cells, gaps | dealt, known)
    return _fitting(fellows, cells, dealt, known, gaps, unbelieved), len(met) / max(len(some), 1)


def _exchanged(Z: Array, wrong: Array, prediction: Array) -> Array:
    """Cells with the errors of every column on other predictions of it, by rank; every second turned.

    No two columns exchange alike, so that what belonged together is apart.
    """
    made_up = Z.copy()
    for k, j in enumerate(np.flatnonzero(wrong.any(axis=0))):
        rows = np.flatnonzero(wrong[:, j])
        errors = Z[rows, j] - prediction[rows, j]
        order = np.argsort(errors)
        shift = int(len(rows) * ((k + 1) * GOLDEN % 1.0))
        made_up[rows[order], j] = prediction[rows[order], j] + (-1) ** k * np.roll(errors[order], shift)
    return made_up


def order_helps(
    Z: Array,
    X: Array,
    judged: Array,
    columns: Columns,
    sequence: Sequence,
    further: tuple[Opinion, ...],
) -> bool:
    """Whether neighbours in time make the predictions of the fellows better, or could stand for them.

    Of a smooth sequence that fellows predict as well, order tells what they cannot: rows that are wrong
    as a whole, stretches in which a sensor is off. Rows of a table are not that much alike.
    """
    if len(Z) < FEWEST_ROWS:
        return False
    hidden = first_suspicion(columns, X, Z, sequence)
    used = judged & ~hidden
    _, said = Panel.learn(Z, hidden, judged, columns, sequence, further)
    (median,) = quantiles(Z, ~np.isnan(Z), 0.5)
    predictions = [*(witness.prediction for witness in said), median]
    sizes = [typical(Z - prediction, used, columns.resolution) for prediction in predictions]
    some = used.any(axis=0)
    if not some.any():
        return False
    both, time, row, middle = (size[some] for size in sizes)
    helps = np.median(both / row) < 1.0 - HELPS
    return bool(helps or np.quantile(time / middle, 0.75) < SMOOTH)
