"""A stationary kernel of the user's own takes the general path, not that of the Gaussian kernel."""

import numpy as np
import pytest

from rnlmf import RNLMF
from rnlmf.kernels import RBF
from rnlmf.metrics import relative_rmse


class RationalQuadratic(RBF):
    def __init__(self, power=2.0, sigma=None):
        super().__init__(sigma)
        self.power = power

    def f(self, u, out=None):
        return np.power(1.0 - np.minimum(u, 0.0) / self.power, -self.power, out=out)

    def slope(self, u):
        return np.power(1.0 - np.minimum(u, 0.0) / self.power, -self.power - 1.0)

    def slope_of_value(self, k):
        return np.abs(k) ** ((self.power + 1.0) / self.power)


@pytest.mark.parametrize("power", [1.0, 4.0])
def test_removes_noise(curved, power):
    clean, noisy = curved
    model = RNLMF(
        30, kernel=RationalQuadratic(power), opinions="dictionary", max_iter=30, random_state=0
    )
    assert relative_rmse(clean, model.fit_denoise(noisy)) < 0.5 * relative_rmse(clean, noisy)


def test_the_gaussian_kernel_is_its_limit(curved):
    noisy = curved[1][:80]
    options = {"opinions": "dictionary", "max_iter": 20, "random_state": 0}
    limit = RNLMF(10, kernel=RationalQuadratic(1e6), **options).fit(noisy)
    gauss = RNLMF(10, solver="paper", **options).fit(noisy)
    np.testing.assert_allclose(limit.objective_, gauss.objective_, rtol=1e-3)


def test_the_single_pass_is_refused(curved):
    with pytest.raises(ValueError, match="single-pass"):
        RNLMF(5, kernel=RationalQuadratic(), solver="single-pass").fit(curved[1])
