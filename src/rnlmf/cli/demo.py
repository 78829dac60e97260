"""``rnlmf demo``: remove three kinds of noise from digits, and one from synthetic data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from rnlmf import RNLMF
from rnlmf.datasets import (
    corrupt_entries,
    make_polynomial_manifolds,
    occlude,
    salt_and_pepper,
)
from rnlmf.io import outputs
from rnlmf.io.dataset import need
from rnlmf.metrics import relative_rmse
from rnlmf.report import write_report
from rnlmf.typing import Array

SHAPE = (8, 8)
PCA_RANKS = (1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56)
REPORTED = "digits, salt and pepper"


def best_pca(truth: Array, noisy: Array) -> tuple[float, int]:
    """Error of PCA at the rank that is best against the truth: a favour that RNLMF does not get."""
    model = PCA(random_state=0).fit(noisy)
    codes, mean, axes = model.transform(noisy), model.mean_, model.components_
    ranks = [rank for rank in PCA_RANKS if rank <= len(axes)]
    errors = [relative_rmse(truth, codes[:, :r] @ axes[:r] + mean) for r in ranks]
    best = int(np.argmin(errors))
    return errors[best], ranks[best]


def cases() -> dict[str, tuple[Array, Array]]:
    """Truth and noisy version of every case, in single precision: half the time."""
    digits = load_digits().data.astype(np.float32)
    manifolds = make_polynomial_manifolds(2, random_state=0)[0].astype(np.float32)
    return {
        REPORTED: (digits, salt_and_pepper(digits, random_state=0)),
        "digits, occlusion": (digits, occlude(digits, SHAPE, random_state=0)),
        "digits, sparse Gaussian": (digits, corrupt_entries(digits, 0.1, random_state=0)),
        "synthetic, sparse Gaussian": (manifolds, corrupt_entries(manifolds, 0.1, random_state=0)),
    }


def draw(examples: dict[str, tuple[Array, Array, Array]], path: Path) -> None:
    """Before, noisy, after, and what was removed, of the worst-hit digits."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    per_case = 6
    rows = ("original", "noisy", "cleaned", "removed")
    figure = plt.figure(figsize=(15, 4), layout="constrained")
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
    """Run the demo and say where picture and report are."""
    for library in ("matplotlib", "plotly", "jinja2"):
        need(library, "demo", "The demo")
    folder.mkdir(parents=True, exist_ok=True)
    print("Relative error (%) against the truth, which only this table has seen.")
    print("RNLMF: no parameter given, it chooses from the noisy data.")
    print("PCA: at the rank that is best against the truth.\n")
    print(f"{'data':28}{'noisy':>8}{'PCA':>16}{'RNLMF':>9}{'seconds':>10}")
    examples = {}
    picture, report = folder / "digits.png", folder / "report.html"
    with outputs() as files:
        for name, (truth, noisy) in cases().items():
            begin = time.perf_counter()
            # Pixels are for the dictionary, also of small images.
            model = RNLMF(
                opinions="dictionary" if name.startswith("digits") else "auto", random_state=0
            )
            clean = model.fit_denoise(noisy)
            seconds = time.perf_counter() - begin
            pca, rank = best_pca(truth, noisy)
            before, after = (100 * relative_rmse(truth, data) for data in (noisy, clean))
            print(f"{name:28}{before:8.1f}{100 * pca:8.1f} (rank {rank:2d}){after:8.1f}{seconds:10.1f}")
            if name.startswith("digits"):
                examples[name.removeprefix("digits, ")] = (truth, noisy, clean)
            if name == REPORTED:
                page, title = files.path(report), name.capitalize()
                write_report(page, model, noisy, clean=clean, image_shape=SHAPE, title=title)
        draw(examples, files.path(picture))
    print(f"\nBefore, noisy, after, and what was removed: {picture}")
    print(f"What was found, as a page for a browser:    {report}")
