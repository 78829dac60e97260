"""
Clustering
==========

:class:`rnlmf.RNLMFClustering` groups samples by the curved structure they lie on, in spite of noise.
New samples get a label too.
"""

# %%
# Three curved manifolds
# ----------------------
# As in the paper: each is a random polynomial map of three variables into thirty dimensions. One entry
# in twenty is wrong.

from rnlmf.datasets import corrupt_entries, make_polynomial_manifolds

X, y = make_polynomial_manifolds(3, 100, random_state=0)
noisy = corrupt_entries(X, 0.05, magnitude=2, random_state=0)

# %%
# Cluster them
# ------------

from sklearn.cluster import KMeans

from rnlmf import RNLMFClustering
from rnlmf.metrics import clustering_error

model = RNLMFClustering(3, random_state=0).fit(noisy)
kmeans = KMeans(3, n_init=10, random_state=0).fit(noisy)
print(f"in the wrong cluster: RNLMF {clustering_error(y, model.labels_):.1%}")
print(f"                    k-means {clustering_error(y, kmeans.labels_):.1%}")

# %%
# The samples, the embedding that was cut, and the graph of who represents whom:

import matplotlib.pyplot as plt
from sklearn.decomposition import PCA

from rnlmf.plotting import AffinityDisplay, EmbeddingDisplay

_, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
axes[0].scatter(*PCA(2).fit_transform(noisy).T, c=y, cmap="tab10", vmax=9, s=8)
axes[0].set_title("the data in their best plane")
EmbeddingDisplay.from_estimator(model, ax=axes[1])
AffinityDisplay.from_estimator(model, ax=axes[2])

# %%
# New samples
# -----------

half = RNLMFClustering(3, random_state=0).fit(noisy[::2])
print(f"samples not seen before: {clustering_error(y[1::2], half.predict(noisy[1::2])):.1%} wrong")

# %%
# From the shell, with the number of clusters found by itself if ``-k`` is left out:
#
# .. code-block:: shell
#
#    rnlmf cluster noisy.csv -k 3 -o clusters.csv --report report.html
