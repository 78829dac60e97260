"""Robust kernel principal component analysis: low rank in feature space plus sparse noise."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from rnlmf.compared.base import Denoiser, check_memory
from rnlmf.compared.spectral_functions import SchattenNorm, remove_noise
from rnlmf.kernels import mean_distance
from rnlmf.penalties import NOISE_PENALTIES, Penalty
from rnlmf.typing import Array
from rnlmf.validation import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE, Interval, StrOptions

# More samples than this, and solver="auto" is the randomised one.
FULL_SAMPLES = 2000
# Matrices of n x n that are in memory at the same time.
MATRICES = 4


class RobustKernelPCA(Denoiser):
    """Robust kernel principal component analysis.

    Removes sparse noise from data of low rank in the feature space of the Gaussian kernel, by
    minimising

        Tr K(X - E)^(exponent / 2) + lambda R(E),   lambda = noise_weight n / R(X),

    the Schatten norm of the clean samples' images [1]_, by proximal gradient steps. A step that
    does not lower the objective is taken back and shortened, so that it always falls. It needs an
    n x n matrix, and treats no new samples.

    Parameters
    ----------
    noise_weight : float
        It has no unit; useful between 0.05 and 1.
    noise_penalty : {"l1", "l21"}
        ``R``: wrong entries or wrong samples.
    kernel_scale : float
        The kernel's ``sigma`` is this times the mean distance between samples.
    exponent : float
        In (0, 2); 1 is the nuclear norm.
    solver : {"auto", "full", "randomized"}
        Eigenvalues of the whole kernel matrix, or of its projection on `n_components` random
        combinations of its columns. "auto" takes the latter for more than 2000 samples.
    n_components : int or None
        Size of the projection. None: ``min(n_samples / 2, 5 n_features)``.
    max_iter : int
        Most iterations.
    tol : float
        The fit stops when a step changes ``E`` by less, relative to ``X``.
    warm_start : bool
        Start from the last solution if the data have the same shape: faster along a path of weights.
    random_state : int, RandomState or None
        For the randomised solver.

    Attributes
    ----------
    noise_ : array of shape (n_samples, n_features)
        ``E``; exactly zero where no noise was found.
    sigma_ : float
        The kernel's length scale.
    noise_weight_ : float
        ``lambda``.
    objective_ : array
        Objective at each iteration, with 1e-5 added to the eigenvalues; it never rises.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether it stopped before `max_iter`.

    References
    ----------
    .. [1] J. Fan and T. Chow, "Exactly robust kernel principal component analysis", IEEE Transactions
       on Neural Networks and Learning Systems, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import RobustKernelPCA
    >>> t = np.linspace(0, 6, 100)
    >>> clean = np.column_stack([f(k * t) for k in range(1, 5) for f in (np.cos, np.sin)])
    >>> noisy = np.where(np.random.default_rng(0).random(clean.shape) < 0.05, 3.0, clean)
    >>> denoised = RobustKernelPCA(0.3).fit_denoise(noisy)
    >>> bool(np.linalg.norm(denoised - clean) < 0.6 * np.linalg.norm(noisy - clean))
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "noise_weight": [POSITIVE],
        "noise_penalty": [StrOptions({"l1", "l21"})],
        "kernel_scale": [POSITIVE],
        "exponent": [Interval(Real, 0, 2, closed="neither")],
        "solver": [StrOptions({"auto", "full", "randomized"})],
        "n_components": [AT_LEAST_ONE, None],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        noise_weight=0.3,
        *,
        noise_penalty="l1",
        kernel_scale=1.0,
        exponent=1.0,
        solver="auto",
        n_components=None,
        max_iter=500,
        tol=1e-4,
        warm_start=False,
        random_state=None,
    ):
        self.noise_weight = noise_weight
        self.noise_penalty = noise_penalty
        self.kernel_scale = kernel_scale
        self.exponent = exponent
        self.solver = solver
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state

    def _split(self, X: Array) -> tuple[list[float], bool]:
        check_memory(len(X), MATRICES)
        self.sigma_ = self.kernel_scale * mean_distance(X) or 1.0
        data = X.astype(np.float64) / self.sigma_
        penalty: Penalty = NOISE_PENALTIES[self.noise_penalty]()
        weight = self.noise_weight * len(X) / (penalty.value(data) or 1.0)
        self.noise_weight_ = weight / self.sigma_
        schatten = SchattenNorm(self.exponent / 2.0, self._sketch(len(X), X.shape[1]))
        start = self._start("_last", X.shape)
        E = np.zeros_like(data) if start is None else start[0] / self.sigma_
        E, objective, converged = remove_noise(
            data, E, schatten, penalty, weight, tol=self.tol, max_iter=self.max_iter
        )
        self._last = (E * self.sigma_,) if self.warm_start else None
        self.noise_ = (E * self.sigma_).astype(X.dtype)
        return objective, converged

    def _sketch(self, n: int, m: int) -> Array | None:
        """Random combinations for the randomised solver, the same in all iterations."""
        if self.solver == "full" or (self.solver == "auto" and n <= FULL_SAMPLES):
            return None
        size = min(max(n // 2, 1), 5 * m) if self.n_components is None else min(self.n_components, n)
        rng = check_random_state(self.random_state)
        sketch: Array = rng.standard_normal((n, size))
        return sketch
