"""
Large data
==========

Time and memory of a fit grow in proportion to the number of samples: there is no matrix of all pairs.
Beyond that, a model learned from a part of the samples treats all others, chunk by chunk.
"""

# %%
# A hundred thousand samples
# --------------------------

import numpy as np

from rnlmf.datasets import corrupt_entries

rng = np.random.default_rng(0)
position = rng.uniform(0, 6, 100_000).astype(np.float32)
curve = np.column_stack([f(k * position) for k in range(1, 9) for f in (np.cos, np.sin)])
noisy = corrupt_entries(curve, 0.05, magnitude=3, random_state=0)

# %%
# Learn from a part
# -----------------
# Single precision is enough, and faster.

import time

from rnlmf import RNLMF

part = rng.choice(len(noisy), 2_000, replace=False)
begin = time.perf_counter()
model = RNLMF(48, opinions="dictionary", kernel_scale=1.0, random_state=0).fit(noisy[part])
print(f"fit to {len(part):,} samples: {time.perf_counter() - begin:.1f} s")

# %%
# Clean everything, in chunks
# ---------------------------
# Every row is treated on its own, so chunks change nothing. They could come from a file that does not
# fit in memory (``np.load(..., mmap_mode="r")``), or be cleaned on many machines.

from rnlmf.metrics import relative_rmse

begin = time.perf_counter()
clean = np.concatenate([model.denoise(chunk) for chunk in np.array_split(noisy, 20)])
print(f"clean {len(noisy):,} samples: {time.perf_counter() - begin:.1f} s")
print(f"error {relative_rmse(curve, noisy):.3f} before, {relative_rmse(curve, clean):.3f} after")

# %%
# How much is a part worth?
# -------------------------

import matplotlib.pyplot as plt
from sklearn.base import clone

sizes = (100, 200, 500, 1000)
test = slice(0, 2000)
errors = []
for size in sizes:
    learned = clone(model).fit(noisy[part[:size]])
    errors.append(relative_rmse(curve[test], learned.denoise(noisy[test])))
_, ax = plt.subplots(layout="constrained")
ax.semilogx(sizes, errors, "o-")
ax.set(xlabel="samples to learn from", ylabel="relative error on others")
