"""What a fit is told: plain values, with names resolved to objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from rnlmf import kernels, penalties
from rnlmf.engine import Options, default_threads
from rnlmf.kernels import RBF, Kernel
from rnlmf.penalties import L1, L2, FeaturePenalty, Penalty
from rnlmf.validation import thread_count

SOLVERS = ("auto", "single-pass", "paper")
# Of the single pass, where the samples have momentum too, and of the paper's order.
MOMENTUM = {"single-pass": 0.9, "paper": 0.5}


@dataclass(frozen=True)
class SolverOptions:  # numpydoc ignore=PR02
    """How to iterate, in detail, for ``RNLMF(solver=...)``.

    Parameters
    ----------
    method : {"auto", "single-pass", "paper"}
        "single-pass" updates dictionary and noise in one pass over the samples (a Gaussian kernel with
        the squared penalty on the codes only); "paper" is Algorithm 1 as printed, for everything.
        "auto" takes the single pass where it can.
    momentum : float or "auto"
        ``eta`` in [0, 1). "auto" is 0.9 in the single pass, where the samples have it too, and the
        paper's 0.5 in its order.
    step_damping : float
        ``tau_D >= 1`` of the dictionary step.
    curvature_shift : float
        ``mu >= 0`` of the dictionary step; raised by itself where the curvature is not positive.
    dictionary_step : {"auto", "newton", "spectral"}
        Relaxed Newton step, or the gradient over the curvature's spectral norm. "auto" takes the
        latter for more than 2048 atoms.

    Examples
    --------
    >>> from rnlmf import RNLMF, SolverOptions
    >>> RNLMF(solver=SolverOptions("paper", momentum=0.0)).solver.momentum
    0.0
    """

    method: str = "auto"
    momentum: float | str = "auto"
    step_damping: float = 1.0
    curvature_shift: float = 0.0
    dictionary_step: str = "auto"

    def validate(self) -> None:
        """Raise `ValueError` if a field is out of range."""
        allowed = {
            "method": self.method in SOLVERS,
            "momentum": self.momentum == "auto"
            or (not isinstance(self.momentum, str) and 0.0 <= self.momentum < 1.0),
            "step_damping": self.step_damping >= 1.0,
            "curvature_shift": self.curvature_shift >= 0.0,
            "dictionary_step": self.dictionary_step in ("auto", "newton", "spectral"),
        }
        for name, good in allowed.items():
            if not good:
                raise ValueError(f"{name}={getattr(self, name)!r} of the solver is out of range.")


@dataclass(frozen=True)
class LearnerSettings:
    """The parameters of :class:`rnlmf.RNLMF` that matter to a fit; see there.

    An `adaptive` noise (:mod:`rnlmf.engine.corruption`) begins with `noise_penalty`.
    """

    n_components: int | None = None
    kernel: Kernel = field(default_factory=RBF)
    kernel_scale: float | str = "auto"
    code_penalty: Penalty = field(default_factory=L2)
    code_weight: float | str = 1e-2
    noise_penalty: Penalty = field(default_factory=L1)
    adaptive: bool = True
    noise_weight: float | str = "auto"
    neighbor_share: float | str = "auto"
    dictionary_penalty: FeaturePenalty | None = None
    dictionary_weight: float = 0.0
    init: Any = "random"
    solver: SolverOptions = field(default_factory=SolverOptions)
    max_iter: int = 300
    tol: float = 3e-4
    n_threads: int = 1

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> LearnerSettings:
        """From an estimator's parameters, in which kernel, penalties and solver may be names."""
        names = {item.name for item in fields(cls)}
        values = {name: value for name, value in parameters.items() if name in names}
        adaptive = isinstance(values["noise_penalty"], str) and values["noise_penalty"] == "adaptive"
        noise = L1() if adaptive else values["noise_penalty"]
        noise = penalties.resolve(noise, penalties.NOISE_PENALTIES)
        if not noise.by_row:
            raise ValueError(f"noise_penalty={noise} is not a sum over samples: take another.")
        dictionary = values["dictionary_penalty"]
        if dictionary is not None:
            dictionary = penalties.resolve(dictionary, penalties.DICTIONARY_PENALTIES)
        solver = values["solver"]
        solver = SolverOptions(solver) if isinstance(solver, str) else solver
        solver.validate()
        values |= {
            "kernel": kernels.resolve(values["kernel"]),
            "code_penalty": penalties.resolve(values["code_penalty"], penalties.CODE_PENALTIES),
            "noise_penalty": noise,
            "adaptive": adaptive,
            "dictionary_penalty": dictionary,
            "solver": solver,
            "n_threads": threads_of(parameters["n_jobs"]),
        }
        return cls(**values)

    def method(self) -> str:
        """Which solver it is to be, "single-pass" or "paper"."""
        possible = self.kernel.gaussian and self.code_penalty.ridge
        if self.solver.method == "single-pass" and not possible:
            raise ValueError(
                "solver='single-pass' needs kernel='rbf' and code_penalty='l2'; use solver='paper'."
            )
        return "paper" if self.solver.method == "paper" or not possible else "single-pass"

    def options(self) -> Options:
        """What the engine is told."""
        solver = self.solver
        momentum = MOMENTUM[self.method()] if solver.momentum == "auto" else float(solver.momentum)
        return Options(
            max_iter=self.max_iter,
            tol=self.tol,
            momentum=momentum,
            step_damping=solver.step_damping,
            curvature_shift=solver.curvature_shift,
            dictionary_step=solver.dictionary_step,
            n_threads=self.n_threads,
        )


def threads_of(n_jobs: int | None) -> int:
    """Threads that `n_jobs` asks for: None is as many as BLAS would use, -1 all cores."""
    return thread_count(n_jobs) or default_threads()
