import numpy as np

from rnlmf.datasets import make_polynomial_manifolds


def test_shape_and_rank():
    """19 monomials span each manifold: rank 19 for one, full for two."""
    X, y = make_polynomial_manifolds(2, random_state=0)
    assert X.shape == (600, 30)
    assert np.bincount(y).tolist() == [300, 300]
    assert np.linalg.matrix_rank(X[y == 0]) == 19
    assert np.linalg.matrix_rank(X) == 30
