import numpy as np
import pytest

from rnlmf.engine.start import DISTANCE_SAMPLES, DataSummary
from rnlmf.fitting.defaults import RELATIVE_THRESHOLD, noise_weight
from rnlmf.kernels import RBF, Polynomial
from rnlmf.penalties import L1


@pytest.mark.parametrize("kernel", [RBF(), Polynomial()])
def test_the_weight_of_the_noise_does_not_depend_on_the_order_of_samples(kernel, rng):
    """Samples are sorted by their size, of which the curvature of most kernels depends."""
    X = rng.standard_normal((3 * DISTANCE_SAMPLES, 4))
    X = X[np.argsort(np.linalg.norm(X, axis=1))]
    summary = DataSummary.of(X, np.random.RandomState(0))
    units = summary.units(kernel, 1.0, X.dtype)
    forth, back = (
        noise_weight(rows, kernel, units, summary.spread, L1(), RELATIVE_THRESHOLD)
        for rows in (X, X[::-1])
    )
    assert forth == pytest.approx(back, rel=1e-2)
