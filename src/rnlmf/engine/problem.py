"""What is minimised: kernel, penalties and weights, in the engine's units.

The engine works on samples in units of the kernel's length scale (``sigma = 1``; see
:mod:`rnlmf.engine.samples`) and minimises Eq. (RNLMF_1) of the paper,

    J(D, C, E) = |phi(Y) - phi(D) C|^2 / 2 + lambda_D R(D) + lambda_C R(C) + lambda_E R(E),

with ``Y = X - E``. Samples are rows: ``Y`` is (n, m), ``D`` (d, m), the codes ``C`` (n, d).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack

from rnlmf.engine.corruption import Corruption
from rnlmf.kernels import Kernel
from rnlmf.penalties import L2, FeaturePenalty, MinimaxConcave, Nuclear, Penalty

Array = npt.NDArray[Any]

WINDOW = 10


@dataclass(frozen=True)
class Problem:
    """Kernel, penalties and their weights."""

    kernel: Kernel
    code_penalty: Penalty
    code_weight: float
    noise_penalty: Penalty
    noise_weight: float
    dictionary_penalty: FeaturePenalty | None = None
    dictionary_weight: float = 0.0

    @property
    def linear_codes(self) -> bool:
        """Whether the codes are a linear function of the kernel values, ``C = K R``."""
        return isinstance(self.code_penalty, L2 | Nuclear)

    @property
    def fast_rows(self) -> bool:
        """Whether a sample's noise has the closed step of the RBF kernel with linear codes."""
        return self.kernel.stationary and self.linear_codes

    @property
    def adaptive(self) -> bool:
        """Whether the noise penalty follows the noise that is found."""
        return isinstance(self.noise_penalty, MinimaxConcave)

    def atom_kernel(self, D: Array) -> Array:
        """``K_D = K(D, D)`` in double precision."""
        D = D.astype(np.float64)
        return self.kernel(D, D)

    def encoder(self, K_D: Array, code_metric: Array | None = None) -> Array:
        """Matrix ``R`` of the codes ``C = K R``.

        With the squared penalty ``R = (K_D + lambda_C I)^-1``, Eq. (C_sol_1). The nuclear norm is
        ``|C|_* = min_B Tr(C B^-1 C^T + B) / 2`` with the minimiser ``B = (C^T C)^(1/2)``. With
        ``B`` from the fit (`code_metric`), a new sample has codes of its own,
        ``R = (K_D + lambda_C B^-1)^-1 = B^(1/2) (B^(1/2) K_D B^(1/2) + lambda_C I)^-1 B^(1/2)``.
        """
        if code_metric is None:
            return inverse_of_damped(K_D, self.code_weight)
        values, vectors = np.linalg.eigh(code_metric)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        encoder: Array = root @ inverse_of_damped(root @ K_D @ root, self.code_weight) @ root
        return encoder

    def dictionary_value(self, K_D: Array) -> float:
        """``lambda_D R(D)``."""
        if self.dictionary_penalty is None or self.dictionary_weight == 0.0:
            return 0.0
        return self.dictionary_weight * self.dictionary_penalty.value(K_D)


def inverse_of_damped(K_D: Array, weight: float) -> Array:
    """``(K_D + weight I)^-1`` by Cholesky, with the least further damping that rounding asks for."""
    identity = np.arange(len(K_D))
    damping = weight
    smallest = np.finfo(np.float64).eps * float(np.trace(K_D)) or 1.0
    while True:
        A = K_D.copy()
        A[identity, identity] += damping
        factor, failed = lapack.dpotrf(A, lower=1, overwrite_a=True)
        if not failed:
            break
        damping = max(10.0 * damping, smallest)
    # LAPACK's potri after potrf costs a quarter of a general inverse.
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=True)
    lower: Array = np.tril(inverse)
    lower += np.tril(inverse, -1).T
    return lower


@dataclass(frozen=True)
class IterationInfo:
    """What a callback is told after every iteration."""

    iteration: int
    max_iter: int
    objective: float
    dictionary_change: float


Callback = Callable[[IterationInfo], object]


@dataclass(frozen=True)
class Options:
    """How to iterate; see the parameters of :class:`rnlmf.RNLMF`."""

    max_iter: int = 300
    tol: float = 3e-4
    momentum: float = 0.9
    step_damping: float = 1.0
    curvature_shift: float = 0.0
    dictionary_step: str = "auto"
    n_threads: int = 1
    fused: bool = True
    warmup: int = 20
    callback: Callback | None = None


@dataclass
class Fit:
    """Outcome of a fit, in the engine's units."""

    dictionary: Array
    objective: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = False
    corruption: Corruption | None = None
    code_metric: Array | None = None


def has_converged(objective: list[float], dictionary_change: float, tol: float) -> bool:
    """Relative change per iteration of objective and dictionary at most `tol`.

    The objective's is the mean over some iterations: momentum and rounding make it ripple.
    """
    if len(objective) <= WINDOW or dictionary_change > tol:
        return False
    return abs(objective[-1] - objective[-1 - WINDOW]) <= WINDOW * tol * abs(objective[-1])
