"""Write ``docs/reliability.md`` from what the probes found."""

from __future__ import annotations

import json
import sys
from typing import Any

from probes.record import FINE, PAGE, REFUSED, RESULTS, ROOT, WRONG

# Why something is wrong in a row, by file of results.
EXPLAINED = json.loads((ROOT / "probes" / "explained.json").read_text())
HEAD = """# What trying to break it finds

Written by `python -m probes.page` from `probes/results`; the probes can be run again by anyone, see the
command of each. *Fine* is a right result, *refused* an error in one line that says what to do, *wrong*
anything else: another exception, a crash, a hang, a silent loss, old and new outputs mixed.
"""


def section(found: dict[str, Any]) -> str:
    """A table for one probe."""
    lines = [
        f"## {found['title'][0].upper()}{found['title'][1:]}",
        "",
        f"`{found['command']}`, commit {found['commit']}, Python {found['python']}, "
        f"{found['seconds']:,} s.",
        "",
        "| | tried | fine | refused | wrong |",
        "|---|--:|--:|--:|--:|",
    ]
    total = dict.fromkeys((FINE, REFUSED, WRONG), 0)
    for row, counts in found["rows"].items():
        lines.append(_line(row, counts))
        for kind in total:
            total[kind] += counts[kind]
    if len(found["rows"]) > 1:
        lines.append(_line("all", total))
    lines += ["", *(f"- {name}: {_words(value)}" for name, value in found["facts"].items())]
    lines += [f"- {row}: {why}" for row, why in EXPLAINED.get(found["name"], {}).items()]
    lines += [f"- wrong: `{' '.join(example.split())[:300]}`" for example in found["wrong"]]
    return "\n".join(lines).rstrip() + "\n"


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


def _line(name: str, counts: dict[str, int]) -> str:
    cells = [sum(counts.values()), counts[FINE], counts[REFUSED], counts[WRONG]]
    return f"| {name} | {' | '.join(f'{cell:,}' for cell in cells)} |"


def main() -> int:
    """Write the page."""
    files = sorted(RESULTS.glob("*.json"))
    found = [{"name": file.stem, **json.loads(file.read_text())} for file in files]
    PAGE.write_text("\n".join([HEAD, *map(section, found)]))
    print(PAGE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
