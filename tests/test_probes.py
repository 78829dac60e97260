"""The probes themselves, with a few attempts each: that they find something wrong where it is."""

import numpy as np
import pytest

from probes import damage, fuzz, mutants, page, record, soak
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


def test_tests_of_a_module_are_found_the_nearest_first():
    first, second, *_ = mutants.tests_of("io/journal.py")
    assert first == ["tests/io"]
    assert second == ["tests/cleaning", "tests/cli"]
    assert mutants.tests_of("engine/solver.py")[0] == ["tests/engine/test_solver.py"]
    assert mutants.tests_of("io/heads.py")[0] == ["tests/io/test_heads.py"]
    assert mutants.tests_of("kernels.py")[0] == ["tests/test_kernels.py"]


def test_a_mutant_is_killed_by_a_test_that_fails(tmp_path, monkeypatch):
    (tmp_path / "src" / "rnlmf").mkdir(parents=True)
    (tmp_path / "src" / "rnlmf" / "__init__.py").touch()
    module = tmp_path / "src" / "rnlmf" / "one.py"
    module.write_text("ONE = 1\nTWO = 2\n")
    (tmp_path / "test_one.py").write_text(
        "from rnlmf import one\n\n\ndef test_one():\n    assert one.ONE == 1\n"
    )
    monkeypatch.setattr(mutants, "tests_of", lambda file: [["test_one.py"]])
    mutant = mutants.Mutant("one.py", "core/NumberReplacer", 0, 1)
    assert mutants.killed(mutant, "ONE = 2\nTWO = 2\n", tmp_path)
    assert not mutants.killed(mutant, "ONE = 1\nTWO = 3\n", tmp_path)
    assert module.read_text() == "ONE = 1\nTWO = 2\n"
    (tmp_path / "test_one.py").write_text("def test_one():\n    assert False\n")
    monkeypatch.setattr(mutants, "tests_of", lambda file: [["test_one.py", "-v"]])
    with pytest.raises(RuntimeError, match="fail without a mutant"):
        mutants.killed(mutant, "ONE = 1\nTWO = 3\n", tmp_path)


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
