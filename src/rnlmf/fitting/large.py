"""Which solver data that are not in memory get, and where the state of their samples lives."""

from __future__ import annotations

import logging
import shutil
import tempfile
from dataclasses import replace
from typing import Any

import numpy as np

from rnlmf.engine import Options, Problem, Samples, SinglePass, Solver

# State of samples of up to so many bytes is kept in memory.
STATE_IN_MEMORY = 1 << 30
# What of the room in the temporary folder may be taken.
SHARE_OF_DISK = 0.8

WORDS = {
    "memory": "in memory",
    "map": "in temporary files",
    "anew": "made anew in every pass, as there is no room for it",
}
log = logging.getLogger("rnlmf")


def state_bytes(shape: tuple[int, int], dtype: np.dtype[Any], *, moving: bool = True) -> int:
    """Of the state of samples: where they are, velocities in 8 bits, speed and threshold."""
    n, m = shape
    return n * ((m + 1 + moving) * dtype.itemsize + moving * m)


def place_of_state(shape: tuple[int, int], dtype: np.dtype[Any]) -> str:
    """Where the state of so many samples lives: "memory", "map" or "anew", by its size."""
    size = state_bytes(shape, dtype)
    if size <= STATE_IN_MEMORY:
        return "memory"
    room = shutil.disk_usage(tempfile.gettempdir()).free
    return "map" if size <= SHARE_OF_DISK * room else "anew"


def large_solver(samples: Samples, problem: Problem, options: Options) -> Solver:
    """The single pass over a source: on a cluster if the source is there, else from block to block."""
    remote = getattr(samples.X, "solver", None)
    if remote is not None:
        solver: Solver = remote(samples, problem, options)
        return solver
    place = place_of_state(samples.shape, samples.dtype)
    size = state_bytes(samples.shape, samples.dtype) / 2**20
    log.info("state of %d samples (%.0f MB): %s", samples.shape[0], size, WORDS[place])
    return SinglePass(samples, problem, replace(options, sample_state=place))
