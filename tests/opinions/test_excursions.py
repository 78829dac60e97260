"""Stretches in which a column is elsewhere."""

import numpy as np
import pytest

from rnlmf.opinions.excursions import _there_and_back, contradicted, excursions, round_trips
from rnlmf.opinions.temporal import Sequence


def found_by_fellows(Z, scale, groups=None):
    """Cells that are elsewhere where fellows expect zeros, with a scale."""
    found = np.zeros(Z.shape, dtype=bool)
    trips = round_trips(Sequence.of(len(Z), groups), Z, np.zeros(Z.shape[1]))
    for j, some in trips.items():
        for first, last in contradicted(some, Z[:, j], np.full(len(Z), scale), 5.0):
            found[first:last, j] = True
    return found


def test_excursions_of_any_length_are_suspicious_and_what_lies_between_them_is_not(rng):
    t = np.linspace(0.0, 9.0, 400)
    Z = np.column_stack([np.sin(t), np.cos(t)]) + 0.01 * rng.normal(size=(400, 2))
    Z[50:90, 0] += 4.0
    Z[[200, 210], 0] += 4.0
    found = excursions(Sequence.of(400), Z, np.zeros(2))
    expected = np.zeros(Z.shape, dtype=bool)
    expected[50:90, 0] = expected[[200, 210], 0] = True
    np.testing.assert_array_equal(found, expected)


def test_a_column_that_moves_while_it_is_elsewhere_is_still_elsewhere(rng):
    Z = 0.01 * rng.normal(size=(400, 1))
    beat = np.array([0.0, 1.5, -2.5, 1.0, 0.0])
    for first in range(20, 390, 30):
        Z[first : first + 5, 0] += beat
    elsewhere = np.zeros(Z.shape, dtype=bool)
    # Beats fall into both stretches.
    elsewhere[47:67] = elsewhere[195:242] = True
    Z[elsewhere] += 9.0
    found = excursions(Sequence.of(400), Z, np.zeros(1))
    assert found[elsewhere].all()
    assert np.mean(found[~elsewhere]) < 0.1


@pytest.mark.parametrize(("between", "paired"), [(0, True), (2, True), (3, False)])
def test_jumps_between_which_there_are_many_alike_are_no_pair(between, paired):
    step = np.zeros(60)
    step[10], step[40] = 4.0, -4.0
    step[15 : 15 + 5 * between : 5] = 3.0
    places = np.flatnonzero(step)
    first, last = _there_and_back(places, step)
    assert ((first == 10) & (last == 40)).any() == paired


def test_no_excursion_goes_from_one_sequence_into_the_next(rng):
    Z = 0.01 * rng.normal(size=(800, 1))
    Z[390:410] += 4.0
    assert excursions(Sequence.of(800), Z, np.zeros(1))[390:410].all()
    assert not excursions(Sequence.of(800, np.arange(800) // 400), Z, np.zeros(1)).any()


def off_again_and_again(rng):
    """A column that is off at first, and again and again: by jumps alone its home is elsewhere."""
    Z, off = 0.02 * rng.normal(size=(600, 1)), np.zeros((600, 1), dtype=bool)
    for first in range(0, 400, 42):
        off[first : first + 25] = True
    return Z + 3.0 * off, off


def test_fellows_tell_which_of_two_levels_is_home(rng):
    Z, off = off_again_and_again(rng)
    assert excursions(Sequence.of(600), Z, np.zeros(1))[25:42].all()
    # Nobody has seen the column jump away at first.
    np.testing.assert_array_equal(found_by_fellows(Z, 0.3)[25:], off[25:])


def test_fellows_that_are_unsure_contradict_nothing(rng):
    Z, _ = off_again_and_again(rng)
    assert not found_by_fellows(Z, 1.0).any()


def test_a_jump_is_the_shift_and_what_the_column_does_by_itself(rng):
    Z = np.cumsum(0.3 * rng.normal(size=(500, 1)), axis=0) * 0.2
    Z[200:220] += 4.0
    Z[220:] += 0.25
    found = found_by_fellows(Z, 0.4)
    assert found[200:220].all()
    assert found.sum() == 20


def test_what_fellows_do_not_expect_before_and_after_is_no_excursion(rng):
    Z = 0.02 * rng.normal(size=(400, 1)) + 3.0
    Z[200:220] += 4.0
    assert not found_by_fellows(Z, 0.3).any()


def test_fellows_find_no_excursion_from_one_sequence_into_the_next(rng):
    Z = 0.02 * rng.normal(size=(800, 1))
    Z[390:410] += 4.0
    assert found_by_fellows(Z, 0.3)[390:410].all()
    assert not found_by_fellows(Z, 0.3, np.arange(800) // 400).any()
