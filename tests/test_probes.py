"""The probes themselves, with a few attempts each: that they find something wrong where it is."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from coverage import CoverageData

from probes import coverage, damage, fuzz, mutants, page, record, soak, versions
from probes.record import FINE, WRONG, Record
from rnlmf import io


def test_damaged_files_are_read_or_refused():
    found = Record("damaged files")
    damage.probe(found, 10, seed=1, formats=("csv", "npy", "npz", "zip", "amc"))
    assert found.n_wrong == 0, found.wrong
    assert {sum(count.values()) for count in found.rows.values()} == {10}


@pytest.mark.parametrize(
    "fault", [KeyError("x"), io.FileError("a", "two\nlines")], ids=["another error", "two lines"]
)
def test_a_reader_that_breaks_its_promise_is_found(monkeypatch, fault):
    found = Record("damaged files")

    def broken(path):
        if len(path.read_bytes()) < 100:
            raise fault
        return io.Dataset(np.zeros((40, 5)), "array", [], None, (5,), None, path)

    monkeypatch.setattr(damage.io, "read", broken)
    damage.probe(found, 200, seed=0, formats=("npy",))
    assert found.n_wrong > 0


def test_a_silent_loss_is_found(monkeypatch):
    found = Record("damaged files")
    monkeypatch.setattr(
        damage.io,
        "read",
        lambda path: io.Dataset(
            np.zeros((len(path.read_bytes()), 1)), "array", [], None, (1,), None, path
        ),
    )
    damage.probe(found, 10, seed=0, formats=("npy",))
    assert found.rows["npy"][WRONG] == 2


def test_the_page_counts_what_was_found():
    rows = {"a": {FINE: 3, "refused": 1, WRONG: 0}, "b": {FINE: 0, "refused": 5, WRONG: 2}}
    found = {"name": "x", "title": "files", "command": "c", "commit": "1", "python": "3", "seconds": 4}
    text = page.section({**found, "rows": rows, "facts": {"memory": 2}, "wrong": ["b: x"]})
    assert "| all | 11 | 3 | 6 | 2 |" in text
    assert "- memory: 2" in text


def test_a_mutant_changes_what_runs():
    code = 'def f(x: int | None) -> "A":\n    """Text."""\n    return x + 1\n'
    assert mutants.plain(code) == mutants.plain(code.replace("|", "&").replace("Text", "Other"))
    assert mutants.plain(code) != mutants.plain(code.replace("+", "-"))
    assert mutants.plain("def") is None
    separated = "def f(a, *, b=1):\n    return a * b\n"
    assert mutants.plain(separated) == mutants.plain(separated.replace("a, *,", "a, /,"))
    assert mutants.plain(separated) != mutants.plain(separated.replace("a * b", "a / b"))


def test_a_mutant_is_told_by_what_it_changes():
    before = "a = 1\nb = [\n    2,\n    a + 1,\n]\n"
    assert mutants.told("x.py", before, before.replace("a + 1", "a - 1")) == "x.py: a + 1, -> a - 1,"
    assert mutants.told("x.py", before, "a = 1\n") == "x.py: b = [ 2, a + 1, ] ->"


def test_the_nearest_tests_come_first():
    tests = {
        *(f"tests/io/test_heads.py::test_{name}" for name in "ab"),
        *(f"tests/io/test_tables.py::test_{name}" for name in "ab"),
        *("tests/cli/test_app.py::test_a", "tests/cleaning/test_cells.py::test_a"),
    }
    beside, elsewhere = mutants.nearest("io/heads.py", tests)
    assert beside == [
        *("tests/io/test_heads.py::test_a", "tests/io/test_heads.py::test_b"),
        *("tests/io/test_tables.py::test_a", "tests/io/test_tables.py::test_b"),
    ]
    assert elsewhere == ["tests/cleaning/test_cells.py::test_a", "tests/cli/test_app.py::test_a"]
    assert mutants.nearest("io/heads.py", set()) == ([], [])
    # Of many tests of the module none is left out.
    many = {f"tests/io/test_heads.py::test_{number}" for number in range(40)}
    assert set(mutants.nearest("io/heads.py", tests | many)[0]) == set(beside) | many
    # The shortest first, and none that takes very long.
    seconds = {"tests/io/test_heads.py::test_a": 2.0, "tests/io/test_tables.py::test_a": 100.0}
    beside, _ = mutants.nearest("io/heads.py", tests, seconds)
    assert beside == [
        *("tests/io/test_heads.py::test_b", "tests/io/test_heads.py::test_a"),
        "tests/io/test_tables.py::test_b",
    ]


def test_lines_that_run_at_import_are_told():
    code = "A = 1\n\n\nclass B:\n    c: int = 2\n\n    def d(self, e=3):\n        return e\n"
    assert [line for line in range(1, 9) if mutants.in_a_function(code, line)] == [8]


def test_tests_of_a_mutant_take_no_longer_than_they_may():
    seconds = {"a": 3.0, "b": 4.0, "c": 2.0}
    assert mutants.affordable(list("abcd"), seconds, 5.0) == ["a", "c", "d"]
    assert mutants.affordable(list("abcd"), seconds, 9.0) == list("abcd")


def test_how_long_tests_take_is_known_by_their_names(tmp_path):
    cases = [
        ("tests/io/test_a.py", "tests.io.test_a", "test_one[x-1]", "1.5"),
        ("tests/io/test_a.py", "tests.io.test_a.TestGroup", "test_two", "0.25"),
    ]
    told = "".join(
        f'<testcase file="{f}" classname="{c}" name="{n}" time="{t}"/>' for f, c, n, t in cases
    )
    (tmp_path / "report.xml").write_text(f"<testsuites><testsuite>{told}</testsuite></testsuites>")
    assert coverage.durations(tmp_path / "report.xml") == {
        "tests/io/test_a.py::test_one[x-1]": 1.5,
        "tests/io/test_a.py::TestGroup::test_two": 0.25,
    }


def test_every_test_is_in_one_piece_of_a_run_for_coverage():
    words = [Path(word) for part in coverage.pieces().values() for word in part]
    files = [file.relative_to(record.ROOT) for file in (record.ROOT / "tests").rglob("test_*.py")]
    assert [sum(file.is_relative_to(word) for word in words) for file in files] == [1] * len(files)
    assert Path("src") in words


def test_what_was_reached_of_changed_files_is_forgotten(tmp_path, monkeypatch):
    monkeypatch.setattr(coverage, "DATA", tmp_path / "data.sqlite")
    monkeypatch.setattr(coverage, "ROOT", tmp_path)
    data = CoverageData(basename=str(coverage.DATA))
    data.add_lines({str(tmp_path / "src" / name): [1, 2] for name in ("kept.py", "changed.py")})
    data.write()
    told = subprocess.CompletedProcess([], 0, stdout="src/changed.py\n")
    monkeypatch.setattr(coverage.subprocess, "run", lambda *_, **__: told)
    coverage.forget("1234567")
    left = CoverageData(basename=str(coverage.DATA))
    left.read()
    assert left.lines(str(tmp_path / "src" / "kept.py")) == [1, 2]
    assert not left.lines(str(tmp_path / "src" / "changed.py"))


@pytest.mark.slow
def test_tests_of_a_line_are_known_from_a_run_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr(coverage, "DATA", tmp_path / "data.sqlite")
    monkeypatch.setattr(coverage, "DURATIONS", tmp_path / "durations")
    assert coverage.run(["tests/test_metrics.py"])
    counts = coverage.by_folder(coverage.known())
    assert counts["engine"]["covered_lines"] < counts["engine"]["num_statements"]
    assert counts["all of src"]["num_statements"] > counts["engine"]["num_statements"]
    reached = mutants.Reached(tmp_path / "data.sqlite", tmp_path / "durations")
    assert all(test.startswith("tests/test_metrics.py::test") for test in reached.seconds)
    assert reached.seconds
    code = (record.ROOT / "src" / "rnlmf" / "metrics.py").read_text().splitlines()
    line = next(i for i, text in enumerate(code, 1) if text.startswith("    return"))
    first, more, last = reached.tests("metrics.py", line)
    assert first
    assert all(test.startswith("tests/test_metrics.py") for test in first + more + last)
    assert not set(last) & set(first + more)
    # A line of no test is one of the import: all tests of the file. A file of no test has its folder.
    assert set(first + more) <= {test for some in reached.tests("metrics.py", 1) for test in some}
    assert reached.tests("io/nothing.py", 1) == [[], ["tests/io"]]


def test_a_mutant_is_killed_by_a_test_that_fails(tmp_path):
    (tmp_path / "src" / "rnlmf").mkdir(parents=True)
    module = tmp_path / "src" / "rnlmf" / "one.py"
    module.write_text("ONE = 1\nTWO = 2\n")
    # Not by import: this process has the package.
    (tmp_path / "test_one.py").write_text(
        "from pathlib import Path\n\n\ndef test_one():\n"
        "    assert 'ONE = 1' in (Path(__file__).parent / 'src/rnlmf/one.py').read_text()\n"
    )
    mutant = mutants.Mutant("one.py", "core/NumberReplacer", 0, 1)
    tests = [[], ["test_one.py::test_one"]]
    assert mutants.killed(mutant, "ONE = 2\nTWO = 2\n", tmp_path, tests)
    assert not mutants.killed(mutant, "ONE = 1\nTWO = 3\n", tmp_path, tests)
    assert not mutants.killed(mutant, "ONE = 2\nTWO = 2\n", tmp_path, [])
    assert module.read_text() == "ONE = 1\nTWO = 2\n"
    (tmp_path / "test_two.py").write_text("def test_two():\n    assert False\n")
    with pytest.raises(RuntimeError, match="fail without a mutant"):
        mutants.killed(mutant, "ONE = 1\nTWO = 3\n", tmp_path, [["test_two.py::test_two"]])


def test_mutants_are_drawn_from_all_lines(monkeypatch):
    pytest.importorskip("cosmic_ray")
    monkeypatch.setattr(mutants, "MODULES", ("metrics.py",))
    drawn = list(mutants.drawn(5, seed=0))
    assert len({mutant.line for mutant, _ in drawn}) == 5
    assert [mutant for mutant, _ in mutants.drawn(5, seed=0)] == [mutant for mutant, _ in drawn]


def test_a_probe_goes_on_where_it_ended_but_not_on_another_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    first = Record("files", facts={"seconds": 5}, commit="1")
    first.add("a", WRONG, "why")
    first.save("x")
    again = Record("files", facts={"seconds": 5}, commit="1")
    again.resume("x")
    assert again.rows["a"][WRONG] == 1
    assert again.wrong == ["a: why"]
    for other in (Record("files", commit="2"), Record("files", facts={"seconds": 6}, commit="1")):
        other.resume("x")
        assert other.rows == {}


def test_fuzzing_knows_what_a_file_may_not_lead_to(monkeypatch):
    ended = []
    monkeypatch.setattr(fuzz.os, "abort", lambda: ended.append(True))
    for target, event in [("csv", "open"), ("mat", "subprocess.Popen")]:
        fuzz.refuse(target, event)
    assert not ended
    for target, event in [("csv", "subprocess.Popen"), ("mat", "pickle.find_class")]:
        fuzz.refuse(target, event)
    assert len(ended) == 2
    # What compiled code keeps for itself is no content of a file.
    exec(
        "refuse('model', 'pickle.find_class')",
        {"__name__": "numba.core.serialize", "refuse": fuzz.refuse},
    )
    assert len(ended) == 2


def test_fuzzing_watches_what_is_imported_at_first_use(tmp_path, monkeypatch):
    package = tmp_path / "lazily" / "inner"
    package.mkdir(parents=True)
    for folder in (package.parent, package):
        (folder / "__init__.py").touch()
    (package / "deep.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    fuzz.import_whole(["lazily"])
    assert "lazily.inner.deep" in sys.modules


def test_memory_that_grows_is_found():
    steady, kept = soak.Watch(), []
    for _ in range(9):
        steady.look()
    assert steady.complaint == ""
    growing = soak.Watch()
    for _ in range(9):
        kept.append([object() for _ in range(1000)])
        growing.look()
    assert "blocks" in growing.complaint
    assert "memory" not in growing.complaint


@pytest.mark.parametrize(
    ("part", "expected"),
    [("", FINE), ("<skipped/>", "refused"), ("<failure/>", WRONG), ("<error/>", WRONG)],
)
def test_what_became_of_a_test_under_another_version(part, expected):
    assert versions.outcome(ElementTree.fromstring(f"<testcase>{part}</testcase>")) == expected
