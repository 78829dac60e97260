"""Robust dictionary learning: sparse codes, a linear dictionary and sparse noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from rnlmf.compared.base import Denoiser
from rnlmf.compared.dictionary_losses import (
    AbsoluteLoss,
    CappedLoss,
    SquaredLoss,
    project,
    proximal_codes,
)
from rnlmf.conventions import CodesMixin, check_samples, like
from rnlmf.engine.batches import canonical_order
from rnlmf.penalties import NOISE_PENALTIES, row_norms
from rnlmf.typing import Array
from rnlmf.validation import AT_LEAST_ONE, AUTO, NOT_NEGATIVE, POSITIVE, StrOptions

# Automatic weights, for data of unit spread: of the codes, by loss, and of the noise, by penalty.
# A product of a sample with an atom, and the largest useful weight of "l2" and "l1", grow with sqrt(m).
CODE_WEIGHTS = {"l2": 0.02, "l1": 0.2, "capped": 0.05}
NOISE_WEIGHTS = {"l1": 0.1, "l21": 0.1, "l2": 1.0}
# As many as RNLMF takes at the most.
MAX_DEFAULT_ATOMS = 256
# cap="auto", in medians of the distances after the sweeps without a cap.
RELATIVE_CAP = 3.0
UNCAPPED_SWEEPS = 10


class RobustDictionaryLearning(CodesMixin, Denoiser):
    """Dictionary learning that gross errors do not spoil.

    Represents samples by sparse combinations of atoms, the rows of ``D``, in the unit ball. With the
    default loss it minimises

        |X - C D - E|^2 / 2 + code_weight |C|_1 + noise_weight R(E)

    by alternation [1]_: proximal gradient steps for the codes, exact ones for each atom and for the
    noise, so that the objective never rises. :meth:`denoise` returns ``X - E``.

    ``loss="l1"`` has no ``E`` but the loss ``|X - C D|_1`` [2]_, and ``loss="capped"`` the loss
    ``sum_j min(|x_j - c_j D|, cap)`` [3]_, for wrong samples; both by reweighted least squares, and
    :meth:`denoise` returns ``C D``.

    Parameters
    ----------
    n_components : int or None
        Number of atoms. None: half of the features, at most 256 and at most half of the samples.
    loss : {"l2", "l1", "capped"}
        See above. "l1" solves a system of equations for every sample, at a cost of
        ``O(n m d^2)`` for an iteration with ``d`` atoms.
    code_weight : float or "auto"
        In the unit of the data for "l2", without one for the others. "auto" is, for data of unit
        standard deviation, ``0.02 sqrt(m)``, ``0.2 sqrt(m)`` for "l1" and 0.05 for "capped".
    noise_penalty : {"l1", "l21", "l2"}
        ``R`` of ``loss="l2"``: wrong entries, wrong samples, or dense Gaussian noise.
    noise_weight : float or "auto"
        For "l1" and "l21" the threshold above which a residual is noise, in the unit of the data.
        "auto" is 10% of the data's standard deviation, for "l21" times ``sqrt(m)``, and 1 for "l2".
    cap : float or "auto"
        Of ``loss="capped"``, in the unit of the data. "auto" is three times the median distance after
        the ten iterations without a cap with which the fit begins.
    max_iter : int
        Most iterations of the fit, and of the treatment of new samples.
    tol : float
        The fit stops when an iteration changes codes and dictionary by less, relatively; a new
        sample when no code changes by more than this, for data of unit standard deviation.
    warm_start : bool
        Start from the last solution if the data have the same shape: faster along a path of weights.
    random_state : int, RandomState or None
        For the first dictionary, of random samples.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The dictionary ``D``.
    n_components_ : int
        Number of atoms.
    noise_ : array of shape (n_samples, n_features)
        Noise of the training data.
    code_weight_, noise_weight_, cap_ : float
        The weights in use, and the cap.
    objective_ : array
        Objective at each iteration; it never rises. Of "l1" and "capped" that of the smoothed loss.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether it stopped before `max_iter`.

    References
    ----------
    .. [1] J. Bolte, S. Sabach and M. Teboulle, "Proximal alternating linearized minimization for
       nonconvex and nonsmooth problems", Mathematical Programming, 2014.
    .. [2] C. Lu, J. Shi and J. Jia, "Online robust dictionary learning", CVPR, 2013.
    .. [3] W. Jiang, F. Nie and H. Huang, "Robust dictionary learning with capped l1-norm", IJCAI, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import RobustDictionaryLearning
    >>> rng = np.random.default_rng(0)
    >>> clean = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 20))
    >>> noisy = np.where(rng.random(clean.shape) < 0.05, 10.0, clean)
    >>> denoised = RobustDictionaryLearning(3, random_state=0).fit_denoise(noisy)
    >>> bool(np.linalg.norm(denoised - clean) < 0.5 * np.linalg.norm(noisy - clean))
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "n_components": [AT_LEAST_ONE, None],
        "loss": [StrOptions({"l2", "l1", "capped"})],
        "code_weight": [NOT_NEGATIVE, AUTO],
        "noise_penalty": [StrOptions(set(NOISE_WEIGHTS))],
        "noise_weight": [NOT_NEGATIVE, AUTO],
        "cap": [POSITIVE, AUTO],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components=None,
        *,
        loss="l2",
        code_weight="auto",
        noise_penalty="l1",
        noise_weight="auto",
        cap="auto",
        max_iter=500,
        tol=1e-4,
        warm_start=False,
        random_state=None,
    ):
        self.n_components = n_components
        self.loss = loss
        self.code_weight = code_weight
        self.noise_penalty = noise_penalty
        self.noise_weight = noise_weight
        self.cap = cap
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state

    def _split(self, X: Array) -> tuple[list[float], bool]:
        n_atoms = self._number_of_atoms(X)
        scale = float(X.std(dtype=np.float64)) or float(np.abs(X).max()) or 1.0
        data = X.astype(np.float64) / scale
        loss = self._loss(scale, X.shape[1])

        start = self._start("_last", (len(X), n_atoms), (n_atoms, X.shape[1]))
        if start is None:
            D = self._first_dictionary(data, n_atoms)
            # Not from zero with noise: then all of the data would be noise, and stay so.
            C = proximal_codes(data, np.zeros((len(X), n_atoms)), D, loss.code_weight)
        else:
            C, D = start[0] / scale, start[1]
        if self.loss == "capped":
            loss, C, D = self._cap(loss, data, C, D, UNCAPPED_SWEEPS if start is None else 0)
            self.cap_ = loss.cap * scale
        objective: list[float] = []
        converged = False
        for _ in range(self.max_iter):
            C_before, D_before = C, D
            C, D = loss.sweep(data, C, D)
            objective.append(loss.value(data, C, D))
            change = max(
                np.linalg.norm(C - C_before) / max(np.linalg.norm(C), np.finfo(float).tiny),
                np.linalg.norm(D - D_before) / np.linalg.norm(D),
            )
            converged = bool(change <= self.tol)
            if converged:
                break
        self._last = (C * scale, D) if self.warm_start else None
        self._model = (loss, D, scale)
        self.components_, self.n_components_ = D.astype(X.dtype), n_atoms
        self.noise_ = (self._noise(data, C) * scale).astype(X.dtype)
        # The squared loss has the squared unit of the data, the others the unit itself.
        unit = scale**2 if self.loss == "l2" else scale
        return [value * unit for value in objective], converged

    def fit_denoise(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the denoised training data, in the container of `X`."""
        return self.fit(X).denoise(X)

    def transform(self, X: Any) -> Array:
        """Codes of samples, of shape (n_samples, n_components), each by itself."""
        data = check_samples(self, X)
        return self._encode(data).astype(data.dtype)

    def denoise(self, X: Any) -> Any:
        """Samples without their noise, each by itself, with the dictionary fixed."""
        data = check_samples(self, X)
        return like(X, data - self._new_noise(data))

    def noise(self, X: Any) -> Any:
        """Noise of samples, each by itself, with the dictionary fixed."""
        data = check_samples(self, X)
        return like(X, self._new_noise(data))

    def inverse_transform(self, X: Any) -> Array:
        """Samples from codes, ``C D``."""
        check_is_fitted(self)
        C = check_array(X, dtype=[np.float64, np.float32])
        if C.shape[1] != len(self.components_):
            raise ValueError(
                f"X has {C.shape[1]} columns, but there are {len(self.components_)} codes per sample."
            )
        return C @ self.components_.astype(C.dtype)

    def _encode(self, X: Array) -> Array:
        loss, D, scale = self._model
        return loss.encode(X.astype(np.float64) / scale, D, self.tol, self.max_iter) * scale

    def _noise(self, data: Array, C: Array) -> Array:
        loss, D, _ = self._model
        return loss.noise(data, C, D) if isinstance(loss, SquaredLoss) else data - C @ D

    def _new_noise(self, X: Array) -> Array:
        scale = self._model[2]
        noise = self._noise(X.astype(np.float64) / scale, self._encode(X) / scale)
        return (noise * scale).astype(X.dtype)

    def _number_of_atoms(self, X: Array) -> int:
        n, m = X.shape
        if self.n_components is None:
            return max(1, min(m // 2, MAX_DEFAULT_ATOMS, n // 2))
        if self.n_components > n:
            raise ValueError(
                f"n_components={self.n_components} must not exceed n_samples={n}: take fewer atoms "
                "or more samples."
            )
        return int(self.n_components)

    def _first_dictionary(self, X: Array, n_atoms: int) -> Array:
        rng = check_random_state(self.random_state)
        D = X[canonical_order(X)[rng.choice(len(X), n_atoms, replace=False)]]
        # A sample of zeros is no atom.
        D = np.where(row_norms(D) > 0.0, D, rng.standard_normal(D.shape))
        return project(D / row_norms(D))

    def _loss(self, scale: float, n_features: int) -> SquaredLoss | AbsoluteLoss | CappedLoss:
        """The loss for data in units of `scale`; a cap only where it is given."""
        unit = scale if self.loss == "l2" else 1.0
        growth = 1.0 if self.loss == "capped" else n_features**0.5
        code_weight = CODE_WEIGHTS[self.loss] * growth
        if self.code_weight != "auto":
            code_weight = float(self.code_weight) / unit
        self.code_weight_ = code_weight * unit
        if self.loss == "l1":
            return AbsoluteLoss(code_weight)
        if self.loss == "capped":
            return CappedLoss(code_weight, np.inf if self.cap == "auto" else float(self.cap) / scale)
        penalty = NOISE_PENALTIES[self.noise_penalty]()
        unit = scale ** (2 - penalty.degree)
        if self.noise_weight == "auto":
            noise_weight = NOISE_WEIGHTS[self.noise_penalty]
            noise_weight *= n_features**0.5 if self.noise_penalty == "l21" else 1.0
        else:
            noise_weight = float(self.noise_weight) / unit
        self.noise_weight_ = noise_weight * unit
        return SquaredLoss(code_weight, penalty, noise_weight)

    def _cap(
        self, loss: Any, X: Array, C: Array, D: Array, n_sweeps: int
    ) -> tuple[CappedLoss, Array, Array]:
        """Some sweeps without a cap, or it could drop all samples, and then the cap."""
        uncapped = CappedLoss(loss.code_weight, np.inf)
        for _ in range(n_sweeps):
            C, D = uncapped.sweep(X, C, D)
        cap = loss.cap
        if self.cap == "auto":
            cap = RELATIVE_CAP * float(np.median(uncapped.distance(X, C, D)))
        return CappedLoss(loss.code_weight, cap), C, D
