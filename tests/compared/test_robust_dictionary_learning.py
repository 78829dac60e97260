import numpy as np
import pytest
import scipy.optimize

from rnlmf import RobustDictionaryLearning
from rnlmf.compared.dictionary_losses import SMOOTHING, CappedLoss, nearest_in_ball
from rnlmf.metrics import relative_rmse


@pytest.fixture
def clean(rng):
    return rng.standard_normal((120, 4)) @ rng.standard_normal((4, 20))


@pytest.fixture
def noisy(rng, clean):
    return np.where(rng.random(clean.shape) < 0.05, clean + 6.0, clean)


@pytest.mark.parametrize(
    "options",
    [
        {"noise_penalty": "l1"},
        {"noise_penalty": "l21"},
        {"noise_penalty": "l2"},
        {"loss": "l1"},
        {"loss": "capped"},
    ],
    ids=lambda options: "-".join(options.values()),
)
def test_objective_never_rises(noisy, options):
    model = RobustDictionaryLearning(8, random_state=0, max_iter=60, tol=0.0, **options).fit(noisy)
    assert len(model.objective_) == 60
    assert np.all(np.diff(model.objective_) <= 1e-10 * model.objective_[0])
    assert model.objective_[-1] < 0.999 * model.objective_[0]
    assert np.linalg.norm(model.components_, axis=1).max() <= 1.0 + 1e-12


@pytest.mark.parametrize("penalty", ["l1", "l21", "l2"])
def test_objective_is_the_stated_one(noisy, penalty):
    model = RobustDictionaryLearning(
        6, noise_penalty=penalty, code_weight=0.2, noise_weight=0.7, random_state=0, warm_start=True
    ).fit(noisy)
    C, D, E = model._last[0], model.components_, model.noise_
    size = {
        "l1": np.abs(E).sum(),
        "l21": np.linalg.norm(E, axis=1).sum(),
        "l2": 0.5 * np.sum(E**2),
    }[penalty]
    value = 0.5 * np.sum((noisy - C @ D - E) ** 2) + 0.2 * np.abs(C).sum() + 0.7 * size
    assert model.objective_[-1] == pytest.approx(value, rel=1e-10)
    assert (model.code_weight_, model.noise_weight_) == pytest.approx((0.2, 0.7))


@pytest.mark.parametrize("penalty", ["l1", "l21", "l2"])
def test_codes_of_new_samples_are_optimal(noisy, penalty):
    model = RobustDictionaryLearning(
        6, noise_penalty=penalty, code_weight=0.2, noise_weight=0.7, random_state=0, tol=1e-9
    ).set_params(max_iter=5000)
    model.fit(noisy[:60])
    X = noisy[60:]
    C, E, D = model.transform(X), model.noise(X), model.components_
    residual = X - C @ D - E
    correlation = residual @ D.T
    assert np.abs(correlation).max() <= 0.2 + 1e-5
    np.testing.assert_allclose(correlation[C != 0], 0.2 * np.sign(C[C != 0]), atol=1e-5)
    if penalty == "l1":
        np.testing.assert_allclose(residual[E != 0], 0.7 * np.sign(E[E != 0]), atol=1e-6)
    if penalty == "l2":
        np.testing.assert_allclose(residual, 0.7 * E, atol=1e-6)
    np.testing.assert_allclose(model.denoise(X), X - E)


@pytest.mark.parametrize("loss", ["l1", "capped"])
def test_codes_of_the_other_losses_are_minima(noisy, loss):
    model = RobustDictionaryLearning(
        3, loss=loss, code_weight=0.3, random_state=0, tol=1e-8, max_iter=20000, cap=1e9
    )
    model.set_params(max_iter=30).fit(noisy)
    model.set_params(max_iter=20000)
    scale, D = noisy.std(), model.components_

    def objective(c, x):
        r = x / scale - c @ D
        if loss == "capped":
            return np.hypot(np.linalg.norm(r), SMOOTHING) + 0.3 * np.abs(c).sum()
        return np.hypot(r, SMOOTHING).sum() + 0.3 * np.hypot(c, SMOOTHING).sum()

    for x in noisy[:4]:
        c = model.transform(x[None])[0] / scale
        best = scipy.optimize.minimize(
            objective,
            c + 0.01,
            args=(x,),
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-12},
        )
        assert objective(c, x) <= best.fun * (1.0 + 1e-6)


