"""The landmark form of a graph: samples are compared with a few thousand representatives only."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from threadpoolctl import threadpool_limits

from rnlmf.typing import Array

# k-means need not converge: landmarks must be spread over the samples, no more.
EPOCHS = 5
BATCH_ROWS = 4096


def choose_landmarks(B: Array, count: int, rng: np.random.RandomState) -> Array:
    """`count` representatives of the rows of `B`: centres of k-means, or all rows if they are few."""
    if len(B) <= count:
        return B.copy()
    model = MiniBatchKMeans(
        count,
        init="random",
        n_init=1,
        max_iter=EPOCHS,
        batch_size=BATCH_ROWS,
        compute_labels=False,
        random_state=int(rng.randint(2**31 - 1)),
    )
    # Its threads add up in any order; results shall not depend on it.
    with threadpool_limits(limits=1, user_api="openmp"):
        centers: Array = model.fit(B).cluster_centers_.astype(B.dtype)
    return centers
