"""What a probe found, on which commit, by which command."""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "probes" / "results"
PAGE = ROOT / "docs" / "reliability.md"
FINE, REFUSED, WRONG = "fine", "refused", "wrong"
# Of what is wrong, these many are kept to look at.
SHOWN = 40


@dataclass
class Record:
    """Outcomes by row of a table, and examples of what is wrong.

    Attributes
    ----------
    title : str
        What was tried.
    rows : dict
        Counts of "fine", "refused" and "wrong" by name of the row.
    wrong : list of str
        Examples.
    facts : dict
        Figures that are no counts.
    """

    title: str
    rows: dict[str, Counter[str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    start: float = field(default_factory=time.monotonic)
    commit: str = field(default_factory=lambda: commit())

    def add(self, row: str, outcome: str, example: str = "", times: int = 1) -> None:
        """Count an outcome."""
        self.rows.setdefault(row, Counter())[outcome] += times
        if outcome == WRONG and len(self.wrong) < SHOWN:
            self.wrong.append(f"{row}: {example}")

    @property
    def n_wrong(self) -> int:
        """How many are wrong."""
        return sum(count[WRONG] for count in self.rows.values())

    def resume(self, name: str) -> None:
        """Go on with what is in a file of results, if it is of the same commit and figures."""
        file = RESULTS / f"{name}.json"
        found = json.loads(file.read_text()) if file.exists() else {"commit": None}
        if found["commit"] != self.commit or not self.facts.items() <= found["facts"].items():
            return
        self.rows = {row: Counter(counts) for row, counts in found["rows"].items()}
        self.wrong, self.facts = found["wrong"], found["facts"]
        self.start -= found["seconds"]

    def save(self, name: str) -> int:
        """Write the file of results and say what is in it; returns an exit code."""
        words = ["python", "-m", f"probes.{name}", *sys.argv[1:]]
        content = {
            "title": self.title,
            "command": " ".join(words),
            "commit": self.commit,
            "python": platform.python_version(),
            "seconds": round(time.monotonic() - self.start),
            "rows": {
                row: {kind: count[kind] for kind in (FINE, REFUSED, WRONG)}
                for row, count in self.rows.items()
            },
            "facts": self.facts,
            "wrong": self.wrong,
        }
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
        print(json.dumps(content["rows"], indent=1))
        for example in (*self.wrong, *(f"{key}: {value}" for key, value in self.facts.items())):
            print(example)
        return 1 if self.n_wrong else 0


def commit() -> str:
    """The commit that is tried, marked if files other than results differ from it."""

    def said(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    results = [f":!{place.relative_to(ROOT)}" for place in (RESULTS, PAGE)]
    changed = said("status", "--porcelain", "--untracked-files=no", "--", ".", *results)
    return (said("rev-parse", "--short", "HEAD") or "unknown") + ("-dirty" if changed else "")


def options(description: str | None, **defaults: Any) -> argparse.Namespace:
    """Options of a probe: numbers with defaults."""
    parser = argparse.ArgumentParser(description=description)
    for name, default in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    return parser.parse_args()
