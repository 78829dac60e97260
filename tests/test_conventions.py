import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from rnlmf import RNLMF, RobustDictionaryLearning, RobustPCA
from rnlmf.conventions import like
from rnlmf.validation import thread_count

QUICK = {"kernel_scale": 1.0, "noise_weight": "scale", "max_iter": 3, "random_state": 0}
VALUES = np.arange(6.0).reshape(3, 2)
FRAMES = {
    "pandas": pd.DataFrame(VALUES, columns=["a", "b"], index=["x", "y", "z"]),
    "pandas, numbered": pd.DataFrame(VALUES),
    "polars": pl.DataFrame(VALUES, schema=["a", "b"]),
    "arrow": pa.table(list(VALUES.T), names=["a", "b"]),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_containers_come_back(frame):
    doubled = like(frame, 2.0 * VALUES)
    assert type(doubled) is type(frame)
    np.testing.assert_array_equal(np.asarray(doubled), 2.0 * VALUES)
    if isinstance(frame, pd.DataFrame):
        assert doubled.index.equals(frame.index)
        assert doubled.columns.equals(frame.columns)
    elif isinstance(frame, pa.Table):
        assert doubled.column_names == frame.column_names
    else:
        assert doubled.columns == frame.columns


def test_arrays_and_lists_give_arrays():
    assert like(VALUES, VALUES) is VALUES
    assert like(VALUES.tolist(), VALUES) is VALUES


def test_an_arrow_table_is_denoised(curved):
    table = pa.table(list(curved[1].T), names=[f"c{i}" for i in range(12)])
    model = RNLMF(5, kernel_scale=1.0, noise_weight="scale", max_iter=3, random_state=0).fit(table)
    assert list(model.feature_names_in_) == table.column_names
    assert model.denoise(table).column_names == table.column_names


def test_threads_as_joblib_counts_them():
    assert thread_count(None) is None
    assert thread_count(3) == 3
    assert thread_count(-1) >= 1


def test_what_a_mask_hides_is_missing(curved):
    clean, _ = curved
    hidden = np.zeros(clean.shape, dtype=bool)
    hidden[::7, 3] = True
    wrong = np.where(hidden, 1e6, clean)
    gaps = np.where(hidden, np.nan, clean)
    masked = RobustPCA().fit_denoise(np.ma.masked_array(wrong, hidden))
    np.testing.assert_array_equal(masked, RobustPCA().fit_denoise(gaps))
    for options in (QUICK, {**QUICK, "feature_scale": "robust"}, {**QUICK, "noise_weight": "auto"}):
        model = RNLMF(10, **options)
        masked = clone(model).fit_denoise(np.ma.masked_array(wrong, hidden))
        np.testing.assert_array_equal(masked, clone(model).fit_denoise(gaps))
    with pytest.raises(ValueError, match="NaN"):
        RobustDictionaryLearning().fit(np.ma.masked_array(wrong, hidden))
