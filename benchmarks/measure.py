"""How to measure on a shared, noisy machine: ratios, alternating, best of several."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds(job: Callable[[], object]) -> float:
    """Time of one run."""
    begin = time.perf_counter()
    job()
    return time.perf_counter() - begin


def best_of(jobs: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Least time of each job over `repeats` rounds in which they take turns.

    A turn is one run that nobody times, which brings the job's data back into the cache, and one that
    counts.
    """

    def turn(job: Callable[[], object]) -> float:
        job()
        return seconds(job)

    rounds = [{name: turn(job) for name, job in jobs.items()} for _ in range(repeats)]
    return {name: min(times[name] for times in rounds) for name in jobs}
