"""The probes themselves, with a few attempts each: that they find something wrong where it is."""

import numpy as np
import pytest

from probes import damage, page
from probes.record import FINE, WRONG, Record
from rnlmf import io


def test_damaged_files_are_read_or_refused():
    record = Record("damaged files")
    damage.probe(record, 10, seed=1, formats=("csv", "npy", "npz", "zip", "amc"))
    assert record.n_wrong == 0, record.wrong
    assert {sum(count.values()) for count in record.rows.values()} == {10}


@pytest.mark.parametrize(
    "fault", [KeyError("x"), io.FileError("a", "two\nlines")], ids=["another error", "two lines"]
)
def test_a_reader_that_breaks_its_promise_is_found(monkeypatch, fault):
    record = Record("damaged files")

    def broken(path):
        if len(path.read_bytes()) < 100:
            raise fault
        return io.Dataset(np.zeros((40, 5)), "array", [], None, (5,), None, path)

    monkeypatch.setattr(damage.io, "read", broken)
    damage.probe(record, 200, seed=0, formats=("npy",))
    assert record.n_wrong > 0


def test_a_silent_loss_is_found(monkeypatch):
    record = Record("damaged files")
    monkeypatch.setattr(
        damage.io,
        "read",
        lambda path: io.Dataset(
            np.zeros((len(path.read_bytes()), 1)), "array", [], None, (1,), None, path
        ),
    )
    damage.probe(record, 10, seed=0, formats=("npy",))
    assert record.rows["npy"][WRONG] == 2


def test_the_page_counts_what_was_found():
    rows = {"a": {FINE: 3, "refused": 1, WRONG: 0}, "b": {FINE: 0, "refused": 5, WRONG: 2}}
    found = {"name": "x", "title": "files", "command": "c", "commit": "1", "python": "3", "seconds": 4}
    text = page.section({**found, "rows": rows, "facts": {"memory": 2}, "wrong": ["b: x"]})
    assert "| all | 11 | 3 | 6 | 2 |" in text
    assert "- memory: 2" in text
