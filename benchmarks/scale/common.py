"""What the sections share."""

from __future__ import annotations

from typing import Any

import numpy as np

# One fit of the dictionary is measured: nothing is searched, nobody else is heard.
ALONE: dict[str, Any] = {"opinions": "dictionary", "neighbor_share": 0.0}
ONE_FIT: dict[str, Any] = {"kernel_scale": 1.0, "noise_weight": "scale", "random_state": 0}
FEATURES, ATOMS = 64, 128


def curve(n: int, rng: np.random.Generator, features: int = 12) -> Any:
    t = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([f(k * t) for k in range(1, features // 2 + 1) for f in (np.cos, np.sin)])
