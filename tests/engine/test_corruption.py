import numpy as np
import pytest

from rnlmf.engine.corruption import (
    KNEE,
    LARGEST_RELEASE,
    Corruption,
    NoiseSums,
    due,
    effective_counts,
    noise_of,
)


def corruption_of(counts, observed=100):
    sums = NoiseSums(counts.sum(), counts.sum(), int(counts.sum()))
    return Corruption.of_data(sums, counts, np.full(len(counts), observed))


def test_noise_is_zero_for_rounding_and_missing_values():
    X = np.array([[1.0, np.nan, 2.0]])
    Y = np.array([[1.0 + 1e-16, 3.0, 2.5]])
    np.testing.assert_array_equal(noise_of(X, Y), [[0.0, 0.0, 0.5]])


def test_counts_are_bounded_by_one_for_an_entry():
    np.testing.assert_allclose(effective_counts(np.array([[0.5, 7.0, 0.0]]), 1.0), [1.5])


def test_equal_corruption_releases_nobody(rng):
    counts = rng.binomial(100, 0.3, 500).astype(float)
    release = corruption_of(counts).release(counts, np.full(500, 100))
    assert np.mean(release > 1.0) < 0.02


def test_clean_samples_among_corrupted_ones_are_released(rng):
    counts = np.where(np.arange(500) < 350, 0.5, rng.binomial(100, 0.25, 500))
    release = corruption_of(counts).release(counts, np.full(500, 100))
    assert np.all(release[:350] > 2.0)
    assert np.all(release[350:] < 1.2)
    assert release.max() <= LARGEST_RELEASE


def test_release_falls_with_the_count_and_is_of_the_sample_alone(rng):
    counts = rng.uniform(0, 40, 200)
    corruption = corruption_of(counts)
    release = corruption.release(np.sort(counts), np.full(200, 100))
    assert np.all(np.diff(release) <= 0.0)
    alone = [corruption.release(np.array([c]), np.array([100]))[0] for c in np.sort(counts)]
    np.testing.assert_allclose(release, alone)


@pytest.mark.parametrize(("iteration", "expected"), [(0, False), (30, True), (31, False), (35, True)])
def test_looks(iteration, expected):
    assert due(iteration) is expected


@pytest.mark.parametrize(("noisy", "widening"), [(0.0, 1.0), (0.25, 2.0), (0.5, np.inf), (0.9, np.inf)])
def test_knee_widens_as_noise_is_less_sparse(noisy, widening):
    assert Corruption(2.0, 0.1, 1.0, noisy).knee == pytest.approx(2.0 * KNEE * widening)


def test_sums_give_size_and_share(rng):
    noise = np.where(rng.random((50, 20)) < 0.2, 3.0, 0.0)
    sums = NoiseSums.of(noise)
    assert sums.size == pytest.approx(3.0)
    observed = np.full(50, 20)
    corruption = Corruption.of_data(sums, effective_counts(noise, sums.size), observed)
    assert corruption.noisy == pytest.approx(np.mean(noise > 0))
    assert corruption.rate == pytest.approx(np.mean(noise > 0))
