import numpy as np
import pytest

from helpers import table_of


@pytest.fixture(scope="session")
def related():
    """300 rows of six columns that depend on each other, without errors."""
    return table_of(300, 6)


@pytest.fixture(scope="session")
def waves():
    """A smooth sequence: 300 rows of four columns, with a little noise."""
    t = np.linspace(0.0, 12.0, 300)
    X = np.column_stack([np.sin(t), np.cos(t), np.sin(2 * t) + np.cos(t), np.sin(t + 1)])
    return X + 0.02 * np.random.default_rng(0).normal(size=X.shape)


@pytest.fixture
def with_spikes(rng):
    """Data with gross errors in 3% of the cells, and where they are."""

    def spoil(X, share=0.03, size=6.0):
        wrong = rng.random(X.shape) < share
        signs = rng.choice([-1.0, 1.0], X.shape)
        errors = size * signs * rng.uniform(0.7, 1.3, X.shape) * X.std(axis=0)
        return np.where(wrong, X + errors, X), wrong

    return spoil
