import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from rnlmf import RNLMF, RNLMFDenoiser, RobustPCA, load, save

MODEL = RNLMF(20, kernel_scale=1.0, noise_weight="scale", max_iter=30, random_state=0)


@parametrize_with_checks([RNLMFDenoiser(RNLMF(opinions="dictionary", max_iter=20, random_state=0))])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", [MODEL, RobustPCA(), RNLMF(10, max_iter=5, random_state=0)])
def test_it_is_what_its_model_denoises(curved, model):
    noisy = curved[1][:80]
    denoiser = RNLMFDenoiser(model).fit(noisy[:60])
    np.testing.assert_array_equal(denoiser.transform(noisy), model.fit(noisy[:60]).denoise(noisy))
    np.testing.assert_array_equal(denoiser.fit_transform(noisy), model.fit_denoise(noisy))
    assert denoiser.inverse_transform(noisy) is noisy


def test_without_a_model_it_is_the_default(curved):
    _, noisy = curved
    together = RNLMFDenoiser().fit_transform(noisy[:60])
    np.testing.assert_array_equal(together, RNLMF(random_state=0).fit_denoise(noisy[:60]))


@pytest.fixture
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize("kind", ["denoiser", "codes"])
def test_a_mask_goes_through_a_pipeline(curved, rng, kind):
    _, noisy = curved
    mask = rng.random(noisy.shape) < 0.1
    wrong = np.where(mask, 1e3, noisy)
    step = RNLMFDenoiser(MODEL) if kind == "denoiser" else MODEL
    step = sklearn.base.clone(step).set_fit_request(mask=True).set_transform_request(mask=True)
    pipeline = make_pipeline(step, PCA(2))
    found = pipeline.fit_transform(wrong, mask=mask)
    gaps = np.where(mask, np.nan, noisy)
    np.testing.assert_array_equal(found, pipeline.fit_transform(gaps))
    np.testing.assert_array_equal(pipeline.transform(wrong, mask=mask), pipeline.transform(gaps))


@pytest.mark.usefixtures("_routing")
def test_a_mask_goes_through_a_grid_search(curved, rng):
    _, noisy = curved
    mask = rng.random(noisy.shape) < 0.1
    denoiser = RNLMFDenoiser(MODEL).set_fit_request(mask=True)
    grid = {"estimator__kernel_scale": [1.0, 20.0]}
    search = GridSearchCV(denoiser, grid, cv=2).fit(np.where(mask, np.nan, noisy))
    masked = GridSearchCV(denoiser, grid, cv=2, refit=False, error_score="raise")
    masked.fit(noisy, mask=mask)
    assert search.best_params_ == masked.best_params_ == {"estimator__kernel_scale": 1.0}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output(curved, library):
    frame = pd.DataFrame(curved[1]).add_prefix("x")
    cleaned = RNLMFDenoiser(MODEL).set_output(transform=library).fit_transform(frame)
    assert list(cleaned.columns) == list(frame.columns)


def test_it_can_be_saved(curved, tmp_path):
    denoiser = RNLMFDenoiser(MODEL).fit(curved[1])
    save(denoiser, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.transform(curved[1]), denoiser.transform(curved[1]))
