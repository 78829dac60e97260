import numpy as np

from rnlmf.opinions.folds import Folds, row_keys


def test_rows_are_known_by_what_they_hold(rng):
    Z = rng.normal(size=(2000, 10))
    keys = row_keys(Z)
    assert 900 < np.sum(keys % np.uint64(2)) < 1100
    order = rng.permutation(len(Z))
    np.testing.assert_array_equal(row_keys(Z[order]), keys[order])
    np.testing.assert_array_equal(row_keys(Z * (1.0 + 1e-15)), keys)
    changed = Z.copy()
    changed[:, 3] += 5.0
    assert np.mean(row_keys(changed) == keys) > 0.75
    changed[:, 3] = np.nan
    assert np.mean(row_keys(changed) == keys) > 0.85


def test_rows_that_were_learned_from_are_in_one_of_the_folds_and_others_in_none(rng):
    Z = rng.normal(size=(400, 5))
    folds, own = Folds.of(Z[:300], 4)
    assert set(own) == {0, 1, 2, 3}
    found = folds(Z)
    np.testing.assert_array_equal(found[:300], own)
    # One of its cells may happen to be that by which another row is known.
    assert np.mean(found[300:] == 4) > 0.9
    order = rng.permutation(300)
    np.testing.assert_array_equal(folds(Z[:300][order]), own[order])
