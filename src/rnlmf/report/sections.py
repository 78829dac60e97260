"""The tabs of the page. Each takes what it shows from a sample of bounded size."""

from __future__ import annotations

from typing import Any

import numpy as np

from rnlmf.plotting.drawing import principal_plane
from rnlmf.report import pictures
from rnlmf.report.compare import before_and_after
from rnlmf.report.content import (
    BLUE,
    MAX_HEAT_COLUMNS,
    RED,
    PageContent,
    Section,
    chart_text,
    heat_map,
    numbers,
    plotly,
)
from rnlmf.report.findings import Findings, innermost_model, percent
from rnlmf.report.lists import changes, columns
from rnlmf.typing import Array

# As many as can be told apart on a page (choices).
MAX_BARS = 40
MAX_MAP = 1500
MAX_ATOMS = 96
TABLE_ROWS = 15
# A histogram whose tallest bar is so many times the median one has a logarithmic axis.
TALLEST = 30

CLUSTER_COLOURS = (
    *("#3b82c4", "#e4572e", "#3aa876", "#b07cc6", "#d9a404"),
    *("#4fb3bf", "#d66ba0", "#8c6d46", "#7a8b99", "#6c8ae4"),
)
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross")


def all_sections(page: PageContent) -> list[Section]:
    """The tabs of the page, in order."""
    parts = [before_and_after, changes, columns, where, dictionary, sample_map, convergence, settings]
    if page.labels is not None:
        # Clusters are what was asked for.
        parts.remove(sample_map)
        parts.insert(0, sample_map)
    return [part(page) for part in parts]


