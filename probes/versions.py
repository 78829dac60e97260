"""The fast tests under another Python, or with other versions of what the package rests on.

``python -m probes.versions .venv-oldest/bin/python -n 2`` runs them there; what comes after the
interpreter is for pytest. Rows of earlier runs on the same commit are kept. *Refused* are tests that
were skipped.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from probes.record import FINE, REFUSED, ROOT, WRONG, Record

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "pyarrow", "typer", "dask")
TELL = f"""
import platform
from importlib.metadata import version
packages = ", ".join(f"{{name}} {{version(name)}}" for name in {PACKAGES!r})
print(f"Python {{platform.python_version()}}; {{packages}}")
"""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def tests(interpreter: str, words: list[str]) -> list[tuple[str, str]]:
    """Outcome and name of every test."""
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT / "src")}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [interpreter, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        subprocess.run([*command, *words], cwd=ROOT, env=environment)
        cases = list(ElementTree.parse(report).iter("testcase"))
    return [(outcome(case), f"{case.get('classname')}.{case.get('name')}") for case in cases]


def outcome(case: ElementTree.Element) -> str:
    """What became of a test, from its report."""
    if case.find("failure") is not None or case.find("error") is not None:
        return WRONG
    return REFUSED if case.find("skipped") is not None else FINE


def main() -> int:
    """Run the tests, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("interpreter")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    record = Record("tests with other versions")
    record.resume("versions")
    told = subprocess.run([given.interpreter, "-c", TELL], capture_output=True, text=True, check=True)
    row = told.stdout.strip()
    record.rows.pop(row, None)
    record.wrong = [example for example in record.wrong if not example.startswith(row)]
    for result, name in tests(given.interpreter, given.words):
        record.add(row, result, name)
    return record.save("versions")


if __name__ == "__main__":
    sys.exit(main())
