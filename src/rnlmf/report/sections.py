"""The parts of the page. Each takes what it shows from a sample of bounded size."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rnlmf.report import pictures
from rnlmf.report.findings import Findings, inner_model, percent

Array = npt.NDArray[Any]

MAX_IMAGES = 60
MAX_PIXELS = 3_000_000
MAX_SERIES_FEATURES = 12
MAX_SERIES_POINTS = 3000
MAX_HEAT_ROWS, MAX_HEAT_COLUMNS = 160, 60
MAX_BARS = 40
MAX_MAP = 3000
MAX_ATOMS = 96
TABLE_ROWS = 15
# A histogram whose tallest bar is so many times the median one has a logarithmic axis.
TALLEST = 30

BLUE, RED, GREY = "#3b82c4", "#e4572e", "#8b949e"
# Colours that begin transparent suit a light page and a dark one.
SIZE_SCALE = [[0, "rgba(228,87,46,0)"], [0.3, "rgba(228,87,46,0.45)"], [1, "rgba(228,87,46,1)"]]
SIGNED_SCALE = [[0, "rgba(59,130,196,1)"], [0.5, "rgba(128,128,128,0.04)"], [1, "rgba(228,87,46,1)"]]
CLUSTER_COLOURS = (
    *("#3b82c4", "#e4572e", "#3aa876", "#b07cc6", "#d9a404"),
    *("#4fb3bf", "#d66ba0", "#8c6d46", "#7a8b99", "#6c8ae4"),
)


@dataclass(frozen=True)
class Story:
    """Everything that the page tells about."""

    model: Any
    X: Array
    clean: Array
    findings: Findings
    names: list[str]
    sample_names: list[str] | None
    image_shape: tuple[int, ...] | None
    labels: Array | None
    untouched: dict[str, str]
    embedding: Array | None = None

    @property
    def factorization(self) -> Any:
        """The model that has dictionary and objective: itself, or what a clustering is built on."""
        return getattr(self.model, "factorization_", self.model)

    def sample_name(self, i: int) -> str:
        """A name for reading."""
        return f"sample {i}" if self.sample_names is None else self.sample_names[i]

    @property
    def feature_word(self) -> str:
        """What to call a feature."""
        return "feature" if self.image_shape is None else "pixel"

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

    def chart(self, id: str, data: list[Any], layout: dict[str, Any], alt: str, caption: str) -> None:
        """Add a chart."""
        self.charts[id] = {"data": data, "layout": layout}
        self.parts.append({"kind": "chart", "id": id, "alt": alt, "caption": caption, "tall": False})


def all_sections(story: Story) -> list[Section]:
    """The tabs of the page, in order."""
    parts = [before_and_after, where, dictionary, sample_map, convergence, settings]
    if story.labels is not None:
        # Clusters are what was asked for.
        parts.remove(sample_map)
        parts.insert(0, sample_map)
    return [part(story) for part in parts]


def numbers(values: Any, digits: int = 5) -> Any:
    """Nested lists with few digits; None where there is no number."""
    array = np.asarray(values, dtype=float)
    if array.ndim > 1:
        return [numbers(row, digits) for row in array]
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in array]


def before_and_after(story: Story) -> Section:
    """Images with a slider, or a feature over the samples and the table as a heat map."""
    section = Section("compare", "Before and after")
    if story.image_shape is not None:
        _images(section, story, story.image_shape)
    else:
        _series(section, story)
        _heat_map(section, story)
    return section


def _images(section: Section, story: Story, shape: tuple[int, ...]) -> None:
    pixels = int(np.prod(shape[:2]))
    shown = story.some_samples(int(np.clip(MAX_PIXELS // (3 * pixels), 6, MAX_IMAGES)))
    shown = shown[np.argsort(-story.findings.sample_size[shown], kind="stable")]
    low, high = float(story.clean.min()), float(story.clean.max())
    tiles = []
    for i in shown:
        before, after = (
            pictures.without_single_channel(data[i].reshape(shape)) for data in (story.X, story.clean)
        )
        removed = np.nan_to_num(before - after)
        tiles.append(
            {
                "name": story.sample_name(int(i)),
                "before": pictures.data_uri(pictures.grey(before, low, high)),
                "after": pictures.data_uri(pictures.grey(after, low, high)),
                "removed": pictures.data_uri(pictures.signed(removed, (high - low) / 2)),
            }
        )
    part = "all images" if len(shown) == len(story.X) else f"{len(shown)} of {len(story.X):,} images"
    caption = f"Shown: {part}, those from which most was removed first."
    section.parts.append({"kind": "images", "tiles": tiles, "caption": caption})


def _positions(story: Story) -> Array:
    """Samples of the chart: all, or the repaired ones and others evenly between."""
    n = len(story.X)
    if n <= MAX_SERIES_POINTS:
        return np.arange(n)
    worst = story.removed_order[: MAX_SERIES_POINTS // 3]
    even = np.linspace(0, n - 1, MAX_SERIES_POINTS - len(worst)).astype(int)
    return np.unique(np.concatenate([worst, even]))


def _series(section: Section, story: Story) -> None:
    features = story.worst_features(MAX_SERIES_FEATURES)
    rows = _positions(story)
    series = []
    for j in features:
        before, after = story.X[rows, j], story.clean[rows, j]
        large = np.abs(before - after) > 0.5 * story.findings.spread[j]
        repaired = np.flatnonzero(large | np.isnan(before))
        share = percent(story.findings.feature_share[j])
        series.append(
            {
                "name": story.names[j],
                "before": numbers(before, 6),
                "after": numbers(after, 6),
                "repaired": repaired.tolist(),
                "alt": f"{story.names[j]} over the samples, {share} of the entries repaired",
            }
        )
    labels = None
    if story.sample_names is not None:
        labels = [story.sample_names[i] for i in rows]
    section.content = {
        "series": series,
        "series_positions": rows.tolist(),
        "series_labels": labels,
    }
    section.charts["series"] = {
        "data": [
            {"mode": "lines", "name": "before", "line": {"color": GREY, "width": 1}, "opacity": 0.7},
            {"mode": "lines", "name": "after", "line": {"color": BLUE, "width": 2}},
            {
                "mode": "markers",
                "name": "repaired",
                "marker": {
                    "color": RED,
                    "size": 7,
                    "symbol": "x-thin",
                    "line": {"color": RED, "width": 2},
                },
            },
        ],
        "layout": {
            "xaxis": {"rangeslider": {"visible": True, "thickness": 0.08}, "nticks": 8},
            "yaxis": {"fixedrange": False},
        },
    }
    part = "" if len(rows) == len(story.X) else f"{len(rows):,} of {len(story.X):,} samples are shown. "
    choices = [
        f"{story.names[j]} ({percent(story.findings.feature_share[j])} repaired)" for j in features
    ]
    section.parts.append(
        {
            "kind": "series",
            "choices": choices,
            "caption": f"{part}Crosses are entries that were repaired by more than half a standard "
            "deviation. Drag the strip below the chart to look closer.",
        }
    )


def _heat_map(section: Section, story: Story) -> None:
    rows = story.some_samples(MAX_HEAT_ROWS, worst=0.4)
    columns = np.sort(story.worst_features(MAX_HEAT_COLUMNS))
    block = np.ix_(rows, columns)
    center = np.median(story.clean, axis=0)[columns]
    spread = np.where(story.findings.spread > 0.0, story.findings.spread, 1.0)[columns]
    before, after = ((data[block] - center) / spread for data in (story.X, story.clean))
    kept = {"zmin": -3, "zmax": 3, "colorscale": "Viridis"}
    maps = {
        "before": {"z": numbers(before, 3), **kept},
        "after": {"z": numbers(after, 3), **kept},
        "removed": {
            "z": numbers(before - after, 3),
            "zmin": -3,
            "zmax": 3,
            "colorscale": SIGNED_SCALE,
        },
    }
    trace = {
        "type": "heatmap",
        "x": [story.names[j] for j in columns],
        "y": [story.sample_name(int(i)) for i in rows],
        "colorbar": {"title": {"text": "standard deviations", "side": "right"}, "thickness": 12},
        **maps["before"],
    }
    section.content["heat"] = maps
    section.charts["heat"] = {
        "data": [trace],
        "layout": {
            "xaxis": {"type": "category", "nticks": 30},
            "yaxis": {"type": "category", "autorange": "reversed", "nticks": 12},
        },
    }
    shown = f"{len(rows):,} of {len(story.X):,} samples, {len(columns)} of {len(story.names)} features"
    section.parts.append(
        {
            "kind": "heat",
            "alt": f"heat map of the table, {shown}",
            "caption": f"Deviations from the median of each feature: {shown}.",
        }
    )


def where(story: Story) -> Section:
    """Noise by feature and by sample."""
    section = Section("where", "Where the noise is")
    findings = story.findings
    if story.image_shape is not None:
        share = findings.feature_share.reshape(story.image_shape)
        if share.ndim == 3:
            share = share.mean(axis=2)
        section.parts.append(
            {
                "kind": "pixelmap",
                "image": pictures.data_uri(pictures.signed(share, float(share.max()))),
                "alt": "map of how often each pixel was repaired",
                "caption": "How often each pixel was repaired: full colour is "
                f"{percent(float(share.max()))} of the images.",
            }
        )
    else:
        features = story.worst_features(MAX_BARS)
        section.chart(
            "by-feature",
            [
                {
                    "type": "bar",
                    "x": [story.names[j] for j in features],
                    "y": numbers(100 * findings.feature_share[features], 4),
                    "marker": {"color": RED},
                    "hovertemplate": "%{x}: %{y:.3g}%<extra></extra>",
                }
            ],
            {"xaxis": {"type": "category"}, "yaxis": {"title": {"text": "entries repaired, %"}}},
            f"bar chart of repaired entries by feature, {story.names[features[0]]} the most",
            f"Share of entries repaired, by feature (the {len(features)} worst of {len(story.names)}).",
        )
    _by_sample(section, findings)
    worst = [i for i in story.removed_order[:TABLE_ROWS] if findings.sample_size[i] > 0.0]
    section.parts.append(
        {
            "kind": "table",
            "heads": ["sample", "entries repaired", "removed (standard deviations, rms)"],
            "rows": [
                (
                    story.sample_name(int(i)),
                    percent(findings.sample_share[i]),
                    f"{findings.sample_size[i]:.3g}",
                )
                for i in worst
            ],
            "caption": "The samples from which most was removed.",
            "numbers": True,
        }
    )
    return section


def _by_sample(section: Section, findings: Findings) -> None:
    """Histogram: by the number of repaired entries, or by their share where there are many."""
    m = findings.shape[1]
    if m <= MAX_BARS:
        repaired = np.rint(findings.sample_share * m).astype(int)
        counts = np.bincount(repaired)
        x, width, unit = list(range(len(counts))), 0.9, ""
    else:
        counts, edges = np.histogram(100 * findings.sample_share, bins=MAX_BARS)
        x = numbers((edges[:-1] + edges[1:]) / 2, 4)
        width, unit = 0.95 * float(edges[1] - edges[0]), "%"
    tall = counts.max() > TALLEST * max(1, int(np.median(counts[counts > 0])))
    section.chart(
        "by-sample",
        [
            {
                "type": "bar",
                "x": x,
                "y": counts.tolist(),
                "width": width,
                "marker": {"color": BLUE},
                "hovertemplate": "%{x:.3g}" + unit + " repaired: %{y} samples<extra></extra>",
            }
        ],
        {
            "xaxis": {
                "title": {"text": f"repaired entries of a sample{', %' if unit else ''}"},
                **({"dtick": 1} if len(counts) <= 12 else {}),
            },
            "yaxis": {
                "title": {"text": "samples"},
                **({"type": "log", "dtick": 1} if tall else {}),
            },
        },
        "histogram of how much of each sample was repaired",
        "How many samples had how much of them repaired.",
    )


def dictionary(story: Story) -> Section:
    """Atoms as images or as a heat map."""
    section = Section("dictionary", "Dictionary")
    atoms = np.asarray(story.factorization.components_)
    shown = atoms[np.linspace(0, len(atoms) - 1, min(len(atoms), MAX_ATOMS)).astype(int)]
    part = f"{len(shown)} of {len(atoms)} atoms" if len(shown) < len(atoms) else f"{len(atoms)} atoms"
    caption = f"{part}: the typical samples by which the others are described."
    if story.image_shape is not None:
        low, high = float(story.clean.min()), float(story.clean.max())
        images = [pictures.without_single_channel(atom.reshape(story.image_shape)) for atom in shown]
        uris = [pictures.data_uri(pictures.grey(image, low, high)) for image in images]
        section.parts.append({"kind": "atoms", "atoms": uris, "caption": caption})
        return section
    columns = np.sort(story.worst_features(MAX_HEAT_COLUMNS))
    center = np.median(story.clean, axis=0)[columns]
    spread = np.where(story.findings.spread > 0.0, story.findings.spread, 1.0)[columns]
    section.chart(
        "atoms",
        [
            {
                "type": "heatmap",
                "z": numbers((shown[:, columns] - center) / spread, 3),
                "x": [story.names[j] for j in columns],
                "colorscale": "Viridis",
                "zmin": -3,
                "zmax": 3,
                "colorbar": {
                    "title": {"text": "standard deviations", "side": "right"},
                    "thickness": 12,
                },
            }
        ],
        {
            "xaxis": {"type": "category", "nticks": 30},
            "yaxis": {"title": {"text": "atom"}, "autorange": "reversed"},
        },
        f"heat map of the dictionary, {part}",
        caption + " Deviations from the median of each feature.",
    )
    return section


def sample_map(story: Story) -> Section:
    """Samples in the plane of their two principal components."""
    section = Section("map", "Map of the samples" if story.labels is None else "Clusters")
    if min(story.clean.shape) < 2:
        return section
    rows = story.some_samples(MAX_MAP, worst=0.2)
    points = story.clean if story.embedding is None else story.embedding
    spread = np.where(story.findings.spread > 0.0, story.findings.spread, 1.0)
    unit = spread if points is story.clean and story.image_shape is None else 1.0
    scaled = (points[rows] - points[rows].mean(axis=0)) / unit
    if scaled.shape[1] < 2:
        scaled = np.column_stack([scaled, np.zeros(len(scaled))])
    left, values, _ = np.linalg.svd(scaled, full_matrices=False)
    plane = left[:, :2] * values[:2]
    held = float(np.sum(values[:2] ** 2) / max(np.sum(values**2), np.finfo(float).tiny))
    names = [story.sample_name(int(i)) for i in rows]
    common = {"type": "scattergl" if len(rows) > 1000 else "scatter", "mode": "markers"}
    if story.labels is None:
        sizes = story.findings.sample_size[rows]
        marker = {
            "size": 6,
            "opacity": 0.8,
            "color": numbers(sizes, 3),
            "cmin": 0,
            "cmax": float(np.quantile(sizes, 0.98)) or 1.0,
            "colorscale": [[0, BLUE], [1, RED]],
            "colorbar": {"title": {"text": "removed (rms)", "side": "right"}, "thickness": 12},
        }
        data = [_points(plane, names, marker, common, "")]
    else:
        labels = story.labels[rows]
        data = []
        for number, label in enumerate(np.unique(labels)):
            chosen = np.flatnonzero(labels == label)
            colour = CLUSTER_COLOURS[number % len(CLUSTER_COLOURS)]
            marker = {"size": 6, "opacity": 0.8, "color": colour}
            some = [names[i] for i in chosen]
            data.append(_points(plane[chosen], some, marker, common, f"cluster {label}"))
    part = "All samples" if len(rows) == len(story.X) else f"{len(rows):,} of {len(story.X):,} samples"
    what = (
        "after cleaning" if story.embedding is None else "in the embedding that was cut into clusters"
    )
    section.chart(
        "map",
        data,
        {
            "xaxis": {"title": {"text": "first component"}},
            "yaxis": {"title": {"text": "second component"}},
            "showlegend": story.labels is not None,
        },
        "scatter plot of the samples" + (" by cluster" if story.labels is not None else ""),
        f"{part} {what}, in the plane that holds most of their variance, {percent(held)}.",
    )
    section.parts[-1]["tall"] = True
    if story.labels is not None:
        numbers_of, sizes = np.unique(story.labels, return_counts=True)
        section.parts.append(
            {
                "kind": "table",
                "heads": ["cluster", "samples", "share", "entries repaired"],
                "rows": [
                    (
                        str(label),
                        f"{size:,}",
                        percent(size / len(story.labels)),
                        percent(float(story.findings.sample_share[story.labels == label].mean())),
                    )
                    for label, size in zip(numbers_of, sizes, strict=True)
                ][:MAX_BARS],
                "caption": "The clusters, the largest first.",
                "numbers": True,
            }
        )
    return section


def _points(plane: Array, names: list[str], marker: Any, common: Any, name: str) -> dict[str, Any]:
    return {
        **common,
        "x": numbers(plane[:, 0], 4),
        "y": numbers(plane[:, 1], 4),
        "text": names,
        "name": name,
        "hovertemplate": "%{text}<extra>" + name + "</extra>",
        "marker": marker,
    }


def convergence(story: Story) -> Section:
    """The objective over the iterations."""
    section = Section("convergence", "Convergence")
    objective = np.asarray(story.factorization.objective_, dtype=float)
    if len(objective) == 0:
        return section
    ended = "and had settled" if story.findings.converged else "and had not settled"
    section.chart(
        "objective",
        [
            {
                "mode": "lines",
                "x": list(range(1, len(objective) + 1)),
                "y": numbers(objective, 6),
                "line": {"color": BLUE, "width": 2},
                "hovertemplate": "iteration %{x}: %{y}<extra></extra>",
            }
        ],
        {"xaxis": {"title": {"text": "iteration"}}, "yaxis": {"title": {"text": "objective"}}},
        f"line chart of the objective over {len(objective)} iterations",
        f"The fit took {len(objective)} iterations {ended}.",
    )
    return section


def settings(story: Story) -> Section:
    """Parameters, and the columns that were left alone."""
    section = Section("settings", "Settings")
    model = story.model
    shown = [
        (name, repr(value))
        for name, value in model.get_params().items()
        if not name.endswith("callback") and not hasattr(value, "get_params")
    ]
    section.parts.append(
        {
            "kind": "table",
            "heads": ["parameter", "value"],
            "rows": shown,
            "caption": "Parameters of the model.",
            "numbers": False,
        }
    )
    tried = getattr(inner_model(model), "selection_", None)
    if tried:
        names = list(tried[0])
        section.parts.append(
            {
                "kind": "table",
                "heads": [name.replace("_", " ") for name in names],
                "rows": [tuple(f"{row[name]:.4g}" for name in names) for row in tried],
                "caption": "What was tried for the parameters that were not given, best first: the "
                "loss is that of predicting entries that were held out.",
                "numbers": True,
            }
        )
    if story.untouched:
        section.parts.append(
            {
                "kind": "table",
                "heads": ["column", "why"],
                "rows": [(name or "(unnamed)", why) for name, why in story.untouched.items()],
                "caption": "Columns that were left alone.",
                "numbers": False,
            }
        )
    return section