def where(page: PageContent) -> Section:
    """Noise by feature and by sample."""
    section = Section("where", "Where")
    findings = page.findings
    if page.image_shape is not None:
        share = findings.feature_share.reshape(page.image_shape)
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
        features = page.worst_features(MAX_BARS)
        section.chart(
            "by-feature",
            [
                plotly().Bar(
                    x=[chart_text(page.names[j]) for j in features],
                    y=numbers(100 * findings.feature_share[features], 4),
                    marker_color=RED,
                    hovertemplate="%{x}: %{y:.3g}%<extra></extra>",
                )
            ],
            f"bar chart of repaired entries by feature, {page.names[features[0]]} the most",
            f"Share of entries repaired, by feature (the {len(features)} worst of {len(page.names)}).",
            xaxis_type="category",
            yaxis_title_text="entries repaired, %",
        )
    _by_sample(section, findings)
    worst = [i for i in page.removed_order[:TABLE_ROWS] if findings.sample_size[i] > 0.0]
    section.parts.append(
        {
            "kind": "table",
            "heads": ["sample", "entries repaired", "removed (standard deviations, rms)"],
            "rows": [
                (
                    page.sample_name(int(i)),
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
            plotly().Bar(
                x=x,
                y=counts.tolist(),
                width=width,
                marker_color=BLUE,
                hovertemplate="%{x:.3g}" + unit + " repaired: %{y} samples<extra></extra>",
            )
        ],
        "histogram of how much of each sample was repaired",
        "How many samples had how much of them repaired.",
        xaxis_title_text=f"repaired entries of a sample{', %' if unit else ''}",
        xaxis_dtick=1 if len(counts) <= 12 else None,
        yaxis_title_text="samples",
        yaxis_type="log" if tall else None,
        yaxis_dtick=1 if tall else None,
    )


def dictionary(page: PageContent) -> Section:
    """Atoms as images or as a heat map."""
    section = Section("dictionary", "Dictionary")
    atoms = np.asarray(page.factorization.components_)
    shown = atoms[np.linspace(0, len(atoms) - 1, min(len(atoms), MAX_ATOMS)).astype(int)]
    part = f"{len(shown)} of {len(atoms)} atoms" if len(shown) < len(atoms) else f"{len(atoms)} atoms"
    caption = f"{part}: the typical samples by which the others are described."
    if page.image_shape is not None:
        low, high = float(page.clean.min()), float(page.clean.max())
        images = [pictures.without_single_channel(atom.reshape(page.image_shape)) for atom in shown]
        uris = [pictures.data_uri(pictures.grey(image, low, high)) for image in images]
        section.parts.append({"kind": "atoms", "atoms": uris, "caption": caption})
        return section
    columns = np.sort(page.worst_features(MAX_HEAT_COLUMNS))
    center, spread = (unit[columns] for unit in page.units())
    section.chart(
        "atoms",
        [heat_map((shown[:, columns] - center) / spread, [page.names[j] for j in columns])],
        f"heat map of the dictionary, {part}",
        caption + " Deviations from the median of each feature.",
        xaxis={"type": "category", "nticks": 30},
        yaxis={"title_text": "atom", "autorange": "reversed"},
    )
    return section


def sample_map(page: PageContent) -> Section:
    """Samples in the plane of their two principal components."""
    section = Section("map", "Map" if page.labels is None else "Clusters")
    if min(page.clean.shape) < 2:
        return section
    rows = page.some_samples(MAX_MAP, worst=0.2)
    points = page.clean if page.embedding is None else page.embedding
    unit = page.units()[1] if points is page.clean and page.image_shape is None else 1.0
    plane, held = principal_plane(points[rows] / unit)
    names = [chart_text(page.sample_name(int(i))) for i in rows]
    if page.labels is None:
        sizes = page.findings.sample_size[rows]
        marker = {
            "size": 6,
            "opacity": 0.8,
            "color": numbers(sizes, 3),
            "cmin": 0,
            "cmax": float(np.quantile(sizes, 0.98)) or 1.0,
            "colorscale": [[0, BLUE], [1, RED]],
            "colorbar": {"title": {"text": "removed (rms)", "side": "right"}, "thickness": 12},
        }
        data = [_points(plane, names, marker, "", len(rows))]
    else:
        labels = page.labels[rows]
        data, count = [], len(np.unique(page.labels))
        for number, label in enumerate(np.unique(labels)):
            chosen = np.flatnonzero(labels == label)
            marker = {"size": 6, "opacity": 0.8, **cluster_marker(number, count)}
            some = [names[i] for i in chosen]
            data.append(_points(plane[chosen], some, marker, f"cluster {label}", len(rows)))
    part = "All samples" if len(rows) == len(page.X) else f"{len(rows):,} of {len(page.X):,} samples"
    what = "after cleaning" if page.embedding is None else "in the embedding that was cut into clusters"
    section.chart(
        "map",
        data,
        "scatter plot of the samples" + (" by cluster" if page.labels is not None else ""),
        f"{part} {what}, in the plane that holds most of their variance, {percent(held)}.",
        xaxis_title_text="first component",
        yaxis_title_text="second component",
        showlegend=page.labels is not None,
    )
    section.parts[-1]["tall"] = True
    if page.labels is not None:
        numbers_of, sizes = np.unique(page.labels, return_counts=True)
        section.parts.append(
            {
                "kind": "table",
                "heads": ["cluster", "samples", "share", "entries repaired"],
                "rows": [
                    (
                        str(label),
                        f"{size:,}",
                        percent(size / len(page.labels)),
                        percent(float(page.findings.sample_share[page.labels == label].mean())),
                    )
                    for label, size in zip(numbers_of, sizes, strict=True)
                ][:MAX_BARS],
                "caption": "The clusters, the largest first.",
                "numbers": True,
            }
        )
    return section


def cluster_marker(number: int, count: int) -> dict[str, Any]:
    """Colour and shape that no other cluster has: of many, hues around the circle, in turns darker and
    lighter, with shapes that change from one hue to the next.
    """
    if count <= len(CLUSTER_COLOURS):
        return {"color": CLUSTER_COLOURS[number], "symbol": "circle"}
    lightness = (45, 57, 69)[number % 3]
    return {
        "color": f"hsl({360 * number / count:.0f}, 60%, {lightness}%)",
        "symbol": SHAPES[number % len(SHAPES)],
    }


def _points(plane: Array, names: list[str], marker: Any, name: str, total: int) -> Any:
    # The browser draws many points faster on the graphics card.
    kind = plotly().Scattergl if total > 1000 else plotly().Scatter
    return kind(
        mode="markers",
        x=numbers(plane[:, 0], 4),
        y=numbers(plane[:, 1], 4),
        text=names,
        name=name,
        hovertemplate="%{text}<extra>" + name + "</extra>",
        marker=marker,
    )


def convergence(page: PageContent) -> Section:
    """The objective over the iterations."""
    section = Section("convergence", "Convergence")
    objective = np.asarray(page.factorization.objective_, dtype=float)
    if len(objective) == 0:
        return section
    ended = "and had settled" if page.findings.converged else "and had not settled"
    section.chart(
        "objective",
        [
            plotly().Scatter(
                mode="lines",
                x=list(range(1, len(objective) + 1)),
                y=numbers(objective, 6),
                line={"color": BLUE, "width": 2},
                hovertemplate="iteration %{x}: %{y}<extra></extra>",
            )
        ],
        f"line chart of the objective over {len(objective)} iterations",
        f"The fit took {len(objective)} iterations {ended}.",
        xaxis_title_text="iteration",
        yaxis_title_text="objective",
    )
    return section


def settings(page: PageContent) -> Section:
    """Parameters, and the columns that were left alone."""
    section = Section("settings", "Settings")
    model = page.model
    shown = [
        (name, repr(value))
        for name, value in model.get_params().items()
        if not name.endswith(("callback", "verbose")) and not hasattr(value, "get_params")
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
    inner = innermost_model(model)
    tried = getattr(inner, "selection_", None)
    if tried:
        names = list(tried[0])
        share = getattr(inner, "neighbor_share_", 0.0)
        section.parts.append(
            {
                "kind": "table",
                "heads": [name.replace("_", " ") for name in names],
                "rows": [tuple(f"{row[name]:.4g}" for name in names) for row in tried],
                "caption": "What was tried for the parameters that were not given, best first, "
                "and how well entries that were held out are predicted: by their distance, which "
                "decides on the model, and by the share that is missed, which decides on the "
                f"threshold. The nearest samples have a share of {percent(share)} in the predictions.",
                "numbers": True,
            }
        )
    if page.untouched:
        section.parts.append(
            {
                "kind": "table",
                "heads": ["column", "why"],
                "rows": [(name or "(unnamed)", why) for name, why in page.untouched.items()],
                "caption": "Columns that were left alone.",
                "numbers": False,
            }
        )
    return section
