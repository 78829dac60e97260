"""Choosing parameters without ground truth: predict entries that were held out.

Groups of related entries are hidden, treated as missing, and predicted. Part of what was hidden is
itself corrupted, so residuals ``r`` are scored robustly, by the mean of

    min(|r| / (2 s), 1),

with ``s`` the data's standard deviation: a corrupted entry costs at most 1, whatever its size, and the
cost of a clean one grows with its distance all the way. A loss that is flat from a fraction of ``s`` on
would, where no model predicts well (handwriting), prefer one that is often exact and otherwise far off.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_array, check_random_state
from sklearn.utils.parallel import Parallel, delayed

Array = npt.NDArray[Any]

HIDDEN_SHARE = 0.05
# Share of the features that is hidden of a sample, all related to each other. Corruptions often come
# in groups (an occluded region): were a single entry hidden, the corrupted ones around it would give it
# away, and a model that keeps corruptions would be rewarded.
GROUP_SHARE = 0.25
# Residuals beyond so many standard deviations of the data are all as bad.
LARGEST_RESIDUAL = 2.0
# Samples that are predicted, and samples that are fitted to; more do not change a choice.
SCORED_SAMPLES = 2000
FITTED_SAMPLES = 20_000
BOOTSTRAPS = 200


def spread_of(X: Array) -> float:
    """Root mean square of the features' standard deviations; NaN is a missing value."""
    Z = X.astype(np.float64)
    magnitude = float(np.nanmax(np.abs(Z), initial=0.0)) or 1.0
    return magnitude * float(np.sqrt(np.nanvar(Z / magnitude, axis=0).mean()))


def losses(predicted: Array, observed: Array, spread: float) -> Array:
    """Robust loss of every entry, between 0 and 1."""
    sizes = np.abs(predicted.astype(np.float64) - observed) / (LARGEST_RESIDUAL * spread or 1.0)
    scores: Array = np.minimum(sizes, 1.0)
    return scores


def related_features(X: Array, rng: np.random.RandomState) -> Array:
    """For every feature all features, the most correlated first (itself being the very first)."""
    rows = rng.choice(len(X), min(len(X), SCORED_SAMPLES), replace=False)
    Z = X[np.sort(rows)].astype(np.float64)
    Z /= float(np.nanmax(np.abs(Z), initial=0.0)) or 1.0
    with warnings.catch_warnings():
        # A feature may have no value in these rows.
        warnings.simplefilter("ignore", RuntimeWarning)
        Z -= np.nanmean(Z, axis=0)
    Z = np.nan_to_num(Z)
    norms = np.linalg.norm(Z, axis=0)
    Z /= np.where(norms > 0.0, norms, 1.0)
    correlation = np.abs(Z.T @ Z)
    np.fill_diagonal(correlation, np.inf)
    order: Array = np.argsort(-correlation, axis=1, kind="stable")
    return order


