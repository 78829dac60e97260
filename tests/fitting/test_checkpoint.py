import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from rnlmf import RNLMF, MiniBatchRNLMF
from rnlmf.fitting import checkpoint as module
from rnlmf.io import FileError
from rnlmf.metrics import relative_rmse

SETTINGS = {
    "opinions": "dictionary",
    "neighbor_share": 0.0,
    "random_state": 0,
    "tol": 0.0,
    "max_iter": 60,
}


class StoppedError(Exception):
    pass


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(module.Checkpoint.__init__, "__kwdefaults__", {"resume": False, "every": 0.0})


def stop_at(iteration, error=StoppedError):
    def callback(info):
        if info.iteration == iteration:
            raise error

    return callback


@pytest.mark.parametrize("small", [True, False])
def test_a_fit_that_was_ended_goes_on(curved, tmp_path, monkeypatch, small):
    clean, noisy = curved
    if not small:
        monkeypatch.setattr(module, "LARGEST_SAMPLES", 0)
    whole = RNLMF(20, **SETTINGS).fit(noisy)
    file = tmp_path / "fit.safetensors"
    with pytest.raises(StoppedError):
        RNLMF(20, callback=stop_at(41), **SETTINGS).fit(noisy, checkpoint=file)
    seen = []
    model = RNLMF(20, callback=lambda info: seen.append(info.iteration), **SETTINGS)
    # Another seed: that of the fit which goes on counts.
    model.set_params(random_state=5).fit(noisy, checkpoint=file, resume=True)
    assert seen[0] == 42
    assert model.n_iter_ == 60
    if small:
        np.testing.assert_allclose(model.components_, whole.components_, atol=1e-10)
        assert model.noise_weight_ == whole.noise_weight_
    error = relative_rmse(clean, model.denoise(noisy))
    assert error == pytest.approx(relative_rmse(clean, whole.denoise(noisy)), rel=0.05)
    assert [path.name for path in tmp_path.iterdir()] == ["fit.safetensors"]


def test_what_does_not_fit_is_refused(curved, tmp_path):
    noisy, file = curved[1], tmp_path / "fit.safetensors"
    with pytest.raises(FileError, match="no such checkpoint"):
        RNLMF(**SETTINGS).fit(noisy, checkpoint=file, resume=True)
    RNLMF(20, **SETTINGS).fit(noisy, checkpoint=file)
    with pytest.raises(FileError, match="other data or parameters"):
        RNLMF(20, **SETTINGS).fit(noisy + 1.0, checkpoint=file, resume=True)
    with pytest.raises(FileError, match="other data or parameters"):
        RNLMF(21, **SETTINGS).fit(noisy, checkpoint=file, resume=True)
    content = file.read_bytes()
    flipped = content[:-100] + bytes([content[-100] ^ 1]) + content[-99:]
    unmarked = content.replace(b"fingerprint", b"fingerpaint")
    for damaged in (content[:100], flipped, unmarked):
        file.write_bytes(damaged)
        with pytest.raises(FileError, match="damaged"):
            RNLMF(20, **SETTINGS).fit(noisy, checkpoint=file, resume=True)


PROGRAM = """
import sys, time
import numpy as np
from rnlmf import RNLMF
from rnlmf.fitting import checkpoint
checkpoint.Checkpoint.__init__.__kwdefaults__ = {"resume": False, "every": 0.0}
X = np.load(sys.argv[1])
def slow(info):
    time.sleep(0.02)
RNLMF(20, opinions="dictionary", neighbor_share=0.0, random_state=0, tol=0.0, max_iter=60,
      kernel_scale=0.5, noise_weight="scale", callback=slow).fit(X, checkpoint=sys.argv[2])
"""


def test_a_process_that_is_killed_leaves_a_whole_file(curved, tmp_path):
    noisy = curved[1]
    np.save(tmp_path / "X.npy", noisy)
    file = tmp_path / "fit.safetensors"
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, tmp_path / "X.npy", file])
    while not file.exists():
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.15)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    settings = {**SETTINGS, "kernel_scale": 0.5, "noise_weight": "scale"}
    resumed = RNLMF(20, **settings).fit(noisy, checkpoint=file, resume=True)
    whole = RNLMF(20, **settings).fit(noisy)
    np.testing.assert_allclose(resumed.components_, whole.components_, atol=1e-8)


def test_an_interrupted_fit_leaves_its_best_model(curved, request):
    noisy = curved[1]
    # A shell that starts the tests in the background has them ignore interrupts.
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, usual))
    settings = {**SETTINGS, "kernel_scale": 0.5, "noise_weight": "scale"}

    def interrupt(info):
        if info.iteration == 40:
            signal.raise_signal(signal.SIGINT)

    model = RNLMF(20, callback=interrupt, **settings)
    with pytest.raises(KeyboardInterrupt):
        model.fit(noisy)
    assert model.n_iter_ == 40
    assert not model.converged_
    stopped = RNLMF(20, callback=lambda info: info.iteration == 40, **settings).fit(noisy)
    np.testing.assert_array_equal(model.components_, stopped.components_)
    np.testing.assert_array_equal(model.denoise(noisy), stopped.denoise(noisy))


def test_an_interrupted_stream_leaves_what_it_has(curved):
    noisy = np.concatenate(5 * [curved[1]])
    model = MiniBatchRNLMF(
        20,
        kernel_scale=0.5,
        noise_weight="scale",
        batch_size=200,
        callback=stop_at(20, KeyboardInterrupt),
    )
    with pytest.raises(KeyboardInterrupt):
        model.fit(noisy)
    assert model.n_batches_ == 20
    assert np.all(np.isfinite(model.denoise(noisy)))


def test_it_is_not_written_more_often_than_asked(curved, tmp_path, monkeypatch):
    monkeypatch.setitem(module.Checkpoint.__init__.__kwdefaults__, "every", 1e9)
    written = []
    monkeypatch.setattr(module.Checkpoint, "write", lambda self, state: written.append(state.iteration))
    RNLMF(10, **SETTINGS).fit(curved[1], checkpoint=tmp_path / "state")
    assert len(written) <= 1
