"""Run every benchmark and write ``benchmarks/results/results.json`` and ``table.md``."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import cases, convergence, default, growth, iteration, peers

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("rnlmf", "numpy", "scipy", "scikit-learn", "numba", "threadpoolctl")
SECTIONS: dict[str, tuple[str, Callable[[], Any]]] = {
    "iteration": ("Time of an iteration, float32, 2 threads", iteration.run),
    "growth": ("Growth of time per iteration and of memory, float32", growth.run),
    "convergence": ("Time to an error, against plain NumPy in the paper's order", convergence.run),
    "default": ("What no parameter costs, in processor time", default.run),
    "peers": ("What one would use instead: motion capture 01_09, rho 0.3", peers.run),
}
NEED_DATA = {"peers"}


def cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def markdown(rows: list[dict[str, Any]]) -> str:
    header = list(rows[0])
    lines = [header, ["---"] * len(header), *([cell(row[name]) for name in header] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def render(results: dict[str, Any]) -> str:
    parts = ["# Benchmarks", "Ratios measured side by side; errors are relative RMSE in per cent."]
    about = results["about"]
    parts.append(", ".join(f"{name} {value}" for name, value in about.items()))
    for name, (title, _) in SECTIONS.items():
        if name not in results:
            continue
        parts.append(f"## {title}")
        tables = results[name]
        if isinstance(tables, list):
            tables = {"": tables}
        for subtitle, rows in tables.items():
            parts += [f"### {subtitle}"] * bool(subtitle) + [markdown(rows)]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", help=f"some of: {', '.join(SECTIONS)} (default: all)")
    chosen = parser.parse_args().sections or list(SECTIONS)
    if unknown := set(chosen) - set(SECTIONS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(SECTIONS)}")
    path = RESULTS / "results.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    results["about"] = {
        "Python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "cores": os.cpu_count(),
    }
    RESULTS.mkdir(exist_ok=True)
    for name in chosen:
        if name in NEED_DATA and not cases.data_present():
            print(f"{name}: skipped, no data folder (set RNLMF_DATA)")
            continue
        title, run = SECTIONS[name]
        print(f"{title} ...", flush=True)
        results[name] = run()
        path.write_text(json.dumps(results, indent=1) + "\n")
        (RESULTS / "table.md").write_text(render(results))
    print(render(results))


if __name__ == "__main__":
    main()