@dataclass(frozen=True)
class HeldOut:
    """Noisy samples with some of their entries hidden."""

    samples: Array
    hidden: Array
    truth: Array

    @classmethod
    def draw(cls, X: Array, rng: np.random.RandomState, share: float = HIDDEN_SHARE) -> HeldOut:
        """Hide groups of related features of random samples; every sample and feature keeps some."""
        n, m = X.shape
        group = max(1, round(GROUP_SHARE * m))
        count = min(n, max(1, round(share * n * m / group)))
        rows = rng.choice(n, count, replace=False)
        hidden = np.zeros(X.shape, dtype=bool)
        hidden[rows[:, None], related_features(X, rng)[rng.randint(m, size=count), :group]] = True
        return cls.without(X, hidden)

    @classmethod
    def scattered(cls, X: Array, rng: np.random.RandomState, share: float = HIDDEN_SHARE) -> HeldOut:
        """Hide single entries anywhere; every sample and feature keeps some."""
        return cls.without(X, rng.random_sample(X.shape) < share)

    @classmethod
    def without(cls, X: Array, hidden: Array) -> HeldOut:
        """Samples without the `hidden` entries, as far as every sample and feature keeps some."""
        hidden = hidden & ~np.isnan(X)
        left = ~np.isnan(X) & ~hidden
        hidden[~left.any(axis=1)] = False
        hidden[:, ~left.any(axis=0)] = False
        samples = X.copy()
        samples[hidden] = np.nan
        return cls(samples, hidden, X)

    def scored(self) -> HeldOut:
        """At most `SCORED_SAMPLES` of the samples that have hidden entries."""
        rows = np.flatnonzero(self.hidden.any(axis=1))
        rows = rows[:: -(-len(rows) // SCORED_SAMPLES) or 1]
        return HeldOut(self.samples[rows], self.hidden[rows], self.truth[rows])

    def losses(self, denoise: Callable[[Array], Array]) -> Array:
        """Mean losses of the predictions of hidden entries, for each of the scored samples."""
        some = self.scored()
        return some.losses_of(denoise(some.samples), spread_of(self.truth))

    def losses_of(self, predicted: Array, spread: float) -> Array:
        """The same of given predictions. Entries of a sample are related; samples hardly are."""
        values = losses(predicted[self.hidden], self.truth[self.hidden], spread)
        rows = np.nonzero(self.hidden)[0]
        means: Array = np.bincount(rows, values) / np.bincount(rows)
        return means


def confidence(table: Sequence[Array], chosen: int, rng: np.random.RandomState) -> float:
    """How often the chosen candidate has the lowest mean loss when the scored samples are redrawn."""
    stacked = np.stack(table)
    n = stacked.shape[1]
    draws = rng.multinomial(n, np.full(n, 1.0 / n), size=BOOTSTRAPS)
    return float(np.mean(np.argmin(stacked @ draws.T, axis=0) == chosen))


@dataclass
class GridWalk:
    """Search on a grid from a start, one axis after the other, step by step, while the loss falls.

    Parameters
    ----------
    evaluate : callable
        Losses of a point.
    axes : dict of str to sequence of float
        Values of every parameter, in order; axes are searched in this order.
    """

    evaluate: Callable[[dict[str, float]], Array]
    axes: Mapping[str, Sequence[float]]
    table: dict[tuple[int, ...], Array] = field(default_factory=dict)
    refused: set[tuple[int, int, int]] = field(default_factory=set)

    def point(self, index: tuple[int, ...]) -> dict[str, float]:
        return {name: values[i] for (name, values), i in zip(self.axes.items(), index, strict=True)}

    def mean_loss(self, index: tuple[int, ...]) -> float:
        if index not in self.table:
            self.table[index] = self.evaluate(self.point(index))
        return float(self.table[index].mean())

    def run(self, start: tuple[int, ...]) -> tuple[int, ...]:
        """Index of a point that is better than its neighbours, as far as they were tried."""
        best = start
        while True:
            before = best
            for axis in range(len(self.axes)):
                for direction in (-1, 1):
                    best = self.descend(best, axis, direction)
            if best == before:
                return best

    def descend(self, index: tuple[int, ...], axis: int, direction: int) -> tuple[int, ...]:
        """Step along one axis for as long as the loss falls.

        A step that was credibly bad from elsewhere on the grid is not tried again.
        """
        while True:
            neighbour = self.neighbour(index, axis, direction)
            if neighbour is None:
                return index
            step = (axis, index[axis], neighbour[axis])
            if neighbour not in self.table and step in self.refused:
                return index
            if self.mean_loss(neighbour) >= self.mean_loss(index):
                if self.credibly_worse(neighbour, index):
                    self.refused.add(step)
                return index
            index = neighbour

    def neighbour(self, index: tuple[int, ...], axis: int, direction: int) -> tuple[int, ...] | None:
        """The next point along an axis, if there is one."""
        moved = index[axis] + direction
        if not 0 <= moved < len(list(self.axes.values())[axis]):
            return None
        return (*index[:axis], moved, *index[axis + 1 :])

    def cautious(self, best: tuple[int, ...], name: str) -> tuple[int, ...]:
        """The point with the largest value of a parameter that is not credibly worse than the best.

        Credibly: the losses differ by more than the standard error of their difference. The end of
        the axis is tried first, then the next values, one by one.
        """
        axis = list(self.axes).index(name)
        end = (*best[:axis], len(self.axes[name]) - 1, *best[axis + 1 :])
        if not self.credibly_worse(end, best):
            return end
        point = best
        while (larger := self.neighbour(point, axis, 1)) is not None:
            if self.credibly_worse(larger, best):
                break
            point = larger
        return point

    def credibly_worse(self, index: tuple[int, ...], best: tuple[int, ...]) -> bool:
        excess = self.mean_loss(index) - self.mean_loss(best)
        difference = self.table[index] - self.table[best]
        return excess > float(difference.std()) / len(difference) ** 0.5

    def between(self, best: tuple[int, ...], name: str) -> float:
        """Value of a parameter at the vertex of the parabola through the best point's neighbours.

        In the logarithm of the value; it costs no further evaluation, and stays within half a step.
        """
        axis = list(self.axes).index(name)
        values = self.axes[name]
        sides = [self.neighbour(best, axis, direction) for direction in (-1, 1)]
        if None in sides:
            return values[best[axis]]
        low, middle, high = (self.mean_loss(i) for i in (sides[0], best, sides[1]) if i is not None)
        curvature = low - 2.0 * middle + high
        shift = 0.5 * (low - high) / curvature if curvature > 0.0 else 0.0
        side = values[best[axis] + (1 if shift > 0.0 else -1)]
        return float(values[best[axis]] * (side / values[best[axis]]) ** min(abs(shift), 0.5))


class Selection(NamedTuple):
    """Outcome of :func:`select`.

    Attributes
    ----------
    estimator : estimator
        Fitted to all entries with the parameters of the lowest loss.
    table : list of dict
        Parameters and mean loss of every candidate, best first.
    confidence : float
        How often the chosen one is best when the hidden entries are redrawn.
    """

    estimator: Any
    table: list[dict[str, Any]]
    confidence: float


def _candidate_losses(estimator: Any, parameters: dict[str, Any], held_out: HeldOut) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = clone(estimator).set_params(**parameters).fit(held_out.samples)
        return held_out.losses(model.denoise)


def select(
    X: Any,
    estimator: BaseEstimator,
    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    *,
    hidden_share: float = HIDDEN_SHARE,
    n_jobs: int | None = None,
    progress: bool = False,
    random_state: Any = None,
) -> Selection:
    """Search parameters by held-out entries: no clean data are needed.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Noisy samples; NaN is a missing value.
    estimator : estimator with ``fit`` and ``denoise`` that takes missing values
        For example ``RNLMF()``.
    param_grid : dict or list of dicts
        As for scikit-learn's ``GridSearchCV``.
    hidden_share : float
        Share of the entries that is held out.
    n_jobs : int or None
        Candidates that are fitted at the same time, in processes.
    progress : bool
        Whether to show a progress bar (needs `rich`).
    random_state : int, RandomState or None
        For the choice of the entries.

    Returns
    -------
    Selection

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import RNLMF, select
    >>> from rnlmf.datasets import corrupt_entries
    >>> t = np.linspace(0, 6, 300)
    >>> curve = np.column_stack([f(k * t) for k in range(1, 5) for f in (np.cos, np.sin)])
    >>> noisy = corrupt_entries(curve, 0.1, random_state=0)
    >>> model = RNLMF(30, noise_weight="scale", random_state=0)
    >>> found = select(noisy, model, {"kernel_scale": [0.5, 4.0]}, random_state=0)
    >>> found.table[0]["kernel_scale"]
    0.5
    """
    if not 0.0 < hidden_share < 1.0:
        raise ValueError(f"hidden_share={hidden_share} must be between 0 and 1.")
    data = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    rng = check_random_state(random_state)
    held_out = HeldOut.draw(data, rng, hidden_share)
    if not held_out.hidden.any():
        raise ValueError("X has too few entries to hold any out; raise hidden_share.")
    candidates = list(ParameterGrid(param_grid))
    jobs = (delayed(_candidate_losses)(estimator, candidate, held_out) for candidate in candidates)
    results = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    if progress:
        from rich.progress import track

        results = track(results, "Candidates", total=len(candidates))
    found = list(results)
    means = [float(entry.mean()) for entry in found]
    order = np.argsort(means, kind="stable")
    best = int(order[0])
    table = [{**candidates[i], "loss": means[i]} for i in order]
    model = clone(estimator).set_params(**candidates[best]).fit(X)
    return Selection(model, table, confidence(found, best, rng))


def held_out_score(estimator: Any, X: Any, y: Any = None) -> float:
    """Scorer for ``GridSearchCV`` and the like: minus the robust loss of held-out entries of `X`.

    The entries are chosen in the same way at every call, so that candidates are compared on the same.
    """
    data = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    held_out = HeldOut.draw(data, np.random.RandomState(0))
    return -float(held_out.losses(estimator.denoise).mean())
