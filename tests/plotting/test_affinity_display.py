import matplotlib as mpl
import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from rnlmf import RNLMFClustering, SparseSubspaceClustering
from rnlmf.plotting import AffinityDisplay, EmbeddingDisplay

plt = pytest.importorskip("matplotlib.pyplot")
mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture
def groups(rng):
    truth = rng.integers(0, 3, 90)
    return 5 * np.eye(3)[truth] + 0.1 * rng.standard_normal((90, 3)), truth


def test_a_graph_of_separate_clusters_is_a_row_of_blocks(groups):
    X, truth = groups
    display = AffinityDisplay.from_estimator(RNLMFClustering(3, random_state=0).fit(X))
    picture = display.grid()
    assert picture.shape == (90, 90)
    label = np.sort(display.labels)
    assert np.all(picture[label[:, None] != label] == 0.0)
    assert picture.sum() == pytest.approx(display.affinity.sum())
    assert display.image_.get_array().shape == (90, 90)
    other = AffinityDisplay.from_estimator(RNLMFClustering(3, random_state=0).fit(X), labels=truth)
    np.testing.assert_array_equal(other.labels, truth)


def test_large_graphs_become_means(rng):
    W = rng.random((50, 50))
    display = AffinityDisplay(scipy.sparse.csr_array(W), np.zeros(50))
    coarse = display.grid(10)
    np.testing.assert_allclose(coarse, W.reshape(10, 5, 10, 5).mean(axis=(1, 3)))


def test_landmarks(groups):
    X, _ = groups
    model = RNLMFClustering(3, compare_with="landmarks", n_landmarks=30, random_state=0).fit(X)
    ax = plt.subplots()[1]
    display = AffinityDisplay.from_estimator(model, ax=ax, size=20)
    assert display.ax_ is ax
    assert display.grid(20).shape == (20, 20)
    assert ax.get_xlabel() == "landmark"


def test_other_methods_have_affinities_too(groups):
    model = SparseSubspaceClustering(n_clusters=3, random_state=0).fit(groups[0])
    assert AffinityDisplay.from_estimator(model).figure_ is not None


@pytest.mark.parametrize("n_clusters", [1, 3])
def test_embedding(groups, n_clusters):
    X, truth = groups
    model = RNLMFClustering(n_clusters, random_state=0).fit(X)
    display = EmbeddingDisplay.from_estimator(model, labels=truth, s=3)
    assert display.scatter_.get_offsets().shape == (90, 2)
    assert display.scatter_.get_sizes() == [3]


@pytest.mark.parametrize("display", [AffinityDisplay, EmbeddingDisplay])
def test_only_fitted_estimators(display):
    with pytest.raises(NotFittedError):
        display.from_estimator(RNLMFClustering())


@pytest.mark.parametrize("display", [AffinityDisplay, EmbeddingDisplay])
def test_labels_must_fit(display):
    with pytest.raises(ValueError, match="inconsistent"):
        display(np.eye(4), np.zeros(5))
