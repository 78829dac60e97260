"""What a page tells about, and what its tabs are made of."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rnlmf.io.dataset import need
from rnlmf.report.findings import Findings, denoising_part
from rnlmf.typing import Array

BLUE, RED, GREY = "#3b82c4", "#e4572e", "#8b949e"
# More columns of a heat map are too thin to have names.
MAX_HEAT_COLUMNS = 60
DEVIATIONS: dict[str, Any] = {"zmin": -3, "zmax": 3, "colorscale": "Viridis"}


@dataclass(frozen=True)
class PageContent:
    """Everything that the page tells about."""

    model: Any
    X: Array
    clean: Array
    findings: Findings
    names: Sequence[str]
    sample_names: list[str] | None
    image_shape: tuple[int, ...] | None
    labels: Array | None
    untouched: dict[str, str]
    embedding: Array | None = None
    changes: list[tuple[Any, ...]] | None = None
    columns: tuple[list[str], list[list[str]]] | None = None

    @property
    def factorization(self) -> Any:
        """The model that has dictionary and objective, in the units of the data."""
        return denoising_part(self.model)

    def sample_name(self, i: int) -> str:
        """A name for reading."""
        return f"sample {i}" if self.sample_names is None else self.sample_names[i]

    @property
    def feature_word(self) -> str:
        """What to call a feature."""
        return "feature" if self.image_shape is None else "pixel"

    def units(self) -> tuple[Array, Array]:
        """Median and standard deviation of every cleaned feature; the latter 1 where it is 0."""
        spread = self.findings.spread
        return np.median(self.clean, axis=0), np.where(spread > 0.0, spread, 1.0)

    @cached_property
    def removed_order(self) -> Array:
        """Samples, those first from which most was removed."""
        return np.argsort(-self.findings.sample_size, kind="stable")

    def some_samples(self, count: int, worst: float = 0.6) -> Array:
        """The worst samples, and others evenly from the rest, in the order of the data."""
        n = len(self.X)
        if n <= count:
            return np.arange(n)
        first = self.removed_order[: int(worst * count)]
        rest = np.setdiff1d(np.arange(n), first)
        others = rest[np.linspace(0, len(rest) - 1, count - len(first)).astype(int)]
        return np.sort(np.concatenate([first, others]))

    def worst_features(self, count: int) -> list[int]:
        """Features with most large repairs first."""
        order = np.lexsort((-self.findings.feature_size, -self.findings.feature_share))
        return [int(i) for i in order[:count]]


@dataclass
class Section:
    """A tab: its parts for the template, its charts, and other content for the script."""

    id: str
    title: str
    parts: list[dict[str, Any]] = field(default_factory=list)
    charts: dict[str, Any] = field(default_factory=dict)
    content: dict[str, Any] = field(default_factory=dict)

    def draw(self, id: str, traces: list[Any], **layout: Any) -> None:
        """A chart of Plotly's traces and layout, for the script."""
        self.charts[id] = {
            "data": [trace.to_plotly_json() for trace in traces],
            "layout": plotly().Layout(**layout).to_plotly_json(),
        }

    def chart(self, id: str, traces: list[Any], alt: str, caption: str, **layout: Any) -> None:
        """Add a chart of Plotly's traces and layout."""
        self.draw(id, traces, **layout)
        self.parts.append({"kind": "chart", "id": id, "alt": alt, "caption": caption, "tall": False})


def plotly() -> Any:
    """Plotly's traces and layouts, which know what a chart may have."""
    return need("plotly.graph_objects", "cli", "A report")


def heat_map(z: Any, names: list[str], **options: Any) -> Any:
    """Deviations of features, which stand side by side."""
    return plotly().Heatmap(
        z=numbers(z, 3),
        x=[chart_text(name) for name in names],
        colorbar={"title": {"text": "standard deviations", "side": "right"}, "thickness": 12},
        **{**DEVIATIONS, **options},
    )


def chart_text(name: str) -> str:
    """A name as it stands: the charts would take tags in it for links and markup."""
    return html.escape(name, quote=False)


def numbers(values: Any, digits: int = 5) -> Any:
    """Nested lists with few digits; None where there is no number."""
    array = np.asarray(values, dtype=float)
    if array.ndim > 1:
        return [numbers(row, digits) for row in array]
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in array]
