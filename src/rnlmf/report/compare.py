"""Before and after: images with a slider, a feature over the samples, or the table as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rnlmf.io.dataset import are_curves
from rnlmf.report import pictures
from rnlmf.report.content import (
    BLUE,
    DEVIATIONS,
    GREY,
    MAX_HEAT_COLUMNS,
    RED,
    PageContent,
    Section,
    chart_text,
    heat_map,
    numbers,
    plotly,
)
from rnlmf.report.findings import LARGE, percent
from rnlmf.typing import Array

# What a page of a few megabytes can hold, and an eye can take in (choices).
MAX_IMAGES = 60
MAX_PIXELS = 3_000_000
MAX_SERIES_FEATURES = 12
MAX_SERIES_POINTS = 1500
MAX_HEAT_ROWS = 120
MAX_ROWS = 40
MAX_ROW_NUMBERS = 8000

# Transparent in the middle, which suits a light page and a dark one.
SIGNED_SCALE = [[0, "rgba(59,130,196,1)"], [0.5, "rgba(128,128,128,0.04)"], [1, "rgba(228,87,46,1)"]]


def before_and_after(page: PageContent) -> Section:
    """Images with a slider, or a feature over the samples and the table as a heat map."""
    section = Section("compare", "Before and after")
    if page.image_shape is not None:
        _images(section, page, page.image_shape)
    else:
        parts = [_series, _rows, _heat_map]
        if are_curves(page.clean):
            parts = [_rows, _series, _heat_map]
        for part in parts:
            part(section, page)
    return section


def _images(section: Section, page: PageContent, shape: tuple[int, ...]) -> None:
    pixels = int(np.prod(shape[:2]))
    shown = page.some_samples(int(np.clip(MAX_PIXELS // (3 * pixels), 6, MAX_IMAGES)))
    shown = shown[np.argsort(-page.findings.sample_size[shown], kind="stable")]
    low, high = float(page.clean.min()), float(page.clean.max())
    tiles = []
    for i in shown:
        before, after = (
            pictures.without_single_channel(data[i].reshape(shape)) for data in (page.X, page.clean)
        )
        removed = np.nan_to_num(before - after)
        tiles.append(
            {
                "name": page.sample_name(int(i)),
                "before": pictures.data_uri(pictures.grey(before, low, high)),
                "after": pictures.data_uri(pictures.grey(after, low, high)),
                "removed": pictures.data_uri(pictures.signed(removed, (high - low) / 2)),
            }
        )
    part = "all images" if len(shown) == len(page.X) else f"{len(shown)} of {len(page.X):,} images"
    caption = f"Shown: {part}, those from which most was removed first."
    section.parts.append({"kind": "images", "tiles": tiles, "caption": caption})


def _positions(page: PageContent) -> Array:
    """Samples of the chart: all, or the repaired ones and others evenly between."""
    n = len(page.X)
    if n <= MAX_SERIES_POINTS:
        return np.arange(n)
    worst = page.removed_order[: MAX_SERIES_POINTS // 3]
    even = np.linspace(0, n - 1, MAX_SERIES_POINTS - len(worst)).astype(int)
    return np.unique(np.concatenate([worst, even]))


def _series(section: Section, page: PageContent) -> None:
    features = page.worst_features(MAX_SERIES_FEATURES)
    rows = _positions(page)
    series = []
    for j in features:
        before, after = page.X[rows, j], page.clean[rows, j]
        large = np.abs(before - after) > LARGE * page.findings.spread[j]
        repaired = np.flatnonzero(large | np.isnan(before))
        share = percent(page.findings.feature_share[j])
        series.append(
            {
                "name": chart_text(page.names[j]),
                "before": numbers(before),
                "after": numbers(after),
                "repaired": repaired.tolist(),
                "alt": f"{page.names[j]} over the samples, {share} of the entries repaired",
            }
        )
    labels = None
    if page.sample_names is not None:
        labels = [chart_text(page.sample_names[i]) for i in rows]
    section.content |= {
        "series": series,
        "series_positions": rows.tolist(),
        "series_labels": labels,
    }
    section.draw(
        "series",
        before_after_traces(),
        xaxis={"rangeslider": {"visible": True, "thickness": 0.08}, "nticks": 8},
        yaxis_fixedrange=False,
    )
    part = "" if len(rows) == len(page.X) else f"{len(rows):,} of {len(page.X):,} samples are shown. "
    choices = [
        f"{page.names[j]} ({percent(page.findings.feature_share[j])} repaired)" for j in features
    ]
    section.parts.append(
        {
            "kind": "series",
            "choices": choices,
            "caption": f"{part}Crosses are entries that were repaired by more than half a standard "
            "deviation. Drag the strip below the chart to look closer.",
        }
    )


def _rows(section: Section, page: PageContent) -> None:
    """One sample over its features, in units of its own if it is a curve."""
    m = len(page.names)
    most = int(np.clip(MAX_ROW_NUMBERS // m, 6, MAX_ROWS))
    shown = [int(i) for i in page.removed_order[:most]]
    curves = are_curves(page.clean)
    center, spread = (0.0, 1.0) if curves else page.units()
    before, after = ((data[shown] - center) / spread for data in (page.X, page.clean))
    large = np.abs(page.X[shown] - page.clean[shown]) > LARGE * page.findings.spread
    section.content["rows"] = {
        "x": _axis(page.names) if curves else [chart_text(name) for name in page.names],
        "rows": [
            {
                "before": numbers(before[k]),
                "after": numbers(after[k]),
                "repaired": np.flatnonzero(large[k] | np.isnan(before[k])).tolist(),
                "alt": f"{page.sample_name(i)} over its {page.feature_word}s, before and after",
            }
            for k, i in enumerate(shown)
        ],
    }
    section.draw(
        "row",
        before_after_traces(),
        xaxis={"nticks": 12},
        yaxis_title_text="value" if curves else "standard deviations from the median",
    )
    section.parts.append(
        {
            "kind": "rows",
            "choices": [page.sample_name(i) for i in shown],
            "caption": f"The {len(shown)} samples from which most was removed, one at a time: "
            + ("a curve over its features." if curves else "all features, side by side."),
        }
    )


def _axis(names: Sequence[str]) -> list[Any]:
    """Names that are numbers, such as wavelengths, as numbers."""
    try:
        return numbers([float(name) for name in names], 8)
    except ValueError:
        return [chart_text(name) for name in names]


def before_after_traces() -> list[Any]:
    """Lines before and after, and crosses where they differ much; the script fills them."""
    line = plotly().Scatter
    cross = {"color": RED, "size": 7, "symbol": "x-thin", "line": {"color": RED, "width": 2}}
    return [
        line(mode="lines", name="before", line={"color": GREY, "width": 1}, opacity=0.7),
        line(mode="lines", name="after", line={"color": BLUE, "width": 2}),
        line(mode="markers", name="repaired", marker=cross),
    ]


def _heat_map(section: Section, page: PageContent) -> None:
    rows = page.some_samples(MAX_HEAT_ROWS, worst=0.4)
    columns = np.sort(page.worst_features(MAX_HEAT_COLUMNS))
    block = np.ix_(rows, columns)
    center, spread = (unit[columns] for unit in page.units())
    before, after = ((data[block] - center) / spread for data in (page.X, page.clean))
    # What the script puts in place of what is shown first.
    section.content["heat"] = {
        "before": {"z": numbers(before, 3), **DEVIATIONS},
        "after": {"z": numbers(after, 3), **DEVIATIONS},
        "removed": {"z": numbers(before - after, 3), **DEVIATIONS, "colorscale": SIGNED_SCALE},
    }
    samples = [chart_text(page.sample_name(int(i))) for i in rows]
    section.draw(
        "heat",
        [heat_map(before, [page.names[j] for j in columns], y=samples)],
        xaxis={"type": "category", "nticks": 30},
        yaxis={"type": "category", "autorange": "reversed", "nticks": 12},
    )
    shown = f"{len(rows):,} of {len(page.X):,} samples, {len(columns)} of {len(page.names)} features"
    section.parts.append(
        {
            "kind": "heat",
            "alt": f"heat map of the table, {shown}",
            "caption": f"Deviations from the median of each feature: {shown}.",
        }
    )
