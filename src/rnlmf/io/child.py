"""Reads a file in a process of its own: run by :mod:`rnlmf.io.apart`, with nothing of this library.

``python -P child.py KIND SOURCE FOLDER BYTES`` reads the file with at most that much memory, and leaves
plain arrays (``arrays.npz`` and ``content.json``) or an uncompressed Arrow file (``content.arrow``).
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

NEWER_FORMAT, NO_MEMORY = 3, 4


def main(kind: str, source: str, folder: str, limit: str) -> int:
    """Exit code: 0 if all went well."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except ImportError:
        # There are no such limits on this system.
        pass
    try:
        READERS[kind](source, folder)
    except NotImplementedError:
        return NEWER_FORMAT
    except MemoryError:
        return NO_MEMORY
    return 0


def _mat(source: str, folder: str) -> None:
    import numpy as np
    import scipy.io

    arrays: dict[str, Any] = {}
    content = {
        name: _plain(value, arrays)
        for name, value in scipy.io.loadmat(source, spmatrix=True).items()
        if not name.startswith("__")
    }
    np.savez(os.path.join(folder, "arrays.npz"), **arrays)
    with open(os.path.join(folder, "content.json"), "w", encoding="utf-8") as file:
        json.dump(content, file)


def _plain(value: Any, arrays: dict[str, Any]) -> Any:
    """A variable as JSON; arrays of numbers and text are put aside under a name."""
    import numpy as np

    def put(array: Any) -> str:
        arrays[f"a{len(arrays)}"] = np.ascontiguousarray(array)
        return f"a{len(arrays) - 1}"

    if hasattr(value, "tocsc"):
        sparse = value.tocsc()
        parts = [put(part) for part in (sparse.data, sparse.indices, sparse.indptr)]
        return {"sparse": parts, "shape": list(sparse.shape)}
    if not isinstance(value, np.ndarray):
        return {"value": value.item() if isinstance(value, np.generic) else value}
    # Functions and objects are arrays of a class of their own.
    special = {} if type(value) is np.ndarray else {"class": type(value).__name__}
    classname = getattr(value, "classname", None)
    if classname:
        special["of"] = classname
    if value.dtype.names is not None:
        fields = {name: _plain(np.asarray(value[name]), arrays) for name in value.dtype.names}
        return {"struct": fields, "shape": list(value.shape), **special}
    if value.dtype.kind == "O":
        items = [_plain(item, arrays) for item in value.ravel()]
        return {"cells": items, "shape": list(value.shape), **special}
    return {"array": put(value), "shape": list(value.shape)}


def _arrow(source: str, folder: str) -> None:
    import pyarrow as pa
    import pyarrow.feather

    table = pyarrow.feather.read_table(source, memory_map=False)
    table.validate(full=True)
    name = os.path.join(folder, "content.arrow")
    with pa.OSFile(name, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


READERS = {"mat": _mat, "arrow": _arrow}

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
