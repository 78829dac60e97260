import numpy as np
import pytest

from rnlmf.engine.corruption import (
    KNEE,
    LARGEST_SCALE,
    AdaptationSchedule,
    Corruption,
    NoiseSums,
    ShareSums,
    absolute_noise,
    effective_counts,
)


def corruption_of(counts, observed=100):
    sums = NoiseSums(counts.sum(), counts.sum(), int(counts.sum()))
    return Corruption.of_sums(sums, ShareSums.of(counts, np.full(len(counts), observed)))


def test_noise_is_zero_for_rounding_and_missing_values():
    X = np.array([[1.0, np.nan, 2.0]])
    Y = np.array([[1.0 + 1e-16, 3.0, 2.5]])
    np.testing.assert_array_equal(absolute_noise(X, Y), [[0.0, 0.0, 0.5]])


def test_counts_are_bounded_by_one_for_an_entry():
    np.testing.assert_allclose(effective_counts(np.array([[0.5, 7.0, 0.0]]), 1.0), [1.5])


def test_equal_corruption_raises_no_threshold(rng):
    counts = rng.binomial(100, 0.3, 500).astype(float)
    scales = corruption_of(counts).threshold_scales(counts, np.full(500, 100))
    assert np.mean(scales > 1.0) < 0.02


def test_thresholds_of_clean_samples_among_corrupted_ones_are_raised(rng):
    counts = np.where(np.arange(500) < 350, 0.5, rng.binomial(100, 0.25, 500))
    scales = corruption_of(counts).threshold_scales(counts, np.full(500, 100))
    assert np.all(scales[:350] > 2.0)
    assert np.all(scales[350:] < 1.2)
    assert scales.max() <= LARGEST_SCALE


def test_scale_falls_with_the_count_and_is_of_the_sample_alone(rng):
    counts = rng.uniform(0, 40, 200)
    corruption = corruption_of(counts)
    scales = corruption.threshold_scales(np.sort(counts), np.full(200, 100))
    assert np.all(np.diff(scales) <= 0.0)
    alone = [corruption.threshold_scales(np.array([c]), np.array([100]))[0] for c in np.sort(counts)]
    np.testing.assert_allclose(scales, alone)


@pytest.mark.parametrize(("iteration", "expected"), [(0, False), (30, True), (31, False), (35, True)])
def test_schedule(iteration, expected):
    assert AdaptationSchedule.within(300).is_due(iteration) is expected


@pytest.mark.parametrize("max_iter", range(2, 80))
def test_there_is_an_adaptation_however_few_iterations(max_iter):
    schedule = AdaptationSchedule.within(max_iter)
    assert any(schedule.is_due(iteration) for iteration in range(1, max_iter))


def test_moments_are_those_of_the_samples_in_any_parts(rng):
    """Sums against the definition by lists; samples without a value do not count."""
    counts, observed = rng.uniform(0, 5, 400), rng.integers(0, 20, 400)
    counts = np.minimum(counts, observed)
    noise = NoiseSums(3.0, 6.0, 100)
    whole = Corruption.of_sums(noise, ShareSums.of(counts, observed))
    parts = ShareSums()
    for rows in np.array_split(np.arange(400), 7):
        parts = parts.plus(ShareSums.of(counts[rows], observed[rows]))
    assert Corruption.of_sums(noise, parts).strength == pytest.approx(whole.strength)
    seen = observed > 0
    shares = counts[seen] / observed[seen]
    rate = shares.mean()
    variance = shares.var() - np.mean(rate * (1 - rate) / observed[seen])
    assert whole.rate == pytest.approx(rate)
    assert whole.strength == pytest.approx(rate * (1 - rate) / variance - 1)


@pytest.mark.parametrize(("noisy", "widening"), [(0.0, 1.0), (0.25, 2.0), (0.5, np.inf), (0.9, np.inf)])
def test_knee_widens_as_noise_is_less_sparse(noisy, widening):
    assert Corruption(2.0, 0.1, 1.0, noisy).knee == pytest.approx(2.0 * KNEE * widening)


def test_sums_give_size_and_share(rng):
    noise = np.where(rng.random((50, 20)) < 0.2, 3.0, 0.0)
    sums = NoiseSums.of(noise)
    assert sums.size == pytest.approx(3.0)
    observed = np.full(50, 20)
    shares = ShareSums.of(effective_counts(noise, sums.size), observed)
    corruption = Corruption.of_sums(sums, shares)
    assert corruption.noisy == pytest.approx(np.mean(noise > 0))
    assert corruption.rate == pytest.approx(np.mean(noise > 0))


def test_sums_of_nothing_add_nothing(rng):
    sums = NoiseSums.of(rng.random((5, 4)))
    assert NoiseSums().plus(sums) == sums
    assert Corruption(2.0, 0.1, 1.0).knee == Corruption(2.0, 0.1, 1.0, 0.0).knee


def test_nothing_has_converged_before_the_last_adaptation_that_must_be():
    schedule = AdaptationSchedule(30, 5, 3)
    due = [iteration for iteration in range(100) if schedule.is_due(iteration)]
    assert schedule.settled == due[2] == 40
