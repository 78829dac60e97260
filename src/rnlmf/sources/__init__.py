"""Data larger than memory: one way to read rows from memory maps, zarr, ``.npy`` and Parquet.

:func:`row_source` makes a :class:`rnlmf.engine.source.RowSource` of whatever holds the rows; estimators
call it on their input, and treat what comes back block by block.
"""

from rnlmf.sources.opening import row_source
from rnlmf.sources.writing import written

__all__ = ["row_source", "written"]
