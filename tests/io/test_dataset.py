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


@pytest.mark.parametrize(
    ("dtype", "working"),
    [
        *((kind, np.float32) for kind in (np.uint8, np.int16, np.float16, bool, np.float32)),
        *((kind, np.float64) for kind in (np.int32, np.uint64, np.float64)),
    ],
)
def test_numbers_to_compute_with_are_exact(dtype, working):
    # More digits than single precision has, where the type holds them.
    largest = (1 << 25) + 1 if np.dtype(dtype).itemsize >= 4 and dtype is not np.float32 else 100
    original = np.array([0, largest], dtype)
    found = dataset.working_values(original)
    assert found.dtype == working
    np.testing.assert_array_equal(found, original)
