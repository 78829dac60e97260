"""Mutants of the code: small changes that a test should notice.

Some are drawn from all that cosmic-ray can make of the modules below, without those that change only
annotations or texts. Every one is put into a copy of the package, and there the tests run that reach
its line, the nearest first, until one fails; which tests those are is known from ``python -m
probes.coverage``, which must have been run before. *Fine* is a mutant that a test kills, *wrong* one
that survives; equivalent ones, which no test can tell from the code, are listed with the reason in
``probes/equivalents.json`` and not counted. A run that was ended is gone on with by ``--again 0``: what
survived before is counted so and not tried again.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import json
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from probes.coverage import DATA, DURATIONS
from probes.record import FINE, RESULTS, ROOT, WRONG, Record, options

MODULES = ("kernels.py", "penalties.py", "engine", "fitting", "model_selection", "cluster", "io")
# Processor time of a mutant's tests, in seconds; one that takes longer hangs, which a test notices.
LIMIT = 120
# Of the tests that reach a line so many are run at most, the shortest first: some in the folder of the
# module and few elsewhere, which are mostly of whole commands; then more, for a mutant that survives.
MOST_TESTS = ((18, 6), (150, 20))
# And so many seconds of them, by what they took before.
MOST_SECONDS = (20.0, 30.0, 30.0)
# A test that takes longer is not run: it would kill few mutants in all the time that it takes.
LONGEST = 20.0
# What was killed stays killed: tests are added, not taken away.
KILLED = RESULTS / "mutants_killed.txt"
SURVIVED = RESULTS / "mutants_survived.txt"
# Imported once, and then there in every copy of the process. Nothing of the library is among them.
WARM = (
    *("numba", "pandas", "pyarrow", "pytest", "scipy.stats", "typer", "rich"),
    "sklearn.utils.estimator_checks",
)
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


def told(file: str, before: str, after: str) -> str:
    """How a mutant is listed: by what it changes, because lines move."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))[3:]
    old, new = (" ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+")
    return f"{file}: {old} -> {new}".rstrip()


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
        if isinstance(node, ast.arguments):
            # `*` and `/` between parameters are no arithmetic.
            node.args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
            node.defaults = [*node.defaults, *filter(None, node.kw_defaults)]
            node.posonlyargs, node.kwonlyargs, node.kw_defaults = [], [], []
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


class Reached:
    """Which tests run which line, as `probes.coverage` left it."""

    def __init__(self, data: Path = DATA, durations: Path = DURATIONS) -> None:
        from coverage import CoverageData

        self.seconds: dict[str, float] = json.loads(durations.read_text()) if durations.exists() else {}
        self.measured = data.stat().st_mtime
        self.data = CoverageData(basename=str(data))
        self.data.read()
        self.files = {_name(file): file for file in self.data.measured_files()}

    def tests(self, file: str, line: int) -> list[list[str]]:
        """Tests of a line: the nearest, then more, then all of the file beside that has most of them.

        What runs when a module is imported is known of the test that came first, and what is compiled
        of none: then those of the whole file, and of a file that is a program of its own those of the
        folder. Last comes the file of tests of the same name if it was changed since: there may be
        new ones in it.
        """
        by_line = {
            number: {context.partition("|")[0] for context in contexts} - {""}
            for number, contexts in self.data.contexts_by_lineno(self.files.get(file, "")).items()
        }
        own_code = ROOT / "src" / "rnlmf" / file
        called = own_code.exists() and in_a_function(own_code.read_text(), line)
        found = (called and by_line.get(line)) or set().union(*by_line.values())
        own = Path(own_tests(file))
        there = [str(own)] if (ROOT / own).exists() else []
        if not found:
            return [there, [str(own.parent)]]
        new = there if there and (ROOT / own).stat().st_mtime > self.measured else []
        beside, elsewhere = nearest(file, found, self.seconds)
        (few, fewer), (many, more) = MOST_TESTS
        stages = [beside[:few] + elsewhere[:fewer], beside[few:many] + elsewhere[fewer:more]]
        tried = {test for stage in stages for test in stage}
        by_file: dict[str, list[str]] = {}
        for test in beside or elsewhere:
            by_file.setdefault(test.partition("::")[0], []).append(test)
        fullest = max(by_file.values(), key=len, default=[])
        stages.append([test for test in fullest if test not in tried])
        limits = zip(stages, MOST_SECONDS, strict=True)
        first, *others = (affordable(stage, self.seconds, most) for stage, most in limits)
        return [first + new, *others]


def in_a_function(code: str, line: int) -> bool:
    """Whether a line runs when a function is called, not when the module is imported."""
    functions = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef))
    return any(node.body[0].lineno <= line <= (node.end_lineno or 0) for node in functions)


def _name(path: str) -> str:
    return path.rpartition("/rnlmf/")[2]


def own_tests(file: str) -> str:
    """The file of tests of a module."""
    path = Path(file)
    return str(Path("tests") / path.parent / f"test_{path.stem}.py")


