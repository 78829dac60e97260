import numpy as np
import pytest

from local_cluster import Future, Here, blocks_of
from rnlmf.distributed import DaskSource, dask_source
from rnlmf.distributed.source import FAN_IN, plus, summed

da = pytest.importorskip("dask.array")


@pytest.fixture
def X(rng):
    return rng.normal(size=(50, 3))


def test_rows_are_those_of_the_array(X):
    source = DaskSource(da.from_array(X, chunks=(20, 2)))
    assert (len(source), source.shape, source.dtype) == (50, (50, 3), np.float64)
    assert source.pieces() == [slice(0, 20), slice(20, 40), slice(40, 50)]
    np.testing.assert_array_equal(source.read(slice(10, 30)), X[10:30])
    np.testing.assert_array_equal(source.take(np.array([3, 49])), X[[3, 49]])
    np.testing.assert_array_equal(source.mapped(lambda rows: 2 * rows).read(slice(0, 5)), 2 * X[:5])


def test_rows_that_are_not_counted_yet_are_counted(X):
    array = da.from_array(X, chunks=(20, -1))
    some = array[array[:, 0] > 0]
    assert np.isnan(some.shape[0])
    assert len(DaskSource(some)) == int(np.sum(X[:, 0] > 0))


def test_whole_numbers_become_floats():
    source = DaskSource(da.from_array(np.arange(12).reshape(6, 2), chunks=(3, -1)))
    assert source.dtype == np.float64
    assert source.read(slice(0, 1)).dtype == np.float64


def test_what_has_no_rows_and_columns_is_refused():
    with pytest.raises(ValueError, match="3 dimensions"):
        DaskSource(da.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="ndarray is no Dask collection"):
        dask_source(np.zeros((2, 2)))


def test_a_fit_without_a_cluster_says_how_to_start_one(X):
    with pytest.raises(ValueError, match=r"dask\.distributed\.Client\(\)"):
        _ = DaskSource(da.from_array(X)).client


def test_frames_of_numbers_have_names_and_others_are_refused(X):
    pandas, frames = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    table = pandas.DataFrame(X, columns=["a", "b", "c"])
    assert dask_source(frames.from_pandas(table, npartitions=2)).names == ["a", "b", "c"]
    with pytest.raises(ValueError, match="numbers only"):
        dask_source(frames.from_pandas(table.assign(d="x"), npartitions=2))


def test_sums_over_all_rows_pass_over_chunks_without_any(X):
    source = DaskSource(
        da.concatenate([da.from_array(X[:20]), da.zeros((0, 3)), da.from_array(X[20:])])
    )
    assert source.pieces() == [slice(0, 20), slice(20, 50)]
    source.client, source.chunks = Here(), blocks_of(source)
    found = source.total(lambda rows: rows.sum(axis=0) / (len(rows) > 0))
    np.testing.assert_allclose(found, X.sum(axis=0))


def test_what_becomes_of_all_rows_is_lazy_and_may_have_no_rows(X):
    array = da.concatenate([da.from_array(X[:20]), da.zeros((0, 3))])
    lazy = DaskSource(array).treated(lambda rows: rows[:, :2] + 1.0, 2)
    assert lazy.shape == (20, 2)
    np.testing.assert_array_equal(lazy[:20].compute(), X[:20, :2] + 1.0)


@pytest.mark.parametrize("parts", [1, FAN_IN, FAN_IN + 1, 3 * FAN_IN**2])
def test_sums_of_any_number_of_parts(parts):
    client = Here()
    futures = [Future(np.array([float(i)])) for i in range(parts)]
    assert summed(client, futures).result() == sum(range(parts))
    # What was given is as it was: a task may run twice.
    assert [future.value[0] for future in futures] == list(range(parts))


def test_sums_that_know_how_to_be_added():
    class Sum:
        def __init__(self, value):
            self.value = value

        def plus(self, other):
            return Sum(self.value + other.value)

    assert plus([Sum(1), Sum(2), Sum(3)]).value == 6


def test_chunks_that_were_given_up_are_made_again_and_only_these(X):
    source = DaskSource(da.from_array(X, chunks=(20, -1)))
    kept = vars(source)["chunks"] = [Future(X[:20]), Future(X[20:])]
    source.renew()
    assert source.chunks is kept
    kept[1].status = "cancelled"
    source.renew()
    assert "chunks" not in vars(source)
