"""Gross errors put into real tables, sequences and motion capture that no method was made for.

    python -m benchmarks.unseen [--seeds 3] [--sets NAME ...]       (RNLMF_DATA names the data)

Beside ``RNLMF()`` with no parameter: leaving the data as they are, clipping at four robust deviations,
robust PCA and, for sequences, a rolling median or Hampel filter, the last two tuned on the truth.
Constants of the library were chosen with the sets of `DEVELOPMENT` in view; the others only report.

z: root mean square error in the columns' deviations, in percent. altered: share of right cells changed
by more than 1% of a deviation. left: of errors above 3 deviations, the share off by more than 1.5.
estimate: the error that the model expects over the true one (relative Frobenius norms).
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.ndimage import median_filter

from rnlmf import RNLMF, RobustPCA
from rnlmf.datasets import corrupt_entries

RESULTS = Path(__file__).parent / "results"
TABLES = ("abalone", "california_housing", "dry_bean", "image_segmentation", "magic", "nir_soil")
SEQUENCES = ("daphnet_gait", "ecg_ptb_s0010", "imu_fusion", "occupancy", "robot_wall_sonar24")
MOTION = ("mocap_01_09", "mocap_56_06")
REPORT = {"california_housing", "magic", "mocap_56_06"}
DEVELOPMENT = {*TABLES, *SEQUENCES, *MOTION} - REPORT
MOST_ROWS, MOST_STEPS = 3000, 4000

Array = Any
Noise = Callable[[Array, Array, np.random.Generator], tuple[Array, Array]]


def load(name: str, folder: Path) -> tuple[Array, bool]:
    """Right data, and whether rows are in order."""
    if name in MOTION:
        X, ordered = np.load(folder / f"{name}.npz")["X"].astype(float), True
    else:
        kind = "table" if name in TABLES else "sequence"
        file = np.load(folder / "real" / f"{kind}_{name}.npz", allow_pickle=True)
        X, ordered = file["X"].astype(float), kind == "sequence"
    if ordered:
        X = X[:MOST_STEPS]
    else:
        X = X[np.sort(np.random.default_rng(0).permutation(len(X))[:MOST_ROWS])]
    return np.ascontiguousarray(X[:, X.std(axis=0) > 1e-9 * X.std()]), ordered


def spikes(share: float) -> Noise:
    def put(X: Array, s: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        wrong = rng.random(X.shape) < share
        size = rng.choice([-1, 1], X.shape) * rng.uniform(1, 8, X.shape) * s
        return X + np.where(wrong, size, 0.0), wrong

    return put


def swapped(share: float) -> Noise:
    def put(X: Array, s: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        others = np.stack([rng.permutation(column) for column in X.T], axis=1)
        wrong = rng.random(X.shape) < share
        return np.where(wrong, others, X), wrong & (others != X)

    return put


def bursts(share: float, length: int = 10) -> Noise:
    def put(X: Array, s: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        wrong = np.zeros(X.shape, dtype=bool)
        count = int(share * X.size / length)
        starts = zip(
            rng.integers(0, len(X) - length, count), rng.integers(0, X.shape[1], count), strict=True
        )
        for i, j in starts:
            wrong[i : i + length, j] = True
        size = rng.choice([-1, 1], X.shape) * rng.uniform(1, 8, X.shape) * s
        return X + np.where(wrong, size, 0.0), wrong

    return put


def as_in_the_paper(share: float) -> Noise:
    def put(X: Array, s: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        noisy = corrupt_entries(X, share, random_state=int(rng.integers(1 << 30)))
        return noisy, noisy != X

    return put


def clean(X: Array, s: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    return X.copy(), np.zeros(X.shape, dtype=bool)


NOISES: dict[str, dict[str, Noise]] = {
    "table": {"clean": clean, "spikes .05": spikes(0.05), "swapped .1": swapped(0.1)},
    "sequence": {
        "clean": clean,
        "spikes .05": spikes(0.05),
        "spikes .2": spikes(0.2),
        "bursts .05": bursts(0.05),
    },
    "motion": {
        "clean": clean,
        "paper .1": as_in_the_paper(0.1),
        "paper .3": as_in_the_paper(0.3),
        "bursts .05": bursts(0.05),
    },
}


def clipped(N: Array) -> Array:
    middle = np.median(N, axis=0)
    deviation = 1.4826 * np.median(np.abs(N - middle), axis=0)
    deviation = np.where(deviation > 0, deviation, N.std(axis=0))
    return np.where(np.abs(N - middle) > 4 * deviation, middle, N)


def robust_pca(N: Array) -> list[Array]:
    quartiles = np.subtract(*np.quantile(N, (0.75, 0.25), axis=0)) / 1.349
    center, scale = np.median(N, axis=0), np.where(quartiles > 0, quartiles, N.std(axis=0))
    scaled = (N - center) / scale
    weights = np.array((0.7, 1.0, 1.5, 2.0, 3.0)) / np.sqrt(max(N.shape))
    return [RobustPCA(weight=w).fit_denoise(scaled) * scale + center for w in weights]


def filters(N: Array) -> list[Array]:
    found = []
    for width in (3, 5, 9, 15, 25):
        median = median_filter(N, size=(width, 1), mode="nearest")
        distance = np.abs(N - median)
        usual = 1.4826 * median_filter(distance, size=(max(width, 7), 1), mode="nearest")
        found += [median, np.where(distance > 3 * usual + 1e-12, median, N)]
    return found


def measure(name: str, noise: str, seed: int, folder: Path) -> list[dict[str, Any]]:
    """One row for every method."""
    X, ordered = load(name, folder)
    s = X.std(axis=0)
    kind = "motion" if name in MOTION else "sequence" if ordered else "table"
    N, wrong = NOISES[kind][noise](X, s, np.random.default_rng(seed))
    big = wrong & (np.abs(N - X) > 3 * s)

    def z(Y: Array) -> float:
        return 100 * float(np.sqrt(np.mean(((X - Y) / s) ** 2)))

    model = RNLMF(random_state=0)
    results = {"untouched": N, "clipped": clipped(N), "robust PCA, tuned": min(robust_pca(N), key=z)}
    if ordered:
        results["filter, tuned"] = min(filters(N), key=z)
    results["RNLMF()"] = model.fit_denoise(N)
    true = float(np.linalg.norm(results["RNLMF()"] - X) / np.linalg.norm(X))
    rows = []
    for method, Y in results.items():
        row = {
            "set": name,
            "role": "development" if name in DEVELOPMENT else "report",
            "noise": noise,
            "seed": seed,
            "method": method,
            "z": z(Y),
            "relative": 100 * float(np.linalg.norm(Y - X) / np.linalg.norm(X)),
            "altered": 100 * float(np.mean((np.abs(Y - N) > 0.01 * s)[~wrong])),
            "left": 100 * float(np.mean((np.abs(Y - X) > 1.5 * s)[big])) if big.any() else None,
        }
        if method == "RNLMF()":
            row["estimate"] = model.estimate_error(N) / true if true > 0 else None
        rows.append(row)
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """Means over the seeds, in Markdown."""
    lines = [
        "| set | role | noise | method | z | relative | altered | left |",
        "|---|---|---|---|---|---|---|---|",
    ]
    keys = list(dict.fromkeys((r["set"], r["role"], r["noise"], r["method"]) for r in rows))
    for key in keys:
        some = [r for r in rows if (r["set"], r["role"], r["noise"], r["method"]) == key]
        cells = []
        for name in ("z", "relative", "altered", "left"):
            values = [r[name] for r in some if r[name] is not None]
            cells.append(f"{np.mean(values):.2f}" if values else "")
        lines.append(f"| {' | '.join(key)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=[*TABLES, *SEQUENCES, *MOTION])
    parser.add_argument("--noises", nargs="*", help="only these")
    arguments = parser.parse_args()
    folder = Path(os.environ["RNLMF_DATA"])
    warnings.simplefilter("ignore")
    stored = RESULTS / "unseen.json"
    rows = json.loads(stored.read_text()) if stored.exists() else []
    for name in arguments.sets:
        kind = "motion" if name in MOTION else "table" if name in TABLES else "sequence"
        for noise in arguments.noises or NOISES[kind]:
            for seed in range(arguments.seeds):
                rows = [r for r in rows if (r["set"], r["noise"], r["seed"]) != (name, noise, seed)]
                found = measure(name, noise, seed, folder)
                rows += found
                print(name, noise, seed, {r["method"]: round(r["z"], 1) for r in found}, flush=True)
                stored.write_text(json.dumps(rows, indent=1))
                (RESULTS / "unseen.md").write_text(table(rows))


if __name__ == "__main__":
    main()
