"""Errors that are put into right data. Every function gives the noisy data and which cells are wrong.

What is measured against the truth may also be fewer rows of it, or rows in another order: then the
truth is returned too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.unseen.sets import some_rows
from rnlmf import datasets
from rnlmf.typing import Array


class Spoiled(NamedTuple):
    """Truth, data with errors, and where they are."""

    truth: Array
    noisy: Array

    @property
    def wrong(self) -> Array:
        """Cells that are not the truth."""
        return self.truth != self.noisy


Noise = Callable[[Array, np.random.Generator], Spoiled]


def clean(X: Array, rng: np.random.Generator) -> Spoiled:
    return Spoiled(X, X.copy())


def clean_stretch(X: Array, rng: np.random.Generator) -> Spoiled:
    """300 rows one after the other."""
    first = int(rng.integers(max(len(X) - 300, 1)))
    part = X[first : first + 300]
    return clean(part[:, part.std(axis=0) > 0.0], rng)


def clean_few(X: Array, rng: np.random.Generator) -> Spoiled:
    """300 rows drawn at random."""
    part = X[np.sort(rng.permutation(len(X))[:300])]
    return clean(part[:, part.std(axis=0) > 0.0], rng)


def _sizes(X: Array, rng: np.random.Generator) -> Array:
    return rng.choice([-1, 1], X.shape) * rng.uniform(1, 8, X.shape) * X.std(axis=0)


def spikes(share: float) -> Noise:
    """Cells off by one to eight deviations of their column."""

    def put(X: Array, rng: np.random.Generator) -> Spoiled:
        wrong = rng.random(X.shape) < share
        return Spoiled(X, X + np.where(wrong, _sizes(X, rng), 0.0))

    return put


def swapped(share: float) -> Noise:
    """Cells with another row's value of the same column."""

    def put(X: Array, rng: np.random.Generator) -> Spoiled:
        others = np.stack([rng.permutation(column) for column in X.T], axis=1)
        return Spoiled(X, np.where(rng.random(X.shape) < share, others, X))

    return put


def uniform(share: float) -> Noise:
    """Cells anywhere in the range of their column."""

    def put(X: Array, rng: np.random.Generator) -> Spoiled:
        anywhere = rng.uniform(X.min(axis=0), X.max(axis=0), X.shape)
        return Spoiled(X, np.where(rng.random(X.shape) < share, anywhere, X))

    return put


def slips(share: float) -> Noise:
    """Cells with the decimal point one place to the left or to the right."""

    def put(X: Array, rng: np.random.Generator) -> Spoiled:
        wrong = rng.random(X.shape) < share
        return Spoiled(X, X * np.where(wrong, rng.choice([0.1, 10.0], X.shape), 1.0))

    return put


def zeros(share: float) -> Noise:
    """Cells that are zero."""

    def put(X: Array, rng: np.random.Generator) -> Spoiled:
        return Spoiled(X, np.where(rng.random(X.shape) < share, 0.0, X))

    return put


def _stretches(X: Array, rng: np.random.Generator, share: float, length: int) -> Array:
    wrong = np.zeros(X.shape, dtype=bool)
    count = int(share * X.size / length)
    rows, columns = rng.integers(0, len(X) - length, count), rng.integers(0, X.shape[1], count)
    for i, j in zip(rows, columns, strict=True):
        wrong[i : i + length, j] = True
    return wrong


def bursts(share: float, length: int = 10) -> Noise:
    """Stretches of spikes."""

    def put(X: Array, rng: np.random.Generator) -> Spoiled:
        wrong = _stretches(X, rng, share, length)
        return Spoiled(X, X + np.where(wrong, _sizes(X, rng), 0.0))

    return put


def offset(share: float, length: int = 20) -> Noise:
    """Stretches in which a column is off by its whole range."""

    def put(X: Array, rng: np.random.Generator) -> Spoiled:
        return Spoiled(X, X + np.where(_stretches(X, rng, share, length), np.ptp(X, axis=0), 0.0))

    return put


def stuck(share: float, length: int = 40) -> Noise:
    """Stretches in which a sensor repeats its last value."""

    def put(X: Array, rng: np.random.Generator) -> Spoiled:
        noisy, count = X.copy(), int(share * X.size / length)
        for _ in range(count):
            i, j = rng.integers(1, len(X) - length), rng.integers(X.shape[1])
            noisy[i : i + length, j] = noisy[i - 1, j]
        return Spoiled(X, noisy)

    return put