def test_a_row_does_not_depend_on_the_others(noisy):
    model = RobustDictionaryLearning(6, random_state=0).fit(noisy)
    whole = model.denoise(noisy)
    np.testing.assert_allclose(model.denoise(noisy[7:8]), whole[7:8], atol=1e-10)
    np.testing.assert_allclose(model.denoise(noisy[::-1])[::-1], whole, atol=1e-10)


def test_training_noise_is_that_of_denoise_in_the_end(noisy):
    model = RobustDictionaryLearning(4, random_state=0, tol=1e-7, max_iter=5000).fit(noisy)
    np.testing.assert_allclose(model.noise_, model.noise(noisy), atol=1e-2)


def test_capped_loss_is_not_moved_by_wrong_samples(rng, clean):
    noisy = clean.copy()
    noisy[:12] = 30.0 * rng.standard_normal((12, 20))
    options = {"loss": "capped", "code_weight": 1e-3, "random_state": 2, "warm_start": True}
    model = RobustDictionaryLearning(4, cap=10.0, **options).fit(noisy)
    assert np.all(model._last[0][:12] == 0.0)
    assert model.cap_ == pytest.approx(10.0)
    assert relative_rmse(clean[12:], model.denoise(noisy)[12:]) < 0.1
    # How wrong they are makes no difference to the others, unlike without a cap.
    loss, D, scale = model._model
    C = model._last[0] / scale
    worse = np.vstack([2.0 * noisy[:12], noisy[12:]]) / scale
    for each, same in ((loss, True), (CappedLoss(loss.code_weight, np.inf), False)):
        atoms = [each.sweep(X, C, D)[1] for X in (noisy / scale, worse)]
        assert np.allclose(*atoms, atol=1e-12) == same


def test_absolute_loss_ignores_wrong_entries(clean, noisy):
    model = RobustDictionaryLearning(4, loss="l1", code_weight=0.01, random_state=0)
    assert relative_rmse(clean, model.fit_denoise(noisy)) < 0.1 * relative_rmse(clean, noisy)


def test_inverse_transform(noisy):
    model = RobustDictionaryLearning(6, random_state=0, max_iter=50).fit(noisy)
    codes = model.transform(noisy)
    np.testing.assert_allclose(model.inverse_transform(codes), codes @ model.components_)
    with pytest.raises(ValueError, match="6 codes"):
        model.inverse_transform(codes[:, :3])


@pytest.mark.parametrize("strength", [0.1, 10.0])
def test_nearest_in_ball_is_optimal(rng, strength):
    curvature = rng.uniform(0.5, 5.0, 8)
    pull = strength * rng.standard_normal(8)
    nearest = nearest_in_ball(pull, curvature)
    # Optimality: the slope that is left points outwards, and only on the surface.
    slope = pull - curvature * nearest
    norm = np.linalg.norm(nearest)
    assert norm <= 1.0 + 1e-9
    multiplier = slope @ nearest
    assert multiplier >= -1e-12
    np.testing.assert_allclose(slope, multiplier * nearest / max(norm, 1e-12) ** 2, atol=1e-8)
    assert (norm > 0.999) == (strength > 1.0)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("loss", "l3"),
        ("code_weight", -1.0),
        ("noise_weight", "big"),
        ("cap", 0.0),
        ("n_components", 500),
    ],
)
def test_bad_parameters_are_named(noisy, parameter, value):
    with pytest.raises(ValueError, match=parameter):
        RobustDictionaryLearning(**{parameter: value}).fit(noisy)


def test_a_penalty_of_another_estimator_is_refused_by_name(rng):
    with pytest.raises(ValueError, match="noise_penalty"):
        RobustDictionaryLearning(noise_penalty="adaptive").fit(rng.standard_normal((20, 4)))


@pytest.mark.parametrize("loss", ["l1", "capped"])
def test_atoms_that_nobody_uses_stay_what_they_were(noisy, loss):
    model = RobustDictionaryLearning(5, loss=loss, code_weight=1e12, random_state=0, max_iter=3)
    model.fit(noisy)
    assert np.isfinite(model.components_).all()
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1.0)
    np.testing.assert_allclose(model.transform(noisy), 0.0, atol=1e-8)
