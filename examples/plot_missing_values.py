"""
Missing values
==============

Gaps and gross errors come together: a sensor that fails leaves both. NaN is a missing value everywhere;
it has no say in the fit, and ``denoise`` fills it in.
"""

# %%
# A curve with gaps and errors
# ----------------------------
# A fifth of the entries is missing, and one in twenty of the others is wrong.

import numpy as np

from rnlmf.datasets import corrupt_entries

rng = np.random.default_rng(0)
position = np.sort(rng.uniform(0, 6, 400))
truth = np.column_stack([f(k * position) for k in range(1, 7) for f in (np.cos, np.sin)])
noisy = corrupt_entries(truth, 0.05, magnitude=3, random_state=0)
gaps = rng.random(noisy.shape) < 0.2
noisy[gaps] = np.nan

# %%
# Fill and repair at once
# -----------------------

from rnlmf import RNLMF

model = RNLMF(30, kernel_scale=1.0, random_state=0)
clean = model.fit_denoise(noisy)

# %%
# Beside the usual ways to fill, which take the errors for values:

from sklearn.impute import KNNImputer, SimpleImputer

filled = {
    "median": SimpleImputer(strategy="median").fit_transform(noisy),
    "nearest neighbours": KNNImputer().fit_transform(noisy),
    "RNLMF": clean,
}
for name, values in filled.items():
    error = np.sqrt(np.mean((values - truth)[gaps] ** 2)) / truth.std()
    print(f"{name:20} error of the filled entries, in standard deviations: {error:.3f}")

# %%
# One feature: what was there, what was missing and what became of it.

import matplotlib.pyplot as plt

feature = 4
missing = gaps[:, feature]
_, ax = plt.subplots(figsize=(9, 4), layout="constrained")
ax.plot(position, truth[:, feature], color="0.8", linewidth=4, label="truth")
ax.plot(position, noisy[:, feature], "x", color="tab:red", markersize=4, label="observed")
ax.plot(position, clean[:, feature], ".", color="tab:blue", markersize=4, label="after")
ax.plot(
    position[missing], clean[missing, feature], "o", mfc="none", color="tab:blue", label="filled in"
)
ax.legend(loc="upper right")

# %%
# Entries known to be wrong
# -------------------------
# If something else already tells which entries are wrong, say so by ``mask``: they count as missing.

suspect = np.zeros(noisy.shape, dtype=bool)
suspect[100:110, 3] = True
again = model.denoise(noisy, mask=suspect)
print(f"the masked entries moved by {np.abs(again - clean)[suspect].max():.3f}")

# %%
# In a table empty cells, ``NA`` and the like are missing values:
#
# .. code-block:: shell
#
#    rnlmf denoise gaps.csv -o filled.csv
