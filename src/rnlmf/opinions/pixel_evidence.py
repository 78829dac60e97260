"""Are the suspects of images errors? An error misleads whoever believes it, a right surprise informs.

Let ``h_i`` be how much worse the undoubted pixels of row ``i`` are predicted, in absolute values, if
its suspects are believed instead of hidden, and ``e_i`` by how much these are off, together. The same
values, put into the same places of rows where nobody is suspected, are errors: they do the harm ``h'``
and are off by ``e'``. So

    phi = (sum h / sum e) / (sum h' / sum e')

is 1 where the suspects mislead as errors do, and 0 or less where they inform. Relations are those of
the cells as they are, learned from the other half of the rows: without the suspects they would know
nothing of right surprises, and what they have seen they remember. Unless `phi` is above one half, by
two standard errors, nothing is touched. Pixels of a block that are not far off are not suspected, and
gain by believing the others. But right surprises seldom are equal to the bit: where most suspects of a
row are, they need not mislead by more than a quarter of what errors would.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rnlmf.opinions.evidence import CREDIBLE, ERRORS
from rnlmf.opinions.pixel_relations import Relations
from rnlmf.opinions.pixel_scale import Scale
from rnlmf.typing import Array

# Rows with suspects that are asked; more do not change the answer. With fewer free of them, others
# receive the made-up errors too, with their own suspects hidden.
MOST_ROWS, FEWEST_FREE = 300, 30
# Suspects repeat a value if more than this share of those in a row are equal; then less harm will do.
REPEATED, CREDIBLE_IF_REPEATED = 0.5, 0.25


class PixelEvidence(NamedTuple):
    """Harm by suspects over that by made-up errors, and whether it is high for sure."""

    phi: float
    credible: bool


def misleading(
    Z: Array,
    suspects: Array,
    missing: Array,
    relations: Relations,
    scale: Scale,
) -> PixelEvidence:
    """What the suspects of rows do to the other pixels, compared with errors."""
    rng = np.random.RandomState(0)
    rows = np.flatnonzero(suspects.any(axis=1))
    if len(rows) < 2:
        return PixelEvidence(0.0, credible=False)
    rows = np.sort(rng.permutation(rows)[:MOST_ROWS])
    free = np.flatnonzero(~suspects.any(axis=1))
    if len(free) < FEWEST_FREE:
        free = np.arange(len(Z))
    others = np.resize(rng.permutation(free), len(rows))
    put = suspects[rows] & ~suspects[others] & ~missing[others]

    real, size = harm(Z[rows], suspects[rows], missing[rows], relations, scale)
    spoiled = np.where(put, Z[rows], Z[others])
    # A row with made-up errors belongs to the half that it had without them.
    hidden = missing[others] | suspects[others]
    made_up, made_size = harm(spoiled, put, hidden, relations, scale, like=Z[others])
    if made_up.sum() <= 0.0 or size.sum() <= 0.0:
        return PixelEvidence(0.0, credible=False)
    rate = made_up.sum() / made_size.sum()
    phi = float(real.sum() / (rate * size.sum()))
    least = CREDIBLE_IF_REPEATED if repeated(Z[rows], suspects[rows]) > REPEATED else CREDIBLE
    more = real - least * rate * size
    unsure = least * (made_up - rate * made_size) * (size.sum() / made_size.sum())
    error = float(np.hypot(np.linalg.norm(more), np.linalg.norm(unsure)))
    return PixelEvidence(phi, credible=bool(more.sum() > ERRORS * error))


def harm(
    Z: Array,
    believed: Array,
    hidden: Array,
    relations: Relations,
    scale: Scale,
    *,
    like: Array | None = None,
) -> tuple[Array, Array]:
    """What believing some cells costs the others of every row, and by how much they are off."""
    without = scale.clipped(relations.predict(Z, hidden | believed, like=like)[0])
    with_them = scale.clipped(relations.predict(Z, hidden, like=like)[0])
    off = np.abs(Z - without)
    worse = np.where(believed | hidden, 0.0, np.abs(Z - with_them) - off)
    return worse.sum(axis=1), np.where(believed, off, 0.0).sum(axis=1)


def where_harmful(
    P: Array, Z: Array, missing: Array, relations: Relations, scale: Scale, like: Array
) -> Array:
    """Probabilities that cells are wrong, but none in rows which the suspects inform."""
    suspects = P > 0.5
    rows = np.flatnonzero(suspects.any(axis=1))
    asked = Z[rows], suspects[rows], missing[rows]
    worse, _ = harm(*asked, relations, scale, like=like[rows])
    kept = P.copy()
    kept[rows[worse <= 0.0]] = 0.0
    return kept


def repeated(Z: Array, suspects: Array) -> float:
    """Share of the suspects that have the most common value of those in their row, of several."""
    most = total = 0
    for row, mask in zip(Z, suspects, strict=True):
        values = row[mask]
        if len(values) > 1:
            most += int(np.unique(values, return_counts=True)[1].max())
            total += len(values)
    return most / max(total, 1)
