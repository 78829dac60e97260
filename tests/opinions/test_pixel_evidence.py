import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from rnlmf.opinions.pixel_evidence import harm, misleading, repeated
from rnlmf.opinions.pixel_relations import Relations
from rnlmf.opinions.pixel_scale import Scale

ENDS = (-3.0, 3.0)
SCALE = Scale(*ENDS, span=ENDS[1] - ENDS[0])


@pytest.fixture(scope="module")
def fields():
    """200 smooth images of 100 pixels."""
    noise = np.random.default_rng(0).normal(size=(200, 14, 14))
    smooth = gaussian_filter(noise, (0, 1.2, 1.2))[:, 2:-2, 2:-2]
    return np.clip(smooth / smooth.std(), *ENDS).reshape(200, -1)


def evidence(Z, suspects):
    missing = np.zeros(Z.shape, dtype=bool)
    return misleading(Z, suspects, missing, Relations.learn(Z, missing), SCALE)


@pytest.fixture
def some(fields, rng):
    """A tenth of the pixels of every third row."""
    return (rng.random(fields.shape) < 0.1) & (np.arange(200) % 3 == 0)[:, None]


def test_errors_mislead(fields, some, rng):
    spoiled = np.where(some, rng.choice(ENDS, fields.shape), fields)
    found = evidence(spoiled, some)
    assert found.credible
    assert found.phi == pytest.approx(1.0, abs=0.3)


def test_right_pixels_inform(fields, some):
    found = evidence(fields, some)
    assert not found.credible
    assert found.phi < 0.0


def test_errors_in_every_row_are_found_too(fields, rng):
    wrong = rng.random(fields.shape) < 0.1
    spoiled = np.where(wrong, rng.choice(ENDS, fields.shape), fields)
    assert evidence(spoiled, wrong).credible


def test_without_suspects_there_is_nothing_to_believe(fields):
    assert not evidence(fields, np.zeros(fields.shape, dtype=bool)).credible


def test_values_that_are_equal_to_the_bit(fields, some):
    assert repeated(fields, some) < 0.3
    assert repeated(np.where(some, 1.5, fields), some) == 1.0


def test_harm_is_done_by_errors_row_by_row(fields, some, rng):
    """Believed errors make the others of their row worse, right pixels do not."""
    missing = np.zeros(fields.shape, dtype=bool)
    relations = Relations.learn(fields, missing)
    rows = some.any(axis=1)
    spoiled = np.where(some, rng.choice(ENDS, fields.shape), fields)
    wrong, _ = harm(spoiled[rows], some[rows], missing[rows], relations, SCALE, like=fields[rows])
    right, _ = harm(fields[rows], some[rows], missing[rows], relations, SCALE)
    assert np.mean(wrong > 0.0) > 0.95
    assert np.mean(right > 0.0) < 0.3
