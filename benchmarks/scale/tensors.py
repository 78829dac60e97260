"""Tensors beside arrays."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks import cases
from benchmarks.scale.common import ALONE, FEATURES, ONE_FIT
from rnlmf import RNLMF

ROWS, ATOMS, ITERATIONS = 4000, 64, 60


def structured(n: int) -> Any:
    """Rows on a curved structure, a twentieth of whose entries is wrong."""
    rng = np.random.default_rng(0)
    maps = rng.standard_normal((3, FEATURES), dtype=np.float32)
    X = np.tanh(rng.standard_normal((n, 3), dtype=np.float32) @ maps)
    return np.where(rng.random(X.shape, dtype=np.float32) < 0.05, X + 2.0, X).astype(np.float32)


def tensors(arguments: Any) -> dict[str, Any]:
    """PyTorch on the CPU beside NumPy and compiled code, one thread, in single precision."""
    sets = {f"{ROWS} synthetic rows": (structured(ROWS), {"n_components": ATOMS, **ONE_FIT})}
    if cases.data_present():
        case = cases.motion_capture(56, 6, 0.3, 0)
        sets[case.name] = (case.noisy, {**case.parameters, "random_state": 0})
    return {name: beside(X, {**settings, **ALONE}) for name, (X, settings) in sets.items()}


def beside(X: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """Times and differences of denoising with one model, and of models of their own."""
    import torch

    torch.set_num_threads(1)
    settings = {**settings, "max_iter": ITERATIONS, "n_jobs": 1}
    tensor = torch.asarray(X)
    # What is compiled and imported is there already.
    for rows in (X, tensor):
        RNLMF(**{**settings, "max_iter": 2}).fit(rows)
    fits = {"NumPy and numba": timed(lambda: RNLMF(**settings).fit(X))}
    fits["PyTorch"] = timed(lambda: RNLMF(**settings).fit(tensor))
    here, there = fits["NumPy and numba"][1], fits["PyTorch"][1]
    one = {"NumPy and numba": timed(lambda: here.denoise(X), 3)}
    one["PyTorch"] = timed(lambda: here.denoise(tensor), 3)
    clean = one["NumPy and numba"][1]
    double = X.astype(np.float64)
    exact = RNLMF(**settings).fit(double).denoise(double)
    exact_tensor = torch.asarray(double)
    moved = X * (1 + np.finfo(X.dtype).eps * np.random.default_rng(0).uniform(-1, 1, X.shape))
    return {
        "seconds of a fit": {name: seconds for name, (seconds, _) in fits.items()},
        "seconds of denoising": {name: seconds for name, (seconds, _) in one.items()},
        "relative difference, one model": difference(one["PyTorch"][1], clean),
        "relative difference, own models": difference(there.denoise(tensor), clean),
        "of which single precision": difference(here.denoise(double), clean),
        "own models, double precision": difference(
            RNLMF(**settings).fit(exact_tensor).denoise(exact_tensor), exact
        ),
        # What rounding alone does to a fit.
        "NumPy beside NumPy, entries rounded otherwise": difference(
            RNLMF(**settings).fit(moved.astype(X.dtype)).denoise(X), clean
        ),
        "NumPy beside double precision": difference(clean, exact),
        "PyTorch beside double precision": difference(there.denoise(tensor), exact),
    }


def timed(function: Any, times: int = 1) -> tuple[float, Any]:
    """The shortest of several times, of the processor, and a result."""
    found = []
    for _ in range(times):
        begin = time.process_time()
        result = function()
        found.append(time.process_time() - begin)
    return min(found), result


def difference(found: Any, expected: Any) -> float:
    return float(np.linalg.norm(np.asarray(found) - expected) / np.linalg.norm(expected))
