"""Choosing parameters without ground truth: predict entries that were held out.

Groups of related entries are hidden, treated as missing, and predicted. Part of what was hidden is
itself corrupted, so residuals ``r`` are scored by losses that no entry can raise by more than 1: with
``s`` the data's standard deviation, the means of

    distance    min(|r| / (2 s), 1)
    missed      r^2 / (r^2 + h^2),  h = max(0.3 s, 3 median |r|)         (Geman and McClure 1987).

The first says how far predictions are off; it tells a good model from one that is often exact and
otherwise far off. The second hardly looks at what is far off, and so at corrupted entries; it tells
fine differences, such as those that the threshold of the noise makes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_array, check_random_state
from sklearn.utils.parallel import Parallel, delayed

from rnlmf.engine.start import spread_of
from rnlmf.model_selection.grid_walk import redraws
from rnlmf.typing import Array

# Of all entries: to compare by, while most are left to fit to (a choice).
HIDDEN_SHARE = 0.05
# Share of the features that is hidden of a sample, all related to each other. Corruptions often come
# in groups (an occluded region): were a single entry hidden, the corrupted ones around it would give it
# away, and a model that keeps corruptions would be rewarded.
GROUP_SHARE = 0.25
# Distance: residuals beyond so many standard deviations of the data are all as bad.
LARGEST_RESIDUAL = 2.0
# Missed: half a miss is at this multiple of the data's spread, or of the median residual.
HALF_MISS_SPREAD = 0.3
HALF_MISS_MEDIAN = 3.0
# Samples that are predicted, and samples that are fitted to; more do not change a choice.
SCORED_SAMPLES = 2000
FITTED_SAMPLES = 20_000


def distance(residuals: Array, spread: float) -> Array:
    """How far every prediction is off, between 0 and 1."""
    losses: Array = np.minimum(np.abs(residuals) / (LARGEST_RESIDUAL * spread or 1.0), 1.0)
    return losses


def half_miss(residuals: Array, spread: float) -> float:
    """Size ``h`` of a residual that counts as half a miss."""
    typical = float(np.median(np.abs(residuals))) if residuals.size else 0.0
    return max(HALF_MISS_SPREAD * spread, HALF_MISS_MEDIAN * typical)


def missed(residuals: Array, width: float) -> Array:
    """Whether predictions miss, between 0 and 1, and one half at the `width`."""
    squares = (residuals / (width or 1.0)) ** 2
    losses: Array = squares / (1.0 + squares)
    return losses


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

    def distances(self, denoise: Callable[[Array], Array], scale: Array | float = 1.0) -> Array:
        """Mean distance of the predictions of hidden entries, for each of the scored samples.

        Features are divided by their `scale`.
        """
        some = self.scored()
        predicted = replace(some, truth=some.truth / scale).residuals(denoise(some.samples) / scale)
        return some.by_sample(distance(predicted, spread_of(self.truth / scale)))

    def residuals(self, predicted: Array) -> Array:
        """Of the predictions of the hidden entries."""
        difference: Array = predicted[self.hidden].astype(np.float64) - self.truth[self.hidden]
        return difference

    def by_sample(self, losses: Array) -> Array:
        """Means over a sample's hidden entries, which are related; samples hardly are."""
        rows = np.nonzero(self.hidden)[0]
        means: Array = np.bincount(rows, losses) / np.bincount(rows)
        return means


def confidence(table: Sequence[Array], chosen: int, rng: np.random.RandomState) -> float:
    """How often the chosen candidate has the lowest mean loss when the scored samples are redrawn."""
    stacked = np.stack(table)
    draws = redraws(stacked.shape[1], rng)
    return float(np.mean(np.argmin(stacked @ draws, axis=0) == chosen))


class Selection(NamedTuple):
    """Outcome of :func:`select`.

    Attributes
    ----------
    estimator : estimator
        Fitted to all entries with the parameters of the lowest loss.
    table : list of dict
        Parameters and mean distance of the predictions of every candidate, best first.
    confidence : float
        How often the chosen one is best when the hidden entries are redrawn.
    """

    estimator: Any
    table: list[dict[str, Any]]
    confidence: float


def _candidate_distances(estimator: Any, parameters: dict[str, Any], held_out: HeldOut) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = clone(estimator).set_params(**parameters).fit(held_out.samples)
        return held_out.distances(model.denoise)


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
    jobs = (delayed(_candidate_distances)(estimator, candidate, held_out) for candidate in candidates)
    results = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    if progress:
        from rich.progress import track

        results = track(results, "Candidates", total=len(candidates))
    found = list(results)
    means = [float(entry.mean()) for entry in found]
    order = np.argsort(means, kind="stable")
    best = int(order[0])
    table = [{**candidates[i], "distance": means[i]} for i in order]
    model = clone(estimator).set_params(**candidates[best]).fit(X)
    return Selection(model, table, confidence(found, best, rng))


def held_out_score(estimator: Any, X: Any, y: Any = None) -> float:
    """Scorer for ``GridSearchCV`` and the like: minus the distance to held-out entries of `X`.

    The entries are chosen in the same way at every call, so that candidates are compared on the same.
    Where the estimator divides features by their spread (``feature_scale_``), so are distances.
    """
    data = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    held_out = HeldOut.draw(data, np.random.RandomState(0))
    if not held_out.hidden.any():
        raise ValueError("X has too few entries to hold any out: score more samples.")
    scale = getattr(estimator, "feature_scale_", None)
    with warnings.catch_warnings():
        # Of a data frame only the values are hidden in part.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        distances = held_out.distances(estimator.denoise, 1.0 if scale is None else scale)
    return -float(distances.mean())
