"""What is measured of a method."""

import numpy as np
import pytest

from rnlmf.metrics import relative_rmse
from rnlmf.reproduce import tasks
from rnlmf.reproduce.cells import Cell
from rnlmf.reproduce.problems import Instance, PaperProblem

PROBLEM = PaperProblem("synthetic", "entries", 0.1, manifolds=1, samples=60, features=6)
PARAMETERS = {"n_components": 10, "kernel_scale": 1.0, "code_weight": 0.01, "noise_weight": 1e-3}


def cell_of(task, method="RNLMF", **parameters):
    return Cell(task, PROBLEM, method, tuple(sorted(parameters.items())), 3)


def test_new_samples_are_those_that_the_fit_has_not_seen():
    outcome, _ = tasks.perform(cell_of("out-of-sample", **PARAMETERS))
    found = outcome.metrics
    assert found["rmse"] == (found["training rmse"] + found["testing rmse"]) / 2
    # By hand: the halves are disjoint, and of one size.
    drawn = PROBLEM.load(3)
    order = np.random.default_rng(3).permutation(len(drawn.truth))
    model = tasks.model_of(cell_of("out-of-sample", **PARAMETERS), drawn.noisy[order[:30]])
    model.fit(drawn.noisy[order[:30]])
    expected = relative_rmse(drawn.truth[order[30:]], model.denoise(drawn.noisy[order[30:]]))
    assert found["testing rmse"] == pytest.approx(100 * expected)


def test_clusters_are_as_many_as_labels(rng):
    X = np.vstack([rng.random((30, 2)) @ rng.standard_normal((2, 20)) for _ in range(2)])
    drawn = Instance(X, X, np.repeat([4, 7], 30), None)
    found, arrays = tasks.cluster(cell_of("cluster", "SSC"), drawn)
    assert arrays == {}
    assert 0.0 <= found["error"] <= 10.0


def test_pictures_are_of_samples_that_were_spoilt(rng):
    truth = rng.random((40, 6))
    noisy = truth.copy()
    noisy[5:30, 2] += 3.0
    drawn = Instance(truth, noisy, None, (2, 3))
    found, arrays = tasks.picture(cell_of("picture", **PARAMETERS), drawn)
    assert found["rmse"] > 0.0
    assert (arrays["original"] != arrays["noisy"]).any(axis=1).all()
    assert arrays["recovered"].shape == (tasks.SHOWN, 6)
    assert arrays["dictionary"].shape == (10, 6)
    assert tuple(arrays["image_shape"]) == (2, 3)


def test_the_objective_of_every_iteration_is_kept():
    _, arrays = tasks.perform(cell_of("objective", max_iter=12, tol=0.0, **PARAMETERS))
    assert len(arrays["objective"]) == 12


def test_growth_is_of_one_iteration_and_of_memory():
    outcome, _ = tasks.perform(cell_of("growth", **PARAMETERS))
    assert outcome.metrics["seconds of an iteration"] > 0.0
    assert outcome.metrics["bytes"] > 60 * 10 * 4
