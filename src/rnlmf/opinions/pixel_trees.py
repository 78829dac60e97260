"""Boosted trees as plain arrays: what a model file may hold, and what no other version reads otherwise.

They are grown by scikit-learn on binned features (Ke et al. 2017). The probability is the logistic
function of a start and one leaf of every tree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier

from rnlmf.typing import Array

# More, or larger ones, hardly find more.
TREES, LEAVES = 60, 15
# What is gathered for so many cells stays in the cache.
CHUNK = 1024


@dataclass(frozen=True)
class Trees:
    """Nodes of all trees one after the other; a leaf leads to itself.

    Attributes
    ----------
    start : float
        Log-odds before any tree.
    roots : array (trees,)
        Where every tree begins.
    feature, threshold, left, right, value : arrays (nodes,)
        Up to the threshold of the feature the way is to the left; log-odds of leaves.
    depth : int
        Steps to the farthest leaf.
    """

    start: float
    roots: Array
    feature: Array
    threshold: Array
    left: Array
    right: Array
    value: Array
    depth: int

    @classmethod
    def learn(cls, features: Array, wrong: Array) -> Trees:
        """Which cells are wrong, by finite features (cells, features)."""
        grown = HistGradientBoostingClassifier(
            max_iter=TREES, max_leaf_nodes=LEAVES, early_stopping=False, random_state=0
        ).fit(features, wrong)
        trees = [predictor.nodes for (predictor,) in grown._predictors]
        roots = np.cumsum([0, *(len(tree) for tree in trees[:-1])])
        nodes = np.concatenate(trees)
        first, itself = np.repeat(roots, [len(tree) for tree in trees]), np.arange(len(nodes))
        leaf = nodes["is_leaf"].astype(bool)
        return cls(
            float(np.ravel(grown._baseline_prediction)[0]),
            roots,
            np.where(leaf, 0, nodes["feature_idx"]).astype(np.int64),
            np.where(leaf, 0.0, nodes["num_threshold"]),
            np.where(leaf, itself, first + nodes["left"]),
            np.where(leaf, itself, first + nodes["right"]),
            np.where(leaf, nodes["value"], 0.0),
            int(nodes["depth"].max()),
        )

    def probability(self, features: Array) -> Array:
        """That cells are wrong."""
        odds = np.empty(len(features))
        for first in range(0, len(features), CHUNK):
            some = features[first : first + CHUNK]
            cells = np.arange(len(some))[:, None]
            node = np.broadcast_to(self.roots, (len(some), len(self.roots)))
            for _ in range(self.depth):
                left = some[cells, self.feature[node]] <= self.threshold[node]
                node = np.where(left, self.left[node], self.right[node])
            odds[first : first + CHUNK] = self.value[node].sum(axis=1)
        probability: Array = expit(self.start + odds)
        return probability
