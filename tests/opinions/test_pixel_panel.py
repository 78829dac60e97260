import numpy as np
import pytest

from rnlmf.opinions.pixel_panel import PixelPanel
from rnlmf.opinions.pixel_relations import Relations
from rnlmf.opinions.pixel_scale import Scale


@pytest.fixture
def related(rng):
    """200 rows of 30 columns of rank 3, with some noise."""
    Z = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 30)) + 0.3 * rng.normal(size=(200, 30))
    return Z, np.zeros(Z.shape, dtype=bool), Scale.of(Z.ravel())


def test_scales_are_those_of_cells_as_they_were_seen(related):
    """What has been mixed with its prediction is nearer to it."""
    Z, nothing, scale = related
    relations = Relations.learn(Z, nothing)
    said, _ = PixelPanel.learn(Z, nothing, nothing, scale, relations).testify(Z, nothing, nothing)
    mixed = said + 0.3 * (Z - said)
    blind = PixelPanel.learn(mixed, nothing, nothing, scale, relations, like=Z)
    seeing = PixelPanel.learn(mixed, nothing, nothing, scale, relations, like=Z, seen=Z)
    sizes = [np.median(panel.testify(mixed, nothing, nothing, like=Z)[1]) for panel in (blind, seeing)]
    assert sizes[1] > 1.5 * sizes[0]


def test_what_is_not_believed_makes_no_scale(related, rng):
    Z, nothing, scale = related
    relations = Relations.learn(Z, nothing)
    wrong = rng.random(Z.shape) < 0.2
    spoiled = np.where(wrong, np.nan, Z)
    panel = PixelPanel.learn(Z, nothing, nothing, scale, relations, seen=spoiled)
    usual = PixelPanel.learn(Z, nothing, nothing, scale, relations)
    sizes = [np.median(p.testify(Z, nothing, nothing)[1]) for p in (panel, usual)]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.1)
