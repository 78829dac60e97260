import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from rnlmf.opinions.pixel_trees import LEAVES, TREES, Trees


def test_arrays_say_what_the_trees_say(rng):
    features = rng.normal(size=(3000, 5)).astype(np.float32)
    wrong = features[:, 0] * features[:, 1] + rng.normal(0.0, 0.3, 3000) > 0.2
    trees = Trees.learn(features, wrong)
    grown = HistGradientBoostingClassifier(
        max_iter=TREES, max_leaf_nodes=LEAVES, early_stopping=False, random_state=0
    ).fit(features, wrong)
    others = rng.normal(size=(2000, 5)).astype(np.float32)
    np.testing.assert_allclose(trees.probability(others), grown.predict_proba(others)[:, 1], atol=1e-12)
