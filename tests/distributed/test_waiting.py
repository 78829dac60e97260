"""Without a cluster: how long to wait, what to ask again, who gets which rows."""

import asyncio
import pickle
import sys

import numpy as np
import pytest

from local_cluster import Loop

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
parts = pytest.importorskip("rnlmf.distributed.parts")
solver = pytest.importorskip("rnlmf.distributed.solver")
source = pytest.importorskip("rnlmf.distributed.source")
waiting = pytest.importorskip("rnlmf.distributed.waiting")


class Cluster:
    """What is asked of a client here; what it is asked to gather are coroutines."""

    loop = Loop()

    def __init__(self, workers=1, busy=True):
        self.workers, self.busy = workers, busy
        self.looks = 0

    def processing(self):
        self.looks += 1
        return {f"worker {i}": ["task"] if self.busy else [] for i in range(self.workers)}

    def nthreads(self):
        return {f"worker {i}": 1 for i in range(self.workers)}

    def gather(self, future, asynchronous):
        assert asynchronous
        return future


async def late(seconds=0.3):
    await asyncio.sleep(seconds)
    return "done"


async def wrong():
    raise TimeoutError("of the task")


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(waiting, "LOOK", 0.01)
    with dask.config.set({"rnlmf.patience": "0s"}):
        yield


def test_it_is_waited_as_long_as_somebody_is_at_work(impatient):
    cluster = Cluster()
    assert waiting.awaited(cluster, late()) == "done"
    assert cluster.looks > 1


@pytest.mark.parametrize("workers", [0, 2])
def test_it_is_not_waited_for_a_cluster_that_has_stopped(impatient, workers):
    with pytest.raises(waiting.NobodyAtWorkError, match=f"{workers or 'no'} worker"):
        waiting.awaited(Cluster(workers, busy=False), late(60))


def test_an_error_of_the_task_is_no_waiting(impatient):
    with pytest.raises(TimeoutError, match="of the task"):
        waiting.awaited(Cluster(), wrong())


def test_what_was_lost_is_asked_for_again(impatient):
    tried, lost = [], []

    def attempt():
        tried.append(1)
        if len(tried) < 4:
            raise distributed.client.FutureCancelledError("key", "lost")
        return "done"

    assert waiting.persevere(Cluster(), attempt, lambda: lost.append(1)) == "done"
    assert (len(tried), len(lost)) == (4, 3)


def test_not_for_ever(impatient):
    tried = []

    def attempt():
        tried.append(1)
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        waiting.persevere(Cluster(), attempt)
    assert len(tried) == waiting.ATTEMPTS


def test_not_again_without_workers(impatient):
    def attempt():
        tried.append(1)
        waiting.workers_of(Cluster(0))

    tried = []
    with pytest.raises(waiting.NobodyAtWorkError):
        waiting.persevere(Cluster(0), attempt)
    assert len(tried) == 1


def test_rows_stay_where_they_are_if_that_is_fair():
    holders = [["a"], ["a"], ["b"], ["b"]]
    assert solver.fairly(holders, [10, 10, 10, 10], ["a", "b"]) == ["a", "a", "b", "b"]


@pytest.mark.parametrize("holders", [[["a"]] * 6, [[]] * 6, [["gone"]] * 6])
def test_every_worker_gets_its_share(holders):
    places = solver.fairly(holders, [10] * 6, ["a", "b", "c"])
    assert sorted(places) == ["a", "a", "b", "b", "c", "c"]


def test_a_part_that_is_sent_has_its_rows_and_no_state():
    part = parts.Part([np.ones((3, 2))], [0], None, False, None, None, 4)
    part.version = 7
    vars(part)["solvers"] = lambda: "cannot be sent"
    sent = pickle.loads(pickle.dumps(part))
    assert sent.version == parts.FRESH
    assert "solvers" not in vars(sent)
    np.testing.assert_array_equal(sent.chunks[0], np.ones((3, 2)))


def test_a_part_is_as_large_as_its_rows():
    """Dask would have the work on something small done anywhere."""
    part = parts.Part([np.ones((300, 2)), np.ones((100, 2))], [0, 300], None, False, None, None, 4)
    assert sys.getsizeof(part) >= 400 * 2 * 8


def test_the_sum_of_parts_behind_is_the_one_furthest_behind():
    some = [parts.Behind(7, {0: "a"}), np.ones(2), parts.Behind(3, {5: "b"}), None]
    assert source.plus(some) == parts.Behind(3, {0: "a", 5: "b"})


def test_sums_of_orders_lists_and_arrays():
    assert source.plus([None, None]) is None
    assert source.plus([[1], [2, 3]]) == [1, 2, 3]
    np.testing.assert_array_equal(source.plus([np.ones(2), np.ones(2)]), [2, 2])


def test_a_short_silence_is_borne():
    with dask.config.set({"rnlmf.patience": "1h"}):
        watch = waiting.Watch(Cluster(busy=False))
        watch.look()
        watch.expect(None)


def test_a_part_that_missed_something_says_so_in_place_of_samples(monkeypatch):
    monkeypatch.setattr(parts, "worker_address", lambda: "here")
    part = parts.Part([np.ones((3, 2))], [5], None, False, None, None, 4)
    part.version = 2
    assert part.denoised(3, slice(0, 8)) == parts.Behind(2, {5: "here"})
