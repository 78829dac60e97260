import numpy as np
import pytest

from rnlmf.opinions.pixel_scale import Scale


@pytest.fixture
def grey(rng):
    """Values that pile up at 0 and 1."""
    return np.clip(rng.normal(0.5, 0.5, 10_000), 0.0, 1.0)


def test_ends_are_where_values_pile_up(grey):
    scale = Scale.of(grey)
    assert (scale.low, scale.high, scale.span) == (0.0, 1.0, 1.0)


def test_errors_beyond_black_and_white_do_not_move_them(grey, rng):
    noisy = grey + np.where(rng.random(len(grey)) < 0.1, rng.normal(0.0, 1.0, len(grey)), 0.0)
    scale = Scale.of(noisy)
    assert (scale.low, scale.high) == (0.0, 1.0)
    np.testing.assert_array_equal(scale.beyond(noisy), (noisy < -0.1) | (noisy > 1.1))


def test_without_piles_the_ends_are_the_farthest_values(rng):
    values = rng.normal(size=1000)
    scale = Scale.of(values)
    assert (scale.low, scale.high) == (values.min(), values.max())
    assert not scale.beyond(values).any()


def test_a_value_that_most_have_is_one_end_only(rng):
    values = np.where(rng.random(1000) < 0.9, 0.0, rng.random(1000))
    scale = Scale.of(values)
    assert scale.low == 0.0
    assert scale.high == values.max()
    assert scale.gross(np.array([0.2, 0.01])).tolist() == [True, False]


def test_a_white_that_is_not_quite_the_commonest_is_white(rng):
    """Scanners give several: in MNIST 253, 254 and 255."""
    whites = rng.choice([253.0, 254.0, 255.0], 1000, p=[0.6, 0.3, 0.1]) / 255.0
    values = np.r_[np.zeros(5000), rng.random(4000), whites]
    scale = Scale.of(values)
    assert scale.high < 1.0
    assert not scale.beyond(values).any()
    assert scale.beyond(np.array([1.2])).all()


def test_the_span_is_that_of_most_values_where_nothing_piles_up(rng):
    right = rng.random(10_000)
    noisy = right + np.where(rng.random(len(right)) < 0.1, rng.normal(0.0, 1.0, len(right)), 0.0)
    assert Scale.of(noisy).span == pytest.approx(1.0, abs=0.15)
    # Beside a pile that is one end only, the others count.
    dark = np.where(rng.random(len(right)) < 0.96, 0.0, right)
    assert Scale.of(dark).span == pytest.approx(1.0, abs=0.1)
