"""
Outlier rows
============

Sometimes whole samples are wrong: a mislabelled file, a broken run. With ``noise_penalty="l21"`` noise
is a matter of whole rows, and how much is removed from a row says how wrong it is.
"""

# %%
# Samples on a curve, and some that are not
# -----------------------------------------
# Every single feature of the outliers looks ordinary: they have the spread of the others.

import numpy as np

rng = np.random.default_rng(0)
position = rng.uniform(0, 6, 600)
X = np.column_stack([f(k * position) for k in range(1, 7) for f in (np.cos, np.sin)])
X += 0.05 * rng.normal(size=X.shape)
outlier = rng.random(600) < 0.1
X[outlier] = rng.normal(scale=X.std(), size=(outlier.sum(), 12))

# %%
# Find them
# ---------
# :class:`rnlmf.RNLMFOutlierDetector` has the interface of scikit-learn's outlier detectors. A sample's
# score is the mean size of its noise.

from rnlmf import RNLMF, RNLMFOutlierDetector

model = RNLMF(40, noise_penalty="l21", kernel_scale=1.0, random_state=0)
detector = RNLMFOutlierDetector(model, contamination=0.1)
flagged = detector.fit_predict(X) == -1
found = flagged & outlier
print(f"{flagged.sum()} rows flagged, {found.sum()} of the {outlier.sum()} outliers among them")
removed = np.linalg.norm(detector.estimator_.noise(X), axis=1)

# %%
# Beside a method that looks at features one by one:

from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

forest = IsolationForest(random_state=0).fit(X)
print(f"area under the ROC curve: RNLMF {roc_auc_score(outlier, -detector.score_samples(X)):.3f}")
print(f"               isolation forest {roc_auc_score(outlier, -forest.score_samples(X)):.3f}")

# %%
# The data in two of their dimensions, and what was removed from each row:

import matplotlib.pyplot as plt

_, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].scatter(*X[:, [0, 3]].T, c=np.where(outlier, "tab:red", "tab:blue"), s=8)
axes[0].set_title("two features; the outliers are red")
bins = np.linspace(0, removed.max(), 40)
axes[1].hist([removed[~outlier], removed[outlier]], bins, stacked=True, color=["tab:blue", "tab:red"])
axes[1].set(title="removed from each row", yscale="log", xlabel="norm")
