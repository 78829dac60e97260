"""Gross errors put into real tables, sequences, motion capture and images, with no parameter given.

    python -m benchmarks.unseen [--seeds 3] [--sets NAME ...] [--noises NAME ...] [--jobs 2] [--wild]

Beside ``RNLMF()``: leaving the data as they are and what people use instead, tuned on the truth
(:mod:`benchmarks.unseen.others`). The others' figures are kept in a file of their own and are not
measured again. Constants of the library were chosen without the sets of `sets.REPORT`.

z: root mean square error in the columns' deviations, in percent (images: relative error). altered:
share of right cells changed by more than 1% of a deviation. left: of errors above 3 deviations, the
share off by more than 1.5. estimate: the error that the model expects over the true one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.unseen.errors import NOISES, USUAL, Spoiled
from benchmarks.unseen.others import METHODS
from benchmarks.unseen.sets import KIND, REPORT, load
from rnlmf.typing import Array

RESULTS = Path(__file__).parents[1] / "results"
OURS, OTHERS = RESULTS / "unseen.json", RESULTS / "unseen_others.json"
Key = tuple[str, str, int]


def spoil(name: str, noise: str, seed: int) -> Spoiled:
    """The same errors whenever they are asked for; wild values go on top of the usual ones."""
    kind = KIND[name]
    drawn = USUAL[kind] if noise.startswith("wild") else noise
    salt_ = hashlib.blake2b(f"{name} {drawn}".encode(), digest_size=4).digest()
    rng = np.random.default_rng([seed, int.from_bytes(salt_)])
    return NOISES[kind][noise](load(name), rng)


def figures(spoiled: Spoiled, Y: Array, kind: str) -> dict[str, float | None]:
    """What is measured of a result."""
    X, N = spoiled.truth, spoiled.noisy
    s, wrong = X.std(axis=0), spoiled.wrong
    s = np.where(s > 0.0, s, 1.0)
    # What is wild is gone or not; a table cannot show how far off it is.
    off = np.abs(Y - X)
    with np.errstate(over="ignore"):
        big, wild = np.abs(N - X) > 3 * s, np.abs(N - X) > 50 * s
        squares = ((off / s) ** 2)[~wild]
        relative = 100 * float(np.linalg.norm(np.where(wild, 0.0, off)) / np.linalg.norm(X))
    return {
        "z": relative if kind in ("image", "synthetic") else 100 * float(np.sqrt(np.mean(squares))),
        "relative": relative,
        "altered": 100 * float(np.mean((np.abs(Y - N) > 0.01 * s)[~wrong])),
        "left": 100 * float(np.mean((off > 1.5 * s)[big])) if big.any() else None,
        "wild left": 100 * float(np.mean((off > 10 * s)[wild])) if wild.any() else None,
    }


def ours(key: Key) -> dict[str, Any]:
    """One fit with no parameter."""
    from rnlmf import RNLMF

    spoiled, kind = spoil(*key), KIND[key[0]]
    begin = time.process_time()
    model = RNLMF(random_state=key[2], n_jobs=1)
    Y = model.fit_denoise(spoiled.noisy)
    row = figures(spoiled, Y, kind)
    row["seconds"] = time.process_time() - begin
    row["ordered"] = model.sequence_
    expected = 100 * model.estimate_error(spoiled.noisy)
    row["expected"] = expected if np.isfinite(expected) else None
    return {"set": key[0], "noise": key[1], "seed": key[2], "method": "RNLMF()", **row}


def others(key: Key) -> list[dict[str, Any]]:
    """One row for every other method, at its best parameter."""
    spoiled, kind = spoil(*key), KIND[key[0]]
    results = {"untouched": [spoiled.noisy]}
    if not key[1].startswith(("clean", "wild")):
        results |= {name: method(spoiled.noisy) for name, method in METHODS[kind].items()}
    rows = []
    for method, found in results.items():
        best = min((figures(spoiled, Y, kind) for Y in found), key=lambda row: row["z"] or 0.0)
        rows.append({"set": key[0], "noise": key[1], "seed": key[2], "method": method, **best})
    return rows


def _key(row: dict[str, Any]) -> Key:
    return row["set"], row["noise"], row["seed"]


def summary(rows: list[dict[str, Any]]) -> str:
    """Means over the seeds, in Markdown: our figures, the best other's, and their ratio."""
    lines = [
        "| set | role | noise | untouched | best other | RNLMF() | ratio | altered | left "
        "| expected / true | s |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, noise in dict.fromkeys((r["set"], r["noise"]) for r in rows):
        some = [r for r in rows if (r["set"], r["noise"]) == (name, noise)]
        seeds = {r["seed"] for r in some if r["method"] == "RNLMF()"}
        by_method: dict[str, list[dict[str, Any]]] = {}
        for r in some:
            if r["seed"] in seeds:
                by_method.setdefault(r["method"], []).append(r)
        mine = by_method.pop("RNLMF()", [])
        if not mine:
            continue

        def mean(chosen: list[dict[str, Any]], what: str = "z") -> float:
            values = [r[what] for r in chosen if r.get(what) is not None]
            return float(np.mean(values)) if values else float("nan")

        untouched = mean(by_method.pop("untouched", []))
        rivals = {method: mean(found) for method, found in by_method.items()}
        best = min(rivals, key=lambda m: rivals[m], default="")
        z = mean(mine)
        ratio = f"{z / rivals[best]:.2f}" if best else ""
        pairs = [r["expected"] / r["relative"] for r in mine if r["expected"] and r["relative"] > 0]
        role = "report" if name in REPORT else "development"
        order = " ordered" if all(r["ordered"] for r in mine) else ""
        lines.append(
            f"| {name} | {role} | {noise}{order} | {untouched:.1f} "
            f"| {f'{rivals[best]:.2f} ({best})' if best else ''} | {z:.2f} | {ratio} "
            f"| {mean(mine, 'altered'):.2f} | {mean(mine, 'left'):.1f} "
            f"| {f'{np.median(pairs):.2f}' if pairs else 'unknown'} | {mean(mine, 'seconds'):.0f} |"
        )
    return "\n".join(lines) + "\n"


def stored(path: Path) -> list[dict[str, Any]]:
    """Rows of a file."""
    return json.loads(path.read_text()) if path.exists() else []


def keep(path: Path, rows: list[dict[str, Any]]) -> None:
    """Rows, one a line."""
    # Sets of other packages may not be there today.
    place = {name: i for i, name in enumerate(KIND)}
    rows = sorted(
        rows,
        key=lambda r: (place.get(r["set"], len(place)), r["set"], r["noise"], r["seed"], r["method"]),
    )
    path.write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=list(KIND), help="names, or kinds")
    parser.add_argument("--noises", nargs="*", help="only these")
    parser.add_argument("--wild", action="store_true", help="one value, and 1%%, far away as well")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--results", type=Path, default=OURS, help="where our figures go")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [n for n in KIND if n in arguments.sets or KIND[n] in arguments.sets]
    keys = [
        (name, noise, seed)
        for seed in range(arguments.seeds)
        for name in names
        for noise in NOISES[KIND[name]]
        if (noise in arguments.noises if arguments.noises else True)
        and (arguments.wild or not noise.startswith("wild"))
    ]
    mine = [r for r in stored(arguments.results) if _key(r) not in set(keys)]
    theirs = stored(OTHERS)
    known = {_key(r) for r in theirs}
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for found in pool.map(others, [k for k in keys if k not in known]):
            theirs += found
            keep(OTHERS, theirs)
        for row in pool.map(ours, keys):
            mine.append(row)
            rivals = [r for r in theirs if _key(r) == _key(row)]
            best = min((r["z"] for r in rivals if r["method"] != "untouched"), default=np.nan)
            print(
                *_key(row),
                f"{row['z']:.2f} (best other {best:.2f}, altered {row['altered']:.2f},",
                f"left {row['left'] or 0:.1f}, expected {row['expected'] or np.nan:.2f} of "
                f"{row['relative']:.2f}, {row['seconds']:.0f} s)",
                flush=True,
            )
            keep(arguments.results, mine)
    arguments.results.with_suffix(".md").write_text(summary(mine + theirs))


if __name__ == "__main__":
    main()
