"""The single pass on a cluster: the same iteration, whose shards are on workers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rnlmf.distributed.parts import FRESH, Part, Question, answer, denoised, itself
from rnlmf.distributed.source import DaskSource, summed
from rnlmf.engine import Options, Problem, Samples, SampleState, SinglePass, SolverState
from rnlmf.engine.shard import Shard
from rnlmf.engine.single_pass import Sums
from rnlmf.typing import Array

# A question whose answer was lost is asked again, so many times in a row at most.
ATTEMPTS = 10


class ClusterPass(SinglePass):
    """Algorithm 1 in single passes over the chunks of a Dask array.

    In every iteration the model goes out once to every worker, and sums of the sizes (d, m) and (d, d)
    come back through a tree: bytes depend on the number of workers and not on that of samples.
    """

    def __init__(
        self, source: DaskSource, samples: Samples, problem: Problem, options: Options
    ) -> None:
        super().__init__(samples, problem, options)
        self.source = source
        self.client = source.client
        self.parts: list[tuple[Any, str]] = []
        self.version = FRESH

    @contextmanager
    def running(self) -> Iterator[None]:
        """Threads are the workers' own."""
        yield

    def init(self, D: Array) -> SolverState:
        nowhere = SampleState.at(np.empty((0, self.samples.shape[1]), self.samples.dtype))
        return SolverState.start(D, nowhere, self.options.step_damping)

    def distribute(self, n_atoms: int) -> None:
        """A part for every worker, of the chunks that are there."""
        where = self.client.who_has(self.source.chunks)
        chunks = defaultdict(list)
        edges = np.concatenate([[0], np.cumsum(self.source.array.chunks[0])]).tolist()
        for chunk, start, stop in zip(self.source.chunks, edges, edges[1:], strict=False):
            if stop > start:
                chunks[min(where[chunk.key])].append((chunk, start))
        self.parts = []
        for worker, some in sorted(chunks.items()):
            part = self.client.submit(
                Part,
                [chunk for chunk, _ in some],
                [start for _, start in some],
                self.samples.units,
                self.samples.missing,
                self.problem,
                self.options,
                n_atoms,
                workers=[worker],
                allow_other_workers=True,
                pure=False,
            )
            self.parts.append((part, worker))

    def tell(self, state: SolverState, order: Callable[[Shard], None]) -> None:
        self.asked(state, order, None)

    def total(self, state: SolverState, question: Callable[[Shard], Sums], start: Sums) -> Sums:
        sums: Sums = self.asked(state, question, start)
        return sums

    def asked(self, state: SolverState, asked: Callable[[Shard], Any], start: Any) -> Any:
        """The answers of all parts, summed."""
        if self.version == FRESH and state.iteration > 0:
            # A fit that goes on: parts are fresh, and shall not be.
            self.version = FRESH + 1
        question = Question(asked, start, self.version, self.settling(state))
        found = self.persevere(state, lambda: self.ask_once(question))
        self.version += 1
        return found

    def ask_once(self, question: Question) -> Any:
        """Send a question out, and wait for the sum."""
        futures = self.submitted(answer, question)
        if question.start is None:
            return self.client.gather(futures)
        return summed(self.client, futures).result()

    def submitted(self, function: Callable[..., Any], question: Question, *more: Any) -> list[Any]:
        """Have every worker do something with its part and a question."""
        # The result of a task, unlike data that are scattered, is there again if its worker is lost.
        sent = self.client.submit(itself, question, pure=False)
        return [
            self.client.submit(
                function, part, sent, *more, workers=[worker], allow_other_workers=True, pure=False
            )
            for part, worker in self.parts
        ]

    def persevere(self, state: SolverState, attempt: Callable[[], Any]) -> Any:
        """Try until it succeeds: what is lost with a worker is built again from its rows."""
        from distributed import KilledWorker, wait
        from distributed.client import FutureCancelledError

        if not self.parts:
            self.distribute(len(state.dictionary))
        failures = (FutureCancelledError, KilledWorker, OSError, TimeoutError)
        for _ in range(ATTEMPTS - 1):
            try:
                return attempt()
            except failures:
                self.client.wait_for_workers(1)
                wait(self.source.chunks)
                self.distribute(len(state.dictionary))
        return attempt()

    def denoised(self, state: SolverState, rows: slice) -> Array:
        question = Question(Shard.rest, None, self.version, self.settling(state))
        rows = slice(*rows.indices(len(self.source)))
        found = self.persevere(
            state, lambda: self.client.gather(self.submitted(denoised, question, rows))
        )
        chunks = sorted((chunk for part in found for chunk in part), key=lambda item: item[0])
        return np.concatenate([values for _, values in chunks])
