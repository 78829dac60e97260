"""Tensors beside arrays."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.scale.common import ALONE, ATOMS, FEATURES
from rnlmf import RNLMF
from rnlmf.metrics import relative_rmse


def tensors(arguments: Any) -> dict[str, Any]:
    """PyTorch on the CPU beside NumPy and compiled code, one thread."""
    import torch

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    X = np.tanh(rng.standard_normal((20_000, FEATURES), dtype=np.float32))
    model = RNLMF(
        ATOMS, kernel_scale=1.0, noise_weight="scale", max_iter=20, n_jobs=1, random_state=0, **ALONE
    ).fit(X)
    found, results = {}, []
    for name, data in {"NumPy and numba": X, "PyTorch": torch.asarray(X)}.items():
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            result = model.denoise(data)
            times.append(time.perf_counter() - begin)
        results.append(np.asarray(result))
        found[name] = {"seconds": min(times)}
    found["largest difference"] = float(np.abs(results[0] - results[1]).max())
    found["relative difference"] = relative_rmse(*results)
    return found
