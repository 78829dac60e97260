import numpy as np
import pytest

from rnlmf.model_selection.grid_walk import Axis, GridWalk


def valley(point):
    return {"loss": np.full(3, (point["a"] - 4.0) ** 2 + (point["b"] - 1.0) ** 2)}


def test_walk_finds_the_minimum_of_a_valley_and_tries_nothing_twice():
    tried = []

    def evaluate(point):
        tried.append(tuple(point.values()))
        return valley(point)

    axes = {"a": Axis((1.0, 2.0, 4.0, 8.0), 1, "loss"), "b": Axis((1.0, 2.0, 3.0), 1, "loss")}
    walk = GridWalk(evaluate, axes)
    best = walk.run()
    assert walk.point(best) == {"a": 4.0, "b": 1.0}
    assert len(tried) == len(set(tried)) < 12
    assert walk.ranking(best)[0] == best


def test_every_parameter_is_judged_by_its_own_loss():
    def evaluate(point):
        return {"one": np.array([abs(point["a"] - 1.0)]), "other": np.array([abs(point["b"] - 3.0)])}

    axes = {"a": Axis((1.0, 2.0, 3.0), 1, "one"), "b": Axis((1.0, 2.0, 3.0), 1, "other")}
    walk = GridWalk(evaluate, axes)
    assert walk.point(walk.run()) == {"a": 1.0, "b": 3.0}


def test_losses_that_disagree_do_not_lead_in_a_circle():
    """One parameter follows the other, which runs away: (0, 0), (0, 1), (1, 1), (1, 0), (0, 0)."""
    tried = []

    def evaluate(point):
        a, b = point["a"], point["b"]
        tried.append((a, b))
        # By so little, beside how samples differ, that no step is refused for good.
        samples = np.array([-9.0, 9.0])
        return {"one": samples * a + float(a != b), "other": samples * b + float(a == b)}

    axes = {"a": Axis((0.0, 1.0), 0, "one"), "b": Axis((0.0, 1.0), 0, "other")}
    walk = GridWalk(evaluate, axes)
    # The end is the first point that is seen again, and every point was tried once.
    assert walk.run() == (0, 1)
    assert sorted(tried) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_a_step_that_was_credibly_bad_is_not_tried_again_from_elsewhere():
    def evaluate(point):
        a, b = point["a"], point["b"]
        return {"one": np.full(9, a + 0.1 * b), "other": np.full(9, 1.0 - b)}

    axes = {"a": Axis((0.0, 1.0), 0, "one"), "b": Axis((0.0, 1.0), 0, "other")}
    walk = GridWalk(evaluate, axes)
    assert walk.run() == (0, 1)
    assert (1, 1) not in walk.table


def test_a_larger_value_is_taken_where_it_is_not_credibly_worse(rng):
    noise = rng.random(400)
    worse = {1.0: 0.0, 2.0: 0.001, 4.0: 0.5}

    def evaluate(point):
        return {"loss": rng.permutation(noise) + worse[point["a"]]}

    walk = GridWalk(evaluate, {"a": Axis((1.0, 2.0, 4.0), 0, "loss")})
    assert walk.largest_as_good((0,), "a") == (1,)
    assert walk.largest_as_good((2,), "a") == (2,)


@pytest.mark.parametrize(
    ("level", "errors", "taken"),
    [(10.0, 0.5, (2,)), (10.0, 2.0, (2,)), (10.0, 4.0, (0,)), (0.1, 0.5, (2,)), (0.1, 2.0, (0,))],
)
def test_the_end_of_the_axis_is_taken_unless_it_is_worse_surely_or_much(level, errors, taken, rng):
    noise = rng.standard_normal(400)
    noise = (noise - noise.mean()) / noise.std()
    ends = level + noise + errors / 20.0
    losses = {1.0: np.full(400, level), 2.0: ends + 1.0, 4.0: ends}
    walk = GridWalk(lambda point: {"loss": losses[point["a"]]}, {"a": Axis((1.0, 2.0, 4.0), 0, "loss")})
    assert walk.largest_as_good((0,), "a") == taken


@pytest.mark.parametrize(("worse", "sure"), [(1.0, True), (0.0, False)])
def test_confidence_is_high_for_a_clear_winner_and_not_for_a_tie(worse, sure, rng):
    def evaluate(point):
        return {"loss": rng.random(300) + worse * (point["a"] > 1.0)}

    walk = GridWalk(evaluate, {"a": Axis((1.0, 2.0), 0, "loss")})
    confidence = walk.confidence(walk.run(), np.random.RandomState(0))
    assert (confidence == 1.0) is sure


@pytest.mark.parametrize(
    ("losses", "shift"),
    [
        ((1.0, 0.0, 3.0), -0.25),
        ((3.0, 0.0, 1.0), 0.25),
        ((0.0, 1.0, 3.0), -0.5),
        ((3.0, 2.0, 0.0), 0.0),
    ],
)
def test_between_is_the_vertex_of_a_parabola_within_half_a_step(losses, shift):
    """The third is a best value by another loss; the last has no vertex that is lowest."""
    values = (1.0, 4.0, 16.0)
    found = dict(zip(values, losses, strict=True))
    walk = GridWalk(
        lambda point: {"loss": np.full(3, found[point["a"]])}, {"a": Axis(values, 1, "loss")}
    )
    assert walk.between((1,), "a") == pytest.approx(4.0 * 4.0**shift)
    assert walk.between((0,), "a") == 1.0


def test_a_walk_on_level_ground_stays():
    walk = GridWalk(lambda point: {"loss": np.ones(3)}, {"a": Axis((1.0, 2.0, 4.0, 8.0), 1, "loss")})
    assert walk.run() == (1,)
