"""
Clustering
==========

:class:`rnlmf.RNLMFClustering` groups samples by the curved structure they lie on, and the noise does not
count. New samples get a label too.
"""

# %%
# Noisy digits
# ------------
# A tenth of all pixels of every image are wrong.

from sklearn.datasets import load_digits

from rnlmf.datasets import corrupt_entries

X, y = load_digits(return_X_y=True)
noisy = corrupt_entries(X, 0.1, magnitude=1.5, random_state=0)

# %%
# Cluster them
# ------------

from sklearn.cluster import KMeans

from rnlmf import RNLMFClustering
from rnlmf.metrics import clustering_error

model = RNLMFClustering(10, random_state=0).fit(noisy)
kmeans = KMeans(10, n_init=10, random_state=0).fit(noisy)
print(f"wrong cluster: RNLMF {clustering_error(y, model.labels_):.1%}")
print(f"             k-means {clustering_error(y, kmeans.labels_):.1%}")

# %%
# Where the samples are in the embedding that was cut, coloured by the true digit:

import matplotlib.pyplot as plt
from sklearn.decomposition import PCA

plane = PCA(2).fit_transform(model.embedding_)
_, ax = plt.subplots(layout="constrained")
points = ax.scatter(*plane.T, c=y, cmap="tab10", s=6)
ax.legend(*points.legend_elements(), title="digit", loc="center left", bbox_to_anchor=(1, 0.5))

# %%
# New samples
# -----------

half = RNLMFClustering(10, random_state=0).fit(noisy[::2])
print(f"labels of samples not seen: {clustering_error(y[1::2], half.predict(noisy[1::2])):.1%} wrong")

# %%
# From the shell, with the number of clusters found by itself if ``-k`` is left out:
#
# .. code-block:: shell
#
#    rnlmf cluster noisy.csv -k 10 -o clusters.csv --report report.html
