import numpy as np
import pytest

from rnlmf.opinions.columns import Columns


def test_units_are_those_of_the_data_whatever_is_wrong(rng):
    X = rng.normal(size=(2000, 3)) * [1.0, 1e-6, 1e6] + [0.0, 5.0, -1e7]
    clean = Columns.of(X)
    np.testing.assert_allclose(clean.spread, [1.0, 1e-6, 1e6], rtol=0.1)
    wrong = np.where(rng.random(X.shape) < 0.04, 1e9, X)
    spoiled = Columns.of(wrong)
    np.testing.assert_allclose(spoiled.spread, clean.spread, rtol=0.5)
    assert np.all(spoiled.absurd(spoiled.scaled(wrong)) == (wrong == 1e9))


def test_there_and_back(rng):
    X = rng.normal(size=(50, 3)) * [1.0, 1e-9, 1e9] + 3.0
    X[3, 1] = np.nan
    columns = Columns.of(X)
    np.testing.assert_allclose(columns.to_data(columns.scaled(X)), X, rtol=1e-9)
    assert np.isnan(columns.scaled(X)[3, 1])


@pytest.mark.parametrize("value", [1e300, -1e300, 1e150, -9999.0])
def test_one_absurd_value(rng, value):
    X = rng.normal(size=(100, 2))
    plain = Columns.of(X)
    X[17, 0] = value
    columns = Columns.of(X)
    Z = columns.scaled(X)
    assert np.all(np.isfinite(Z))
    assert np.argwhere(columns.absurd(Z)).tolist() == [[17, 0]]
    np.testing.assert_allclose(columns.spread, plain.spread, rtol=0.1)


@pytest.mark.parametrize("value", [0.0, 7.0, 1e300])
def test_a_constant_column(value):
    X = np.full((50, 1), value)
    columns = Columns.of(X)
    assert columns.spread[0] > 0.0
    np.testing.assert_array_equal(columns.scaled(X), 0.0)
    assert not columns.absurd(columns.scaled(X)).any()
    assert columns.recurring(X, columns.scaled(X)).all()
    np.testing.assert_array_equal(columns.to_data(columns.scaled(X)), X)


def test_a_column_that_is_mostly_zero(rng):
    """Rain: what is there now and then has a spread, and none of it is absurd."""
    rain = np.where(rng.random((500, 1)) < 0.1, rng.gamma(2.0, 5.0, (500, 1)), 0.0)
    columns = Columns.of(rain)
    Z = columns.scaled(rain)
    assert 0.5 < columns.spread[0] < 50.0
    assert not columns.absurd(Z).any()
    np.testing.assert_array_equal(columns.recurring(rain, Z), rain == 0.0)


def test_a_quantised_column_has_a_resolution_and_no_code(rng):
    fine, coarse = rng.normal(size=1000), np.round(rng.normal(size=1000), 1)
    columns = Columns.of(np.column_stack([fine, coarse]))
    assert columns.resolution[0] == 0.0
    assert columns.resolution[1] * columns.spread[1] == pytest.approx(0.1)
    assert not len(columns.common[1])


def test_values_that_return_are_found_but_absurd_ones_are_not_spared(rng):
    X = rng.normal(size=(1000, 2))
    X[::20, 0] = 2.5
    X[::50, 1] = -9999.0
    columns = Columns.of(X)
    Z = columns.scaled(X)
    np.testing.assert_array_equal(columns.recurring(X, Z)[:, 0], X[:, 0] == 2.5)
    assert not columns.recurring(X, Z)[:, 1].any()
    np.testing.assert_array_equal(columns.absurd(Z)[:, 1], X[:, 1] == -9999.0)


def test_a_column_with_many_far_values_has_a_shape_of_its_own(rng):
    X = rng.normal(size=(1000, 1))
    X[rng.random(1000) < 0.08] *= 1e4
    columns = Columns.of(X)
    assert not columns.absurd(columns.scaled(X)).any()


