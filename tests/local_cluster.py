"""A cluster of one, in this thread: what Dask does with tasks, without its processes."""

from itertools import count

import numpy as np

from rnlmf.distributed.parts import answer

NUMBERS = count()


class Future:
    def __init__(self, value, error=None):
        self.value, self.error, self.key = value, error, f"task-{next(NUMBERS)}"

    def result(self):
        if self.error is not None:
            raise self.error
        return self.value


class Here:
    """A client; instead of the n-th answer of a part there is the error `faults[n]`."""

    def __init__(self, faults=None):
        self.faults = faults or {}
        self.answers = count()
        self.waited = 0

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

    def gather(self, futures):
        return self._value(futures)

    def who_has(self, futures):
        return {future.key: [f"worker-{i % 2}"] for i, future in enumerate(futures)}

    def wait_for_workers(self, _):
        self.waited += 1


def blocks_of(source):
    """The chunks of a source, as the workers would have them."""
    if "here" not in vars(source):
        blocks = (source.array.blocks[i] for i in range(source.array.numblocks[0]))
        source.here = [Future(np.asarray(b.compute(scheduler="synchronous"))) for b in blocks]
    return source.here
