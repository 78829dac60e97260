from collections import defaultdict

import pytest

from rnlmf.reproduce import spec
from rnlmf.reproduce.paper import paper_values
from rnlmf.reproduce.results import paper_value


def test_every_entry_of_the_printed_tables_is_there():
    counts = defaultdict(int)
    for table, *_ in paper_values():
        counts[table] += 1
    rows, methods = 12, 5
    clustering = 4 * 7
    motion = 2 * 4 * 5
    out_of_sample = 2 * 4 * 3 * 2
    assert counts == {
        "table4": rows * methods,
        "table5": clustering,
        "table6": clustering,
        "table7": motion,
        "table8": out_of_sample,
    }


def test_rnlmf_is_lowest_where_the_paper_prints_it_bold():
    """In every row but one: noisy Yale faces, where EKSS is."""
    rows = defaultdict(dict)
    for (*row, method), (value, _) in paper_values().items():
        rows[tuple(row)][method] = value
    for row, values in rows.items():
        expected = "EKSS" if row[:2] == ("table6", "Yale Face") else "RNLMF"
        assert min(values, key=values.get) == expected, row


def test_deviations_are_those_of_the_tables_that_have_them():
    for (table, *_), (_, deviation) in paper_values().items():
        assert (deviation is None) == (table in ("table5", "table6"))


@pytest.mark.parametrize("name", ["table4", "table5", "table6", "table7", "table8"])
def test_every_entry_of_a_table_finds_its_value(name):
    experiment = spec.EXPERIMENTS[name]
    for row in experiment.rows:
        for method in experiment.methods:
            for metric in experiment.metrics:
                assert paper_value(experiment, row, method, metric) is not None


def test_some_values():
    row = next(r for r in spec.TABLE_4.rows if dict(r.labels)["data"] == "Yale Face")
    assert paper_value(spec.TABLE_4, row, "RPCA", "rmse") == 9.25
    last = spec.TABLE_8.rows[-1]
    assert paper_value(spec.TABLE_8, last, "RNLMF", "testing mae") == 10.69
