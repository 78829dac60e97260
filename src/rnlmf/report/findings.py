"""What a model changed, in figures and in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from rnlmf.typing import Array

# A repair is called large above this many standard deviations of its cleaned feature.
LARGE = 0.5
# Rows that are looked at together.
CHUNK_ROWS = 8192
# More samples do not change the estimate of the error that is left.
ERROR_SAMPLES = 2000


@dataclass(frozen=True)
class Findings:
    """What was changed where.

    Attributes
    ----------
    shape : tuple
        Samples and features.
    n_missing : int
        Missing entries that were filled.
    n_changed : int
        Present entries that were changed at all.
    n_large : int
        Of these, the ones changed by more than half of their feature's standard deviation.
    typical_size : float
        Median of the large changes, in standard deviations of their features.
    feature_share, sample_share : array
        Share of large changes in every feature and sample.
    feature_size, sample_size : array
        Root mean square of what was removed, in standard deviations of the features.
    spread : array
        The standard deviations; of images that of all pixels.
    converged : bool
    n_iter : int
    remaining_error : float or None
        Relative error that is left, as the model estimates it without the truth; NaN where it cannot
        know because nothing else was found to be wrong, None where it does not estimate any.
    confidence : float or None
        How often the same parameters would be chosen if other entries were held out.
    judged : bool
        Whether there was enough to tell wrong entries from right ones; if not, nothing was changed.
    applied : bool
        Whether the changes are written somewhere, or only told.
    """

    shape: tuple[int, int]
    n_missing: int
    n_changed: int
    n_large: int
    typical_size: float
    feature_share: Array
    sample_share: Array
    feature_size: Array
    sample_size: Array
    spread: Array
    converged: bool
    n_iter: int
    remaining_error: float | None = None
    confidence: float | None = None
    judged: bool = True
    applied: bool = True

    def were(self, number: int) -> str:
        """How to say that so many were changed, if they were."""
        return ("was" if number == 1 else "were") if self.applied else "would be"

    @property
    def n_samples_hit(self) -> int:
        """Samples with at least one large change."""
        return int(np.count_nonzero(self.sample_share))

    @property
    def knows_error(self) -> bool:
        """Whether there is an estimate of the error that is left."""
        return self.remaining_error is not None and bool(np.isfinite(self.remaining_error))

    def worst_features(self, count: int = 3) -> list[int]:
        """Positions of the features with the largest share of large changes, at least one."""
        return _worst(self.feature_share, self.feature_size, count)

    def worst_samples(self, count: int = 3) -> list[int]:
        """Positions of the samples from which most was removed."""
        return _worst(self.sample_size, self.sample_share, count)

    def as_dict(self, names: Sequence[str], sample_names: list[str] | None) -> dict[str, Any]:
        """Plain values, for JSON."""
        n, m = self.shape
        samples = sample_names or [str(i) for i in range(n)]
        return {
            "n_samples": n,
            "n_features": m,
            "n_missing_filled": self.n_missing,
            "n_changed": self.n_changed,
            "n_large_changes": self.n_large,
            "share_of_large_changes": self.n_large / (n * m),
            "n_samples_with_large_changes": self.n_samples_hit,
            "typical_size_in_standard_deviations": self.typical_size,
            "worst_features": [
                {"feature": names[i], "share": float(self.feature_share[i])}
                for i in self.worst_features()
            ],
            "worst_samples": [
                {"sample": samples[i], "share": float(self.sample_share[i])}
                for i in self.worst_samples()
            ],
            "converged": self.converged,
            "n_iter": self.n_iter,
            "estimated_remaining_error": self.remaining_error if self.knows_error else None,
            "confidence_in_parameters": self.confidence,
        }


def _worst(first: Array, second: Array, count: int) -> list[int]:
    order = np.lexsort((-second, -first))[:count]
    return [int(i) for i in order if first[i] > 0.0]


def denoising_part(model: Any) -> Any:
    """What of a model denoises, in the units of the data: itself, or what clusters are built on."""
    return model if hasattr(model, "components_") else model.estimator_


def innermost_model(model: Any) -> Any:
    """The factorization under everything, which knows how its parameters were chosen."""
    while hasattr(model, "estimator_"):
        model = model.estimator_
    return model


def findings_of(model: Any, X: Any, clean: Any, *, images: bool = False) -> Findings:
    """Compare data with what a fitted model made of them.

    Parameters
    ----------
    model : estimator
        Fitted.
    X, clean : array or data frame of shape (n_samples, n_features)
        Before, with NaN where an entry is missing, and after.
    images : bool
        Samples are images. Their pixels have one unit, the standard deviation of all: of those at the
        edge, which are black in every image, even the smallest repair would be huge by their own.

    Returns
    -------
    Findings
        What was changed where.
    """
    denoiser = denoising_part(model)
    remaining_error = _remaining_error(denoiser, X)
    X, clean = np.asarray(X), np.asarray(clean)
    spread = clean.std(axis=0, dtype=np.float64)
    if images:
        spread = np.full_like(spread, np.sqrt(np.mean(spread**2)))
    unit = np.where(spread > 0.0, spread, 1.0)
    n, m = X.shape
    n_missing = n_changed = 0
    feature_count, feature_square = np.zeros(m), np.zeros(m)
    sample_share, sample_size = np.zeros(n), np.zeros(n)
    large_sizes = []
    for start in range(0, n, CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        removed = (X[rows] - clean[rows]) / unit
        missing = np.isnan(removed)
        n_missing += int(missing.sum())
        removed[missing] = 0.0
        n_changed += int(np.count_nonzero(removed))
        size = np.abs(removed)
        large = size > LARGE
        large_sizes.append(size[large])
        feature_count += large.sum(axis=0)
        sample_share[rows] = large.mean(axis=1)
        feature_square += np.square(removed).sum(axis=0)
        sample_size[rows] = np.sqrt(np.square(removed).mean(axis=1))
    sizes = np.concatenate(large_sizes)
    return Findings(
        shape=(n, m),
        n_missing=n_missing,
        n_changed=n_changed,
        n_large=len(sizes),
        typical_size=float(np.median(sizes)) if len(sizes) else 0.0,
        feature_share=feature_count / n,
        sample_share=sample_share,
        feature_size=np.sqrt(feature_square / n),
        sample_size=sample_size,
        spread=spread,
        converged=bool(denoiser.converged_),
        n_iter=int(denoiser.n_iter_),
        remaining_error=remaining_error,
        confidence=getattr(innermost_model(denoiser), "selection_confidence_", None),
    )


def _remaining_error(model: Any, X: Any) -> float | None:
    """The model's own estimate, from at most `ERROR_SAMPLES` samples."""
    if not hasattr(model, "estimate_error"):
        return None
    # Neighbours in time must stay neighbours.
    step = 1 if getattr(model, "sequence_", False) else -(-len(X) // ERROR_SAMPLES)
    if hasattr(model, "feature_names_in_") and hasattr(X, "columns"):
        some = nw.from_native(X, eager_only=True).gather_every(step).to_native()
    else:
        some = np.asarray(X)[::step]
    return float(model.estimate_error(some))


def percent(share: float) -> str:
    """A share for reading: two digits, and never 0% for what is there."""
    if 0.0 < share < 0.0001:
        return "less than 0.01%"
    return f"{100 * share:.2g}%" if share < 0.995 else f"{100 * share:.0f}%"


def about(share: float) -> str:
    """A share that is estimated."""
    text = percent(share)
    return text if text.startswith("less") else f"about {text}"


def count(number: int, thing: str, plural: str | None = None) -> str:
    """A number with its noun."""
    return f"{number:,} {thing if number == 1 else plural or thing + 's'}"


def in_short(findings: Findings, n_left_alone: int, feature: str = "feature") -> list[str]:
    """Three short lines: what was wrong, what else was done, how good the result is."""
    n, m = findings.shape
    size = f"{count(n, 'sample')} of {count(m, feature)}"
    if not findings.judged:
        return [f"{size}: too few to tell wrong from right.", "Nothing was changed."]
    lines = [f"Nothing that must be wrong was found in {size}."]
    if findings.n_large:
        entries = count(findings.n_large, "entry", "entries")
        share, were = percent(findings.n_large / (n * m)), findings.were(findings.n_large)
        lines = [f"{entries} ({share}) of {size} {were} repaired."]
    missing = (
        count(findings.n_missing, "missing entry", "missing entries") if findings.n_missing else ""
    )
    done = [f"{missing} {findings.were(findings.n_missing)} filled in"] if missing else []
    if n_left_alone:
        done.append(
            f"{count(n_left_alone, 'column')} {'is' if n_left_alone == 1 else 'are'} left alone"
        )
    if done:
        lines.append(f"{'; '.join(done)}.")
    if findings.knows_error and findings.remaining_error is not None:
        lines.append(
            f"The error left is {about(findings.remaining_error)}, as far as the model can tell."
        )
    return lines


def in_words(
    findings: Findings, names: Sequence[str], sample_names: list[str] | None, feature: str = "feature"
) -> list[str]:
    """The findings as sentences; `feature` is what to call one, for example a pixel."""
    n, m = findings.shape
    samples = sample_names or [str(i) for i in range(n)]
    sentences = [f"The data are {count(n, 'sample')} of {count(m, feature)}."]
    if not findings.judged:
        return [*sentences, "Nothing was changed, for there is too little to tell wrong from right."]
    if findings.n_large:
        sentences.append(
            f"{count(findings.n_large, 'entry', 'entries')} "
            f"({percent(findings.n_large / (n * m))}) in {count(findings.n_samples_hit, 'sample')} "
            f"({percent(findings.n_samples_hit / n)}) did not fit the structure of the rest and "
            f"{findings.were(findings.n_large)} repaired; the typical repair is "
            f"{findings.typical_size:.2g} standard deviations of "
            f"{'all pixels' if feature == 'pixel' else f'its {feature}'}."
        )
    else:
        sentences.append(
            "No entry is so far off the structure of the rest that it must be wrong: there is nothing "
            "gross to repair."
        )
    small = findings.n_changed - findings.n_large
    if small:
        sentences.append(
            f"{count(small, 'entry', 'entries')} ({percent(small / (n * m))}) "
            f"{'' if findings.applied else 'would be '}changed by less than half a standard deviation."
        )
    if findings.n_missing:
        missing = count(findings.n_missing, "missing entry", "missing entries")
        sentences.append(f"{missing} {findings.were(findings.n_missing)} filled in.")
    if findings.n_large:
        features = ", ".join(
            f"{names[i]} ({percent(findings.feature_share[i])})" for i in findings.worst_features()
        )
        worst = ", ".join(samples[i] for i in findings.worst_samples())
        what = "" if worst.startswith("row ") else "sample "
        sentences.append(f"Worst hit: {feature} {features}; {what}{worst}.")
    return [*sentences, certainty(findings)]


def certainty(findings: Findings) -> str:
    """Whether the fit ended well, and what that means for the result."""
    iterations = count(findings.n_iter, "iteration")
    if findings.converged:
        text = f"The fit converged after {iterations}."
    else:
        text = (
            f"The fit had not settled after {iterations}: the result can be used, but more iterations "
            "may still change it."
        )
    if findings.remaining_error is not None:
        error = f"{about(findings.remaining_error)} of their size"
        if not findings.knows_error:
            but = " but what is far off" if findings.n_changed else ""
            error = f"not known: nothing was found to be wrong{but}"
        text += f" As far as the model can tell, the error left in the cleaned data is {error}."
    if findings.confidence is not None:
        text += (
            " Its parameters were chosen by how well they predict entries that were held out; with "
            f"others held out the choice would be the same in {percent(findings.confidence)} of cases."
        )
    return text
