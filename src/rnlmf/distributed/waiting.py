"""Waiting for a cluster: as long as somebody is at work, and not for ever."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

import dask
from dask.utils import parse_timedelta

# Seconds between two looks at what the workers do.
LOOK = 2.0
# How long nobody may be at work, unless Dask's configuration has "rnlmf.patience".
PATIENCE = "5 minutes"
# What was lost is asked for again, so many times in a row at most.
ATTEMPTS = 10

log = logging.getLogger("rnlmf")


class NobodyAtWorkError(RuntimeError):
    """The cluster has stopped: nothing that is waited for will come."""


def persevere(client: Any, attempt: Callable[[], Any], lost: Callable[[], None] = lambda: None) -> Any:
    """Try until it succeeds: what is lost with a worker can be made again.

    Dask makes most of it again by itself, but gives up a task that was on several workers that died.

    Parameters
    ----------
    client : Client
        Of the cluster.
    attempt : callable
        What is tried; its result is returned.
    lost : callable
        What is done before it is tried again.

    Returns
    -------
    object
        What the attempt gave.
    """
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    lost_answers = (FutureCancelledError, CancelledError, KilledWorker)
    failures = (*lost_answers, OSError, TimeoutError, NobodyAtWorkError)
    for left in reversed(range(ATTEMPTS)):
        try:
            return attempt()
        except failures as error:
            if left == 0 or (isinstance(error, NobodyAtWorkError) and not client.nthreads()):
                raise
            log.warning("lost on the cluster, and asked again: %s", error)
            lost()
            # Dask hears of what nobody holds any more a moment later.
            time.sleep(LOOK / 4)
    raise AssertionError("The last attempt returns or raises.")


class Watch:
    """Notices that nobody is at work: no worker is left, or none has anything to do.

    Dask waits without end for a cluster that has lost its workers. A ``LocalCluster`` gives up one that
    is not back after ``distributed.deploy.lost-worker-timeout`` (15 seconds), so that it can come to
    have none.

    Parameters
    ----------
    client : Client
        Of the cluster.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.patience = parse_timedelta(dask.config.get("rnlmf.patience", PATIENCE))
        self.since = time.monotonic()

    def look(self) -> None:
        """Raise if nobody has been at work for long."""
        self.expect(any(self.client.processing().values()))

    def expect(self, sign: Any) -> None:
        """Raise if there has been no sign of life for long."""
        if sign:
            self.since = time.monotonic()
        elif time.monotonic() - self.since > self.patience:
            workers = len(self.client.nthreads())
            raise NobodyAtWorkError(
                f"The cluster has {workers or 'no'} worker(s), and for {self.patience:.0f} seconds "
                "none has done anything. Look after the cluster; a fit that was given a checkpoint can "
                "be resumed. (Dask's setting rnlmf.patience says how long to wait.)"
            )


def workers_of(client: Any) -> list[str]:
    """Addresses of the workers, of which there is one at least.

    Parameters
    ----------
    client : Client
        Of the cluster.

    Returns
    -------
    list of str
        In order.

    Raises
    ------
    NobodyAtWorkError
        If none comes.
    """
    watch = Watch(client)
    while not (workers := sorted(client.nthreads())):
        watch.expect(workers)
        time.sleep(LOOK / 10)
    return workers


def finished(client: Any, futures: list[Any]) -> None:
    """Wait until all are done, well or not.

    Parameters
    ----------
    client : Client
        Of the cluster.
    futures : list of Future
        What is waited for.

    Raises
    ------
    NobodyAtWorkError
        If the cluster has stopped.
    """
    from distributed import wait

    watch = Watch(client)
    while True:
        try:
            wait(futures, timeout=LOOK)
            return
        except TimeoutError:
            watch.look()


def awaited(client: Any, future: Any) -> Any:
    """The result of a future.

    Parameters
    ----------
    client : Client
        Of the cluster.
    future : Future
        What is waited for.

    Returns
    -------
    object
        Its result.

    Raises
    ------
    NobodyAtWorkError
        If the cluster has stopped.
    """
    watch = Watch(client)
    # Not by a timeout of Dask's own, which breaks off what is being fetched.
    coming = asyncio.run_coroutine_threadsafe(
        client.gather(future, asynchronous=True), client.loop.asyncio_loop
    )
    try:
        while True:
            try:
                return coming.result(timeout=LOOK)
            except TimeoutError:
                if coming.done():
                    # Its own, not ours.
                    raise
                watch.look()
    finally:
        coming.cancel()
