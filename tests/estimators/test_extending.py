"""A kernel and penalties defined here work everywhere: fit, denoise, cluster, save and load."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from rnlmf import RNLMF, RNLMFClustering, factorize, kernels, load, penalties, save
from rnlmf.cluster import default_estimator
from rnlmf.io.dataset import FileError
from rnlmf.metrics import relative_rmse
from rnlmf.penalties import MinimaxConcave, soft_threshold


class Cauchy(kernels.RBF):
    """``1 / (1 + |x - y|^2 / (2 sigma^2))``, with heavier tails than the Gaussian."""

    def f(self, u, out=None):
        return np.divide(1.0, 1.0 - np.minimum(u, 0.0), out=out)

    def slope(self, u):
        return self.f(u) ** 2

    def slope_of_value(self, k):
        return k**2


class Elastic(penalties.Penalty):
    """``sum |z| + ratio z^2 / 2``: sparse, with a part that is dense."""

    def __init__(self, ratio=0.1):
        self.ratio = ratio

    def row_values(self, Z):
        return np.abs(Z).sum(axis=1) + 0.5 * self.ratio * np.einsum("ij,ij->i", Z, Z)

    def prox(self, M, t):
        return (soft_threshold(M, t) / (1.0 + t * self.ratio)).astype(M.dtype, copy=False)


class FarApart(penalties.FeaturePenalty):
    """``sum_ij k(d_i, d_j) / 2``: atoms that repel each other."""

    def value(self, K_D):
        return 0.5 * float(K_D.sum())

    def gram(self, K_D):
        return np.ones_like(K_D)


OWN = {
    "kernel": {"kernel": Cauchy()},
    "noise": {"noise_penalty": Elastic()},
    "codes": {"code_penalty": Elastic(1.0)},
    "dictionary": {"dictionary_penalty": FarApart(), "dictionary_weight": 1e-3},
}
QUICK = {"kernel_scale": 1.0, "noise_weight": "scale", "max_iter": 60, "random_state": 0}


@pytest.fixture
def registered(monkeypatch):
    """Registered for the length of a test."""
    for family in ("CODE_PENALTIES", "NOISE_PENALTIES", "DICTIONARY_PENALTIES"):
        for name, kind in {"elastic": Elastic, "far-apart": FarApart}.items():
            monkeypatch.setitem(getattr(penalties, family), name, kind)
    monkeypatch.setitem(kernels.KERNELS, "cauchy", Cauchy)


@pytest.mark.parametrize("name", OWN)
def test_fit_and_denoise(name, curved):
    clean, noisy = curved
    model = clone(RNLMF(25, **QUICK, **OWN[name]))
    cleaned = model.fit_denoise(noisy)
    assert relative_rmse(clean, cleaned) < 0.7 * relative_rmse(clean, noisy)
    assert model.transform(noisy[:5]).shape == (5, 25)
    assert np.isfinite(factorize(noisy, 10, max_iter=5, **OWN[name]).noise).all()


def test_a_noise_penalty_of_ones_own_runs_in_the_single_pass(curved):
    model = RNLMF(25, **QUICK, noise_penalty=Elastic(), solver="single-pass").fit(curved[1])
    paper = RNLMF(25, **QUICK, noise_penalty=Elastic(), solver="paper").fit(curved[1])
    assert min(model.objective_) == pytest.approx(min(paper.objective_), rel=0.2)


def test_a_parameter_can_be_searched(curved):
    search = GridSearchCV(
        RNLMF(10, **{**QUICK, "max_iter": 5}, noise_penalty=Elastic()),
        {"noise_penalty__ratio": [0.1, 1.0]},
        scoring=lambda model, X: -model.noise_penalty.ratio,
        cv=2,
    ).fit(curved[1])
    assert search.best_params_ == {"noise_penalty__ratio": 0.1}


def test_names_that_are_registered_can_be_used(registered, curved):
    by_name = RNLMF(10, **QUICK, kernel="cauchy", noise_penalty="elastic").fit(curved[1])
    by_instance = RNLMF(10, **QUICK, kernel=Cauchy(), noise_penalty=Elastic()).fit(curved[1])
    np.testing.assert_array_equal(by_name.components_, by_instance.components_)


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(ValueError, match="There is a penalty 'l1' already"):
        penalties.register("l1")(Elastic)
    with pytest.raises(ValueError, match="There is a kernel 'rbf' already"):
        kernels.register("rbf")(Cauchy)


@pytest.mark.parametrize("name", OWN)
def test_clustering(name, curved, tmp_path):
    X = np.vstack([curved[1][:60], curved[1][:60] + 10.0])
    # The wide kernel of clusters has a small loss: with a larger weight the atoms leave the data.
    own = {**OWN[name], "dictionary_weight": 1e-5} if name == "dictionary" else OWN[name]
    inner = default_estimator(*X.shape, max_iter=40, **own)
    model = RNLMFClustering(2, estimator=inner, random_state=0).fit(X)
    assert len(set(model.labels_[:60])) == len(set(model.labels_[60:])) == 1
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors", classes=[Cauchy, Elastic, FarApart])
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_atoms_that_repel_each_other_are_farther_apart(curved):
    """And leave the data where that costs more than the loss, which is small if the kernel is wide."""
    X = curved[1]

    def fitted(weight):
        model = default_estimator(*X.shape, dictionary_penalty=FarApart(), dictionary_weight=weight)
        return model.set_params(random_state=0, max_iter=100).fit(X)

    def likeness_of_atoms(model):
        D = model.components_ / model.kernel_.sigma
        return FarApart().value(kernels.RBF()(D, D))

    free, repelled, away = (fitted(weight) for weight in (0.0, 1e-5, 1e-2))
    likeness = [likeness_of_atoms(model) for model in (free, repelled, away)]
    assert likeness[0] > likeness[1] > likeness[2]
    assert np.abs(repelled.components_).max() < 10 * np.abs(X).max() < np.abs(away.components_).max()
    assert away.objective_[-1] < free.objective_[-1] + 1e-2 * likeness[0]


@pytest.mark.parametrize("name", OWN)
def test_save_and_load(name, curved, tmp_path, registered):
    model = RNLMF(10, **{**QUICK, "max_iter": 10}, **OWN[name]).fit(curved[1])
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.denoise(curved[1]), model.denoise(curved[1]))
    assert repr(again) == repr(model)


def test_a_class_that_is_neither_registered_nor_passed_is_not_loaded(curved, tmp_path):
    file = tmp_path / "model.safetensors"
    model = RNLMF(10, **{**QUICK, "max_iter": 10}, kernel=Cauchy(), noise_penalty=Elastic())
    save(model.fit(curved[1]), file)
    with pytest.raises(FileError, match=r"register it .* or pass it"):
        load(file)
    again = load(file, classes=[Cauchy, Elastic])
    np.testing.assert_array_equal(again.denoise(curved[1]), model.denoise(curved[1]))


def test_minimax_concave_noise_with_a_fixed_knee(curved):
    """It is in the unit of the data; what is beyond it is removed whole, and it does not adapt."""
    clean, noisy = curved
    errors, knees = [], []
    for scale in (1.0, 100.0):
        penalty = MinimaxConcave(knee=1.0 * scale)
        model = RNLMF(25, **QUICK, noise_penalty=penalty).fit(scale * noisy)
        knees.append(model._model.problem.noise_penalty.knee * model.kernel_.sigma)
        errors.append(relative_rmse(clean, model.denoise(scale * noisy) / scale))
        assert model._model.corruption is None
    assert knees == pytest.approx([1.0, 100.0])
    assert errors[0] == pytest.approx(errors[1], rel=1e-3)
    assert errors[0] < 0.4 * relative_rmse(clean, noisy)


def test_a_knee_out_of_range_is_named(curved):
    with pytest.raises(ValueError, match="knee"):
        RNLMF(5, noise_penalty=MinimaxConcave(-1.0)).fit(curved[1])


@pytest.mark.parametrize("max_iter", [8, 25])
def test_few_iterations_adapt_too(curved, max_iter):
    quick = {**QUICK, "max_iter": max_iter}
    adaptive = RNLMF(25, **quick, noise_penalty="adaptive").fit(curved[1])
    assert adaptive._model.corruption is not None
