"""What estimators do with data that are not in memory."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rnlmf.engine.batches import some_rows
from rnlmf.engine.samples import blocks
from rnlmf.engine.source import Rows, RowSource
from rnlmf.sources import row_source, written
from rnlmf.typing import Array

# Results of more bytes than this are not made in memory unasked.
LARGEST_RESULT = 1 << 30
QUANTILE_ROWS = 20_000
# Rows of a large piece are treated so many bytes at a time.
STEP_BYTES = 32 << 20

log = logging.getLogger("rnlmf")


def rows_of(
    estimator: BaseEstimator, X: Any, mask: Any = None, *, fitting: bool = False
) -> RowSource | None:
    """The rows of `X`, checked, if they are not in memory; else None."""
    source = row_source(X)
    if source is None:
        return None
    if mask is not None:
        raise ValueError("mask is for data in memory: write NaN where values are wrong.")
    if not fitting:
        check_is_fitted(estimator)
        if source.shape[1] != estimator.n_features_in_:
            raise ValueError(
                f"X has {source.shape[1]} features, but {type(estimator).__name__} is expecting "
                f"{estimator.n_features_in_} features as input."
            )
        return source
    if len(source) < 2:
        raise ValueError(f"X has {len(source)} sample(s); at least 2 are needed.")
    if source.shape[1] == 0:
        raise ValueError("X has 0 feature(s); at least 1 is needed.")
    missing, infinite = source.flaws()
    if infinite.any():
        raise ValueError(f"X contains infinity, in feature(s) {np.flatnonzero(infinite).tolist()}.")
    empty = np.flatnonzero(missing == len(source))
    if len(empty):
        raise ValueError(
            f"Feature(s) {empty.tolist()} of X have no value in any sample: leave them out."
        )
    if getattr(estimator, "opinions", None) == "auto":
        log.info("rows that are not in memory: their cells are judged by the dictionary alone")
    estimator.n_features_in_ = source.shape[1]
    vars(estimator).pop("feature_names_in_", None)
    if source.names is not None:
        estimator.feature_names_in_ = np.array(source.names, dtype=object)
    return source


def in_memory(X: Rows) -> Array:
    """`X`, or some rows of it that are enough for quantiles."""
    if not isinstance(X, RowSource):
        return X
    return some_rows(X, QUANTILE_ROWS, np.random.RandomState(0))


def by_block(
    source: RowSource,
    treat: Callable[[Array], Array],
    width: int,
    out: Any = None,
    names: list[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Any:
    """``treat(rows)``, of the given width, of all rows: in `out`, or in a new array if none is given.

    Rows that are spread over a cluster are treated there, and the result stays there (a lazy array).
    """
    lazily = getattr(source, "treated", None)
    if lazily is not None and out is None:
        return lazily(treat, width)
    n = len(source)
    if out is None:
        size = n * width * source.dtype.itemsize
        if size > LARGEST_RESULT:
            raise ValueError(
                f"The result has {size / 2**30:.1f} GB: say where to write it, out=..., an array that "
                "is there (a memory map, zarr), or a path, .npy or .parquet."
            )
        out = np.empty((n, width), source.dtype)
    with written(out, source, width, source.dtype, names) as target:
        for rows in source.pieces():
            target.put(rows, in_steps(source.read(rows), treat, width))
            if progress is not None:
                progress(rows.stop, n)
    return out


def in_steps(rows: Array, treat: Callable[[Array], Array], width: int) -> Array:
    """``treat(rows)`` some rows at a time: what it takes beside them depends on how many there are."""
    step = max(1, STEP_BYTES // max(1, rows[:1].nbytes))
    if len(rows) <= step:
        return treat(rows)
    found = np.empty((len(rows), width), rows.dtype)
    for some in blocks(slice(0, len(rows)), step):
        found[some] = treat(rows[some])
    return found
