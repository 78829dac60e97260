"""
Classes by kernel dictionaries
==============================

A dictionary learned from one class explains its samples well, and others badly. With one dictionary for
every class, a new sample belongs to the class whose dictionary is nearest to it in feature space.
"""

# %%
# Handwritten digits, a few hundred to learn from
# -----------------------------------------------

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X / 16, y, train_size=600, random_state=0, stratify=y
)

# %%
# A dictionary for every class
# ----------------------------
# The kernel must be the same for all, or distances could not be compared.

from rnlmf import KernelDictionaryLearning
from rnlmf.kernels import RBF, mean_distance

kernel = RBF(sigma=mean_distance(X_train))


def learn(label, **settings):
    model = KernelDictionaryLearning(
        20, n_nonzero=5, kernel=kernel, tol=1e-3, random_state=0, **settings
    )
    return model.fit(X_train[y_train == label])


def errors(**settings):
    distances = [learn(label, **settings).distances(X_test) for label in range(10)]
    return np.mean(np.argmin(distances, axis=0) != y_test)


for update in ("ksvd", "mod"):
    print(f"{update:12}{100 * errors(update=update):5.1f} % wrong")
print(f"{'equiangular':12}{100 * errors(structure='equiangular'):5.1f} % wrong")

# %%
# Samples that belong to no class
# -------------------------------
# Among the fours are now some that are noise. With a weight for outliers most of them are found, at the
# price of a rare four, and the dictionary does not learn what was found.

rng = np.random.default_rng(0)
fours = X_train[y_train == 4].copy()
wrong = np.arange(0, len(fours), 10)
fours[wrong] = rng.random((len(wrong), X.shape[1]))
model = KernelDictionaryLearning(
    10, n_nonzero=3, kernel=kernel, outlier_weight=0.1, random_state=0
).fit(fours)
print(f"spoilt {wrong.tolist()}, found {np.flatnonzero(model.outliers_).tolist()}")

# %%
# How far samples are from the dictionary: the spoilt ones stand apart.

import matplotlib.pyplot as plt

distances = model.distances(fours)
spoilt = np.isin(np.arange(len(fours)), wrong)
_, ax = plt.subplots(layout="constrained")
ax.hist([distances[~spoilt], distances[spoilt]], bins=30, label=["fours", "noise"], stacked=True)
ax.set(xlabel="distance from the dictionary in feature space", ylabel="samples")
ax.legend()
