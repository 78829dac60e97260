"""Linear relations between pixels, which share a unit and mostly stand beside those they are like.

Images are few, pixels many: their covariance ``C`` is known badly. What is known well is how alike two
pixels are that are ``d`` columns apart, as the mean over all such pairs,

    rho(d) = sum_j C_{j, j+d} / sum_j s_j s_{j+d},    s_j^2 = C_jj.

In a raster of any width it has its peaks at the neighbours to the side and, a line farther, above and
below; nobody needs to know the width, and where the order of columns means nothing ``rho`` is about
zero. Relations are learned from ``(1 - a) C + a T + r I`` with ``T_jk = s_j s_k rho(|j - k|)``, a
linear shrinkage (Ledoit and Wolf 2004) to a stationary target; ``a`` and ``r`` predict other rows best.
There is one ``r`` for all pixels in their common unit: one that is nearly always black is no finer than
the others.

With fewer images than pixels, relations remember the errors of the rows they were learned from. So
there are two, each from one half of the rows, and a row is told by the half that has not seen it. Which
half a row belongs to is decided by a digest of its content: that holds for new rows as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from scipy.linalg import toeplitz

from rnlmf.opinions.columns import LARGEST
from rnlmf.opinions.linear import LinearOpinion, fill, row_weights
from rnlmf.typing import Array

# Shares of the target, and ridges in mean variances of pixels.
SHARES = (0.0, 0.1, 0.3, 0.6)
RIDGES = (1e-1, 3e-2, 1e-2, 1e-3, 1e-4)
FIRST_SHARE, FIRST_RIDGE = 0.3, 1e-2
# The target's correlations come from means of others and need not be those of any image; no mixture of
# pixels varies less than this.
LEAST_VARIANCE = 1e-3
FILLINGS = 2
# Pixels that are near: this share of all.
NEAR = 1.0 / 16.0
# Pixels around one.
NEIGHBOURS = 8
# Digits of a cell, in spreads, that its row is known by: data in other units are halved alike.
DIGITS = 6


def digests(Z: Array, turn: int = 0) -> Array:
    """A number between 0 and 1 for every row, by its content alone, another one at every turn."""
    rows = np.round(np.nan_to_num(Z), DIGITS) + 0.0
    salt = turn.to_bytes(2, "big")
    numbers = [blake2b(row.tobytes(), digest_size=4, salt=salt).digest() for row in rows]
    return np.array([int.from_bytes(number, "big") for number in numbers]) / 2.0**32


def halves(Z: Array) -> Array:
    """Which rows belong to the second half, each by itself."""
    return digests(Z) < 0.5


def _by_distance(C: Array, s: Array) -> Array:
    """``rho``: mean correlation of pixels that are so many columns apart."""
    m = len(C)
    distance = np.abs(np.subtract.outer(np.arange(m), np.arange(m))).ravel()
    together = np.bincount(distance, np.outer(s, s).ravel())
    alike: Array = np.bincount(distance, C.ravel()) / np.maximum(together, 1e-12)
    return alike


def stationary(C: Array) -> Array:
    """The covariance with the variances of `C` whose correlations depend on the distance alone.

    A circulant matrix that holds them has the eigenvalues of its Fourier transform: none is negative.
    """
    m, s = len(C), np.sqrt(np.diag(C))
    alike = _by_distance(C, s)
    values = np.fft.rfft(np.r_[alike, 0.0, alike[:0:-1]]).real
    alike = np.fft.irfft(np.maximum(values, LEAST_VARIANCE))[:m]
    target: Array = toeplitz(alike / alike[0]) * np.outer(s, s)
    return target


def likeness(Z: Array, hidden: Array) -> Array:
    """``rho`` of cells that are not hidden, by distance along the columns."""
    known = np.maximum((~hidden).sum(axis=0), 1)
    A = np.where(hidden, 0.0, Z - np.where(hidden, 0.0, Z).sum(axis=0) / known)
    C = A.T @ A
    return _by_distance(C, np.sqrt(np.diag(C)))


def neighbours(alike: Array, count: int = NEIGHBOURS) -> Array:
    """Of every column those whose distance makes them most `alike`, (m, count)."""
    return _nearest(alike, min(count + 1, len(alike)))[:, 1:]


def distances(alike: Array, count: int) -> Array:
    """At which columns are most `alike`; farther than half of all there are few pairs to tell."""
    return 1 + np.argsort(-alike[1 : 1 + len(alike) // 2], kind="stable")[:count]


def _nearest(alike: Array, count: int) -> Array:
    """Of every column those at the distances that are most `alike`, itself first."""
    m = len(alike)
    distance = np.abs(np.subtract.outer(np.arange(m), np.arange(m)))
    rank = np.argsort(np.argsort(-np.r_[np.inf, alike[1:]], kind="stable"))
    return np.argsort(rank[distance], axis=1, kind="stable")[:, :count]


@dataclass(frozen=True)
class Relations:
    """Learned from either half of the rows, each asked about the rows of the other."""

    first: LinearOpinion | FromAfar
    second: LinearOpinion | FromAfar

    @classmethod
    def learn(cls, Z: Array, hidden: Array, *, like: Array | None = None) -> Relations:
        """From rows with hidden cells; what is chosen predicts the cells of the other half best.

        Rows belong to the half that they are in, or that of rows that they are `like`.
        """
        known = ~hidden
        total = np.maximum(known.sum(axis=0), 1)
        mean = np.where(hidden, 0.0, Z).sum(axis=0) / total
        A = np.where(hidden, 0.0, Z - mean)
        unit = float(np.sqrt(np.mean((A**2).sum(axis=0) / total))) or 1.0
        A /= unit
        weights = row_weights(A, known)
        identity = np.eye(Z.shape[1])

        def mixed(C: Array, T: Array, share: float, ridge: float) -> Array:
            return np.linalg.inv((1.0 - share) * C + share * T + ridge * identity)

        second, parts = halves(Z if like is None else like), []
        for part in (~second, second):
            rows, w, gaps = A[part], weights[part], hidden[part]
            seen = (~gaps).astype(float)
            C = (rows * w).T @ rows / np.maximum((seen * w).T @ seen, 1.0)
            if gaps.any():
                values, vectors = np.linalg.eigh(C)
                C = (vectors * np.maximum(values, 0.0)) @ vectors.T
            for _ in range(FILLINGS if gaps.any() else 0):
                filled, rest = fill(rows, gaps, mixed(C, stationary(C), FIRST_SHARE, FIRST_RIDGE))
                C = (filled * w).T @ filled / max(float(w.sum()), 1e-9) + rest / max(len(rows), 1)
            parts.append((C, stationary(C), A[~part], known[~part]))

        def loss(share: float, ridge: float) -> float:
            off = 0.0
            for own, target, rows, seen in parts:
                P = mixed(own, target, share, ridge)
                off += float(np.abs(rows @ P / np.diag(P))[seen].sum())
            return off

        share = min(SHARES, key=lambda share: loss(share, FIRST_RIDGE))
        ridge = min(RIDGES, key=lambda ridge: loss(share, ridge))
        far, units = np.full(Z.shape[1], LARGEST), np.full(Z.shape[1], unit)
        one, other = (
            LinearOpinion(mean, units, mixed(own, target, share, ridge), -far, far)
            for own, target, _, _ in parts
        )
        return cls(one, other)

    def predict(self, Z: Array, hidden: Array, *, like: Array | None = None) -> tuple[Array, Array]:
        """Every cell from those of its row that are not hidden, itself left out; and its deviation.

        Rows belong to the half that they are in, or that of rows that they are `like`.
        """
        second = halves(Z if like is None else like)
        prediction, deviation = np.empty(Z.shape), np.empty(Z.shape)
        for opinion, rows in ((self.second, ~second), (self.first, second)):
            prediction[rows], deviation[rows] = opinion.predict(Z[rows], hidden[rows])
        return prediction, deviation

    def from_afar(self) -> Relations:
        """The same, with predictions by pixels that are not near."""
        assert isinstance(self.first, LinearOpinion)
        assert isinstance(self.second, LinearOpinion)
        return Relations(_from_afar(self.first), _from_afar(self.second))


@dataclass(frozen=True)
class FromAfar:
    """What a pixel should be by those that are not near it, which may be spoiled together with it.

    With ``N`` the pixels near ``j`` and ``P`` the precision, the conditional mean of ``z_j`` given the
    others is ``-(P_NN^-1)_j P_NO z_O``: one row of weights for every pixel.
    """

    relations: LinearOpinion
    weights: Array
    deviation: Array

    def predict(self, Z: Array, hidden: Array) -> tuple[Array, Array]:
        """Every cell from those far from it; hidden ones are what the others say of them."""
        relations = self.relations
        filled = np.where(hidden, relations.predict(Z, hidden)[0], Z) if hidden.any() else Z
        A = (filled - relations.mean) / relations.scale
        prediction = A @ self.weights.T * relations.scale + relations.mean
        return prediction, np.broadcast_to(self.deviation, Z.shape)


def _from_afar(relations: LinearOpinion) -> FromAfar:
    """Near are the pixels whose distance along the columns makes them most alike."""
    P = relations.precision
    m, C = len(P), np.linalg.inv(P)
    alike = _by_distance(C, np.sqrt(np.diag(C)))
    near = _nearest(alike, max(1, round(NEAR * m)))
    weights, deviation = np.empty((m, m)), np.empty(m)
    for j, N in enumerate(near):
        inverse = np.linalg.inv(P[np.ix_(N, N)])[0]
        weights[j], deviation[j] = -inverse @ P[N], inverse[0]
        weights[j, N] = 0.0
    return FromAfar(relations, weights, np.sqrt(deviation) * relations.scale)
