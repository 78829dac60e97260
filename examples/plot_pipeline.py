"""
New samples in a pipeline
=========================

A classifier trained on clean digits meets noisy ones. :class:`rnlmf.RNLMFDenoiser` goes before it:
its ``transform`` returns the samples without their noise, each row treated on its own.
"""

# %%
# Data
# ----

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from rnlmf.datasets import salt_and_pepper

X, y = load_digits(return_X_y=True)
X, y = X[:800], y[:800]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
X_noisy = salt_and_pepper(X_test, fraction=1.0, density=0.25, random_state=0)

# %%
# With and without
# ----------------

from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from rnlmf import RNLMF, RNLMFDenoiser

plain = KNeighborsClassifier().fit(X_train, y_train)
denoiser = RNLMFDenoiser(RNLMF(128, kernel_scale=1.0, random_state=0))
cleaning = make_pipeline(denoiser, KNeighborsClassifier())
cleaning.fit(X_train, y_train)

scores = {
    "clean digits": plain.score(X_test, y_test),
    "noisy digits": plain.score(X_noisy, y_test),
    "noisy digits, cleaned first": cleaning.score(X_noisy, y_test),
}
for name, score in scores.items():
    print(f"{name:30}{score:.3f}")

import matplotlib.pyplot as plt

_, ax = plt.subplots(figsize=(7, 2.5), layout="constrained")
ax.barh(list(scores), list(scores.values()), color=["tab:gray", "tab:red", "tab:blue"])
ax.set(xlabel="share of digits recognised", xlim=(0.5, 1))
ax.invert_yaxis()

# %%
# The model is fitted once; new samples need no training data, and no other samples beside them:

import numpy as np

denoiser = cleaning[0]
one = denoiser.transform(X_noisy[:1])
np.testing.assert_allclose(one, denoiser.transform(X_noisy)[:1], atol=1e-6)

# %%
# Tomorrow
# --------
# A model is saved as plain arrays and JSON; loading it never runs code.

import tempfile
from pathlib import Path

from rnlmf import load, save

file = Path(tempfile.mkdtemp()) / "digits.safetensors"
save(denoiser, file)
again = load(file)
np.testing.assert_array_equal(again.transform(X_noisy), denoiser.transform(X_noisy))
print(f"{file.stat().st_size // 1024} kB")
