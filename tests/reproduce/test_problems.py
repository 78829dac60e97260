import numpy as np
import pytest

from rnlmf.reproduce.problems import PaperProblem, relative_noise_weight


def test_seeds_decide():
    problem = PaperProblem("synthetic", "entries", 0.3)
    np.testing.assert_array_equal(problem.load(1).noisy, problem.load(1).noisy)
    assert not np.array_equal(problem.load(1).truth, problem.load(2).truth)


@pytest.mark.parametrize("rho", [0.1, 0.5])
def test_entries_and_columns(rho):
    entries = PaperProblem("synthetic", "entries", rho, manifolds=2).load()
    assert (entries.noisy != entries.truth).mean() == pytest.approx(rho)
    columns = PaperProblem("synthetic", "columns", rho, manifolds=2).load()
    hit = (columns.noisy != columns.truth).any(axis=1)
    assert hit.mean() == pytest.approx(rho)
    assert (columns.noisy != columns.truth)[hit].all()


def test_magnitude_is_in_deviations_of_the_data():
    drawn = PaperProblem("synthetic", "entries", 0.5, magnitude=2.0).load()
    noise = (drawn.noisy - drawn.truth)[drawn.noisy != drawn.truth]
    assert noise.std() == pytest.approx(2.0 * drawn.truth.std(), rel=0.05)


@pytest.fixture
def images(monkeypatch, tmp_path):
    X = np.random.default_rng(0).uniform(0.3, 0.7, (100, 1024)).astype(np.float32)
    X[0, 0], X[0, 1] = 0.0, 1.0
    np.savez(tmp_path / "coil20_32x32.npz", X=X, y=np.repeat([1, 2], 50))
    monkeypatch.setenv("RNLMF_DATA", str(tmp_path))
    from rnlmf.reproduce import problems

    problems._load.cache_clear()
    problems._available.cache_clear()
    yield
    problems._load.cache_clear()
    problems._available.cache_clear()


@pytest.mark.usefixtures("images")
def test_images():
    count = {}
    for noise in ("random", "occlusion", "random+occlusion"):
        drawn = PaperProblem("coil20", noise).load(3)
        assert drawn.image_shape == (20, 20)
        count[noise] = (drawn.noisy != drawn.truth).any(axis=1).sum()
    assert count["random"] == count["occlusion"] == 30
    assert 30 < count["random+occlusion"] < 60
    assert PaperProblem("coil20").available()
    assert not PaperProblem("ar").available()


def test_a_relative_weight_has_the_threshold_it_says():
    X = np.random.default_rng(0).standard_normal((50, 4))
    distance = np.mean([[np.linalg.norm(x - y) for y in X] for x in X])
    weight = relative_noise_weight(X, 0.05, 2.0)
    assert weight * (2.0 * distance) ** 2 == pytest.approx(0.05 * X.std())
    assert relative_noise_weight(X, 0.05, 2.0, "l21") == pytest.approx(2.0 * weight)
