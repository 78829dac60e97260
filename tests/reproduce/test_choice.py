import pytest

from rnlmf.reproduce.choice import best_point, next_points
from rnlmf.reproduce.grids import Candidates

GRID = {
    "a": Candidates(tuple(range(10)), 5),
    "b": Candidates(tuple(range(-5, 6)), 0),
    "fixed": Candidates((7,), 7),
}


def search(error):
    """All points that were asked for, with their errors."""
    known = {}
    while wanted := next_points(GRID, known):
        assert not set(wanted) & set(known)
        known |= {point: error(**dict(point)) for point in wanted}
    return known


@pytest.mark.parametrize(("a", "b"), [(a, b) for a in (0, 3, 9) for b in (-5, 1)])
def test_finds_the_least_error_of_a_bowl(a, b):
    known = search(lambda **p: (p["a"] - a) ** 2 + (p["b"] - b) ** 2)
    assert dict(best_point(known)) == {"a": a, "b": b, "fixed": 7}
    assert len(known) < 40


def test_ends_at_a_point_with_no_better_neighbour():
    table = {(a, b): (37 * a + 101 * b) % 53 for a in range(10) for b in range(-5, 6)}
    known = search(lambda **p: table[p["a"], p["b"]])
    best = dict(best_point(known))
    a, b = best["a"], best["b"]
    around = [(a - 1, b), (a + 1, b), (a, b - 1), (a, b + 1)]
    assert all(table[a, b] <= table[other] for other in around if other in table)


def test_begins_at_the_start_and_wants_nothing_of_a_single_point():
    assert next_points(GRID, {}) == [(("a", 5), ("b", 0), ("fixed", 7))]
    single = {"a": Candidates((1,), 1)}
    assert next_points(single, {(("a", 1),): 3.0}) == []


def test_start_must_be_on_the_grid():
    with pytest.raises(ValueError, match="start=2"):
        Candidates((1, 3), 2)
