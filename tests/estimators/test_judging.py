"""Which judge is asked, and that tables on one scale are not taken for images."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from rnlmf import RNLMF
from rnlmf.datasets import salt_and_pepper
from rnlmf.estimators.judging import Judging, is_raster, who_judges
from rnlmf.opinions.pixels import same_unit


def percentages(rng, rows, columns):
    """Right values between 0 and 100 that have nothing to do with each other; some come again."""
    free = np.clip(rng.normal(50, 40, (rows, columns)), 0, 100).round(1)
    return np.where(rng.random(free.shape) < 0.5, rng.choice([0, 100, 50.5, 20, 80], free.shape), free)


@pytest.mark.parametrize(("rows", "columns"), [(60, 3), (300, 3), (300, 8), (60, 40), (300, 24)])
def test_percentages_come_back_as_they_were(rng, rows, columns):
    X = percentages(rng, rows, columns)
    assert who_judges(RNLMF().get_params(), X) == Judging(cells=True)
    assert np.array_equal(RNLMF(random_state=0).fit_denoise(X), X)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris, load_wine])
def test_tables_that_were_brought_to_one_range_are_no_images(load):
    X = load().data
    assert not is_raster((X - X.min(axis=0)) / np.ptp(X, axis=0))


@pytest.mark.parametrize("rows", [40, 400, 1797])
def test_images_are(rows):
    digits = load_digits().data[:rows]
    gaps = digits.copy()
    gaps[::7, ::3] = np.nan
    for images in (digits, salt_and_pepper(digits, random_state=0), gaps):
        assert who_judges(RNLMF().get_params(), images) == Judging(pixels=True)
    gaps[:, 5] = np.nan
    assert is_raster(gaps)
    # Without their order they are columns like others.
    shuffled = digits[:, np.random.default_rng(0).permutation(64)]
    assert not is_raster(shuffled)


def test_range_finders_around_a_robot_are_no_image(rng):
    """All from 0 to 5, each like those beside it: one direction is no raster."""
    angle = 2 * np.pi * np.arange(24) / 24
    waves = rng.normal(size=(1000, 3, 2)) * np.array([[3.0], [2.0], [1.0]])
    ring = sum(
        waves[:, [k], [0]] * np.cos((k + 1) * angle) + waves[:, [k], [1]] * np.sin((k + 1) * angle)
        for k in range(3)
    )
    X = np.clip(2.5 + ring, 0.0, 5.0)
    assert same_unit(X)
    assert who_judges(RNLMF().get_params(), X) == Judging(cells=True)


def test_one_column_that_reaches_both_its_ends(rng):
    x = 20 + 10 * np.sin(np.linspace(0, 9, 120))
    spiked = x.copy()
    spiked[10] += 400
    clean = RNLMF(random_state=0).fit_denoise(spiked[:, None])[:, 0]
    assert abs(clean[10] - x[10]) < 1
    assert np.array_equal(np.delete(clean, 10), np.delete(x, 10))
    noise = rng.normal(size=(120, 1))
    assert np.array_equal(RNLMF(random_state=0).fit_denoise(noise), noise)
