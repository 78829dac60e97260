import numpy as np
import pytest

from rnlmf.io import dataset


@pytest.mark.parametrize(
    ("points", "curve"), [(dataset.CURVE_POINTS - 1, False), (dataset.CURVE_POINTS, True)]
)
def test_so_many_points_make_a_curve(points, curve):
    X = np.sin(np.linspace(0, 3, points) + np.arange(30)[:, None])
    assert dataset.are_curves(X) is curve


def test_a_row_of_many_quantities_is_no_curve(rng):
    assert not dataset.are_curves(rng.normal(size=(30, 40)))
