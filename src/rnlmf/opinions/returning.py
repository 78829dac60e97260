"""Values that return again and again: states of what is measured, or errors that are all alike.

Rain is often exactly 0, and a range finder ends at 5 m; a sensor that drops out is 0, too. A state
depends on everything else: where a column is in it, its fellows and neighbours in time predict values
near it. An error is dealt to rows at random. With all cells of returning values hidden, let ``L(v)`` be
the logarithm of the density that the panel gives value ``v`` of a cell, and

    phi = (mean L of undoubted cells - mean L of v where it is)
        / (mean L of undoubted cells - mean L of v elsewhere).

It is 0 for values that are predicted like any others, and 1 for those dealt at random. States also come
together: several columns at once (no light, hence no current), and row after row. Where a value comes
alone, errors need be no more than most of its cells; where it stays for a while, all of them. Where it
comes in the company of other columns' it is a state.

A value that is usually predicted like any other, and no end of the column's range, is neither: a
thermometer with steps of a tenth returns to all of them. And a state that stays may be visited by
errors, too (no light, and a light meter that drops out at noon). States come and go: they are visited
for one row about as often as for two. Where visits of one row are far more, and independent of all
else, those are cells like others.

The same value to the letter, dealt at random to many columns, to most of them equally often, is a code
of the device: where it is, nothing was measured, near as it may be to what should be there. It is one
in every column in which it returns, unless it stays there or comes far more often than elsewhere (no
light at night): then it may be one where it is visited for a single row. Of columns that have it
together it is one where a single column has it, if that is so of most.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rnlmf.opinions.columns import FEWEST_COMMON, SHARED, Columns
from rnlmf.opinions.densities import Witness, student_density
from rnlmf.opinions.evidence import CREDIBLE, ERRORS
from rnlmf.opinions.panel import Panel
from rnlmf.opinions.temporal import Sequence
from rnlmf.opinions.together import FAR_MORE
from rnlmf.opinions.verdict import FEWEST_COLUMNS
from rnlmf.typing import Array

# Among values that stay for a while, the least share of errors: no state is as independent of all else.
ALL_OF_THEM = 0.9
# A value stays if it follows on itself so many times as often as by chance. Columns have theirs
# together if a cell has more company of others than elsewhere, by so many standard errors.
STAYS, TOGETHER = 2.5, 4.0
# A value that fills more of a column is what the column is.
LARGEST_SHARE = 0.6
# Nothing can be said where a value dealt at random would hardly be noticed: in logarithms of densities.
NOTICED = 1.0
# No scale is known exactly.
FREEDOM = 4.0
# A value is predicted like any other if it usually is by this share.
LIKE_OTHERS = 0.25
# Visits of one row are no stays if there are so many times as many as of two rows, and independent of
# all else by this share, surely.
SINGLE, INDEPENDENT = 4.0, 0.75
# Of a column that nobody predicts better, in spreads, nothing can be said of where a value is.
PREDICTED = 0.7
# Columns have a value equally often if their numbers are so many standard errors apart, or less.
ALIKE = 2.0


def without_errors(columns: Columns, X: Array, Z: Array, sequence: Sequence | None) -> Columns:
    """Columns whose values that return are states; those dealt at random are cells like others."""
    groups = [
        (j, value, np.flatnonzero(X[:, j] == value))
        for j, values in enumerate(columns.common)
        for value in values
    ]
    groups = [(j, v, rows) for j, v, rows in groups if len(rows)]
    if not groups:
        return columns
    returning = np.zeros(Z.shape, dtype=bool)
    for j, _, rows in groups:
        returning[rows, j] = True
    hidden = np.isnan(Z) | columns.absurd(Z) | returning
    judged = ~hidden & ~columns.recurring(X, Z)
    witness = Panel.learn(Z, hidden, judged, columns, sequence)[1][0]
    right = _log_density(Z, witness)
    common = [list(values) for values in columns.common]
    brief: list[list[float]] = [[] for _ in common]
    fine: list[list[float]] = [[] for _ in common]
    dealt: list[list[float]] = [[] for _ in common]
    for j, value, rows in groups:
        own = judged[:, j]
        if not own.any():
            continue
        place = (value - columns.center[j]) / columns.spread[j]
        said = _log_density(place, Witness(witness.prediction[:, j], witness.scale[:, j]))
        usual = float(right[own, j].mean())
        noticed = usual - float(said[own].mean())
        if noticed < NOTICED:
            continue
        phi = (usual - said) / noticed
        inside = np.nanmin(X[:, j]) < value < np.nanmax(X[:, j])
        if inside and np.median(phi[rows]) < LIKE_OTHERS:
            fine[j].append(value)
        elif not _in_company(returning, j, rows) and _dealt(phi[rows], rows, len(X), sequence):
            common[j].remove(value)
            if np.median(witness.scale[:, j]) < PREDICTED:
                dealt[j].append(value)
        elif sequence is not None:
            single = _visits(rows)
            if len(single) and _surely(phi[single]) > INDEPENDENT:
                brief[j].append(value)
    cells_like_others = [
        set(values).difference(common[j], fine[j]) for j, values in enumerate(columns.common)
    ]
    shared = _states_elsewhere(groups, common, cells_like_others)
    dealt = [[v for v in values if v not in own] for values, own in zip(dealt, shared, strict=True)]
    levels = tuple(map(np.union1d, _arrays(common), shared))
    nothing, alone, visited = _codes(groups, _arrays(dealt), levels, returning, sequence)
    return replace(
        columns,
        common=levels,
        brief=tuple(map(np.union1d, brief, visited)),
        fine=_arrays(fine),
        nothing=nothing,
        alone=alone,
    )


def _states_elsewhere(
    groups: list[tuple[int, float, Array]], common: list[list[float]], dealt: list[set[float]]
) -> tuple[Array, ...]:
    """Values of every column that look dealt, but are states in many others, and not equally often.

    The end of the scale of all sensors (a range finder's 5 m) is reached by every one of them now and
    then, by some of them when nobody can tell; whoever deals out a value does so in all columns alike.
    """
    found: list[list[float]] = [[] for _ in dealt]
    for value in sorted(set().union(*dealt)):
        counts = {j: len(rows) for j, v, rows in groups if v == value}
        states = sum(value in common[j] for j in counts)
        some = [j for j in counts if value in dealt[j]]
        many = states >= max(SHARED * len(counts), FEWEST_COLUMNS)
        if many and not _alike(np.array([counts[j] for j in some])):
            for j in some:
                found[j].append(value)
    return _arrays(found)


def _codes(
    groups: list[tuple[int, float, Array]],
    dealt: tuple[Array, ...],
    states: tuple[Array, ...],
    returning: Array,
    sequence: Sequence | None,
) -> tuple[tuple[Array, ...], tuple[Array, ...], tuple[Array, ...]]:
    """Values of every column that mean nothing, that do so alone, and that may in a single row."""
    nothing: list[list[float]] = [[] for _ in dealt]
    alone: list[list[float]] = [[] for _ in dealt]
    single: list[list[float]] = [[] for _ in dealt]
    for code in np.unique(np.concatenate(dealt)):
        there = np.zeros(returning.shape, dtype=bool)
        for j, value, rows in groups:
            there[rows, j] |= value == code
        counts = there.sum(axis=0)
        yes = np.array([code in values for values in dealt]) & (counts >= FEWEST_COMMON)
        # Columns in which the value is a state have no say.
        told = yes | np.array([code not in values for values in states])
        if yes.sum() <= max(SHARED * told.sum(), FEWEST_COLUMNS - 1) or not _alike(counts[yes]):
            continue
        company = np.zeros(len(counts), dtype=bool)
        for j, value, rows in groups:
            company[j] |= value == code and _in_company(there, j, rows)
        there[:, company] &= there[:, company].sum(axis=1, keepdims=True) == 1
        usual = FAR_MORE * float(np.median(counts[yes]))
        mostly, counts = 2 * there.sum(axis=0) > counts, there.sum(axis=0)
        for j in map(int, np.flatnonzero(counts)):
            stays = sequence is not None and _stays(np.flatnonzero(there[:, j]), len(there))
            if mostly[j] and counts[j] <= usual and not stays:
                (alone if company[j] else nothing)[j].append(code)
            elif sequence is not None:
                single[j].append(code)
    return _arrays(nothing), _arrays(alone), _arrays(single)


def _alike(counts: Array) -> bool:
    """Whether most are the same but for chance."""
    usual = float(np.median(counts))
    return bool(np.mean(np.abs(counts - usual) < ALIKE * np.sqrt(usual)) > 0.5)


def _arrays(values: list[list[float]]) -> tuple[Array, ...]:
    return tuple(np.array(v, dtype=float) for v in values)


def _surely(phi: Array) -> float:
    """The mean, less what it might be overestimated by."""
    return float(phi.mean()) - ERRORS * float(np.std(phi)) / np.sqrt(len(phi))


def _dealt(phi: Array, rows: Array, n: int, sequence: Sequence | None) -> bool:
    """Whether cells of a value are errors, all of them or most."""
    if len(rows) >= LARGEST_SHARE * n:
        return False
    if sequence is None:
        # Without an order nobody knows whether it stays.
        return float(phi.mean()) > ALL_OF_THEM and _surely(phi) > CREDIBLE
    return _surely(phi) > (ALL_OF_THEM if _stays(rows, n) else CREDIBLE)


def _visits(rows: Array) -> Array:
    """Rows in which a value is there by itself, if they are too many for the ends of stays."""
    first = np.flatnonzero(np.diff(rows, prepend=-2) > 1)
    lengths = np.diff(first, append=len(rows))
    single, twice = int(np.sum(lengths == 1)), int(np.sum(lengths == 2))
    few = single < SINGLE * (twice + np.sqrt(twice) + 1.0)
    visits: Array = rows[first[lengths == 1]][: 0 if few else None]
    return visits


def _in_company(returning: Array, j: int, rows: Array) -> bool:
    """Whether other columns have returning values in the same rows, more than by chance."""
    others = returning.sum(axis=1) - returning[:, j]
    there = np.zeros(len(others), dtype=bool)
    there[rows] = True
    error = float(np.std(others)) * np.sqrt(1.0 / len(rows) + 1.0 / max(np.sum(~there), 1))
    return float(others[there].mean() - others[~there].mean()) > TOGETHER * error


def _stays(rows: Array, n: int) -> bool:
    """Whether rows follow on each other more often than scattered ones, or are left less often."""
    following, count = int(np.sum(np.diff(rows) == 1)), len(rows)
    often = following > STAYS * count**2 / n + ERRORS * count / np.sqrt(n)
    return often or STAYS * (count - following) < count * (1.0 - count / n)


def _log_density(Z: Array | float, witness: Witness) -> Array:
    relative = (Z - witness.prediction) / witness.scale
    density: Array = np.log(student_density(relative, FREEDOM)) - np.log(witness.scale)
    return density
