"""On a real cluster of processes."""

import os
import signal
import threading

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from rnlmf import RNLMF, RNLMFClustering
from rnlmf.datasets import corrupt_entries
from rnlmf.metrics import clustering_error

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
solver = pytest.importorskip("rnlmf.distributed.solver")
waiting = pytest.importorskip("rnlmf.distributed.waiting")

# Processes that are killed can keep a busy machine waiting: `make test-slow`.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]
SETTINGS = {"opinions": "dictionary", "kernel_scale": 0.5, "noise_weight": "scale", "random_state": 0}


# A worker that is slow to come back is not given up.
LOCAL = {"distributed.deploy.lost-worker-timeout": "1 hour"}


@pytest.fixture(scope="module", autouse=True)
def patient():
    dask = pytest.importorskip("dask")
    with dask.config.set(LOCAL):
        yield


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


def kill_one(local, rng):
    """A worker that the scheduler knows; whether there was one."""
    names = {worker.name for worker in list(local.scheduler.workers.values())}
    found = [nanny.pid for name, nanny in list(local.workers.items()) if name in names and nanny.pid]
    if found:
        os.kill(int(rng.choice(found)), signal.SIGKILL)
    return bool(found)


def test_a_worker_that_dies_is_made_up_for(client, noisy, rng):
    X = da.from_array(noisy, chunks=(310, -1))
    settings = {**SETTINGS, "neighbor_share": 0.0}
    here = RNLMF(30, **settings).fit(noisy)

    def callback(info):
        if info.iteration in (3, 20, 45):
            assert kill_one(client.cluster, rng)

    there = RNLMF(30, callback=callback, **settings).fit(X)
    assert close(there.components_, here.components_, 1e-5)


def test_infinite_values_are_refused(client, noisy):
    X = noisy.copy()
    X[700, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        RNLMF(20).fit(da.from_array(X, chunks=(310, -1)))


def test_workers_that_die_at_any_time(noisy):
    """Twenty of them, at random moments of fits, the start of a fit included."""
    rng = np.random.default_rng(0)
    settings = {**SETTINGS, "neighbor_share": 0.0, "tol": 0.0, "max_iter": 150}
    usual = RNLMF(30, **settings).fit(noisy).components_
    kills = 0
    with cluster(3) as local, distributed.Client(local) as client:
        while kills < 20:
            done, moved = threading.Event(), threading.Event()

            def killer(done=done, moved=moved):
                nonlocal kills
                # Faster than a fit gets on it would be killed for ever.
                while not done.wait(float(rng.uniform(0.0, 2.0))) and kills < 20:
                    if moved.is_set() or len(client.nthreads()) == 3:
                        kills += kill_one(local, rng)
                        moved.clear()

            thread = threading.Thread(target=killer)
            thread.start()
            try:
                model = RNLMF(30, callback=lambda info, moved=moved: moved.set(), **settings)
                model.fit(da.from_array(noisy, chunks=(310, -1)))
            finally:
                done.set()
                thread.join()
            assert close(model.components_, usual, 1e-5)


def test_a_cluster_without_workers_is_not_waited_for(noisy):
    """As a local one is that has given up all it had."""
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"rnlmf.patience": "3s"}),
        cluster(1) as local,
        distributed.Client(local),
    ):
        X = da.from_array(noisy, chunks=(310, -1))

        def callback(info):
            if info.iteration == 5:
                local.scale(0)

        with pytest.raises(RuntimeError, match="no worker"):
            RNLMF(30, callback=callback, **SETTINGS).fit(X)


def test_workers_that_come_get_rows(client, noisy, monkeypatch):
    """As one does that comes back."""
    X = da.from_array(noisy, chunks=(310, -1))
    alone, *_ = client.nthreads()
    monkeypatch.setattr(solver, "LOOK_ROUND", 0.0)
    monkeypatch.setattr(solver, "workers_of", lambda client: [alone])
    at_work = []

    class Watched(solver.ClusterPass):
        def distribute(self, n_atoms):
            super().distribute(n_atoms)
            at_work.append({worker for _, _, worker in self.parts})
            monkeypatch.setattr(solver, "workers_of", waiting.workers_of)

    monkeypatch.setattr(solver, "ClusterPass", Watched)
    settings = {**SETTINGS, "neighbor_share": 0.0, "max_iter": 10}
    there = RNLMF(30, **settings).fit(X)
    assert [len(workers) for workers in at_work[:2]] == [1, 2]
    here = RNLMF(30, **settings).fit(noisy)
    assert close(there.components_, here.components_, 1e-5)


def test_clusters_by_landmarks(client):
    X, y = make_blobs(400, n_features=12, centers=4, random_state=0)
    rows = da.from_array(X, chunks=(90, -1))
    model = RNLMFClustering(4, n_landmarks=50, random_state=0).fit(rows)
    assert clustering_error(y, model.labels_) < 0.05
    lazy = model.denoise(rows)
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), model.denoise(X))
