"""The state of an iteration: arrays and plain numbers that can be seen, stored and gone on with.

:meth:`SolverState.to_arrays` and :meth:`SolverState.from_arrays` are exact inverses: an iteration that
is stored and taken up again ends where it would have ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rnlmf.engine.corruption import Corruption
from rnlmf.engine.maps import let_go, mapped_array
from rnlmf.typing import Array

# Velocities are stored as whole multiples of a scale per sample, in 8 bits.
VELOCITY_STEPS = 127


@dataclass
class SampleState:
    """State of some samples: where they are, and how they got there.

    The 8 bits of the velocities cost a quarter of the samples' memory, and their rounding is far
    below what matters to a momentum. A velocity is the last step, ``|speed| * velocity``; a speed
    below zero says that the step turned against the velocity, which is then not to be used.

    Attributes
    ----------
    Y : (n, m) array
        Samples without their noise.
    velocity : (n, m) array of int8, or (0, m) where there is no momentum
    speed : (n,) array, or (0,)
    threshold_scale : (n,) array
        ``kappa_i``: the penalty of a sample's noise is weighed by it (:mod:`rnlmf.engine.corruption`).
    """

    Y: Array
    velocity: npt.NDArray[np.int8]
    speed: Array
    threshold_scale: Array

    @classmethod
    def at(cls, Y: Array, *, moving: bool = False) -> SampleState:
        """At rest at `Y`; with room for velocities if the samples will be `moving`."""
        n, m = Y.shape
        movers = n if moving else 0
        return cls(Y, np.zeros((movers, m), np.int8), np.zeros(movers, Y.dtype), np.ones(n, Y.dtype))

    @classmethod
    def mapped(cls, shape: tuple[int, int], dtype: np.dtype[Any], *, moving: bool) -> SampleState:
        """The same in temporary files, for what is larger than memory."""
        n, m = shape
        movers = n if moving else 0
        state = cls(
            mapped_array((n, m), dtype),
            mapped_array((movers, m), np.int8),
            mapped_array((movers,), dtype),
            mapped_array((n,), dtype),
        )
        state.threshold_scale[...] = 1.0
        state.let_go()
        return state

    def let_go(self) -> None:
        """Of memory that a file has as well."""
        let_go(self.Y, self.velocity, self.speed, self.threshold_scale)

    def __getitem__(self, rows: slice | Array) -> SampleState:
        velocity, speed = self.velocity, self.speed
        if len(speed) > 0:
            velocity, speed = velocity[rows], speed[rows]
        return SampleState(self.Y[rows], velocity, speed, self.threshold_scale[rows])

    def largest_steps(self) -> Array:
        """Largest entry of every sample's last step."""
        steps: Array = np.abs(self.speed) * VELOCITY_STEPS
        return steps

    def rest(self) -> None:
        """No velocity."""
        self.speed[...] = 0.0


@dataclass
class StepState:
    """The dictionary's last step ``Delta`` and its damping ``tau_D``, Eq. (D_sol_delta)."""

    delta: Array
    damping: float = 1.0

    def propose(self, direction: Array, momentum: float) -> Array:
        """The next ``Delta = eta Delta + direction / tau_D``."""
        self.delta = momentum * self.delta + direction / self.damping
        return self.delta

    def restart(self) -> None:
        """Forget the momentum."""
        self.delta = np.zeros_like(self.delta)

    def damp(self) -> None:
        """Shorter steps from now on."""
        self.damping *= 2.0

    def relax(self, least: float) -> None:
        """Take back part of the damping after a step that went well."""
        self.damping = max(least, self.damping / 1.2)


@dataclass
class SolverState:
    """All that an iteration needs to go on from where it is.

    Attributes
    ----------
    dictionary : (d, m) array
    step : StepState
    samples : SampleState
    codes : (n, d) array or None
        Where the next iteration starts from them.
    corruption : Corruption or None
        What the noise found so far has set the penalty by, where it adapts.
    iteration : int
        Iterations done.
    objective : list of float
        At every iteration that counts.
    latest_objective, dictionary_change : float
        Of the last iteration.
    best_objective, best_dictionary
        The lowest since the penalty last changed, and where it was.
    steady : int
        Iterations since something went wrong.
    failures : int
        Iterations in a row whose objective was no number.
    new_objective : bool
        Whether the penalty has changed since the last iteration, so that a rise means nothing.
    """

    dictionary: Array
    step: StepState
    samples: SampleState
    codes: Array | None = None
    corruption: Corruption | None = None
    iteration: int = 0
    objective: list[float] = field(default_factory=list)
    latest_objective: float = np.inf
    dictionary_change: float = np.inf
    best_objective: float = np.inf
    best_dictionary: Array = field(default_factory=lambda: np.empty((0, 0)))
    steady: int = 0
    failures: int = 0
    new_objective: bool = False

    @classmethod
    def start(cls, D: Array, samples: SampleState, damping: float) -> SolverState:
        D = D.astype(np.float64)
        return cls(D, StepState(np.zeros_like(D), damping), samples, best_dictionary=D)

    def start_anew(self) -> None:
        """The objective is another from here on."""
        self.new_objective, self.best_objective = True, np.inf

    def record(self, objective: float, D: Array) -> None:
        """Add an objective, and keep the dictionary if there was no lower one."""
        self.objective.append(objective)
        if objective < self.best_objective:
            self.best_objective, self.best_dictionary = objective, D

    def to_arrays(self) -> dict[str, Array]:
        """Every field as an array, that of a part as ``part.field``; what is None is left out."""
        return _arrays_of(self, "")

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> SolverState:
        """The state that :meth:`to_arrays` gave."""
        values: dict[str, Any] = {}
        for name, array in arrays.items():
            part, _, key = name.partition(".")
            value = array if array.ndim else array.item()
            if key:
                values.setdefault(part, {})[key] = value
            else:
                values[part] = value
        for part, kind in PARTS.items():
            if part in values:
                values[part] = kind(**values[part])
        values["objective"] = np.asarray(values["objective"]).tolist()
        return cls(**values)


PARTS: dict[str, Any] = {"step": StepState, "samples": SampleState, "corruption": Corruption}


def _arrays_of(value: Any, prefix: str) -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    for item in fields(value):
        content = getattr(value, item.name)
        if is_dataclass(content):
            arrays |= _arrays_of(content, f"{item.name}.")
        elif content is not None:
            arrays[prefix + item.name] = np.asarray(content)
    return arrays
