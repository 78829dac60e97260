"""Lines and branches of the package that tests reach, and by which test each is reached.

The fast tests are run, folder by folder; ``--resume`` goes on with those that were not run on this
commit. ``python -m probes.coverage tests/distributed`` runs these alone, slow ones too, and adds what
they reach to what is known; of files that were changed since, all is forgotten first. With ``--known``
nothing is run.

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
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from typing import Any

from probes.record import FINE, RESULTS, ROOT, WRONG, Record

DATA = RESULTS / "coverage.sqlite"
DURATIONS = RESULTS / "coverage-durations"
FOUND = RESULTS / "coverage.json"
NEEDED = 0.95
ADDED = "with what was reached before, on commits"
RAN, FAILING = "tests that were run", "tests of which some fail"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def pieces() -> dict[str, list[str]]:
    """All tests, in parts that are run one by one."""
    folder = ROOT / "tests"
    parts = {f"tests/{f.name}": [f"tests/{f.name}"] for f in sorted(folder.iterdir()) if f.is_dir()}
    parts = {name: words for name, words in parts.items() if list((ROOT / name).glob("test_*.py"))}
    alone = [f"tests/{file.name}" for file in sorted(folder.glob("test_*.py"))]
    return {**parts, "tests, others": alone, "examples in docstrings": ["src"]}


def run(tests: list[str]) -> bool:
    """Run tests and add what they reach, and how long they take; whether they pass."""
    words = [sys.executable, "-m", "pytest", "-q", "--cov=src/rnlmf", "--cov-branch", "--cov-append"]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        words += ["--cov-context=test", "--cov-report=", "-o", "junit_family=xunit1"]
        done = subprocess.run([*words, f"--junitxml={report}", *tests], cwd=ROOT, env=_environment())
        before = json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {}
        DURATIONS.write_text(json.dumps({**before, **durations(report)}))
    return done.returncode == 0


def durations(report: Path) -> dict[str, float]:
    """Seconds of every test, by its name."""
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        file, name = case.get("file") or "", case.get("name") or ""
        module = file.removesuffix(".py").replace("/", ".")
        inner = (case.get("classname") or "").removeprefix(module).strip(".")
        found["::".join(filter(None, [file, inner, name]))] = float(case.get("time") or 0.0)
    return found


def forget(commit: str) -> None:
    """Drop what is known of files that were changed since a commit: it stands at other lines."""
    from coverage import CoverageData

    words = ["git", "diff", "--name-only", commit.removesuffix("-dirty"), "--", "src"]
    changed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    data = CoverageData(basename=str(DATA))
    data.read()
    data.purge_files([str(ROOT / name) for name in changed.split()])


def known() -> dict[str, Any]:
    """What coverage.py reports of all that was reached, by file."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        words = [sys.executable, "-m", "coverage", "json", "-q", "--include=src/*", "-o", str(report)]
        subprocess.run(words, cwd=ROOT, env=_environment(), check=True)
        found: dict[str, Any] = json.loads(report.read_text())["files"]
    return found


def _environment() -> dict[str, str]:
    return {**os.environ, **ONE_THREAD, "COVERAGE_FILE": str(DATA)}


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
    parser.add_argument("--resume", action="store_true", help="go on where a run ended")
    parser.add_argument("--known", action="store_true", help="run nothing")
    given = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    record = Record("lines and branches that tests reach: 95% of a folder (fine) or less (wrong)")
    before = json.loads(FOUND.read_text()) if FOUND.exists() else {"commit": "", "facts": {}}
    same = before["commit"] == record.commit
    ran, failing = (before["facts"].get(name, []) for name in (RAN, FAILING))
    if given.tests or given.known:
        if not same:
            forget(before["commit"])
            record.facts[ADDED] = f"{before['facts'].get(ADDED, '')} {before['commit']}".strip()
        parts = {} if given.known else {name: ["-m", "slow or not slow", name] for name in given.tests}
    else:
        if not (given.resume and same):
            DATA.unlink(missing_ok=True)
            ran, failing = [], []
        parts = {name: words for name, words in pieces().items() if name not in ran}
    for name, words in parts.items():
        passed = run(words)
        ran = sorted({*ran, name})
        failing = sorted({*failing, name} - ({name} if passed else set()))
        write(record, ran, failing)
    return write(record, ran, failing)


def write(record: Record, ran: list[str], failing: list[str]) -> int:
    """Write what was reached so far."""
    record.rows, record.wrong = {}, []
    record.facts.update({RAN: ran, FAILING: failing})
    for name in failing:
        record.add("tests", WRONG, f"some of {name} fail")
    for folder, counts in by_folder(known()).items():
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
