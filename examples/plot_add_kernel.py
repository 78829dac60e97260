"""
Add a kernel
============

A kernel is a function ``f`` of a simple argument and its derivative. Here is the rational quadratic
kernel, ``(1 + |x - y|^2 / (2 a sigma^2))^-a``, which falls more slowly than the Gaussian.
"""

# %%
# The class
# ---------
# Argument, coordinates and ``self_argument`` are those of the Gaussian kernel; with
# ``u = -|y - d|^2 / 2``, ``f(u) = (1 - u / a)^-a`` and ``f'(u) = (1 - u / a)^-(a + 1)``.

import numpy as np

from rnlmf.kernels import RBF


class RationalQuadratic(RBF):
    """Scale mixture of Gaussian kernels."""

    def __init__(self, power=2.0, sigma=None):
        super().__init__(sigma)
        self.power = power

    def f(self, u, out=None):
        return np.power(1.0 - np.minimum(u, 0.0) / self.power, -self.power, out=out)

    def slope(self, u):
        return np.power(1.0 - np.minimum(u, 0.0) / self.power, -self.power - 1.0)

    def slope_of_value(self, k):
        return np.abs(k) ** ((self.power + 1.0) / self.power)


# %%
# Check the derivative
# --------------------

kernel, u, step = RationalQuadratic(), -np.linspace(0.1, 5, 50), 1e-6
numerical = (kernel.f(u + step) - kernel.f(u - step)) / (2 * step)
np.testing.assert_allclose(kernel.slope(u), numerical, rtol=1e-6)
np.testing.assert_allclose(kernel.slope_of_value(kernel.f(u)), kernel.slope(u))

import matplotlib.pyplot as plt

distance = np.linspace(0, 5, 200)
_, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for each in (RBF(), RationalQuadratic(1.0), RationalQuadratic(4.0)):
    ax.plot(distance, each.f(-(distance**2) / 2), label=repr(each))
ax.set(xlabel="distance, in units of sigma", ylabel="kernel")
ax.legend()

# %%
# Use it
# ------
# An instance is a parameter like any other.

from rnlmf import RNLMF
from rnlmf.datasets import corrupt_entries
from rnlmf.metrics import relative_rmse

t = np.random.default_rng(0).uniform(0, 6, 120)
curve = np.column_stack([f(k * t) for k in range(1, 7) for f in (np.cos, np.sin)])
noisy = corrupt_entries(curve, 0.1, magnitude=2, random_state=0)
for kernel in (RBF(), RationalQuadratic()):
    model = RNLMF(20, kernel=kernel, kernel_scale=1.0, noise_weight=0.01, tol=1e-3, random_state=0)
    error = relative_rmse(curve, model.fit_denoise(noisy))
    print(f"{type(kernel).__name__:20} {error:.3f} (noisy {relative_rmse(curve, noisy):.3f})")

# %%
# See :doc:`/extend` for what else there is to do to give it a name.