def test_a_long_tail_is_not_absurd_but_what_lies_beyond_a_gap_is(rng):
    X = np.exp(2.5 * rng.normal(size=(2000, 1)))
    columns = Columns.of(X)
    assert np.abs(columns.scaled(X)).max() > 50.0
    assert not columns.absurd(columns.scaled(X)).any()
    X[7], X[9] = 1e30, -1e12
    columns = Columns.of(X)
    assert np.flatnonzero(columns.absurd(columns.scaled(X))).tolist() == [7, 9]


def test_whole_numbers_with_errors_between_them_do_not_recur(rng):
    X = rng.integers(3, 18, size=(2000, 1)).astype(float)
    wrong = rng.random(X.shape) < 0.05
    X[wrong] += rng.normal(0.0, 10.0, wrong.sum())
    columns = Columns.of(X)
    assert not columns.recurring(X, columns.scaled(X)).any()
    X[::2] = 99.0
    columns = Columns.of(X)
    np.testing.assert_array_equal(columns.recurring(X, columns.scaled(X)), X == 99.0)


def test_what_many_columns_have_in_common_is_of_the_device(rng):
    """The end of a range counts as such also where it is seldom."""
    X = np.minimum(rng.gamma(2.0, 2.0, (400, 4)), 5.0)
    X[:, 3] = rng.uniform(0.0, 4.0, 400)
    X[7, 3] = 5.0
    columns = Columns.of(X)
    assert columns.recurring(X, columns.scaled(X))[7, 3]
    alone = Columns.of(X[:, [3]])
    assert not alone.recurring(X[:, [3]], alone.scaled(X[:, [3]]))[7, 0]
    # It is no column's rule, however much of it is filled.
    X[:, 0] = np.where(rng.random(400) < 0.9, 5.0, X[:, 0])
    assert 5.0 in Columns.of(X).with_exceptions(X).common[0]


def test_a_value_of_one_stretch_does_not_return(rng):
    X = rng.normal(size=(1000, 2))
    X[300:340, 0] = X[299, 0]
    # A state: half of the time in stretches, so that it is no column's rule either.
    X[np.arange(1000) % 100 < 40, 1] = 0.25
    columns = Columns.of(X)
    assert len(columns.common[0]) == 1
    assert 0.25 in columns.common[1]
    ordered = columns.with_exceptions(X)
    assert not len(ordered.common[0])
    assert ordered.common[1].tolist() == [0.25]


def test_a_code_that_repeats_is_absurd_though_one_like_it_might_not_be(rng):
    """Among spikes one value far out is the next of a long tail; thirty at the same place are not."""
    X = rng.normal(size=(3000, 1))
    X += np.where(
        rng.random(X.shape) < 0.05, rng.choice([-1, 1], X.shape) * rng.uniform(1, 8, X.shape), 0
    )
    X[::100] = 100.0
    columns = Columns.of(X)
    np.testing.assert_array_equal(columns.absurd(columns.scaled(X)), X == 100.0)
    # A group of its own, each value another one, may be right.
    X[::100, 0] = rng.uniform(90.0, 110.0, 30)
    assert not Columns.of(X).absurd(Columns.of(X).scaled(X)).any()


def test_events_of_a_column_at_rest_are_not_absurd(rng):
    """They are of one order of magnitude, and none is like another."""
    X = 0.05 * rng.normal(size=(1000, 1))
    events = np.arange(1000) % 40 == 7
    X[events, 0] += rng.uniform(3.0, 8.0, events.sum())
    columns = Columns.of(X)
    assert not columns.absurd(columns.scaled(X)).any()
    X[500] = 1e6
    columns = Columns.of(X)
    assert np.flatnonzero(columns.absurd(columns.scaled(X))).tolist() == [500]


def test_rare_events_of_a_column_that_is_nearly_always_the_same_are_not_absurd():
    """Fees that hardly anybody pays, and a flag that one row has."""
    X = np.zeros((1000, 2))
    X[[10, 400, 700], 0] = 20.0, 30.0, 45.0
    X[500, 1] = 1.0
    columns = Columns.of(X)
    assert not columns.absurd(columns.scaled(X)).any()


def test_a_code_in_a_column_that_is_always_the_same_is_absurd():
    X = np.full((1000, 1), 5.0)
    X[500] = -9999.0
    columns = Columns.of(X)
    assert columns.absurd(columns.scaled(X)).sum() == 1
