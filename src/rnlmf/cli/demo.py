"""``rnlmf demo``: remove errors from a table, a motion and images."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from rnlmf import RNLMF
from rnlmf.datasets import corrupt_entries, salt_and_pepper
from rnlmf.datasets.examples import WEATHER_COLUMNS, add_spikes, make_robot_arm, make_weather
from rnlmf.io import outputs
from rnlmf.io.dataset import need
from rnlmf.metrics import relative_rmse
from rnlmf.report import write_report
from rnlmf.typing import Array

SHAPE = (8, 8)
PCA_RANKS = (1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56)
PAGES = {"salt and pepper": "digits.html"}


@dataclass(frozen=True)
class Case:
    """Data with errors, the truth, and what is known of them.

    The columns of tables have units of their own: errors are in standard deviations there.
    """

    truth: Array
    noisy: Array
    images: bool = False
    names: list[str] | None = None
    page: str | None = None

    def error(self, data: Array) -> float:
        """Relative, in percent."""
        center, unit = (0.0, 1.0) if self.images else (self.truth.mean(axis=0), self.truth.std(axis=0))
        return 100 * relative_rmse((self.truth - center) / unit, (data - center) / unit)

    def cleaned(self) -> tuple[Any, Array]:
        """By a model that is told nothing."""
        model = RNLMF(random_state=0)
        return model, model.fit_denoise(self.noisy)


def best_pca(case: Case) -> tuple[float, int]:
    """Error of PCA at the rank that is best against the truth: a favour that RNLMF does not get."""
    unit = 1.0 if case.images else case.noisy.std(axis=0)
    model = PCA(random_state=0).fit(case.noisy / unit)
    codes, axes = model.transform(case.noisy / unit), model.components_
    ranks = [rank for rank in PCA_RANKS if rank <= len(axes)]
    errors = [case.error((codes[:, :r] @ axes[:r] + model.mean_) * unit) for r in ranks]
    best = int(np.argmin(errors))
    return errors[best], ranks[best]


def cases() -> dict[str, Case]:
    """Truth and noisy version of every case; images in single precision: half the time."""
    rng = np.random.default_rng(0)
    weather, arm = make_weather(rng=rng), make_robot_arm(rng=rng)
    digits = load_digits().data.astype(np.float32)
    images = {
        "salt and pepper": salt_and_pepper(digits, random_state=0),
        "sparse Gaussian": corrupt_entries(digits, 0.1, random_state=0),
    }
    return {
        "weather table, spikes": Case(
            weather,
            add_spikes(weather, rng=rng),
            names=list(WEATHER_COLUMNS),
            page="weather.html",
        ),
        "robot arm, spikes in 10%": Case(arm, add_spikes(arm, share=0.1, rng=rng)),
        **{
            f"digits, {name}": Case(digits, noisy, images=True, page=PAGES.get(name))
            for name, noisy in images.items()
        },
    }


def draw(examples: dict[str, tuple[Array, Array, Array]], path: Path) -> None:
    """Before, noisy, after, and what was removed, of the worst-hit digits."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    per_case = 6
    rows = ("original", "noisy", "cleaned", "removed")
    figure = plt.figure(figsize=(5 * len(examples), 4), layout="constrained")
    parts: Any = figure.subfigures(1, len(examples), wspace=0.04)
    for part, (title, (truth, noisy, clean)) in zip(parts, examples.items(), strict=True):
        part.suptitle(title)
        damage = np.linalg.norm(noisy - truth, axis=1)
        hit = np.flatnonzero(damage >= np.quantile(damage, 0.8))
        chosen = hit[np.linspace(0, len(hit) - 1, per_case).astype(int)]
        axes = part.subplots(len(rows), per_case)
        for row, picture in enumerate((truth, noisy, clean, noisy - clean)):
            removed = rows[row] == "removed"
            for ax, sample in zip(axes[row], chosen, strict=True):
                ax.imshow(
                    picture[sample].reshape(SHAPE),
                    cmap="RdBu_r" if removed else "gray",
                    vmin=-16 if removed else 0,
                    vmax=16,
                )
                ax.set_xticks([])
                ax.set_yticks([])
            axes[row, 0].set_ylabel(rows[row])
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(folder: Path) -> None:
    """Run the demo and say where picture and pages are."""
    for library in ("matplotlib", "plotly", "jinja2"):
        need(library, "demo", "The demo")
    folder.mkdir(parents=True, exist_ok=True)
    print("Relative error (%) against the truth, which only this table has seen.")
    print("Columns with units of their own: in their standard deviations; the pages have it in units.")
    print("RNLMF: it chooses from the noisy data, with no parameter given.")
    print("PCA: at the rank that is best against the truth.\n")
    print(f"{'data':28}{'noisy':>8}{'PCA':>16}{'RNLMF':>9}{'seconds':>10}")
    examples, pages = {}, {}
    picture = folder / "digits.png"
    with outputs() as files:
        for name, case in cases().items():
            begin = time.perf_counter()
            model, clean = case.cleaned()
            seconds = time.perf_counter() - begin
            pca, rank = best_pca(case)
            before, after = case.error(case.noisy), case.error(clean)
            print(f"{name:28}{before:8.1f}{pca:8.1f} (rank {rank:2d}){after:8.1f}{seconds:10.1f}")
            if case.images:
                examples[name.removeprefix("digits, ")] = (case.truth, case.noisy, clean)
            if case.page is not None:
                pages[name] = folder / case.page
                write_report(
                    files.path(pages[name]),
                    model,
                    case.noisy,
                    clean=clean,
                    image_shape=SHAPE if case.images else None,
                    feature_names=case.names,
                    title=name.capitalize(),
                )
        draw(examples, files.path(picture))
    print("\nTo look at:")
    print(f"  {'digits before, noisy, after, and removed':42}{picture}")
    for name, page in pages.items():
        print(f"  {'what was found, ' + name:42}{page}")
