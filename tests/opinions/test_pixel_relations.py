import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from rnlmf.opinions.linear import LinearOpinion
from rnlmf.opinions.pixel_relations import Relations, halves, likeness, neighbours, stationary

HEIGHT, WIDTH = 10, 12


@pytest.fixture(scope="module")
def fields():
    """80 smooth images of 120 pixels."""
    noise = np.random.default_rng(0).normal(size=(80, HEIGHT + 4, WIDTH + 4))
    smooth = gaussian_filter(noise, (0, 1.2, 1.2))[:, 2:-2, 2:-2]
    return (smooth / smooth.std()).reshape(80, -1)


@pytest.fixture(scope="module")
def nothing(fields):
    return np.zeros(fields.shape, dtype=bool)


def test_the_target_is_a_covariance_with_the_variances_of_the_data(fields):
    C = np.cov(fields * np.linspace(0.1, 3.0, fields.shape[1]), rowvar=False)
    T = stationary(C)
    np.testing.assert_allclose(np.diag(T), np.diag(C))
    assert np.linalg.eigvalsh(T).min() > 0.0


def test_neighbours_are_found_in_a_raster_of_unknown_width(fields, nothing):
    near = neighbours(likeness(fields, nothing), 8)
    middle = 4 * WIDTH + 5
    assert set(near[middle]) == {
        middle + d for d in (-1, 1, -WIDTH, WIDTH, -WIDTH - 1, 1 - WIDTH, WIDTH - 1, WIDTH + 1)
    }


def test_with_fewer_images_than_pixels_the_raster_helps(fields, nothing):
    learned, others = fields[:50], fields[50:]
    relations = Relations.learn(learned, nothing[:50])
    plain = LinearOpinion.learn(learned, nothing[:50], np.arange(50))
    ours, _ = relations.predict(others, nothing[50:])
    theirs, _ = plain.predict(others, nothing[50:])
    assert np.std(ours - others) < 0.7 * np.std(theirs - others)


def test_where_the_order_of_columns_means_nothing_it_does_no_harm(fields, nothing, rng):
    """Columns of a table of low rank, in any order."""
    X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 40)) + 0.1 * rng.normal(size=(400, 40))
    gaps = np.zeros(X.shape, dtype=bool)
    ours, _ = Relations.learn(X[:300], gaps[:300]).predict(X[300:], gaps[300:])
    plain = LinearOpinion.learn(X[:300], gaps[:300], np.arange(300))
    theirs, _ = plain.predict(X[300:], gaps[300:])
    assert np.std(ours - X[300:]) < 1.1 * np.std(theirs - X[300:])


def test_a_row_is_told_by_the_half_that_has_not_seen_it(fields, nothing):
    relations, second = Relations.learn(fields, nothing), halves(fields)
    said, _ = relations.predict(fields, nothing)
    np.testing.assert_allclose(said[second], relations.first.predict(fields, nothing)[0][second])
    np.testing.assert_allclose(said[~second], relations.second.predict(fields, nothing)[0][~second])
    assert 0.25 < second.mean() < 0.75


def test_halves_depend_neither_on_other_rows_nor_on_the_last_bits(fields):
    second = halves(fields)
    np.testing.assert_array_equal(halves(fields[::-1])[::-1], second)
    np.testing.assert_array_equal(halves(fields * (1 / 3) * 3), second)


def test_from_afar_a_pixel_is_not_told_by_its_neighbours(fields, nothing):
    afar = Relations.learn(fields, nothing).from_afar()
    before, _ = afar.predict(fields[:5], nothing[:5])
    spoiled, j = fields[:5].copy(), 4 * WIDTH + 5
    spoiled[:, [j - 1, j, j + 1, j - WIDTH, j + WIDTH]] = 9.0
    after, _ = afar.predict(spoiled, nothing[:5], like=fields[:5])
    np.testing.assert_allclose(after[:, j], before[:, j])


def test_hidden_cells_have_no_say(fields, nothing, rng):
    hidden = rng.random(fields.shape) < 0.2
    spoiled = np.where(hidden, 50.0, fields)
    said, _ = Relations.learn(spoiled, hidden).predict(spoiled, hidden, like=fields)
    assert np.std((said - fields)[hidden]) < 0.5


def test_rows_may_keep_the_half_of_others(fields, nothing):
    """Relations of repaired rows, halved as these were before."""
    repaired = 0.9 * fields
    relations = Relations.learn(repaired, nothing, like=fields)
    assert not np.array_equal(halves(repaired), halves(fields))
    said, _ = relations.predict(repaired, nothing, like=fields)
    for part, own in ((~halves(fields), relations.second), (halves(fields), relations.first)):
        np.testing.assert_allclose(said[part], own.predict(repaired[part], nothing[part])[0])
