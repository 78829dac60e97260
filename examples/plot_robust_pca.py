"""
When robust PCA is enough
=========================

Robust PCA looks for a flat subspace. On flat data it is as good, and has fewer knobs. On curved data a
subspace that holds the curve holds the noise as well.
"""

# %%
# A flat and a curved set, with the same noise
# --------------------------------------------

import numpy as np

from rnlmf.datasets import corrupt_entries

rng = np.random.default_rng(0)
n, m = 250, 30
flat = rng.normal(size=(n, 3)) @ rng.normal(size=(3, m))
angle = rng.uniform(0, 2 * np.pi, n)
curved = np.column_stack([f(k * angle) for k in range(1, 16) for f in (np.cos, np.sin)])

# %%
# Both methods on both
# --------------------

from rnlmf import RNLMF, RobustPCA
from rnlmf.metrics import relative_rmse

print(f"{'data':10}{'noisy':>10}{'robust PCA':>12}{'RNLMF':>10}")
for name, clean in {"flat": flat, "curved": curved}.items():
    noisy = corrupt_entries(clean, 0.1, magnitude=3, random_state=0)
    pca = RobustPCA().fit_denoise(noisy)
    model = RNLMF(60, opinions="dictionary", kernel_scale=1.0, random_state=0)
    own = model.fit_denoise(noisy)
    errors = [relative_rmse(clean, data) for data in (noisy, pca, own)]
    print(f"{name:10}{errors[0]:10.3f}{errors[1]:12.3f}{errors[2]:10.3f}")

# %%
# Why: the singular values of the flat set stop after three, those of the curved one do not.

import matplotlib.pyplot as plt

_, ax = plt.subplots(layout="constrained")
for name, clean in {"flat": flat, "curved": curved}.items():
    values = np.linalg.svd(clean - clean.mean(axis=0), compute_uv=False)
    ax.plot(np.arange(1, m + 1), values / values[0], "o-", label=name)
ax.set(xlabel="number", ylabel="singular value, relative")
ax.legend()
