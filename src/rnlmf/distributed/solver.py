"""The single pass on a cluster: the same iteration, whose shards are on workers."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rnlmf.distributed.log import Log
from rnlmf.distributed.parts import Behind, Part, Question, answer, denoised, itself
from rnlmf.distributed.source import DaskSource, summed
from rnlmf.distributed.waiting import awaited, finished, persevere, workers_of
from rnlmf.engine import Options, Problem, Samples, SampleState, SinglePass, SolverState
from rnlmf.engine.shard import Shard
from rnlmf.engine.single_pass import Sums
from rnlmf.typing import Array

# Seconds between two looks at whether all workers have rows.
LOOK_ROUND = 30.0

log = logging.getLogger("rnlmf")


class ClusterPass(SinglePass):
    """Algorithm 1 in single passes over the chunks of a Dask array.

    In every iteration the model goes out once to every worker, and sums of the sizes (d, m) and (d, d)
    come back through a tree: bytes depend on the number of workers and not on that of samples.

    What samples come to depends on the rows and on what they were told, all of which is kept: a part
    that was lost is built again from its rows and told all of it again, while the others wait.
    """

    def __init__(
        self, source: DaskSource, samples: Samples, problem: Problem, options: Options
    ) -> None:
        super().__init__(samples, problem, options)
        self.source = source
        self.client = source.client
        # With the first row of each, and where it was last.
        self.parts: list[tuple[Any, int, str]] = []
        self.log = Log()
        self.looked = 0.0
        self.workers: set[str] = set()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Threads are the workers' own."""
        yield

    def init(self, D: Array) -> SolverState:
        nowhere = SampleState.at(np.empty((0, self.samples.shape[1]), self.samples.dtype))
        return SolverState.start(D, nowhere, self.options.step_damping)

    def distribute(self, n_atoms: int) -> None:
        """A part for every worker, of chunks that are there as far as that is fair."""
        finished(self.client, self.source.chunks)
        where = self.client.who_has(self.source.chunks)
        edges = np.concatenate([[0], np.cumsum(self.source.array.chunks[0])]).tolist()
        chunks = [
            (chunk, start, stop - start)
            for chunk, start, stop in zip(self.source.chunks, edges, edges[1:], strict=False)
            if stop > start
        ]
        holders = [where.get(chunk.key, ()) for chunk, _, _ in chunks]
        workers = workers_of(self.client)
        places = fairly(holders, [rows for _, _, rows in chunks], workers)
        some = defaultdict(list)
        for (chunk, start, _), worker in zip(chunks, places, strict=True):
            some[worker].append((chunk, start))
        self.parts = [
            (
                self.client.submit(
                    Part,
                    [chunk for chunk, _ in mine],
                    [start for _, start in mine],
                    self.samples.units,
                    self.samples.missing,
                    self.problem,
                    self.options,
                    n_atoms,
                    workers=[worker],
                    allow_other_workers=True,
                    pure=False,
                ),
                mine[0][1],
                worker,
            )
            for worker, mine in sorted(some.items())
        ]
        self.looked, self.workers = time.monotonic(), set(workers)

    def spread_out(self, state: SolverState) -> None:
        """Now and then: give workers that have come, or come back, their share."""
        if not self.parts or time.monotonic() - self.looked < LOOK_ROUND:
            return
        self.looked = time.monotonic()
        here = set(self.client.nthreads())
        came, self.workers = here - self.workers, here
        # What rows elsewhere are told again must not be more than what is left to do.
        if not came or 2 * state.iteration > self.options.max_iter:
            return
        at_work = {min(places) for places in self.client.who_has(self.parts_alone).values() if places}
        wanted = min(len(here), len(self.source.pieces()))
        if at_work and len(at_work) < wanted:
            log.info("%d of %d workers have rows: they are shared out anew", len(at_work), wanted)
            self.parts = []

    @property
    def parts_alone(self) -> list[Any]:
        """Without where they are."""
        return [part for part, _, _ in self.parts]

    def tell(self, state: SolverState, order: Callable[[Shard], None]) -> None:
        self.asked(state, order, None)

    def total(self, state: SolverState, question: Callable[[Shard], Sums], start: Sums) -> Sums:
        sums: Sums = self.asked(state, question, start)
        return sums

    def asked(self, state: SolverState, asked: Callable[[Shard], Any], start: Any) -> Any:
        """The answers of all parts, summed."""
        self.spread_out(state)
        question = Question(asked, start, len(self.log))
        self.log.append(question)
        return self.caught_up(state, question.number, lambda: self.ask_once(question))

    def caught_up(self, state: SolverState, version: int, attempt: Callable[[], Any]) -> Any:
        """What an attempt gives with all parts in a `version`: those behind hear what they missed."""
        number = version
        while True:
            if number == version:
                found = self.persevere(state, attempt)
            else:
                missed = replace(self.log[number], start=None)
                found = self.persevere(state, partial(self.ask_once, missed))
            if isinstance(found, Behind):
                log.info("samples are told again what they were told from %d on", found.version)
                number = found.version
                self.look_for(found)
            elif number == version:
                return found
            else:
                number += 1

    def look_for(self, behind: Behind) -> None:
        """Ask parts where they are now, and not now here and now there."""
        moved = behind.places
        self.parts = [(part, first, moved.get(first, worker)) for part, first, worker in self.parts]

    def ask_once(self, question: Question) -> Any:
        """Send a question out, and wait for the sum."""
        # The result of a task, unlike data that are scattered, is there again if its worker is lost.
        sent = self.client.submit(itself, question, pure=False)
        return awaited(self.client, summed(self.client, self.submitted(answer, sent)))

    def submitted(self, function: Callable[..., Any], *given: Any) -> list[Any]:
        """Have every worker do something with its part."""
        return [
            self.client.submit(
                function, part, *given, workers=[worker], allow_other_workers=True, pure=False
            )
            for part, _, worker in self.parts
        ]

    def persevere(self, state: SolverState, attempt: Callable[[], Any]) -> Any:
        """Try until it succeeds: parts that are lost are built again from their rows."""

        def with_parts() -> Any:
            if not self.parts:
                self.distribute(len(state.dictionary))
            return attempt()

        def lost() -> None:
            self.parts = []
            self.source.renew()

        return persevere(self.client, with_parts, lost)

    def denoised(self, state: SolverState, rows: slice) -> Array:
        version, rows = len(self.log), slice(*rows.indices(len(self.source)))

        def attempt() -> Any:
            return awaited(self.client, summed(self.client, self.submitted(denoised, version, rows)))

        found = self.caught_up(state, version, attempt)
        return np.concatenate([values for _, values in sorted(found, key=lambda item: item[0])])


def fairly(holders: list[Any], rows: list[int], workers: list[str]) -> list[str]:
    """A worker for every chunk: one that has it, unless others would have much less to do.

    Parameters
    ----------
    holders : list of collection of str
        For every chunk the workers that have it.
    rows : list of int
        Of every chunk.
    workers : list of str
        All there are, at least one.

    Returns
    -------
    list of str
        One for every chunk.
    """
    fair = sum(rows) / len(workers)
    load = dict.fromkeys(workers, 0)
    places = [""] * len(rows)
    for number, some in enumerate(holders):
        here = min((worker for worker in some if worker in load), key=load.__getitem__, default="")
        # Half a chunk more than its share is nearer to it than half a chunk less.
        if here and load[here] + rows[number] / 2 <= fair:
            places[number] = here
            load[here] += rows[number]
    for number, place in enumerate(places):
        if not place:
            idle = min(load, key=load.__getitem__)
            places[number] = idle
            load[idle] += rows[number]
    return places
