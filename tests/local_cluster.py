"""A cluster of one, in this thread: what Dask does with tasks, without its processes."""

import asyncio
import pickle
import threading
from itertools import count

import numpy as np

from rnlmf.distributed.parts import answer

NUMBERS = count()


class Loop:
    """That of a client, in a thread of its own."""

    def __init__(self):
        self.asyncio_loop = asyncio.new_event_loop()
        threading.Thread(target=self.asyncio_loop.run_forever, daemon=True).start()


class Future:
    status = "finished"

    def __init__(self, value, error=None):
        self.value, self.error, self.key = value, error, f"task-{next(NUMBERS)}"

    def result(self):
        if self.error is not None:
            raise self.error
        return self.value


class Here:
    """A client; instead of the n-th answer of a part there is the error `faults[n]`."""

    loop = Loop()

    def __init__(self, faults=None):
        self.faults = faults or {}
        self.answers = count()

    def submit(self, function, *given, **_):
        if function is answer and (fault := self.faults.get(next(self.answers))) is not None:
            return Future(None, fault)
        try:
            return Future(function(*map(self._value, given)))
        except Exception as error:
            return Future(None, error)

    def map(self, function, futures, **_):
        return [self.submit(function, future) for future in futures]

    def _value(self, given):
        if isinstance(given, list):
            return [self._value(one) for one in given]
        return given.result() if isinstance(given, Future) else given

    async def gather(self, futures, asynchronous):
        assert asynchronous
        return self._value(futures)

    def who_has(self, futures):
        return {future.key: [f"worker-{i % 2}"] for i, future in enumerate(futures)}

    def nthreads(self):
        return {"worker-0": 1, "worker-1": 1}

    def processing(self):
        return {"worker-0": ["task"]}


class Forgetful(Here):
    """A client that builds a part again before its n-th question, for every n in `at`."""

    def __init__(self, at):
        super().__init__()
        self.at = list(at)
        self.asked = count()

    def submit(self, function, *given, **options):
        if function is answer and self.at and next(self.asked) == self.at[0]:
            self.at.pop(0)
            part = given[0]
            part.value = pickle.loads(pickle.dumps(part.value))
        return super().submit(function, *given, **options)


def blocks_of(source):
    """The chunks of a source, as the workers would have them."""
    if "here" not in vars(source):
        blocks = (source.array.blocks[i] for i in range(source.array.numblocks[0]))
        source.here = [Future(np.asarray(b.compute(scheduler="synchronous"))) for b in blocks]
    return source.here
