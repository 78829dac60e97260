import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from rnlmf import RNLMF, RobustPCA
from rnlmf.plotting import (
    ConvergenceDisplay,
    DenoisingDisplay,
    DictionaryDisplay,
    NoiseMapDisplay,
)
from rnlmf.plotting.noise import block_means


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def fitted(curved):
    frame = pd.DataFrame(curved[1], columns=[f"c{i}" for i in range(12)])
    return RNLMF(10, random_state=0).fit(frame), frame


@pytest.mark.parametrize(
    ("display", "needs_data"),
    [
        (ConvergenceDisplay, False),
        (DictionaryDisplay, False),
        (DenoisingDisplay, True),
        (NoiseMapDisplay, True),
    ],
)
def test_draws_in_the_axes_given_or_new_ones(display, needs_data, fitted):
    model, X = fitted
    data = (X,) if needs_data else ()
    _, ax = plt.subplots()
    assert display.from_estimator(model, *data, ax=ax).ax_ is ax
    shown = display.from_estimator(model, *data)
    assert shown.ax_ is not ax
    assert shown.figure_ is shown.ax_.figure
    # The same display can be drawn again.
    assert shown.plot(ax).ax_ is ax


def test_convergence_shows_every_iteration(fitted):
    model, _ = fitted
    display = ConvergenceDisplay.from_estimator(model, name="this one")
    np.testing.assert_array_equal(display.line_.get_ydata(), model.objective_)
    assert display.ax_.get_title() == "converged"
    assert display.ax_.get_legend().get_texts()[0].get_text() == "this one"


def test_convergence_of_the_other_methods(curved):
    model = RobustPCA(max_iter=5).fit(curved[1])
    assert len(ConvergenceDisplay.from_estimator(model).line_.get_ydata()) == model.n_iter_


def test_atoms_as_a_heat_map_with_names(fitted):
    model, X = fitted
    display = DictionaryDisplay.from_estimator(model, n_atoms=6)
    np.testing.assert_array_equal(display.image_.get_array(), model.components_[:6])
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == list(X.columns)


@pytest.mark.parametrize("shape", [(3, 4), (2, 2, 3)])
def test_atoms_as_images(fitted, shape):
    model, _ = fitted
    display = DictionaryDisplay.from_estimator(model, image_shape=shape)
    sheet = np.asarray(display.image_.get_array())
    corner = sheet[: shape[0], : shape[1]].astype(float)
    first = model.components_[0].reshape(shape)
    assert np.corrcoef(corner.ravel(), first.ravel())[0, 1] > 0.999
    with pytest.raises(ValueError, match="image_shape"):
        DictionaryDisplay.from_estimator(model, image_shape=(5, 5))


def test_images_before_after_and_removed(fitted):
    model, X = fitted
    display = DenoisingDisplay.from_estimator(model, X, image_shape=(3, 4), n_images=5)
    removed = np.square(model.noise(X).to_numpy()).sum(axis=1)
    assert removed[display.samples_].min() >= np.sort(removed)[-5]
    sheet = np.asarray(display.ax_.get_images()[0].get_array())
    np.testing.assert_array_equal(sheet[:3, :4].ravel(), X.to_numpy()[display.samples_[0]])
    chosen = DenoisingDisplay.from_estimator(model, X, image_shape=(3, 4), samples=[7, 3])
    np.testing.assert_array_equal(chosen.samples_, [7, 3])


def test_a_feature_with_its_repairs_marked(fitted):
    model, X = fitted
    display = DenoisingDisplay.from_estimator(model, X, feature=2)
    after, repaired = display.ax_.get_lines()
    np.testing.assert_array_equal(after.get_ydata(), model.denoise(X)["c2"])
    np.testing.assert_array_equal(repaired.get_xdata(), np.flatnonzero(model.noise(X)["c2"].to_numpy()))
    assert display.ax_.get_ylabel() == "c2"


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="clean"):
        DenoisingDisplay(np.zeros((2, 3)), np.zeros((3, 2)))


def test_noise_map_is_in_standard_deviations(fitted):
    model, X = fitted
    display = NoiseMapDisplay.from_estimator(model, X)
    expected = np.abs(model.noise(X).to_numpy()) / model.denoise(X).to_numpy().std(axis=0)
    np.testing.assert_allclose(display.image_.get_array(), expected, atol=1e-12)


def test_large_maps_show_means_over_blocks(rng):
    values = rng.random((1000, 50))
    small = block_means(values, 10, 5)
    assert small.shape == (10, 5)
    assert small[0, 0] == pytest.approx(values[:100, :10].mean())
    assert small.mean() == pytest.approx(values.mean())
    assert block_means(values, 1000, 50) is values


def test_matplotlib_is_imported_when_something_is_drawn():
    code = "import sys, rnlmf.plotting; print('matplotlib' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "False"


@pytest.mark.parametrize("kind", [NoiseMapDisplay, DictionaryDisplay])
def test_what_nobody_named_has_no_names(kind, rng):
    X, names = rng.normal(size=(20, 4)), list("wxyz")
    named = kind(X, feature_names=names).plot().ax_.get_xticklabels()
    assert [text.get_text() for text in named] == names
    unnamed = kind(X).plot().ax_.get_xticklabels()
    assert not {text.get_text() for text in unnamed} & set(names)


def test_a_curve_of_which_nobody_said_how_it_ended_has_no_title():
    assert ConvergenceDisplay([3.0, 2.0]).plot().ax_.get_title() == ""
