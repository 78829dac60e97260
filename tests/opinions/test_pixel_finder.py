import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from rnlmf.opinions.pixel_finder import AROUND, ByExample, ByPrediction, found, found_again
from rnlmf.opinions.pixel_relations import Relations, distances, likeness, neighbours
from rnlmf.opinions.pixel_scale import Scale

ENDS = (-3.0, 3.0)


@pytest.fixture(scope="module")
def fields():
    """200 smooth images of 100 pixels."""
    noise = np.random.default_rng(0).normal(size=(200, 14, 14))
    smooth = gaussian_filter(noise, (0, 1.2, 1.2))[:, 2:-2, 2:-2]
    return np.clip(smooth / smooth.std(), *ENDS).reshape(200, -1)


def revised(Z, suspects):
    """By one finder that was told of suspects, and nothing else."""
    missing, scale = np.zeros(Z.shape, dtype=bool), Scale.of(Z.ravel())
    alike = likeness(Z, missing)
    believing = Relations.learn(Z, missing)
    finder = ByExample.learn(
        Z,
        suspects.astype(float),
        missing,
        scale,
        believing,
        believing.from_afar(),
        distances(alike, AROUND),
        (),
    )
    return finder.revised(Z, suspects.astype(float), missing, Z)


@pytest.fixture
def some(fields, rng):
    """A tenth of the pixels of every third row."""
    return (rng.random(fields.shape) < 0.1) & (np.arange(200) % 3 == 0)[:, None]


def test_errors_are_found_by_who_has_seen_others(fields, some, rng):
    spoiled = np.where(some, rng.choice(ENDS, fields.shape), fields)
    P = revised(spoiled, some)
    # Two deviations of the images; smaller ones hide among what cannot be predicted.
    gross = some & (np.abs(spoiled - fields) > 2.0)
    assert np.mean(P[gross] > 0.5) > 0.9
    assert np.mean(P[~some] > 0.5) < 0.01
    assert found_again(some.astype(float), P).credible


def test_right_pixels_under_suspicion_are_not_found_again(fields, some):
    found = found_again(some.astype(float), revised(fields, some))
    assert not found.credible
    assert found.share < 0.2


def test_without_suspects_there_is_nothing_to_find(fields):
    nobody = np.zeros(fields.shape, dtype=bool)
    assert not revised(fields, nobody).any()
    assert not found_again(nobody.astype(float), np.zeros(fields.shape)).credible


def test_few_suspects_are_no_evidence():
    suspected = np.zeros((50, 20))
    suspected[0, :5] = 1.0
    assert not found_again(suspected, suspected).credible


def test_predictions_add_to_what_was_suspected_before(fields, some, rng):
    spoiled = np.where(some, rng.choice(ENDS, fields.shape), fields)
    missing, scale = np.zeros(spoiled.shape, dtype=bool), Scale.of(spoiled.ravel())
    near = neighbours(likeness(spoiled, missing))
    relations = Relations.learn(spoiled, missing)
    first = ByPrediction.learn(spoiled, missing, scale, relations, near)
    before = (rng.random(spoiled.shape) < 0.01) * 0.9
    P = first.revised(spoiled, before, missing, spoiled)
    assert np.all(before <= P)
    assert np.mean(found((first,), spoiled, missing)[some] > 0.5) > 0.5
