"""
Choosing parameters
===================

Usually there is nothing to choose: ``RNLMF()`` hears several opinions on every cell. Where the
dictionary alone decides, as in the paper, it finds the kernel's scale and the threshold of the noise by
itself, without clean data. This page shows how, and what to do where one knows better.
"""

# %%
# Data
# ----

import numpy as np

from rnlmf.datasets import corrupt_entries

rng = np.random.default_rng(0)
position = rng.uniform(0, 6, 300)
truth = np.column_stack([f(k * position) for k in range(1, 7) for f in (np.cos, np.sin)])
noisy = corrupt_entries(truth, 0.1, magnitude=2, random_state=0)

# %%
# By itself
# ---------
# Some entries are hidden and predicted; the parameters that predict them best, by a score that a few
# wrong entries among them cannot spoil, are taken. ``selection_`` is what was tried.

from rnlmf import RNLMF
from rnlmf.metrics import relative_rmse

model = RNLMF(40, opinions="dictionary", random_state=0).fit(noisy)
for row in model.selection_:
    print(", ".join(f"{name} {value:.4g}" for name, value in row.items()))
print(f"chosen: scale {model.kernel_scale_}, confidence {model.selection_confidence_:.2f}")
before, after = relative_rmse(truth, noisy), relative_rmse(truth, model.denoise(noisy))
print(f"error {before:.3f} before, {after:.3f} after")

# %%
# What each one does
# ------------------
# ``kernel_scale``: smaller follows stronger bends. ``n_components``: more atoms for more bends, but too
# many explain the noise as well. The truth is known here, so the true error can be shown.

import matplotlib.pyplot as plt

scales, atoms = (0.25, 0.5, 1.0, 2.0, 4.0), (5, 10, 20, 40, 80)


def error(n_components, kernel_scale):
    quick = RNLMF(n_components, kernel_scale=kernel_scale, noise_weight="scale", random_state=0)
    return relative_rmse(truth, quick.fit_denoise(noisy))


_, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
axes[0].semilogx(scales, [error(40, scale) for scale in scales], "o-")
axes[0].set(xlabel="kernel_scale, 40 atoms", ylabel="relative error")
axes[1].semilogx(atoms, [error(number, 1.0) for number in atoms], "o-")
axes[1].set(xlabel="n_components, scale 1")
for ax in axes:
    ax.axhline(relative_rmse(truth, noisy), color="0.7", linestyle="--")

# %%
# Any parameter by the same score
# -------------------------------
# :func:`rnlmf.select` searches a grid of your own in the same way.

from rnlmf import select

base = RNLMF(kernel_scale=1.0, noise_weight="scale", random_state=0)
found = select(noisy, base, {"n_components": list(atoms)}, random_state=0)
for row in found.table:
    print(f"{row['n_components']:3d} atoms: distance {row['distance']:.4f}")
