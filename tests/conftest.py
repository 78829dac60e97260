import os
from pathlib import Path

import numpy as np
import pytest

from rnlmf import datasets

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session", autouse=True)
def _data_folder():
    """Real data are looked for in RNLMF_DATA, or beside the repository."""
    if "RNLMF_DATA" not in os.environ and SHARED_DATA.is_dir():
        os.environ["RNLMF_DATA"] = str(SHARED_DATA)


@pytest.fixture(scope="session")
def load(_data_folder):
    """A loader's data, or a skip where they are absent."""

    def load(name, *args):
        try:
            return getattr(datasets, name)(*args).data
        except FileNotFoundError as missing:
            pytest.skip(str(missing))

    return load


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def curved():
    """A small clean set on a curved structure, in 12 dimensions, and its noisy version."""
    t = np.random.default_rng(0).uniform(0, 6, 200)
    clean = np.column_stack([f(k * t) for k in range(1, 7) for f in (np.cos, np.sin)])
    return clean, datasets.corrupt_entries(clean, 0.1, magnitude=2.0, random_state=1)
