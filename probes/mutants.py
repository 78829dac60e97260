"""Mutants of the code: small changes that a test should notice.

Some are drawn from all that cosmic-ray can make of the modules below, without those that change only
annotations or texts. Every one is put into a copy of the package, and the tests of its module are run
there, those of its file first. *Fine* is a mutant that a test kills, *wrong* one that survives;
equivalent ones, which no test can tell from the code, are listed with the reason in
``probes/equivalents.json`` and not counted.
"""

from __future__ import annotations

import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from probes.record import FINE, ROOT, WRONG, Record, options

MODULES = (
    *("kernels.py", "penalties.py", "engine", "fitting", "model_selection"),
    *("opinions", "cluster", "io", "cleaning"),
)
# What a test run may take, in seconds; a mutant that takes longer hangs, which a test notices.
LIMIT = 900
NEEDED = 0.85
EQUIVALENT = ROOT / "probes" / "equivalents.json"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
# Operators that need to be told names, or change how code is marked.
LEFT_OUT = ("VariableInserter", "VariableReplacer", "RemoveDecorator", "ExceptionReplacer")


@dataclass(frozen=True)
class Mutant:
    """A change of a file, by the operator that makes it and the place, counted from 0."""

    file: str
    operator: str
    occurrence: int
    line: int

    @property
    def name(self) -> str:
        """How it is listed; lines move, so that only the code of the line can tell it."""
        return f"{self.file}:{self.line} {self.operator.partition('/')[2]}"


def plain(code: str) -> str | None:
    """Code without annotations and texts, by which equal code is known; None if it is no code."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


def made(code: str, operator: str, occurrence: int) -> str | None:
    """The code with one change."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    result: str | None = mutate_code(code, get_operator(operator)(), occurrence)
    return result


def all_mutants(file: Path) -> Iterator[Mutant]:
    """Every change that can be made of a file."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    nodes = list(ast_nodes(get_ast(file.read_text())))
    name = str(file.relative_to(ROOT / "src" / "rnlmf"))
    for operator in sorted(operator_names()):
        if operator.partition("/")[2] in LEFT_OUT:
            continue
        change: Any = get_operator(operator)()
        places = (place for node in nodes for place in change.mutation_positions(node))
        for occurrence, ((line, _), _) in enumerate(places):
            yield Mutant(name, operator, occurrence, line)


def drawn(count: int, seed: int) -> Iterator[tuple[Mutant, str]]:
    """So many mutants of all modules, each of another line and with its code."""
    folder = ROOT / "src" / "rnlmf"
    files = sorted(f for module in MODULES for f in _files(folder / module))
    rng = random.Random(seed)
    lines: dict[tuple[str, int], list[Mutant]] = {}
    for file in files:
        for mutant in all_mutants(file):
            lines.setdefault((mutant.file, mutant.line), []).append(mutant)
    places = sorted(lines)
    rng.shuffle(places)
    for place in places:
        mutants = lines[place]
        rng.shuffle(mutants)
        for mutant in mutants:
            before = (folder / mutant.file).read_text()
            after = made(before, mutant.operator, mutant.occurrence)
            if after is not None and plain(after) not in (None, plain(before)):
                yield mutant, after
                count -= 1
                break
        if count == 0:
            return


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else list(path.rglob("*.py"))


def tests_of(file: str) -> list[list[str]]:
    """Tests to run, the nearest first: those of the file, then those of its folder."""
    path = Path(file)
    own = Path("tests") / path.parent / f"test_{path.stem}.py"
    folder = Path("tests") / path.parent
    found = [[str(own)]] if (ROOT / own).exists() else []
    if path.parent != Path() and (ROOT / folder).is_dir():
        ignored = [f"--ignore={own}"] if found else []
        found.append([str(folder), *ignored])
    if path.parts[0] in ("kernels.py", "penalties.py", "engine", "fitting", "model_selection"):
        found.append(["tests/engine", "tests/estimators/test_rnlmf.py"])
    if path.parts[0] == "io":
        found.append(["tests/cleaning", "tests/cli"])
    return found


def killed(mutant: Mutant, code: str, copy: Path) -> bool:
    """Whether a test fails on the mutant, which stands in the copy for as long as they run."""
    file = copy / "src" / "rnlmf" / mutant.file
    before = file.read_text()
    for tests in tests_of(mutant.file):
        file.write_text(code)
        try:
            passed = _passes(copy, tests)
        finally:
            file.write_text(before)
        if not passed:
            if not _passes_unchanged(copy, tuple(tests)):
                raise RuntimeError(f"{' '.join(tests)} fail without a mutant: mend that first.")
            return True
    return False


@cache
def _passes_unchanged(copy: Path, tests: tuple[str, ...]) -> bool:
    return _passes(copy, list(tests))


def _passes(copy: Path, tests: list[str]) -> bool:
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    paths = os.pathsep.join([str(copy / "src"), str(copy)])
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        run = subprocess.run(words, cwd=copy, env=environment, capture_output=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return False
    # 5: no test was found.
    return run.returncode in (0, 5)


@cache
def equivalents() -> dict[str, str]:
    """Mutants that no test can tell from the code, and why."""
    found: dict[str, str] = json.loads(EQUIVALENT.read_text())
    return found


def probe(record: Record, count: int, seed: int, seconds: float) -> None:
    """Draw mutants and try them until the time is over."""
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "copy"
        ignored = shutil.ignore_patterns(".git", ".venv", "*.pyc", "__pycache__", ".hypothesis")
        shutil.copytree(ROOT, copy, ignore=ignored)
        for mutant, code in drawn(count, seed):
            if time.monotonic() > end:
                break
            line = (ROOT / "src" / "rnlmf" / mutant.file).read_text().splitlines()[mutant.line - 1]
            told = f"{mutant.name}: {line.strip()}"
            if told in equivalents():
                continue
            outcome = FINE if killed(mutant, code, copy) else WRONG
            record.add(mutant.file.partition("/")[0], outcome, told)
            print(outcome, told, flush=True)


def main() -> int:
    """Try mutants; it fails if too many survive."""
    chosen = options(__doc__, count=200, seed=0, seconds=6 * 3600.0)
    record = Record("mutants of the code: killed (fine) or not (wrong)")
    probe(record, chosen.count, chosen.seed, chosen.seconds)
    tried = sum(sum(row.values()) for row in record.rows.values())
    share = 1.0 - record.n_wrong / max(1, tried)
    record.facts = {"killed": f"{share:.0%} of {tried}", "equivalent, listed": len(equivalents())}
    record.save("mutants")
    return 0 if share >= NEEDED else 1


if __name__ == "__main__":
    sys.exit(main())
