import numpy as np
import pytest

from rnlmf.opinions.temporal import LONGEST_CUBIC, MEANS, Sequence


def lagrange(points, values):
    """The polynomial through points, at zero."""
    return sum(
        value * np.prod([-q / (p - q) for other, q in enumerate(points) if other != k])
        for k, (p, value) in enumerate(zip(points, values, strict=True))
    )


def near_by_loops(Z, hidden, times, groups):
    """Line, cubic and running means of every cell from its sequence, written as one would say it."""
    n, m = Z.shape
    out = np.zeros((2 + len(MEANS), n, m))
    gap, distance = np.full((n, m), np.nan), np.zeros((n, m))
    for i, j in np.ndindex(n, m):
        same = [k for k in range(n) if groups[k] == groups[i]]
        known = [k for k in same if not hidden[k, j]]
        before, after = [k for k in known if k < i], [k for k in known if k > i]
        step = np.median(np.diff(times[same])) if len(same) > 1 else 1.0
        if before and after:
            left, right = before[-1], after[0]
            share = (times[i] - times[left]) / (times[right] - times[left])
            line = (1 - share) * Z[left, j] + share * Z[right, j]
            gap[i, j] = Z[right, j] - Z[left, j]
            if len(before) > 1 and len(after) > 1:
                wide = times[after[1]] - times[before[-2]]
                slope = (Z[after[1], j] - Z[before[-2], j]) / wide
                gap[i, j] -= slope * (times[right] - times[left])
            gap[i, j] = abs(gap[i, j])
            distance[i, j] = (times[right] - times[left]) / step
        elif before or after:
            k = before[-1] if before else after[0]
            line, distance[i, j] = Z[k, j], 2 * abs(times[k] - times[i]) / step
        else:
            line = 0.0
        out[0, i, j] = out[1, i, j] = line
        four = [*before[-2:], *after[:2]]
        if len(before) > 1 and len(after) > 1 and four[-1] - four[0] <= LONGEST_CUBIC:
            out[1, i, j] = lagrange(times[four] - times[i], Z[four, j])
        for k, width in enumerate(MEANS):
            around = [r for r in known if r != i and abs(r - i) <= width // 2]
            out[2 + k, i, j] = Z[around, j].mean() if around else line
    for group in np.unique(groups):
        rows = groups == group
        for j in range(m):
            own = gap[rows, j]
            usual = np.nanmedian(own) if np.any(~np.isnan(own)) else 0.0
            gap[rows, j] = np.where(np.isnan(own), usual, own)
    return out, gap, np.log(np.maximum(distance, 1.0) / 2.0)


@pytest.fixture
def uneven(rng):
    """Three sequences one below the other, with hidden cells and uneven times."""
    groups = np.repeat([0, 1, 2], [30, 12, 25])
    times = np.concatenate([np.cumsum(rng.uniform(0.2, 3.0, np.sum(groups == g))) for g in range(3)])
    Z = rng.normal(size=(len(groups), 3)).cumsum(axis=0)
    hidden = rng.random(Z.shape) < 0.3
    hidden[30:42, 1] = True
    return Z, hidden, times, groups


def test_near_neighbours_are_those_of_a_plain_loop(uneven):
    Z, hidden, times, groups = uneven
    found = Sequence.of(len(Z), groups, times).near(Z, hidden)
    predictions, gap, distance = near_by_loops(Z, hidden, times, groups)
    np.testing.assert_allclose(found.predictions, predictions, atol=1e-9)
    np.testing.assert_allclose(found.gap, gap, atol=1e-12)
    np.testing.assert_allclose(found.distance, distance, atol=1e-12)


def test_nothing_leaks_across_a_boundary_nor_out_of_a_hidden_cell(uneven):
    Z, hidden, times, groups = uneven
    sequence = Sequence.of(len(Z), groups, times)
    other = np.where(hidden, 1e9, Z)
    other[groups == 1] += 1e3
    before, after = sequence.near(Z, hidden), sequence.near(other, hidden)
    rows = groups != 1
    np.testing.assert_allclose(after.predictions[:, rows], before.predictions[:, rows], atol=1e-12)
    np.testing.assert_array_equal(after.gap[rows], before.gap[rows])
    for method in (sequence.smooth, sequence.largest):
        np.testing.assert_array_equal(method(Z, 7)[rows], method(Z + 1e3 * ~rows[:, None], 7)[rows])


def test_no_prediction_sees_its_own_cell(uneven):
    Z, hidden, times, groups = uneven
    sequence = Sequence.of(len(Z), groups, times)
    before = sequence.near(Z, hidden).predictions
    for i in range(0, len(Z), 5):
        other = Z.copy()
        other[i] += 10.0
        after = sequence.near(other, hidden).predictions[:, i]
        np.testing.assert_allclose(after, before[:, i], atol=1e-9)


def test_even_times_are_no_times(waves):
    nothing = np.zeros(waves.shape, dtype=bool)
    plain = Sequence.of(len(waves)).near(waves, nothing)
    timed = Sequence.of(len(waves), times=5.0 + 0.1 * np.arange(len(waves))).near(waves, nothing)
    np.testing.assert_allclose(timed.predictions, plain.predictions, atol=1e-9)
    np.testing.assert_allclose(timed.distance, plain.distance, atol=1e-9)


def test_a_spike_is_suspicious_and_a_step_between_sequences_is_not(waves):
    Z = waves.copy()
    Z[100, 1] += 3.0
    sequence = Sequence.of(300, np.arange(300) >= 150)
    found = sequence.suspicious(Z, np.zeros(4))
    assert found[100, 1]
    step = np.where(np.arange(300) >= 150, 20.0, 0.0)[:, None]
    assert np.mean(sequence.suspicious(Z + step, np.zeros(4)) != found) < 0.01


def test_a_sequence_of_one_row():
    found = Sequence.of(3, np.array([0, 1, 2])).near(np.ones((3, 2)), np.zeros((3, 2), dtype=bool))
    assert not found.predictions.any()
    assert np.all(np.isfinite(found.distance))


def test_a_stretch_that_continues_itself_is_an_event(rng):
    """A movement far from what was predicted; errors of the same size are none."""
    Z = 0.01 * rng.normal(size=(200, 2))
    Z[50:70, 0] += 5.0 * np.sin(np.linspace(0.1, 3.0, 20))
    Z[50:70, 1] += rng.choice([-1.0, 1.0], 20) * rng.uniform(1.0, 8.0, 20)
    wrong = np.zeros(Z.shape, dtype=bool)
    wrong[50:70] = True
    found = Sequence.of(200).events(Z, wrong, np.zeros(Z.shape), 0.25, np.zeros(Z.shape, dtype=bool))
    assert found[50:70, 0].all()
    assert not found[:, 1].any()
    assert not found[:50].any()


def test_a_value_that_is_stuck_is_no_event():
    Z, wrong = np.zeros((100, 1)), np.zeros((100, 1), dtype=bool)
    Z[40:60], wrong[40:60] = 7.0, True
    assert (
        not Sequence.of(100)
        .events(Z, wrong, np.zeros(Z.shape), 0.25, np.zeros(Z.shape, dtype=bool))
        .any()
    )


def test_events_end_where_a_sequence_ends(rng):
    Z = np.zeros((40, 1))
    Z[16:24, 0] = np.linspace(4.0, 5.0, 8)
    wrong = Z > 0.0
    one = Sequence.of(40).events(Z, wrong, np.zeros(Z.shape), 0.25, np.zeros(Z.shape, dtype=bool))
    # Four rows of either sequence are too few, where half a column is short stretches.
    parts = Sequence.of(40, np.repeat([0, 1], 20))
    two = parts.events(Z, wrong, np.zeros(Z.shape), 0.25, np.zeros(Z.shape, dtype=bool))
    assert one[16:24].all()
    assert not two.any()


def test_a_steady_rise_is_no_disagreement():
    Z = np.linspace(0.0, 50.0, 60)[:, None]
    hidden = np.zeros(Z.shape, dtype=bool)
    gap = Sequence.of(60).near(Z, hidden).gap
    assert np.all(gap[2:-2] < 1e-9)
    Z[30:] += 10.0
    assert Sequence.of(60).near(Z, hidden).gap[29:31].min() > 4.0


def test_short_gaps_count_only_where_suspects_come_in_bursts():
    suspects = np.zeros((40, 2), dtype=bool)
    suspects[[5, 6, 7, 10, 11, 12, 20, 21, 22], 0] = True
    suspects[[5, 8, 20, 30], 1] = True
    closed = Sequence.of(40).without_short_gaps(suspects)
    assert np.flatnonzero(closed[:, 0]).tolist() == [5, 6, 7, 8, 9, 10, 11, 12, 20, 21, 22]
    np.testing.assert_array_equal(closed[:, 1], suspects[:, 1])
    apart = Sequence.of(40, np.repeat([0, 1], [9, 31])).without_short_gaps(suspects)
    np.testing.assert_array_equal(apart, suspects)


def test_a_stretch_that_jumps_away_and_back_is_no_event_if_fellows_contradict(rng):
    Z = np.sin(np.linspace(0.0, 9.0, 200))[:, None] + 0.001 * rng.normal(size=(200, 1))
    prediction, wrong = Z.copy(), np.zeros(Z.shape, dtype=bool)
    Z[80:110] += 4.0
    wrong[80:110] = True
    said = Sequence.of(200).events(Z, wrong, prediction, 0.25, np.zeros(Z.shape, dtype=bool))
    assert said[80:110].all()
    assert not Sequence.of(200).events(Z, wrong, prediction, 0.25, np.ones(Z.shape, dtype=bool)).any()


def two_levels(rng, n=300):
    """A slow movement that is switched to another one now and then, and back."""
    t = np.linspace(0.0, 3.0, n)
    low, high = np.sin(t) + 0.002 * rng.normal(size=n), 4.0 + np.cos(t) + 0.002 * rng.normal(size=n)
    switched = np.zeros(n, dtype=bool)
    for first in range(20, n - 20, 31):
        switched[[first, first + 2, first + 3, first + 6]] = True
    return np.where(switched, high, low)[:, None], low[:, None], switched[:, None]


def test_values_to_which_a_column_returns_are_a_branch_and_errors_are_not(rng):
    Z, low, switched = two_levels(rng)
    assert Sequence.of(300).branches(Z, switched, low)[switched].mean() > 0.9
    errors = low + np.where(
        switched, rng.choice([-1.0, 1.0], Z.shape) * rng.uniform(1.0, 8.0, Z.shape), 0
    )
    assert not Sequence.of(300).branches(errors, switched, low).any()


def test_branches_of_a_column_of_which_every_second_value_is_missing(rng):
    Z, low, switched = two_levels(rng)
    Z[::2] = np.nan
    found = Sequence.of(300).branches(Z, switched & ~np.isnan(Z), low)
    assert not found[::2].any()


def test_no_branch_reaches_into_another_sequence(rng):
    Z, low, switched = two_levels(rng)
    every_row_alone = Sequence.of(300, np.arange(300))
    assert not every_row_alone.branches(Z, switched, low).any()


def test_a_level_to_which_a_column_returns_is_not_stuck(rng):
    Z = np.cumsum(rng.normal(size=(300, 2)), axis=0)
    Z[50:70, 0], Z[90:110, 1] = Z[49, 0], Z[89, 1]
    Z[200:215, 0] = Z[49, 0]
    numbers = Sequence.of(300).repeated(Z)
    assert not numbers[:, 0].any()
    assert np.flatnonzero(numbers[:, 1]).tolist() == list(range(90, 110))


def test_a_stuck_stretch_with_a_spike_in_it_is_stuck(rng):
    Z = np.cumsum(rng.normal(size=(300, 1)), axis=0)
    Z[50:90] = Z[49]
    Z[70] += 5.0
    numbers = Sequence.of(300).repeated(Z)
    assert np.all(numbers[72:90] > 0)
    assert np.all(numbers[50:70] > 0)


def test_running_medians_are_those_of_every_column_and_sequence(rng):
    values = rng.normal(size=(50, 3))
    smooth = Sequence.of(50, np.repeat([0, 1], [20, 30])).smooth(values, 5)
    for i in range(2, 28):
        np.testing.assert_array_equal(smooth[20 + i], np.median(values[18 + i : 23 + i], axis=0))


def test_running_medians_follow_a_slope_to_its_ends():
    line = 3.0 + 0.5 * np.arange(40.0)[:, None]
    np.testing.assert_allclose(Sequence.of(40).smooth(line, 7), line)
    spoiled = line.copy()
    spoiled[0] += 9.0
    assert np.abs(Sequence.of(40).smooth(spoiled, 7) - line).max() < 1.0


def test_dropouts_near_each_other_are_no_branch(rng):
    """Zeros are all alike: two of them within a few rows agree by chance."""
    n = 2000
    truth = 20.0 + np.sin(np.arange(n) / 60.0)[:, None] + 0.01 * rng.normal(size=(n, 1))
    wrong = rng.random((n, 1)) < 0.06
    Z = np.where(wrong, 0.0, truth)
    assert not Sequence.of(n).branches(Z, wrong, truth).any()


def test_the_first_and_the_last_row_are_no_medians_of_their_surroundings(rng):
    Z = np.cumsum(0.01 * rng.normal(size=(200, 3)), axis=0)
    Z[0, 0] += 5.0
    Z[-1, 2] -= 5.0
    suspects = Sequence.of(200).suspicious(Z, np.zeros(3))
    assert suspects[0, 0]
    assert suspects[-1, 2]
