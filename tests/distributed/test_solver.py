"""Fits to Dask arrays on a cluster of one, which loses what it is told to."""

import numpy as np
import pytest

from local_cluster import Forgetful, Here, blocks_of
from rnlmf import RNLMF
from rnlmf.datasets import corrupt_entries
from rnlmf.distributed import parts, solver, waiting
from rnlmf.distributed.source import DaskSource
from rnlmf.metrics import relative_rmse

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

SETTINGS = {
    **{"n_components": 30, "opinions": "dictionary", "kernel_scale": 0.5, "noise_weight": "scale"},
    **{"neighbor_share": 0.0, "random_state": 0},
}


@pytest.fixture(scope="module")
def clean():
    t = np.random.default_rng(0).uniform(0, 6, 600)
    return np.column_stack([f(k * t) for k in range(1, 5) for f in (np.cos, np.sin)])


@pytest.fixture(scope="module")
def noisy(clean):
    return corrupt_entries(clean, 0.1, random_state=0)


@pytest.fixture
def fitted(monkeypatch, noisy):
    """A fit with a client that fails now and then."""

    def fit(client, **options):
        monkeypatch.setattr(DaskSource, "client", client)
        monkeypatch.setattr(distributed, "wait", lambda futures, timeout: None)
        monkeypatch.setattr(waiting, "LOOK", 0.01)
        monkeypatch.setattr(parts, "worker_threads", lambda: 1)
        monkeypatch.setattr(parts, "worker_address", lambda: "worker-0")
        monkeypatch.setattr(DaskSource, "chunks", property(blocks_of))
        array = da.concatenate([da.from_array(noisy, chunks=(90, -1)), da.zeros((0, noisy.shape[1]))])
        return RNLMF(**SETTINGS).fit(array, **options)

    return fit


@pytest.fixture(scope="module")
def here(noisy):
    return RNLMF(**SETTINGS).fit(noisy)


def asked_again(caplog):
    return sum("asked again" in record.message for record in caplog.records)


def errors(clean, noisy, *models):
    return [relative_rmse(clean, model.denoise(noisy)) for model in models]


def test_a_fit_is_the_one_in_memory(fitted, here):
    there = fitted(Here())
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-6)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-8)


@pytest.mark.parametrize(
    "fault",
    [
        OSError("lost"),
        TimeoutError("late"),
        distributed.client.FutureCancelledError("key", "lost"),
    ],
    ids=lambda fault: type(fault).__name__,
)
def test_answers_that_are_lost_are_asked_for_again(fitted, here, fault, caplog):
    lossy = fitted(Here({3: fault, 6: fault, 50: fault}))
    np.testing.assert_allclose(lossy.components_, here.components_, atol=1e-6)
    assert asked_again(caplog) == 3


@pytest.mark.parametrize("at", [0, 1, 7, 21, 60, 101])
def test_a_part_that_is_built_again_comes_to_the_same_state(fitted, here, at):
    """As Dask does without a word."""
    forgetful = Forgetful([at, at + 1, at + 40])
    there = fitted(forgetful)
    assert forgetful.at == []
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-6)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-8)


def test_a_cluster_that_is_gone_for_good_is_an_error(fitted, caplog):
    client = Here(dict.fromkeys(range(5, 1000), OSError("gone")))
    with pytest.raises(OSError, match="gone"):
        fitted(client)
    assert asked_again(caplog) == waiting.ATTEMPTS - 1


def test_other_errors_are_told_at_once(fitted, caplog):
    client = Here({5: ZeroDivisionError("a bug")})
    with pytest.raises(ZeroDivisionError, match="a bug"):
        fitted(client)
    assert asked_again(caplog) == 0


def test_a_fit_that_was_ended_goes_on(fitted, here, clean, noisy, tmp_path, monkeypatch):
    from rnlmf.fitting import checkpoint

    monkeypatch.setitem(checkpoint.Checkpoint.__init__.__kwdefaults__, "every", 0.0)
    file = tmp_path / "state"
    with pytest.raises(ZeroDivisionError):
        fitted(Here({90: ZeroDivisionError("the end")}), checkpoint=file)
    resumed = fitted(Here(), checkpoint=file, resume=True)
    found, usual = errors(clean, noisy, resumed, here)
    assert found == pytest.approx(usual, rel=0.02)


class Growing(Here):
    """A client of one worker that is joined by a second after some looks."""

    def __init__(self, alone):
        super().__init__()
        self.alone, self.looks = alone, 0

    def nthreads(self):
        self.looks += 1
        return {"worker-0": 1} if self.looks <= self.alone else super().nthreads()

    def who_has(self, futures):
        return {future.key: ["worker-0"] for future in futures}


@pytest.mark.parametrize("alone", [1, 30])
def test_a_worker_that_comes_later_gets_its_share_and_the_fit_is_the_same(
    fitted, here, alone, monkeypatch, caplog
):
    monkeypatch.setattr(solver, "LOOK_ROUND", 0.0)
    with caplog.at_level("INFO", logger="rnlmf"):
        there = fitted(Growing(alone))
    assert sum("shared out anew" in record.message for record in caplog.records) == 1
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-6)


def test_nothing_is_shared_out_anew_near_the_end(fitted, monkeypatch, caplog):
    """Rows elsewhere would be told more again than there is left to do."""
    client = Growing(10**9)

    def join(info):
        if 2 * info.iteration > info.max_iter:
            client.alone = 0

    monkeypatch.setattr(solver, "LOOK_ROUND", 0.0)
    monkeypatch.setitem(SETTINGS, "max_iter", 20)
    monkeypatch.setitem(SETTINGS, "callback", join)
    with caplog.at_level("INFO", logger="rnlmf"):
        fitted(client)
    assert client.alone == 0
    assert "shared out anew" not in caplog.text


def test_neighbours_are_those_of_a_fit_in_memory(fitted, noisy, monkeypatch):
    """For them, samples without their noise are asked for: here of parts that were built again."""
    monkeypatch.setitem(SETTINGS, "neighbor_share", 0.5)
    there = fitted(Forgetful([0, 100, 10**9]))
    here = RNLMF(**SETTINGS).fit(noisy)
    np.testing.assert_allclose(there.denoise(noisy), here.denoise(noisy), atol=1e-4)
