"""What is minimised: kernel, penalties and weights, in the engine's units.

The engine works on samples in units of the kernel's length scale (``sigma = 1``; see
:mod:`rnlmf.engine.samples`) and minimises Eq. (RNLMF_1) of the paper,

    J(D, C, E) = |phi(Y) - phi(D) C|^2 / 2 + lambda_D R(D) + lambda_C R(C) + lambda_E R(E),

with ``Y = X - E``. Samples are rows: ``Y`` is (n, m), ``D`` (d, m), the codes ``C`` (n, d).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lapack

from rnlmf.engine.corruption import Corruption
from rnlmf.kernels import Kernel
from rnlmf.penalties import FeaturePenalty, MinimaxConcave, Penalty
from rnlmf.typing import Array


@dataclass(frozen=True)
class Problem:
    """Kernel, penalties and their weights.

    Where the noise is `adaptive` (:mod:`rnlmf.engine.corruption`) the noise penalty is the one to begin
    with, and :meth:`adapted_to` what was found gives the one to go on with.
    """

    kernel: Kernel
    code_penalty: Penalty
    code_weight: float
    noise_penalty: Penalty
    noise_weight: float
    dictionary_penalty: FeaturePenalty | None = None
    dictionary_weight: float = 0.0
    adaptive: bool = False

    @property
    def closed_row_steps(self) -> bool:
        """Whether samples take the closed step of the Gaussian kernel, codes being ``C = K R``."""
        return self.kernel.gaussian and self.code_penalty.linear_codes

    @property
    def single_pass(self) -> bool:
        """Whether dictionary and noise can be updated in one pass over the samples."""
        return self.kernel.gaussian and self.code_penalty.ridge

    def adapted_to(self, corruption: Corruption | None) -> Problem:
        """The problem with the penalty that the noise found so far asks for."""
        if corruption is None:
            return self
        return replace(self, noise_penalty=MinimaxConcave(corruption.knee))

    @property
    def relaxes(self) -> bool:
        """Whether another noise penalty is to begin with."""
        return self.noise_penalty.relaxation() is not self.noise_penalty

    def relaxed(self) -> Problem:
        """The problem to begin with."""
        return replace(self, noise_penalty=self.noise_penalty.relaxation()) if self.relaxes else self

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

    def encoders(self, D: Array, code_metric: Array | None = None) -> tuple[Array, Array]:
        """``K_D``, and the encoder."""
        K_D = self.atom_kernel(D)
        return K_D, self.encoder(K_D, code_metric)

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
    # LAPACK's potri after potrf costs a quarter of a general inverse; above the diagonal are zeros.
    lower, _ = lapack.dpotri(factor, lower=1, overwrite_c=True)
    inverse: Array = lower + lower.T
    inverse[identity, identity] *= 0.5
    return inverse
