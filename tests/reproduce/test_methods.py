import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from rnlmf.metrics import clustering_error, relative_rmse
from rnlmf.reproduce import spec
from rnlmf.reproduce.methods import METHODS
from rnlmf.reproduce.paper import paper_values
from rnlmf.reproduce.problems import PaperProblem
from rnlmf.validation import validate_parameters

SMALL = {"manifolds": 1, "samples": 80, "features": 25}


@pytest.mark.parametrize("noise", ["entries", "columns"])
@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.build])
@pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.{ConvergenceWarning.__name__}")
def test_every_method_removes_noise_for_some_weight_of_its_grid(name, noise):
    problem = PaperProblem("synthetic", noise, 0.1, magnitude=3.0, **SMALL)
    drawn = problem.load()
    grid = METHODS[name].grid(problem)
    start = {key: choice.start for key, choice in grid.items()}
    last = list(grid)[-1]
    errors = []
    for value in grid[last].values:
        model = METHODS[name].build(drawn.noisy, problem, 0, **{**start, last: value})
        errors.append(relative_rmse(drawn.truth, model.fit_denoise(drawn.noisy)))
    assert min(errors) < 0.9 * relative_rmse(drawn.truth, drawn.noisy)


@pytest.mark.parametrize(
    "name", [name for name, method in METHODS.items() if method.automatic and method.build]
)
@pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.{ConvergenceWarning.__name__}")
def test_automatic_settings_need_no_parameter(name):
    problem = PaperProblem("synthetic", "entries", 0.1, magnitude=3.0, **SMALL)
    drawn = problem.load()
    denoised = METHODS[name].build(drawn.noisy, problem, 0).fit_denoise(drawn.noisy)
    assert np.isfinite(denoised).all()


@pytest.mark.parametrize("noise", ["none", "random"])
@pytest.mark.parametrize("name", spec.CLUSTERERS)
@pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.{ConvergenceWarning.__name__}")
def test_every_method_of_the_clustering_tables_clusters(name, noise):
    """Three subspaces, with the settings that the choice begins with and with the automatic ones."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((40, 3)) @ rng.standard_normal((3, 60)) for _ in range(3)])
    if noise != "none":
        X = np.where(rng.random(X.shape) < 0.02, 5.0, X)
    problem, method = PaperProblem("coil20", noise), METHODS[name]
    assert method.clusters is not None
    start = {key: choice.start for key, choice in method.cluster_grid(problem).items()}
    if name == "RNLMF":
        start["n_components"] = 30
    y = np.repeat(range(3), 40)
    for parameters in (start, {}):
        labels = method.clusters(X, problem, 0, 3, **parameters).fit_predict(X)
        assert clustering_error(y, labels) < 0.35


def test_grids_have_what_the_paper_prints():
    motion = METHODS["RNLMF"].grid(PaperProblem("mocap_01_09", "entries", 0.1))
    assert motion["noise_weight"].values == (2e-5, 4e-5, 5e-5)
    assert motion["n_components"].values == (62,)
    assert motion["kernel_scale"].values == (0.5,)
    synthetic = METHODS["RNLMF"].grid(PaperProblem("synthetic", "entries", 0.3))
    assert set(synthetic["noise_weight"].values) >= {3e-4, 5e-4, 1e-3, 2e-3}
    assert set(synthetic["code_weight"].values) == {1e-3, 5e-3, 1e-2}
    assert synthetic["n_components"].values == (180,)
    linear = METHODS["RPCA"].grid(PaperProblem("coil20", "random"))
    assert linear["factor"].values == (0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)


def test_every_method_of_an_experiment_is_ours_or_the_papers():
    printed = {method for *_, method in paper_values()}
    for experiment in spec.EXPERIMENTS.values():
        assert set(experiment.methods) <= printed | set(METHODS)


def test_threshold_is_in_units_of_the_data():
    """The weight that a threshold stands for has the unit of lambda_E, one over that of the data."""
    problem = PaperProblem("coil20", "random")
    X = np.random.default_rng(0).random((50, 9))
    build = METHODS["RNLMF"].build
    weights = [build(s * X, problem, 0, threshold=0.05, kernel_scale=2.0).noise_weight for s in (1, 10)]
    assert weights[0] == pytest.approx(10 * weights[1])


@pytest.mark.parametrize(
    "experiment", spec.EXPERIMENTS.values(), ids=lambda experiment: experiment.name
)
def test_every_grid_of_every_row_begins_inside_and_makes_an_estimator(experiment):
    X = np.random.default_rng(0).random((50, 12))
    for row in experiment.rows:
        for name in set(experiment.methods) & set(METHODS):
            method, given = METHODS[name], dict(row.parameters)
            if method.build is None or experiment.task == "cluster":
                continue
            grid = method.grid(row.problem)
            assert all(choice.start in choice.values for choice in grid.values())
            start = {key: choice.start for key, choice in grid.items()}
            for parameters in (start, start | given) if name == "RNLMF" else (start,):
                validate_parameters(method.build(X, row.problem, 0, **parameters))
