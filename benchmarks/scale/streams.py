"""Mini-batches: errors beside those of full fits, and a stream that drifts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import expm

from benchmarks import cases
from benchmarks.scale.common import ALONE, curve
from rnlmf import RNLMF, MiniBatchRNLMF
from rnlmf.datasets import corrupt_entries
from rnlmf.metrics import relative_rmse


def streams(arguments: Any) -> dict[str, Any]:
    """Error and passes of mini-batches beside those of the full fit."""
    found: dict[str, Any] = {}
    rng = np.random.default_rng(0)
    truth = curve(arguments.rows, rng).astype(np.float32)
    synthetic = cases.Case(
        f"{arguments.rows} synthetic rows",
        0,
        truth,
        corrupt_entries(truth, 0.1, random_state=0).astype(np.float32),
        {"n_components": 60, "kernel_scale": 0.5, "noise_weight": "scale"},
    )
    for case in [*([cases.motion_capture(56, 6, 0.3, 0)] if cases.data_present() else []), synthetic]:
        full = case.model(**ALONE).fit(case.noisy)
        batches = MiniBatchRNLMF(**case.parameters, random_state=0).fit(case.noisy)
        some = slice(None, None, max(1, len(case.noisy) // 100_000))
        errors = [
            100 * relative_rmse(case.truth[some], model.denoise(case.noisy[some]))
            for model in (full, batches)
        ]
        passes = batches.n_samples_seen_ / len(case.noisy)
        found[case.name] = {"errors": errors, "passes": [full.n_iter_, passes]}
    return found


def drift(arguments: Any) -> dict[str, Any]:
    """A manifold that turns: mini-batches beside fits to the last windows."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 12))
    turn = (A - A.T) / np.linalg.norm(A - A.T, 2)
    angles = np.linspace(0.0, 6.0, 300)
    data = [
        corrupt_entries(curve(1024, rng) @ expm(angle * turn), 0.1, random_state=i)
        for i, angle in enumerate(angles)
    ]
    X = curve(2000, rng) @ expm(angles[-1] * turn)
    noisy = corrupt_entries(X, 0.1, random_state=999)
    settings: dict[str, Any] = {
        "n_components": 60,
        "kernel_scale": 0.5,
        "noise_weight": "scale",
        "random_state": 0,
    }
    found = {}
    for window in (3, 5, 10, 20):
        model = RNLMF(**settings, **ALONE).fit(np.concatenate(data[-window:]))
        found[f"fit to the last {window} batches"] = relative_rmse(X, model.denoise(noisy))
    for share in (0.9, 0.0):
        model = MiniBatchRNLMF(forgetting=share, **settings)
        for batch in data:
            model.partial_fit(batch)
        found[f"forgetting {share}"] = relative_rmse(X, model.denoise(noisy))
    return found