def dead(share: float) -> Noise:
    """Columns that are zero in half of the rows."""

    def put(X: Array, rng: np.random.Generator) -> Spoiled:
        noisy = X.copy()
        for j in rng.choice(X.shape[1], max(1, round(share * X.shape[1])), replace=False):
            noisy[len(X) // 2 :, j] = 0.0
        return Spoiled(X, noisy)

    return put


def bad_rows(share: float) -> Noise:
    """Rows that are noise of each column's mean and deviation."""

    def put(X: Array, rng: np.random.Generator) -> Spoiled:
        noisy, rows = X.copy(), rng.choice(len(X), round(share * len(X)), replace=False)
        noisy[rows] = X.mean(axis=0) + X.std(axis=0) * rng.standard_normal((len(rows), X.shape[1]))
        return Spoiled(X, noisy)

    return put


def as_in_the_paper(share: float) -> Noise:
    """Normal noise of the deviation of all entries."""

    def put(X: Array, rng: np.random.Generator) -> Spoiled:
        seed = int(rng.integers(1 << 30))
        return Spoiled(X, datasets.corrupt_entries(X, share, random_state=seed))

    return put


def shuffled(noise: Noise) -> Noise:
    """Rows in another order."""

    def put(X: Array, rng: np.random.Generator) -> Spoiled:
        return noise(X[rng.permutation(len(X))], rng)

    return put


def few(noise: Noise, count: int = 300) -> Noise:
    """The first rows only, or some of a table."""

    def put(X: Array, rng: np.random.Generator) -> Spoiled:
        part = some_rows(X, count)
        return noise(part[:, part.std(axis=0) > 0.0], rng)

    return put


def wild(noise: Noise, value: float, share: float | None = None) -> Noise:
    """Other errors, and one value, or a share, so many deviations away: the rest is what counts."""

    def put(X: Array, rng: np.random.Generator) -> Spoiled:
        spoiled = noise(X, rng)
        count = 1 if share is None else round(share * X.size)
        places = rng.choice(X.size, count, replace=False)
        noisy = spoiled.noisy.copy()
        noisy.reshape(-1)[places] = value * X.std(axis=0)[places % X.shape[1]]
        return Spoiled(spoiled.truth, noisy)

    return put


def salt(X: Array, rng: np.random.Generator) -> Spoiled:
    return Spoiled(X, datasets.salt_and_pepper(X, random_state=int(rng.integers(1 << 30))))


def occluded(X: Array, rng: np.random.Generator) -> Spoiled:
    side = round(X.shape[1] ** 0.5)
    return Spoiled(X, datasets.occlude(X, (side, side), random_state=int(rng.integers(1 << 30))))


def salt_and_occluded(X: Array, rng: np.random.Generator) -> Spoiled:
    return Spoiled(X, occluded(salt(X, rng).noisy, rng).noisy)


def uniform_pixels(share: float) -> Noise:
    """Pixels anywhere between black and white."""

    def put(X: Array, rng: np.random.Generator) -> Spoiled:
        anywhere = rng.uniform(X.min(), X.max(), X.shape)
        return Spoiled(X, np.where(rng.random(X.shape) < share, anywhere, X))

    return put


NOISES: dict[str, dict[str, Noise]] = {
    "table": {
        "clean": clean,
        "clean, 300 rows": clean_few,
        "spikes .05": spikes(0.05),
        "swapped .1": swapped(0.1),
        "spikes .05, 300 rows": few(spikes(0.05)),
        "bad rows .05": bad_rows(0.05),
        "uniform .1": uniform(0.1),
        "slips .05": slips(0.05),
        "zeros .05": zeros(0.05),
    },
    "sequence": {
        "clean": clean,
        "clean, 300 rows": clean_stretch,
        "spikes .05": spikes(0.05),
        "spikes .2": spikes(0.2),
        "bursts .05": bursts(0.05),
        "stuck .05": stuck(0.05),
        "shuffled, spikes .05": shuffled(spikes(0.05)),
        "offset .05": offset(0.05),
        "swapped .1": swapped(0.1),
        "bad rows .05": bad_rows(0.05),
        "zeros .05": zeros(0.05),
    },
    "motion": {
        "clean": clean,
        "clean, 300 rows": clean_stretch,
        "paper .1": as_in_the_paper(0.1),
        "paper .3": as_in_the_paper(0.3),
        "uniform .1": uniform(0.1),
        "bursts .05": bursts(0.05),
        "offset .05": offset(0.05),
        "swapped .1": swapped(0.1),
        "dead .05": dead(0.05),
        "stuck .05": stuck(0.05),
        "bad rows .05": bad_rows(0.05),
    },
    "image": {
        "clean": clean,
        "clean, 300 rows": clean_few,
        "salt and pepper": salt,
        "occlusion": occluded,
        "both": salt_and_occluded,
        "paper .1": as_in_the_paper(0.1),
        "paper .3": as_in_the_paper(0.3),
        "uniform .1": uniform_pixels(0.1),
    },
    "synthetic": {"clean": clean, "paper .3": as_in_the_paper(0.3)},
}
# Put into every set, on top of what it usually has: the rest must be cleaned as well.
USUAL = {
    "table": "spikes .05",
    "sequence": "spikes .05",
    "motion": "paper .1",
    "image": "salt and pepper",
    "synthetic": "paper .3",
}
WILD = {
    f"{'one' if share is None else '1% of'} {value:g}": (value, share)
    for value in (100.0, 1e5, -9999.0, 1e30)
    for share in (None, 0.01)
}
for _kind, _usual in USUAL.items():
    for _name, (_value, _share) in WILD.items():
        NOISES[_kind][f"wild: {_name}"] = wild(NOISES[_kind][_usual], _value, _share)
