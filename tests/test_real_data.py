"""The paper's data at the paper's settings; skipped where the data are absent."""

import numpy as np
import pytest

from rnlmf import RNLMF
from rnlmf.datasets import corrupt_entries, salt_and_pepper
from rnlmf.metrics import relative_rmse


def mocap_error(X, density, seed, **parameters):
    noisy = corrupt_entries(X, density, random_state=seed)
    model = RNLMF(62, kernel_scale=0.5, random_state=seed, **parameters)
    return 100 * relative_rmse(X, model.fit_denoise(noisy))


def coil_error(X, seed, **parameters):
    noisy = salt_and_pepper(X, random_state=seed)
    return 100 * relative_rmse(X, RNLMF(256, random_state=seed, **parameters).fit_denoise(noisy))


@pytest.mark.parametrize(("density", "weight", "bar"), [(0.1, 4e-5, 5.5), (0.3, 2e-5, 8.5)])
def test_motion_capture(load, density, weight, bar):
    X = load("load_cmu_mocap", 1, 9)
    errors = [mocap_error(X, density, seed, noise_weight=weight) for seed in range(3)]
    assert np.mean(errors) <= bar


def test_coil20(load):
    X = load("load_coil20")
    assert np.mean([coil_error(X, seed, noise_weight=5e-4) for seed in range(3)]) <= 9.4


@pytest.mark.parametrize(("density", "weight"), [(0.1, 4e-5), (0.3, 2e-5)])
def test_out_of_sample(load, density, weight):
    X = load("load_cmu_mocap", 1, 9)
    noisy = corrupt_entries(X, density, random_state=0)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[: len(X) // 2], order[len(X) // 2 :]
    model = RNLMF(62, kernel_scale=0.5, noise_weight=weight, random_state=0).fit(noisy[train])
    errors = [relative_rmse(X[part], model.denoise(noisy[part])) for part in (train, test)]
    assert errors[1] <= 1.15 * errors[0]


@pytest.mark.slow
@pytest.mark.parametrize("case", ["mocap .1", "mocap .3", "coil20"])
def test_automatic_weight_is_near_the_best_of_a_grid(load, case):
    """The grid is about the weight that was chosen, on the same samples and with as many atoms.

    The dictionary decides alone, as it does where a weight is given.
    """
    if case == "coil20":
        X = load("load_coil20")
        noisy, settings = salt_and_pepper(X, random_state=0), {"n_components": 256, "kernel_scale": 1.0}
    else:
        X = load("load_cmu_mocap", 1, 9)
        noisy = corrupt_entries(X, float(case.split()[1]), random_state=0)
        settings = {"n_components": 62, "kernel_scale": 0.5}
    chosen = RNLMF(**settings, opinions="dictionary", random_state=0).fit(noisy)
    errors = [
        relative_rmse(X, RNLMF(**settings, noise_weight=weight, random_state=0).fit_denoise(noisy))
        for weight in chosen.noise_weight_ * np.array([0.25, 0.5, 0.7, 1.4, 2.0, 4.0])
    ]
    error = relative_rmse(X, chosen.denoise(noisy))
    assert error <= 1.15 * min(errors)
    # The grid spans the best: it is not chosen for want of others.
    assert max(errors) > 1.05 * min(errors)
