"""Is what looks wrong really wrong? What cannot be predicted need not be an error.

A wrong cell misleads: whoever believes it predicts its fellows worse. A right one, however surprising,
informs. So some cells under suspicion are believed, one in a row, and the loss of their fellows'
predictions is compared with that when they are not. How much worse it would be if they were all
wrong is known by an experiment: residuals of others with the other sign, put on cells that nobody
doubts; in sequences in the same places, for what is hidden around a cell decides how far it can
mislead. The ratio

    phi = harm of believing the suspects / harm of believing made-up errors

is near 1 where the suspects mislead as errors do, and 0 or less where they inform. A few may mislead by
chance: unless phi is high by two standard errors, nobody is taken to be wrong. Where most columns tell
errors plainly that is known already, and phi need only not speak against it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from rnlmf.opinions.densities import Witness
from rnlmf.opinions.panel import BY_TIME, mostly_hidden
from rnlmf.opinions.temporal import Sequence
from rnlmf.typing import Array

# From cells and which are hidden to what the panel says.
Testimony = Callable[[Array, Array], list[Witness]]

# A fellow's loss, in its scales, is bounded: one cell must not decide.
LARGEST_LOSS = 4.0
# Rows between two cells of one column that are believed at the same time.
APART = 6
REACH = 4
# With fewer suspects nothing can be said of a column by itself; they count as so many of all columns.
FEWEST = 10.0
# The share of the suspects that must be wrong before any is touched, and the standard errors by which
# it might be overestimated.
CREDIBLE, ERRORS = 0.5, 2.0


def misleading(
    Z: Array,
    suspects: Array,
    judged: Array,
    witnesses: list[Witness],
    testify: Testimony,
    sequence: Sequence | None,
    seed: int = 0,
    *,
    plain: bool = False,
) -> tuple[float, Array]:
    """``phi`` of all suspects together, and of every column (drawn to that of all).

    If it is `plain` that there are errors, `phi` need not be high for sure.
    """
    rng = np.random.RandomState(seed)
    believed = _one_in_a_row(suspects & judged, sequence, rng)
    if not believed.any():
        return 0.0, np.zeros(Z.shape[1])
    scales = [witness.scale for witness in witnesses]
    residual = Z - witnesses[0].prediction
    real, of_column = _harm(Z, suspects, believed, judged, scales, testify, sequence)

    made_up = believed if sequence is not None else _elsewhere(believed, judged & ~suspects, rng)
    spoiled = Z.copy()
    for j in range(Z.shape[1]):
        rows, source = np.flatnonzero(made_up[:, j]), residual[believed[:, j], j]
        if len(rows):
            drawn = -rng.permutation(source)[: len(rows)]
            spoiled[rows, j] = witnesses[0].prediction[rows, j] + drawn
    fake, of_fake = _harm(spoiled, suspects, made_up, judged, scales, testify, sequence)
    if not len(fake) or fake.mean() <= 0.0:
        return 0.0, np.zeros(Z.shape[1])
    overall = float(real.mean() / fake.mean())
    m = Z.shape[1]
    surely = plain or _surely_more(real, CREDIBLE * fake, paired=sequence is not None)
    if overall >= CREDIBLE and not surely:
        return 0.0, np.zeros(m)
    counts, reals, variances = _of_columns(real, of_column, m)
    fakes, expected, of_expected = _of_columns(fake, of_fake, m)
    # A column whose errors would hardly be felt by others is judged by all.
    weight = counts * (expected > 0.25 * fake.mean())
    own = reals / np.where(expected > 0.0, expected, 1.0)
    shares = (weight * own + FEWEST * overall) / (weight + FEWEST)
    # A column is an exception to the others only where that is no chance: of many columns with a few
    # suspects each, some always seem to be.
    chances = counts if sequence is None else _independent(believed, suspects)
    errors = student.isf(norm.sf(ERRORS) / m, np.maximum(chances - 1, 1))
    variance = variances / np.maximum(chances, 1) + CREDIBLE**2 * of_expected / np.maximum(fakes, 1)
    more, by_chance = reals - CREDIBLE * expected, errors * np.sqrt(variance)
    if overall >= CREDIBLE:
        shares = np.where(more < -by_chance, shares, np.maximum(shares, CREDIBLE))
    else:
        shares = np.where(more > by_chance, shares, np.minimum(shares, overall))
    return overall, shares


def _of_columns(values: Array, columns: Array, m: int) -> tuple[Array, Array, Array]:
    """How many every column has, their mean, and their variance."""
    counts = np.bincount(columns, minlength=m)
    means = np.bincount(columns, values, minlength=m) / np.maximum(counts, 1)
    squares = np.bincount(columns, (values - means[columns]) ** 2, minlength=m)
    return counts, means, squares / np.maximum(counts - 1, 1)


def _surely_more(some: Array, others: Array, paired: bool) -> bool:
    """Whether some are more than others on average, and not by chance; `paired` at the same places."""
    if paired:
        variance = float(np.var(some - others)) / len(some)
    else:
        variance = float(np.var(some)) / len(some) + float(np.var(others)) / len(others)
    return float(some.mean() - others.mean()) > ERRORS * np.sqrt(variance)


def _elsewhere(believed: Array, free: Array, rng: np.random.RandomState) -> Array:
    """As many cells of every column that nobody doubts, one in a row."""
    chosen = np.zeros_like(believed)
    for j, count in enumerate(believed.sum(axis=0)):
        rows = np.flatnonzero(free[:, j] & ~chosen.any(axis=1))
        chosen[rng.permutation(rows)[: min(int(count), len(rows) // 2)], j] = True
    return chosen


def _one_in_a_row(cells: Array, sequence: Sequence | None, rng: np.random.RandomState) -> Array:
    chosen = np.zeros_like(cells)
    keys = np.where(cells, rng.random_sample(cells.shape), -1.0)
    rows = np.flatnonzero(cells.any(axis=1))
    chosen[rows, keys[rows].argmax(axis=1)] = True
    if sequence is not None:
        # In a bad row there is nobody to mislead but the neighbours in time, each column its own.
        bad = mostly_hidden(cells)
        chosen[bad] = cells[bad]
        for j in range(cells.shape[1]):
            last = -APART
            for i in np.flatnonzero(chosen[:, j]):
                if i - last < APART:
                    chosen[i, j] = False
                else:
                    last = int(i)
    return chosen


def _independent(believed: Array, suspects: Array) -> Array:
    """How many are believed of every column, those of one stretch of suspects counted once."""
    free = np.cumsum(~suspects, axis=0)
    return np.array([len(np.unique(free[rows, j])) for j, rows in enumerate(believed.T)])


def _harm(
    Z: Array,
    suspects: Array,
    believed: Array,
    judged: Array,
    scales: list[Array],
    testify: Testimony,
    sequence: Sequence | None,
) -> tuple[Array, Array]:
    """What believing some cells costs their fellows, and the cells' columns."""

    def losses(hidden: Array) -> list[Array]:
        said = zip(testify(Z, hidden), scales, strict=True)
        return [np.minimum(np.abs(Z - w.prediction) / s, LARGEST_LOSS) for w, s in said]

    fellows = judged & ~suspects & ~believed
    changes = [
        np.where(fellows, with_them - without, 0.0)
        for with_them, without in zip(
            losses(suspects & ~believed), losses(suspects | believed), strict=True
        )
    ]
    rows, columns = np.nonzero(believed)
    harm = changes[0][rows].sum(axis=1)
    if sequence is not None:
        # Who is in a bad row misleads what is said by time alone, however well fellows know it.
        bad = mostly_hidden(suspects)[rows]
        for offset in range(-REACH, REACH + 1):
            beside = np.clip(rows + offset, 0, len(Z) - 1)
            harm += np.where(bad, changes[BY_TIME][beside, columns], changes[0][beside, columns])
    return harm, columns
