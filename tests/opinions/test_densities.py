import numpy as np
import pytest

from rnlmf.opinions.densities import ColumnCells, Values, Witness


def test_density_of_values_is_one(rng):
    values = Values.of(rng.normal(size=5000), 0.01)
    x = np.linspace(-12.0, 12.0, 4001)
    assert np.trapezoid(values.density(x), x) == pytest.approx(1.0, abs=0.15)
    inside = np.abs(x) < 1.5
    normal = np.exp(-0.5 * x**2) / np.sqrt(2.0 * np.pi)
    np.testing.assert_allclose(values.density(x)[inside], normal[inside], rtol=0.35)


def test_densities_of_right_and_wrong_cells_are_one():
    x = np.linspace(-400.0, 400.0, 400_001)
    p, s = np.zeros((1, len(x))), np.full((1, len(x)), 0.3)
    cells = ColumnCells(x, p, s)
    for freedom in (2.0, 4.0, 30.0):
        assert np.trapezoid(cells.right(freedom)[0], x) == pytest.approx(1.0, abs=1e-3)
    assert np.trapezoid(cells.wrong(5.0, 40.0), x) == pytest.approx(1.0, abs=1e-3)


def test_densities_of_some_cells_are_theirs_among_all(rng):
    z, p, s = rng.normal(size=9), rng.normal(size=(2, 9)), rng.random((2, 9))
    some, cells = z > 0.0, ColumnCells(z, p, s)
    for _ in range(2):
        np.testing.assert_array_equal(cells[some].right(4.0), cells.right(4.0)[:, some])
    np.testing.assert_array_equal(cells[some].wrong(2.0), cells.wrong(2.0)[some])
    assert len(cells[some]) == some.sum()


def test_a_witness_without_testimony_has_no_density():
    silent = np.full((1, 3), np.inf)
    assert np.all(ColumnCells(np.zeros(3), np.zeros((1, 3)), silent).right(4.0) < 1e-200)


def test_a_witness_of_some_rows(rng):
    said = Witness(rng.normal(size=(5, 2)), rng.random((5, 2)))
    some = said.of(np.array([True, False, True, False, False]))
    np.testing.assert_array_equal(some.prediction, said.prediction[[0, 2]])
    np.testing.assert_array_equal(some.scale, said.scale[[0, 2]])
