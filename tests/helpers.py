"""Small problems in the engine's units, finite differences, what a report holds, what is in memory."""

import re
import zlib
from pathlib import Path

import numpy as np
import pytest

from rnlmf.engine import Problem, Samples, Units
from rnlmf.kernels import RBF
from rnlmf.penalties import L1, L2


def make_problem(**changes):
    settings = {
        "kernel": RBF(),
        "code_penalty": L2(),
        "code_weight": 1e-2,
        "noise_penalty": L1(),
        "noise_weight": 0.03,
    }
    return Problem(**{**settings, **changes})


def make_samples(X):
    return Samples(X, Units(np.zeros(X.shape[1], X.dtype), 1.0))


def numerical_gradient(function, Z, step=1e-6):
    gradient = np.empty_like(Z)
    for index in np.ndindex(Z.shape):
        forward, backward = Z.copy(), Z.copy()
        forward[index] += step
        backward[index] -= step
        gradient[index] = (function(forward) - function(backward)) / (2 * step)
    return gradient


def table_of(n, m, seed=0, factors=2, noise=0.2):
    """Columns that depend on a few factors, each with noise of its own."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(factors, m))
    mixing /= np.linalg.norm(mixing, axis=0)
    return rng.normal(size=(n, factors)) @ mixing + noise * rng.normal(size=(n, m))


def unpacked(page, name):
    """What an element of a report holds, as the page's own script finds it."""
    codes = re.search(rf'id="{name}">(.*?)</script>', page, re.S)[1]
    bits = "".join(f"{ord(code) % 128:07b}" for code in codes)
    content = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits) - 7, 8))
    return zlib.decompress(content).decode()


def resident_bytes(array):
    """Of the pages that an array is in."""
    smaps = Path("/proc/self/smaps")
    if not smaps.exists():
        pytest.skip("no /proc")
    here, found = array.ctypes.data, False
    for line in smaps.read_text().splitlines():
        if head := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
            found = int(head[1], 16) <= here < int(head[2], 16)
        elif found and line.startswith("Rss:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("The array is nowhere.")
