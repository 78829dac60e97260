"""Tensors go in and come out, and results are those of arrays."""

import numpy as np
import pytest

from rnlmf import RNLMF, MiniBatchRNLMF
from rnlmf.engine import array_api

pytest.importorskip("array_api_compat")
SETTINGS = {"opinions": "dictionary", "kernel_scale": 0.5, "noise_weight": "scale", "random_state": 0}
every_library = pytest.mark.parametrize("name", ["torch", "array_api_strict"])


@pytest.fixture
def blocks(monkeypatch):
    """How many blocks were worked on on the device."""
    worked = []
    work = array_api.ArrayApiArithmetic.work
    monkeypatch.setattr(
        array_api.ArrayApiArithmetic, "work", lambda *args: worked.append(1) or work(*args)
    )
    return worked


@every_library
@pytest.mark.parametrize(("dtype", "atol"), [("float64", 1e-8), ("float32", 1e-4)])
def test_results_are_those_of_arrays(name, dtype, atol, curved, blocks):
    library = pytest.importorskip(name)
    X = curved[1].astype(dtype)
    tensor = library.asarray(X)
    # In single precision rounding decides what an adaptive penalty removes whole, and, after many
    # iterations, where a fit goes.
    penalty, steps = ("adaptive", 40) if dtype == "float64" else ("l1", 5)
    settings = {**SETTINGS, "noise_penalty": penalty, "max_iter": steps, "tol": 0.0}
    here, there = RNLMF(15, **settings).fit(X), RNLMF(15, **settings).fit(tensor)
    assert len(blocks) >= steps
    scale = np.abs(X).max()
    for method in ("denoise", "transform", "noise", "residuals"):
        found = getattr(there, method)(tensor)
        assert type(found) is type(tensor)
        assert found.dtype == tensor.dtype
        expected = getattr(here, method)(X)
        close = np.isclose(np.asarray(found), expected, rtol=1e-7, atol=10 * atol * scale)
        # A row between two places on the curve may go to either by rounding.
        assert np.mean(close.all(axis=1)) >= (1.0 if dtype == "float64" else 0.99)


@pytest.mark.slow
@every_library
def test_several_opinions_take_tensors_too(name, curved):
    library = pytest.importorskip(name)
    X = curved[1]
    found = RNLMF(15, random_state=0).fit_denoise(library.asarray(X))
    np.testing.assert_allclose(np.asarray(found), RNLMF(15, random_state=0).fit_denoise(X), atol=1e-6)


def test_a_stream_of_tensors(curved, blocks):
    torch = pytest.importorskip("torch")
    model = MiniBatchRNLMF(15, kernel_scale=0.5, noise_weight="scale", random_state=0)
    for _ in range(3):
        model.partial_fit(torch.asarray(curved[1]))
    assert blocks
    assert isinstance(model.denoise(torch.asarray(curved[1])), torch.Tensor)


def test_nothing_stays_on_the_device_after_an_error(curved):
    torch = pytest.importorskip("torch")
    X = torch.asarray(curved[1]).clone()
    X[3, 4] = torch.inf
    with pytest.raises(ValueError, match="infinity"):
        RNLMF(15, **SETTINGS).fit(X)
    assert array_api.device_in_use() is None
