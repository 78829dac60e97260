import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rnlmf.engine.samples import (
    Samples,
    Units,
    block_rows,
    blocks,
    bounded_map,
    default_threads,
    spans,
    threads,
)


def test_blocks_of_spans_cover_every_row_once():
    for n in (1, 255, 256, 257, 5000):
        rows = [np.arange(n)[block] for span in spans(n) for block in blocks(span, 256)]
        np.testing.assert_array_equal(np.concatenate(rows), np.arange(n))


def test_blocks_shrink_with_the_width_of_a_row():
    assert block_rows(10, 10, 4) == 1024
    assert 256 <= block_rows(400, 256, 4) < 1024
    assert block_rows(10_000, 1000, 8) == 256


def test_units_there_and_back(rng):
    X = rng.standard_normal((5, 3))
    units = Units(np.array([1.0, -2.0, 3.0]), 0.7)
    np.testing.assert_allclose(units.to_data(units.to_engine(X)), X)


def test_single_precision_keeps_what_offset_and_unit_would_lose(rng):
    X = 1e200 * (rng.standard_normal((20, 3)) + 1e9)
    units = Units(X.mean(axis=0), 1e200)
    expected = units.to_engine(X)
    X[0, 0], expected[0, 0] = np.nan, np.nan
    single = Samples.of(X, units).in_single_precision()
    assert single.dtype == np.float32
    loaded = single.load(slice(None), np.empty((20, 3), np.float32))
    np.testing.assert_allclose(loaded, expected, atol=1e-5)


def test_bounded_map_keeps_order_and_bounds_what_is_under_way():
    started = []
    with ThreadPoolExecutor(2) as pool:
        results = bounded_map(pool, lambda i: started.append(i) or i, range(100), window=4)
        assert next(results) == 0
        assert len(started) <= 4
        assert list(results) == list(range(1, 100))


def test_an_error_in_a_thread_is_raised():
    with (
        pytest.raises(ZeroDivisionError),
        threads(2, 10_000) as run_map,
    ):
        list(run_map(lambda i: 1 // i, [1, 0]))


def test_small_data_stay_on_one_thread():
    with threads(8, 100) as run_map:
        names = set(run_map(lambda _: threading.current_thread().name, range(5)))
    assert names == {threading.current_thread().name}


def test_default_number_of_threads_follows_blas():
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        assert default_threads() == 1


def test_a_missing_value_starts_from_the_center(rng):
    X = rng.standard_normal((5, 3))
    X[1, 2] = X[4, 0] = np.nan
    samples = Samples.of(X, Units(np.array([1.0, -2.0, 3.0]), 2.0))
    filled = samples.units.to_data(samples.load_filled(slice(0, 5), np.empty_like(X)))
    np.testing.assert_allclose(filled, np.where(np.isnan(X), [1.0, -2.0, 3.0], X))
