"""The figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.reproduce import spec
from rnlmf.reproduce.experiment import Experiment
from rnlmf.reproduce.results import Results
from rnlmf.typing import Array

# Momentum is zero in the first iterations.
EARLY = 5
MARKERS = {"RPCA": "s", "LRR": "^", "SSC": "v", "RDL": "D", "RNLMF": "o"}


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def _lines(
    ax: Any, experiment: Experiment, results: Results, x: str, mode: str = "paper", **where: Any
) -> None:
    """Error of every method against a label, on the rows whose other labels are those of `where`."""
    for number, method in enumerate(experiment.methods):
        points = []
        for row in experiment.rows:
            labels = dict(row.labels)
            summary = results.get(experiment, row, method, mode)
            if summary is not None and all(labels[name] == value for name, value in where.items()):
                points.append((labels[x], summary.mean["rmse"], summary.deviation["rmse"]))
        if points:
            places, values, spreads = zip(*sorted(points), strict=True)
            marker = MARKERS.get(method, "o")
            style = {"marker": marker, "markersize": 4, "capsize": 2, "color": f"C{number}"}
            ax.errorbar(places, values, spreads, label=method, **style)
    ax.set_xlabel(x)
    ax.set_ylabel("RMSE (%)")
    ax.set_title(", ".join(f"{name} = {value}" for name, value in where.items()))
    ax.grid(alpha=0.3)


def figure1(results: Results, path: Path) -> None:
    """R(C) against rho and against d."""
    plt = _pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    _lines(axes[0], spec.FIGURE_1A, results, "rho")
    _lines(axes[1], spec.FIGURE_1B, results, "d")
    axes[0].legend()
    _save(figure, path)


def figure2(results: Results, path: Path) -> None:
    """The objective for different eta, from the iteration on at which eta begins to act."""
    plt = _pyplot()
    figure, ax = plt.subplots(figsize=(5.5, 4), layout="constrained")
    for row, _, arrays in results.arrays(spec.FIGURE_2):
        values = arrays["objective"][EARLY:]
        label = f"eta = {dict(row.labels)['eta']}"
        ax.plot(np.arange(EARLY, EARLY + len(values)), values, label=label)
    ax.set(xlabel="iteration", ylabel="objective")
    ax.legend()
    ax.grid(alpha=0.3)
    _save(figure, path)


def figure3(results: Results, path: Path) -> None:
    """Two maps of the error: lambda_C by lambda_E, and sigma by d."""
    plt = _pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for ax, experiment in zip(axes, (spec.FIGURE_3A, spec.FIGURE_3B), strict=True):
        first, second = (name for name, _ in experiment.rows[0].labels)
        found = {
            (dict(row.labels)[first], dict(row.labels)[second]): summary.mean["rmse"]
            for row in experiment.rows
            if (summary := results.get(experiment, row, "RNLMF")) is not None
        }
        if not found:
            ax.set_axis_off()
            continue
        rows, columns = (sorted({key[axis] for key in found}) for axis in (0, 1))
        grid = np.array([[found.get((r, c), np.nan) for c in columns] for r in rows])
        ax.imshow(grid, cmap="viridis_r", aspect="auto")
        middle = (np.nanmin(grid) + np.nanmax(grid)) / 2
        for (i, j), value in np.ndenumerate(grid):
            color = "black" if value < middle else "white"
            ax.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=8, color=color)
        ax.set_xticks(range(len(columns)), [f"{value:g}" for value in columns])
        ax.set_yticks(range(len(rows)), [f"{value:g}" for value in rows])
        ax.set(xlabel=second, ylabel=first, title="RMSE (%)")
    _save(figure, path)


def _panels(experiment: Experiment, results: Results, path: Path) -> None:
    plt = _pyplot()
    counts = sorted(
        {
            dict(row.labels)["k"]
            for row in experiment.rows
            for method in experiment.methods
            if results.get(experiment, row, method) is not None
        }
    )
    figure, axes = plt.subplots(
        1, len(counts), figsize=(3.6 * len(counts) + 0.5, 3.5), layout="constrained", squeeze=False
    )
    for ax, k in zip(axes[0], counts, strict=True):
        _lines(ax, experiment, results, "rho", k=k)
    axes[0][0].legend()
    _save(figure, path)


def figure4(results: Results, path: Path) -> None:
    """Error against k and rho."""
    _panels(spec.FIGURE_4, results, path)


def figure5(results: Results, path: Path) -> None:
    """Error against the magnitude of the noise."""
    plt = _pyplot()
    figure, ax = plt.subplots(figsize=(4.5, 3.5), layout="constrained")
    _lines(ax, spec.FIGURE_5, results, "magnitude")
    ax.legend()
    _save(figure, path)


def figure6(results: Results, path: Path) -> None:
    """Error with column-wise noise."""
    _panels(spec.FIGURE_6, results, path)


def _pictures(results: Results) -> dict[str, dict[str, dict[str, Array]]]:
    """Arrays of the pictures, by data set and method."""
    found: dict[str, dict[str, dict[str, Array]]] = {}
    for row, method, arrays in results.arrays(spec.PICTURES):
        found.setdefault(str(dict(row.labels)["data"]), {})[method] = arrays
    return found


def dictionaries(results: Results, path: Path) -> None:
    """Atoms of RDL and RNLMF."""
    plt = _pyplot()
    found = _pictures(results)
    methods = ("RDL", "RNLMF")
    figure, axes = plt.subplots(
        len(found), 2, figsize=(8, 4.2 * len(found)), layout="constrained", squeeze=False
    )
    for line, (data, by_method) in zip(axes, found.items(), strict=True):
        for ax, method in zip(line, methods, strict=True):
            ax.set_axis_off()
            if method in by_method:
                arrays = by_method[method]
                atoms = arrays["dictionary"].reshape(-1, *arrays["image_shape"])
                ax.imshow(_mosaic(atoms, 10), cmap="gray")
                ax.set_title(f"{data}, {method}")
    _save(figure, path)


def denoised(results: Results, path: Path) -> None:
    """Original, noisy and recovered images."""
    plt = _pyplot()
    found = _pictures(results)
    figure, axes = plt.subplots(
        len(found), 1, figsize=(9, 3.4 * len(found)), layout="constrained", squeeze=False
    )
    for ax, (data, by_method) in zip(axes[:, 0], found.items(), strict=True):
        some = next(iter(by_method.values()))
        kinds = {"original": some["original"], "noisy": some["noisy"]}
        kinds |= {method: arrays["recovered"] for method, arrays in by_method.items()}
        height, width = (int(side) for side in some["image_shape"])
        images = [np.clip(rows, 0.0, 1.0).reshape(-1, height, width) for rows in kinds.values()]
        ax.imshow(np.vstack([np.hstack(list(rows)) for rows in images]), cmap="gray", vmin=0, vmax=1)
        ax.set_yticks([height * (place + 0.5) for place in range(len(kinds))], list(kinds))
        ax.set_xticks([])
        ax.set_title(data)
    _save(figure, path)


def _mosaic(images: Array, columns: int) -> Array:
    """Images side by side, each stretched to its own range, with a gap between."""
    low = images.min(axis=(1, 2), keepdims=True)
    range_ = np.maximum(images.max(axis=(1, 2), keepdims=True) - low, np.finfo(float).tiny)
    images = np.pad((images - low) / range_, ((0, 0), (1, 1), (1, 1)), constant_values=1.0)
    rows = len(images) // columns
    return np.vstack([np.hstack(list(images[r * columns : (r + 1) * columns])) for r in range(rows)])


def _save(figure: Any, path: Path) -> None:
    # No time in the file: the same results give the same picture.
    figure.savefig(path, dpi=120, metadata={"Software": None})
    _pyplot().close(figure)


# File, the experiments it shows, how it is drawn, and the paper's caption.
FIGURES: dict[str, tuple[tuple[Experiment, ...], Callable[[Results, Path], None], str]] = {
    "figure1": ((spec.FIGURE_1A, spec.FIGURE_1B), figure1, "RNLMF with different R(C) (Figure 1)"),
    "figure2": ((spec.FIGURE_2,), figure2, "Influence of eta in the optimization (Figure 2)"),
    "figure3": (
        (spec.FIGURE_3A, spec.FIGURE_3B),
        figure3,
        "Influence of lambda_C, lambda_E, sigma and d (Figure 3)",
    ),
    "figure4": ((spec.FIGURE_4,), figure4, "RMSE on synthetic data (Figure 4)"),
    "figure5": ((spec.FIGURE_5,), figure5, "RMSE against the magnitude of the noise (Figure 5)"),
    "figure6": ((spec.FIGURE_6,), figure6, "RMSE with column-wise noise (Figure 6)"),
    "dictionaries": ((spec.PICTURES,), dictionaries, "Dictionaries learned from images (Figures 7, 8)"),
    "denoised": ((spec.PICTURES,), denoised, "Images before and after (Figures 9, 10)"),
}
