"""On a real cluster of processes."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from rnlmf import RNLMF
from rnlmf.datasets import corrupt_entries
from rnlmf.metrics import relative_rmse

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

# Processes that are killed can keep a busy machine waiting: `make test-slow`.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]
SETTINGS = {"opinions": "dictionary", "kernel_scale": 0.5, "noise_weight": "scale", "random_state": 0}


def cluster(workers):
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
    )


@pytest.fixture(scope="module")
def client():
    with cluster(2) as local, distributed.Client(local) as client:
        yield client


@pytest.fixture(scope="module")
def curve():
    t = np.random.default_rng(0).uniform(0, 6, 1500)
    return np.column_stack([f(k * t) for k in range(1, 5) for f in (np.cos, np.sin)])


@pytest.fixture(scope="module")
def noisy(curve):
    return corrupt_entries(curve, 0.1, random_state=0)


def close(found, expected, tolerance):
    return np.linalg.norm(found - expected) <= tolerance * np.linalg.norm(expected)


def test_a_fit_is_the_one_in_memory(client, noisy):
    X = da.from_array(noisy, chunks=(310, -1))
    here, there = RNLMF(30, **SETTINGS).fit(noisy), RNLMF(30, **SETTINGS).fit(X)
    assert close(there.components_, here.components_, 1e-5)
    assert there.neighbor_share_ == here.neighbor_share_
    lazy = there.denoise(X)
    assert isinstance(lazy, da.Array)
    assert lazy.shape == X.shape
    assert close(lazy.compute(), here.denoise(noisy), 1e-4)
    assert close(there.transform(X).compute(), here.transform(noisy), 1e-4)


def test_columns_in_chunks_and_whole_numbers(client, noisy):
    whole = np.round(100 * noisy).astype(np.int64)
    X = da.from_array(whole, chunks=(400, 3))
    settings = {**SETTINGS, "max_iter": 10, "neighbor_share": 0.0}
    here, there = RNLMF(20, **settings).fit(whole), RNLMF(20, **settings).fit(X)
    assert close(there.components_, here.components_, 1e-5)


def test_missing_values_and_the_choice_of_parameters(client, noisy, rng):
    gappy = np.where(rng.random(noisy.shape) < 0.05, np.nan, noisy)
    settings = {"opinions": "dictionary", "max_iter": 20, "random_state": 0, "neighbor_share": 0.0}
    here = RNLMF(20, **settings).fit(gappy)
    there = RNLMF(20, **settings).fit(da.from_array(gappy, chunks=(500, -1)))
    assert there.selection_ == here.selection_
    assert there.kernel_scale_ == here.kernel_scale_
    assert close(there.components_, here.components_, 1e-5)


def test_a_data_frame_keeps_its_names(client, noisy):
    pandas = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    names = [f"sensor {j}" for j in range(noisy.shape[1])]
    frame = frames.from_pandas(pandas.DataFrame(noisy, columns=names), npartitions=3)
    settings = {**SETTINGS, "max_iter": 10, "neighbor_share": 0.0}
    model = RNLMF(20, **settings).fit(frame)
    assert model.feature_names_in_.tolist() == names
    assert close(model.components_, RNLMF(20, **settings).fit(noisy).components_, 1e-5)


def kill_one(client, rng):
    processes = list(client.run(os.getpid).values())
    os.kill(int(rng.choice(processes)), signal.SIGKILL)


def test_a_worker_that_dies_is_made_up_for(client, curve, noisy, rng):
    X = da.from_array(noisy, chunks=(310, -1))
    settings = {**SETTINGS, "neighbor_share": 0.0}
    here = RNLMF(30, **settings).fit(noisy)

    def callback(info):
        if info.iteration in (20, 45):
            kill_one(client, rng)

    there = RNLMF(30, callback=callback, **settings).fit(X)
    errors = [relative_rmse(curve, model.denoise(noisy)) for model in (there, here)]
    assert errors[0] == pytest.approx(errors[1], rel=0.01)


def test_infinite_values_are_refused(client, noisy):
    X = noisy.copy()
    X[700, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        RNLMF(20).fit(da.from_array(X, chunks=(310, -1)))


@pytest.mark.slow
def test_workers_that_die_at_any_time(curve, noisy):
    """Twenty of them, at random moments of a fit, one after the other."""
    rng = np.random.default_rng(0)
    settings = {**SETTINGS, "neighbor_share": 0.0, "tol": 0.0, "max_iter": 150}
    here = RNLMF(30, **settings).fit(noisy)
    usual = relative_rmse(curve, here.denoise(noisy))
    kills = 0
    with cluster(3) as local, distributed.Client(local) as client:
        while kills < 20:
            X = da.from_array(noisy, chunks=(310, -1))
            done = threading.Event()

            def killer(done=done):
                nonlocal kills
                while not done.wait(float(rng.uniform(0.5, 4.0))) and kills < 20:
                    kill_one(client, rng)
                    kills += 1
                    time.sleep(1.0)

            thread = threading.Thread(target=killer)
            thread.start()
            model = RNLMF(30, **settings).fit(X)
            done.set()
            thread.join()
            assert relative_rmse(curve, model.denoise(noisy)) == pytest.approx(usual, rel=0.01)
