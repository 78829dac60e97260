"""Lines and branches of the package that tests reach, and by which test each is reached.

The fast tests are run, and those of clusters, which are slow because they end processes. ``python -m
probes.coverage tests/io`` runs these alone, and adds what they reach to what is known.

*Fine* is a folder of which at least 95% is reached, lines and branches together. The tests of each line
are left in ``probes/results/coverage.sqlite``, for ``python -m probes.mutants``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from probes.record import FINE, RESULTS, ROOT, WRONG, Record

DATA = RESULTS / "coverage.sqlite"
FOUND = RESULTS / "coverage.json"
NEEDED = 0.95
# What pytest is told; the second run adds to the first.
RUNS: tuple[list[str], ...] = ([], ["--cov-append", "-m", "slow", "tests/distributed"])
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def measured(tests: list[str]) -> tuple[dict[str, Any], bool]:
    """What coverage.py reports of a run of tests, and whether they pass."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        words = [sys.executable, "-m", "pytest", "-q", "--cov=src/rnlmf", "--cov-branch"]
        words += ["--cov-context=test", f"--cov-report=json:{report}", *tests]
        environment = {**os.environ, **ONE_THREAD, "COVERAGE_FILE": str(DATA)}
        done = subprocess.run(words, cwd=ROOT, env=environment)
        found: dict[str, Any] = json.loads(report.read_text())
    return found["files"], done.returncode == 0


def by_folder(files: dict[str, Any]) -> dict[str, Counter[str]]:
    """Sums of a report's counts over the folders of the package, and over all."""
    sums: dict[str, Counter[str]] = {}
    for name, file in sorted(files.items()):
        parts = Path(name.partition("rnlmf/")[2]).parts
        for folder in (parts[0] if len(parts) > 1 else "(modules)", "all of src"):
            counts = {key: file["summary"][key] for key in KEYS}
            sums.setdefault(folder, Counter()).update(counts)
    return sums


KEYS = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def main() -> int:
    """Run the tests, and write what they reach."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", nargs="*")
    added = parser.parse_args().tests
    record = Record("lines and branches that tests reach: 95% of a folder (fine) or less (wrong)")
    RESULTS.mkdir(exist_ok=True)
    if added:
        record.facts["added to what was reached on commit"] = json.loads(FOUND.read_text())["commit"]
    passed = True
    for tests in [["--cov-append", "-m", "slow or not slow", *added]] if added else RUNS:
        files, passing = measured(tests)
        passed &= passing
    if not passed:
        record.add("tests", WRONG, "some fail")
    for folder, counts in by_folder(files).items():
        lines = counts["covered_lines"] / counts["num_statements"]
        branches = counts["covered_branches"] / max(1, counts["num_branches"])
        both = (counts["covered_lines"] + counts["covered_branches"]) / (
            counts["num_statements"] + counts["num_branches"]
        )
        told = f"{both:.1%}: {lines:.1%} of lines, {branches:.1%} of branches"
        record.add(folder, FINE if both >= NEEDED else WRONG, told)
        record.facts[folder] = told
    return record.save("coverage")


if __name__ == "__main__":
    sys.exit(main())
