import numpy as np
import pytest

from rnlmf.engine.start import DISTANCE_SAMPLES, DataSummary
from rnlmf.fitting.defaults import RELATIVE_THRESHOLD, noise_weight
from rnlmf.kernels import RBF, Polynomial
from rnlmf.penalties import L1, L2, L21


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


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("penalty", [L1(), L21(), L2()])
def test_the_weight_of_the_noise_grows_with_the_threshold_and_has_no_unit(penalty, scale, rng):
    X = rng.standard_normal((50, 4))

    def weight(X, threshold):
        summary = DataSummary.of(X, np.random.RandomState(0))
        units = summary.units(RBF(), 1.0, X.dtype)
        return noise_weight(X, RBF(), units, summary.spread, penalty, threshold)

    assert weight(X, 0.05) > 0.0
    assert weight(X, 0.1) == pytest.approx(2 * weight(X, 0.05))
    assert weight(scale * X, 0.05) == pytest.approx(weight(X, 0.05))
