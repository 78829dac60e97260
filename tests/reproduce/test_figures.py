"""Figures show the values that they are given."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from rnlmf.reproduce import figures, spec
from rnlmf.reproduce.results import Summary


class Known:
    """Results of quick rows only: the error is told by the row's place, arrays are small."""

    def get(self, experiment, row, method, mode="paper"):
        if not row.quick:
            return None
        value = error_of(experiment, row, method)
        return Summary({"rmse": value}, {"rmse": 0.1}, 2, (), 1.0)

    def arrays(self, experiment):
        for number, row in enumerate(experiment.rows):
            for method in experiment.methods:
                images = np.full((15, 12), 0.1 * number)
                dictionary = {} if method == "RPCA" else {"dictionary": np.eye(100, 12)}
                pictures = dict.fromkeys(("original", "noisy", "recovered"), images)
                yield (
                    row,
                    method,
                    {
                        "objective": np.arange(20.0) + number,
                        "image_shape": np.array([3, 4]),
                        **pictures,
                        **dictionary,
                    },
                )


def error_of(experiment, row, method):
    return float(10 * experiment.methods.index(method) + experiment.rows.index(row))


@pytest.fixture
def draw(tmp_path, monkeypatch):
    """The axes of a figure, which is written as well."""
    kept, close = [], plt.close

    def draw(name):
        monkeypatch.setattr(plt, "close", kept.append)
        figures.FIGURES[name][1](Known(), tmp_path / "figure.png")
        assert (tmp_path / "figure.png").stat().st_size > 0
        return kept[-1].axes

    yield draw
    for figure in kept:
        close(figure)


def points(ax):
    """Places and values of every method, by its name."""
    handles, labels = ax.get_legend_handles_labels()
    return {
        label: tuple(map(tuple, handle.lines[0].get_data()))
        for handle, label in zip(handles, labels, strict=True)
    }


@pytest.mark.parametrize(
    ("name", "place", "x", "where"),
    [
        ("figure1", 0, "rho", {}),
        ("figure1", 1, "d", {}),
        ("figure4", 1, "rho", {"k": 3}),
        ("figure5", 0, "magnitude", {}),
        ("figure6", 0, "rho", {"k": 2}),
    ],
)
def test_lines_are_the_errors(draw, name, place, x, where):
    experiment = figures.FIGURES[name][0][place if name == "figure1" else 0]
    axes = draw(name)
    found = points(axes[place])
    assert set(found) == set(experiment.methods)
    rows = [row for row in experiment.rows if row.quick and where.items() <= dict(row.labels).items()]
    for method, (places, values) in found.items():
        expected = sorted((dict(row.labels)[x], error_of(experiment, row, method)) for row in rows)
        assert list(zip(places, values, strict=True)) == expected


def test_objectives_begin_where_the_momentum_acts(draw):
    (ax,) = draw("figure2")
    lines = ax.get_lines()
    assert len(lines) == len(spec.FIGURE_2.rows)
    for number, line in enumerate(lines):
        places, values = line.get_data()
        np.testing.assert_array_equal(places, np.arange(5, 20))
        np.testing.assert_array_equal(values, np.arange(5.0, 20.0) + number)


def test_maps_show_every_error(draw):
    axes = draw("figure3")
    for ax, experiment in zip(axes, (spec.FIGURE_3A, spec.FIGURE_3B), strict=True):
        expected = sorted(error_of(experiment, row, "RNLMF") for row in experiment.rows if row.quick)
        shown = sorted(float(text.get_text()) for text in ax.texts if text.get_text() != "nan")
        assert shown == expected


def test_a_map_without_results_is_empty(tmp_path, monkeypatch):
    monkeypatch.setattr(Known, "get", lambda *_, **__: None)
    figures.figure3(Known(), tmp_path / "figure.png")
    assert (tmp_path / "figure.png").exists()


def test_pictures(draw):
    shown = draw("dictionaries")
    titles = [ax.get_title() for ax in shown]
    assert titles == ["COIL20, RDL", "COIL20, RNLMF", "Yale Face, RDL", "Yale Face, RNLMF"]
    shown = draw("denoised")
    for number, ax in enumerate(shown):
        labels = [label.get_text() for label in ax.get_yticklabels()]
        assert labels == ["original", "noisy", "RPCA", "RDL", "RNLMF"]
        np.testing.assert_allclose(ax.get_images()[0].get_array(), 0.1 * number)


def test_a_mosaic_has_every_image_in_its_own_range():
    images = np.arange(4.0)[:, None, None] * np.array([[1.0, 2.0], [3.0, 4.0]]) + 1.0
    found = figures._mosaic(images, 2)
    assert found.shape == (8, 8)
    # The first is constant; the others go from zero to one, with a gap of ones around.
    np.testing.assert_allclose(found[5:7, 5:7], [[0.0, 1 / 3], [2 / 3, 1.0]])
    np.testing.assert_array_equal(found[1:3, 1:3], 0.0)
    np.testing.assert_array_equal(found[0], 1.0)
