import numpy as np

from rnlmf.engine.missing import fill_from_observed


def test_missing_entries_come_from_the_atoms_near_in_the_others(rng):
    D = np.array([[0.0, 0.0, 10.0], [5.0, 5.0, -10.0]])
    Y = np.array([[0.1, -0.1, 99.0], [5.0, 99.0, -10.0], [1.0, 2.0, 3.0]])
    missing = np.array([[False, False, True], [False, True, False], [False, False, False]])
    fill_from_observed(Y, missing, D)
    np.testing.assert_allclose(Y, [[0.1, -0.1, 10.0], [5.0, 5.0, -10.0], [1.0, 2.0, 3.0]], atol=1e-6)


def test_nothing_missing_changes_nothing(rng):
    Y = rng.standard_normal((4, 3))
    before = Y.copy()
    fill_from_observed(Y, np.zeros((4, 3), dtype=bool), rng.standard_normal((2, 3)))
    np.testing.assert_array_equal(Y, before)
