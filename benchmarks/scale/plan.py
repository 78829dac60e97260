"""A plan for a billion rows on 256 workers from what a block costs, and its reduction simulated."""

from __future__ import annotations

import math
import pickle
import time
from typing import Any

import numpy as np

from benchmarks.scale.common import ALONE, ATOMS, FEATURES, ONE_FIT
from rnlmf import RNLMF
from rnlmf.distributed.source import FAN_IN, plus
from rnlmf.engine.dictionary import Statistics
from rnlmf.fitting.large import state_bytes

ROWS, WORKERS = 10**9, 256
# What is taken of a network: bytes in a second to or from a worker, seconds for a message to set out.
BANDWIDTH, LATENCY = 1e9, 1e-3
MEASURED_ROWS = 100_000


def reduction(arguments: Any) -> dict[str, Any]:
    """What an iteration takes by the plan, and what the reduction took when it was simulated."""
    rng = np.random.default_rng(0)
    parts = [sums_of(rng) for _ in range(WORKERS)]
    size = len(pickle.dumps(parts[0]))
    adding = seconds_of_adding(parts[:FAN_IN])
    block = seconds_of_a_row()
    levels = math.ceil(math.log(WORKERS, FAN_IN))
    # In each level a worker receives the sums of the others one after the other, and adds them.
    planned = levels * ((FAN_IN - 1) * size / BANDWIDTH + LATENCY + adding)
    simulated = simulation(parts)
    itemsize = np.dtype(np.float32).itemsize
    held = ROWS * FEATURES * itemsize + state_bytes((ROWS, FEATURES), np.dtype(np.float32))
    return {
        "core seconds per million rows": 1e6 * block,
        "seconds of the rows in an iteration": ROWS / WORKERS * block,
        "bytes of sums": size,
        "levels": levels,
        "planned": {"seconds": planned, "bytes": (WORKERS - 1) * size},
        "simulated": simulated,
        "simulated over planned": simulated["seconds"] / planned,
        "gigabytes of rows and state on a worker": held / WORKERS / 2**30,
    }


def sums_of(rng: np.random.Generator) -> Statistics:
    """Of the sizes that a worker sends."""
    samples = rng.standard_normal((ATOMS, FEATURES))
    return Statistics(
        samples, rng.standard_normal(ATOMS), rng.standard_normal((ATOMS, ATOMS)), 1.0, 1.0
    )


def seconds_of_adding(parts: list[Statistics]) -> float:
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        plus(parts)
        times.append(time.perf_counter() - begin)
    return min(times)


def simulation(parts: list[Statistics]) -> dict[str, float]:
    """The tree with all its messages: every worker has a clock, and a line that is taken in turns.

    Sums are packed, sent, unpacked and added for real; only the network is made up.
    """
    expected = sum(part.code_gram for part in parts)
    clocks, sent, levels = [0.0] * len(parts), 0, 0
    while len(parts) > 1:
        sums, done = [], []
        for first in range(0, len(parts), FAN_IN):
            group = range(first, min(first + FAN_IN, len(parts)))
            clock, received = clocks[first], [parts[first]]
            for other in list(group)[1:]:
                message = pickle.dumps(parts[other])
                sent += len(message)
                clock = max(clock, clocks[other] + LATENCY) + len(message) / BANDWIDTH
                received.append(pickle.loads(message))
            begin = time.perf_counter()
            sums.append(plus(received))
            done.append(clock + time.perf_counter() - begin)
        parts, clocks, levels = sums, done, levels + 1
    np.testing.assert_allclose(parts[0].code_gram, expected)
    return {"seconds": clocks[0], "bytes": sent, "levels": levels}


def seconds_of_a_row() -> float:
    """Of one core, in one iteration, whoever else uses it."""
    X = np.tanh(np.random.default_rng(0).standard_normal((MEASURED_ROWS, FEATURES), dtype=np.float32))
    times: list[float] = []
    RNLMF(
        ATOMS,
        max_iter=8,
        tol=0.0,
        n_jobs=1,
        callback=lambda info: times.append(time.process_time()),
        **ONE_FIT,
        **ALONE,
    ).fit(X)
    return float(np.min(np.diff(times))) / len(X)
