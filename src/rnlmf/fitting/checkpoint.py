"""Long fits: the solver's state in a file, from which a fit that was ended goes on.

The file is a safetensors file that appears whole or not at all. The state of the samples is in it if it
is not large; else it is made anew from the samples (:mod:`rnlmf.engine.settle`), and the fit ends about
where it would have ended.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from rnlmf.engine import SampleState, SinglePass, Solver, SolverState
from rnlmf.engine.source import Rows
from rnlmf.fitting.defaults import Tuning
from rnlmf.io.atomic import whole_file
from rnlmf.io.checksum import digest
from rnlmf.io.dataset import FileError
from rnlmf.typing import Array

# Seconds between two states that are written.
EVERY = 30.0
# Larger states of samples are left out, and made anew.
LARGEST_SAMPLES = 256 << 20
# Rows by which data are told from others.
LOOKED_AT = 64


class Checkpoint:
    """A file with the state of a fit.

    Parameters
    ----------
    path : path
        The file.
    parameters : mapping
        Of the estimator; those of the fit that goes on must be the same.
    X : (n, m) array or source
        The data, likewise.
    resume : bool
        Whether to go on from the file.
    every : float
        Seconds between two states.
    """

    def __init__(
        self,
        path: str | Path,
        parameters: Mapping[str, Any],
        X: Rows,
        *,
        resume: bool = False,
        every: float = EVERY,
    ) -> None:
        self.path = Path(path)
        self.every = every
        self.written = time.monotonic()
        self.header: dict[str, Any] = {"fingerprint": fingerprint(parameters, X)}
        self.arrays: dict[str, Array] = {}
        if resume:
            self._read()

    def _read(self) -> None:
        from safetensors import SafetensorError, safe_open

        if not self.path.is_file():
            raise FileError(self.path, "there is no such checkpoint: pass another, or no resume=True.")
        try:
            with safe_open(self.path, framework="np") as file:
                header = json.loads(file.metadata()["rnlmf_checkpoint"])
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            checksum = header.pop("sha256")
            if checksum != digest(json.dumps(header), arrays):
                raise ValueError("The checksum is another.")
        except (SafetensorError, OSError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise FileError(
                self.path, "is not a checkpoint of a fit, or damaged: pass another, or no resume=True."
            ) from error
        if header["fingerprint"] != self.header["fingerprint"]:
            raise FileError(
                self.path,
                "belongs to other data or parameters: pass those, or no resume=True.",
            )
        self.header, self.arrays = header, arrays

    @property
    def resumed(self) -> bool:
        """Whether there is a state to go on from."""
        return bool(self.arrays)

    @property
    def tuning(self) -> Tuning:
        """What was chosen for the fit that goes on."""
        return Tuning(**self.header["tuning"])

    def begin(self, seed: int, tuning: Tuning) -> int:
        """Say with what a fit begins; the seed is that of the fit that goes on."""
        if not self.resumed:
            self.header |= {"seed": int(seed), "tuning": asdict(tuning)}
        return int(self.header["seed"])

    def state(self, solver: Solver, D: Array) -> SolverState:
        """The first state of a fit, or the one to go on from."""
        if not self.resumed:
            return solver.init(D)
        if "samples.Y" in self.arrays:
            return SolverState.from_arrays(self.arrays)
        assert isinstance(solver, SinglePass)
        nowhere = SampleState.at(np.empty((0, D.shape[1])))
        without = {f"samples.{name}": value for name, value in vars(nowhere).items()}
        state = replace(SolverState.from_arrays(self.arrays | without), samples=solver.init(D).samples)
        settling = solver.settling(state)
        solver.tell(state, lambda shard: shard.settle(settling))
        return state

    def keep(self, state: SolverState) -> None:
        """Write the state, if the last one was written long ago."""
        if time.monotonic() - self.written >= self.every:
            self.write(state)
            self.written = time.monotonic()

    def write(self, state: SolverState) -> None:
        """Write the state."""
        from safetensors.numpy import save

        large = state.samples.Y.nbytes > LARGEST_SAMPLES or state.samples.Y.size == 0
        arrays = {
            name: array if array.flags.c_contiguous else array.copy()
            for name, array in state.to_arrays().items()
            if not (large and name.startswith("samples."))
        }
        header = self.header | {"sha256": digest(json.dumps(self.header), arrays)}
        content = save(arrays, metadata={"rnlmf_checkpoint": json.dumps(header)})
        with whole_file(self.path) as file:
            file.write_bytes(content)


def fingerprint(parameters: Mapping[str, Any], X: Rows) -> str:
    """Of what decides where a fit goes: the parameters, and some rows of the data."""
    told = {
        name: repr(value)
        for name, value in sorted(parameters.items())
        if name not in ("callback", "n_jobs", "random_state")
    }
    digest = sha256(json.dumps([told, X.shape, str(X.dtype)]).encode())
    some = X[:: -(-len(X) // LOOKED_AT)]
    digest.update(np.ascontiguousarray(some).tobytes())
    return digest.hexdigest()
