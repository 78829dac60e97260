"""What a column is taken for, at the edges of the rules."""

import numpy as np
import pytest

from rnlmf.cleaning.kinds import Numbers, heavy_tails, kind_of, scale_of, stuck_run
from rnlmf.io.table_file import Traits


def column(values, name="x", whole=False):
    return Numbers(name, np.asarray(values, dtype=float), Traits(whole))


def test_a_stretch_of_one_value_is_stuck(rng):
    values = rng.normal(size=300)
    assert stuck_run(column(values)) is None
    values[40:60] = values[40]
    assert stuck_run(column(values)) == (40, 20)
    values[100:109] = values[100]
    assert stuck_run(column(values)) == (40, 20)
    assert stuck_run(column(np.where(np.arange(300) < 60, np.nan, values))) is None


def test_values_that_come_again_anyway_are_not_stuck(rng):
    # A coin shows one side ten times in a row now and then.
    coins = rng.integers(0, 2, 2000)
    assert stuck_run(column(coins)) is None
    # A round number stays the same for a while where it turns.
    assert stuck_run(column(np.round(10 * np.sin(np.linspace(0, 30, 3000))))) is None


def test_heavy_tails(rng):
    values = rng.normal(size=400)
    assert heavy_tails(column(values)) == 0.0
    values[:8] = 1e6
    assert heavy_tails(column(values)) == pytest.approx(0.02)
    assert heavy_tails(column([1.0] * 9 + [5.0])) == 0.0


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("customerId", "identifier"),
        ("order no", "identifier"),
        ("Order No.", "identifier"),
        ("Kundennummer", "identifier"),
        ("sensorid", "identifier"),
        ("userid", "identifier"),
        ("user", "identifier"),
        ("users", "whole numbers"),
        ("number of users", "whole numbers"),
        ("humid", "whole numbers"),
        ("grid", "whole numbers"),
        ("number", "whole numbers"),
        ("no2", "whole numbers"),
        ("keyboard", "whole numbers"),
    ],
)
def test_names_of_identifiers(rng, name, kind):
    assert kind_of(column(rng.integers(1, 900, 200), name, whole=True))[0] == kind


def test_long_whole_numbers(rng):
    many = rng.integers(-(2**62), 2**62, 200)
    assert kind_of(column(many, whole=True)) == ("identifier", "whole numbers too long for a count")
    # Floats of that size are whole without saying anything.
    assert kind_of(column(many))[0] == "measurement"


def test_two_levels_are_zero_or_one_or_a_scale(rng):
    coins = rng.integers(0, 2, 100)
    assert kind_of(column(coins, whole=True)) == ("rating", "0 or 1")
    assert kind_of(column(coins + 1, whole=True)) == ("rating", "a scale from 1 to 2")


def test_six_digits_are_a_date_only_if_they_can_be_one(rng):
    day = 1 + np.arange(60) % 28
    assert kind_of(column(240000 + 100 + day, whole=True))[0] == "date"
    # There is no month 73.
    assert kind_of(column(247300 + day, whole=True))[0] != "date"


def test_a_column_without_values_is_empty_and_has_no_scale():
    nothing = column([np.nan] * 5)
    assert kind_of(nothing) == ("empty", "no values")
    assert scale_of(nothing) is None
