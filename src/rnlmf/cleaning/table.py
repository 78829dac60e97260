"""The way of a table through cleaning: the same from the command line and for a data frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rnlmf.cleaning.changes import Changes, cell_probability, changes_of, words
from rnlmf.cleaning.overview import Column, Overview
from rnlmf.cleaning.repair import Repaired, as_known
from rnlmf.estimators.judging import FEWEST_ROWS, TOO_FEW
from rnlmf.io.dataset import TABLE, differing
from rnlmf.io.frames import FRAME
from rnlmf.report.findings import Findings, about, denoising_part, findings_of
from rnlmf.typing import Array

# Beyond these a result promises little: rows, relative error left, confidence of the choice (choices).
FEW_ROWS = FEWEST_ROWS
MUCH_ERROR = 0.2
LITTLE_CONFIDENCE = 0.5
# New data of which so much is altered lie off the model, unless those it was fitted to did, too.
OFF_THE_MODEL = 0.2


@dataclass(frozen=True)
class CleanTable:
    """A cleaned table.

    Attributes
    ----------
    overview : Overview
        What was seen before.
    values : array
        Of the features, as they are written.
    findings : Findings
        What is different, in figures.
    repaired : Repaired
        What the model said.
    full_precision : bool
        Repaired values were not rounded.
    """

    overview: Overview
    values: Array
    findings: Findings
    repaired: Repaired
    full_precision: bool = False

    @cached_property
    def changes(self) -> Changes:
        """What is different, cell by cell."""
        return changes_of(self.overview, self.values, self.repaired, full_precision=self.full_precision)

    @property
    def model(self) -> Any:
        """Fitted."""
        return self.repaired.model

    @cached_property
    def row_names(self) -> list[str] | None:
        """Of the samples; rows of a file that have none are counted as in the list of changes."""
        dataset = self.overview.dataset
        if dataset.sample_names is not None or dataset.kind != TABLE or dataset.path == FRAME:
            return dataset.sample_names
        return [f"row {row}" for row in range(1, len(dataset.values) + 1)]

    @cached_property
    def left_alone(self) -> dict[str, str]:
        """Features in which the model changed nothing, for a reason that it gives."""
        names = self.overview.dataset.names
        changed = np.asarray(differing(self.values, self.overview.dataset.values).any(axis=0))
        return {names[i]: why for i, why in self.repaired.left_alone.items() if not changed[i]}

    @property
    def columns(self) -> list[Column]:
        """What was seen in the columns, with those that the model left alone."""
        left = self.left_alone
        return [
            replace(c, kept=left[c.name]) if c.kept is None and c.name in left else c
            for c in self.overview.columns
        ]

    @property
    def untouched(self) -> dict[str, str]:
        """Columns that were left alone, and why."""
        return self.overview.dataset.untouched | self.left_alone

    @property
    def probability(self) -> Array:
        """That cells are wrong."""
        return cell_probability(self.overview, self.repaired)

    @property
    def without_gaps(self) -> Array:
        """Clean values, with those that the model expects where none is written."""
        return _without_gaps(self.overview, self.values, self.repaired)

    @property
    def altered(self) -> float:
        """Share of the present cells that are changed."""
        present = ~np.isnan(self.overview.working)
        changed = differing(self.values, self.overview.dataset.values)
        return float(changed[present].mean()) if present.any() else 0.0

    @property
    def elsewhere(self) -> float:
        """Share of the present cells that lie far outside of the model's typical samples."""
        atoms = denoising_part(self.model).components_
        low, high = atoms.min(axis=0), atoms.max(axis=0)
        values, margin = self.overview.working, (high - low) / 2
        outside = (values < low - margin) | (values > high + margin)
        present = ~np.isnan(values)
        return float(outside[present].mean()) if present.any() else 0.0

    def doubts(self) -> list[str]:
        """Why the result promises little; nothing if it does not."""
        findings = self.findings
        doubts = []
        if findings.shape[0] < FEW_ROWS:
            so = "" if findings.judged else ", too few to judge"
            doubts.append(f"there are only {findings.shape[0]} rows{so}")
        if findings.remaining_error is not None and findings.remaining_error > MUCH_ERROR:
            doubts.append(f"the error left is {about(findings.remaining_error)}")
        if findings.confidence is not None and findings.confidence < LITTLE_CONFIDENCE:
            doubts.append("other parameters would do about as well")
        return doubts


def clean_table(
    overview: Overview, repair: Callable[[Array], Repaired], *, full_precision: bool = False
) -> CleanTable:
    """Repair what a look at a table leaves to repair.

    Parameters
    ----------
    overview : Overview
        What was seen.
    repair : callable
        Given the values to work on, what a model makes of them.
    full_precision : bool
        Do not round repaired values.

    Returns
    -------
    CleanTable
        New values and what is different.
    """
    repaired = repair(overview.working)
    clean = settled(overview, repaired, full_precision=full_precision)
    return CleanTable(overview, clean, _findings(overview, clean, repaired), repaired, full_precision)


def _findings(overview: Overview, clean: Array, repaired: Repaired) -> Findings:
    """In figures; what may be a code and stays has no say."""
    finite = _without_gaps(overview, clean, repaired)
    known = as_known(repaired.model, overview.working)
    images = overview.dataset.image_shape is not None
    findings = findings_of(repaired.model, known, finite, images=images)
    filled = np.isnan(overview.working) & ~np.isnan(clean) & ~overview.held
    filled &= ~words(overview) & ~overview.outside
    findings = replace(findings, n_missing=int(filled.sum()))
    if TOO_FEW in repaired.left_alone.values():
        return replace(findings, judged=False, remaining_error=None, confidence=None)
    return findings


def _without_gaps(overview: Overview, clean: Array, repaired: Repaired) -> Array:
    """Clean values, with those that the model expects where none is written."""
    finite = np.where(np.isnan(clean) | overview.held, repaired.values, clean)
    unknown = np.isnan(finite)
    return (
        np.where(unknown, np.nanmedian(overview.working, axis=0), finite) if unknown.any() else finite
    )


def settled(overview: Overview, repaired: Repaired, *, full_precision: bool = False) -> Array:
    """Repaired values as they may be written: whole, within limits, on their scale, with few decimals.

    What is not repaired is as it was.
    """
    before, clean = overview.dataset.values, repaired.values.astype(overview.dataset.values.dtype)
    repairable = np.isnan(overview.working) | (clean != overview.working)
    # What the model does not know stays as it is.
    repairable &= ~overview.held & ~np.isnan(clean)
    clean = np.where(repairable, clean, before)
    traits = overview.traits
    for i, name in enumerate(overview.dataset.names):
        rows = repairable[:, i]
        if not rows.any():
            continue
        if traits is not None and not full_precision:
            clean[rows, i] = _as_written(
                clean[rows, i], before[~rows, i], traits[i], overview.scales[i]
            )
        if name in overview.limits:
            clean[rows, i] = np.clip(clean[rows, i], *overview.limits[name])
    return clean


def _as_written(new: Array, others: Array, traits: Any, scale: Array | None) -> Array:
    if scale is not None:
        nearest = np.abs(new[:, None] - scale[None, :]).argmin(axis=1)
        return np.asarray(scale[nearest])
    others = others[~np.isnan(others)]
    if traits.whole:
        new = np.rint(new)
        # A count stays one.
        return np.clip(new, others.min(), others.max()) if len(others) else new
    if traits.scientific is not None:
        return np.array([float(format(value, traits.scientific)) for value in new])
    return new if traits.decimals is None else np.round(new, traits.decimals)
