"""Past memory and past one machine: errors, memory, bytes and times.

    python -m benchmarks.scale [SECTION ...] [--gigabytes 12] [--rows 1000000]

Results are added to ``benchmarks/results/scale.json``. Times are of a shared machine: ratios, side by
side.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.scale.cluster import cluster
from benchmarks.scale.kills import kills
from benchmarks.scale.memory import memory
from benchmarks.scale.plan import reduction
from benchmarks.scale.same import same
from benchmarks.scale.streams import drift, streams
from benchmarks.scale.tensors import tensors

RESULTS = Path(__file__).parents[1] / "results" / "scale.json"

SECTIONS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "streams": streams,
    "drift": drift,
    "same": same,
    "memory": memory,
    "kills": kills,
    "cluster": cluster,
    "reduction": reduction,
    "tensors": tensors,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", default=[])
    parser.add_argument("--gigabytes", type=float, default=12.0, help="of the file of `memory`")
    parser.add_argument("--atoms", type=int, default=16, help="of the dictionary of `memory`")
    parser.add_argument(
        "--jobs", nargs="+", default=["fit", "mini-batch", "command"], help="of `memory`"
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help="of `streams`")
    parser.add_argument("--cluster-rows", type=int, default=2_000_000, help="of `cluster`")
    parser.add_argument("--kills", type=int, default=20, help="of workers, and of fits, in `kills`")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in arguments.sections or SECTIONS:
        found = SECTIONS[name](arguments)
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        results[name] = {**results.get(name, {}), **found} if name == "memory" else found
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        print(name, json.dumps(found, indent=1), flush=True)


if __name__ == "__main__":
    main()