def nearest(
    file: str, tests: set[str], seconds: dict[str, float] | None = None
) -> tuple[list[str], list[str]]:
    """Tests of the module and of its folder, and those elsewhere, the shortest first.

    From each file of tests one is taken in turn, so that the first are not all of one kind.
    """
    own, seconds = own_tests(file), seconds or {}
    by_file: dict[str, list[str]] = {}
    short = (test for test in tests if seconds.get(test, 0.0) <= LONGEST)
    for test in sorted(short, key=lambda test: (seconds.get(test, 0.0), len(test), test)):
        by_file.setdefault(test.partition("::")[0], []).append(test)
    half = MOST_TESTS[0][0] // 2
    first, by_file[own] = by_file.get(own, [])[:half], by_file.get(own, [])[half:]
    beside = [name for name in sorted(by_file) if Path(name).parent == Path(own).parent]
    elsewhere = [name for name in sorted(by_file) if name not in beside]
    return first + _in_turn([by_file[n] for n in beside]), _in_turn([by_file[n] for n in elsewhere])


def affordable(tests: list[str], seconds: dict[str, float], most: float) -> list[str]:
    """The first tests, without those that would take too long together; of unknown ones all."""
    found = []
    for test in tests:
        if (left := most - seconds.get(test, 0.0)) >= 0.0:
            found.append(test)
            most = left
    return found


def _in_turn(lists: list[list[str]]) -> list[str]:
    rounds = max(map(len, lists), default=0)
    return [some[i] for i in range(rounds) for some in lists if i < len(some)]


def killed(mutant: Mutant, code: str, copy: Path, stages: list[list[str]]) -> bool:
    """Whether a test fails on the mutant, which stands in the copy for as long as they run."""
    return any(_kill(mutant, code, copy, tests) for tests in stages if tests)


def _kill(mutant: Mutant, code: str, copy: Path, tests: list[str]) -> bool:
    file = copy / "src" / "rnlmf" / mutant.file
    before = file.read_text()
    file.write_text(code)
    try:
        failing = _failing(copy, tuple(tests))
    finally:
        file.write_text(before)
    if failing and _fails_unchanged(copy, failing):
        raise RuntimeError(f"{' '.join(failing)} fail without a mutant: mend that first.")
    return bool(failing)


@cache
def _fails_unchanged(copy: Path, tests: tuple[str, ...]) -> bool:
    return bool(_failing(copy, tests))


def _failing(copy: Path, tests: tuple[str, ...]) -> tuple[str, ...]:
    """The first test that fails; all of them if the process ended without telling which."""
    with tempfile.NamedTemporaryFile("r", errors="replace") as output:
        process = os.fork()
        if process == 0:
            _run_tests(copy, tests, output.name)
        _, status = os.waitpid(process, 0)
        said = output.read()
    if os.waitstatus_to_exitcode(status) == 0:
        return ()
    names = re.findall(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", said, re.M)
    # A dash may be in the name, too.
    whole = [name for name in names if name.count("[") == name.count("]")]
    return tuple(whole[:1]) or tests


def _run_tests(copy: Path, tests: tuple[str, ...], output: str) -> None:
    """In a copy of this process, which ends with it."""
    code = 1
    try:
        import pytest

        handle = os.open(output, os.O_WRONLY)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
        os.chdir(copy)
        sys.dont_write_bytecode = True
        sys.path[:0] = [str(copy / "src"), str(copy)]
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])
        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


@cache
def equivalents() -> dict[str, str]:
    """Mutants that no test can tell from the code, and why."""
    found: dict[str, str] = json.loads(EQUIVALENT.read_text())
    return found


def probe(record: Record, count: int, seed: int, seconds: float, again: bool = True) -> None:
    """Draw mutants and try them, but those that were killed before, until the time is over."""
    end = time.monotonic() + seconds
    known = dict.fromkeys(_listed(KILLED), FINE)
    if not again:
        known = dict.fromkeys(_listed(SURVIVED), WRONG) | known
    SURVIVED.write_text("")
    reached = Reached()
    os.environ.update(ONE_THREAD)
    for module in WARM:
        import_module(module)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "copy"
        ignored = shutil.ignore_patterns(
            ".git", ".venv*", "fuzz-*", "*.pyc", "__pycache__", ".hypothesis"
        )
        shutil.copytree(ROOT, copy, ignore=ignored)
        for mutant, code in drawn(count, seed):
            if time.monotonic() > end:
                break
            name = told(mutant.file, (ROOT / "src" / "rnlmf" / mutant.file).read_text(), code)
            if name in equivalents():
                continue
            outcome, why = known.get(name), ""
            if outcome is None:
                try:
                    dies = killed(mutant, code, copy, reached.tests(mutant.file, mutant.line))
                except RuntimeError as error:
                    dies, why = False, f" ({error})"
                outcome = FINE if dies else WRONG
                print(outcome, f"line {mutant.line} of {name}{why}", flush=True)
            record.add(mutant.file.partition("/")[0], outcome, name + why)
            if outcome == WRONG or name not in known:
                with open(KILLED if outcome == FINE else SURVIVED, "a") as file:
                    file.write(name + "\n")


def _listed(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def main() -> int:
    """Try mutants; it fails if too many survive."""
    chosen = options(__doc__, count=200, seed=0, seconds=6 * 3600.0, again=1)
    record = Record("mutants of the code: killed (fine) or not (wrong)")
    with contextlib.suppress(KeyboardInterrupt):
        probe(record, chosen.count, chosen.seed, chosen.seconds, bool(chosen.again))
    tried = sum(sum(row.values()) for row in record.rows.values())
    share = 1.0 - record.n_wrong / max(1, tried)
    record.facts = {"killed": f"{share:.0%} of {tried}", "equivalent, listed": len(equivalents())}
    record.save("mutants")
    return 0 if share >= NEEDED else 1


if __name__ == "__main__":
    sys.exit(main())
