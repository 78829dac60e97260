"""Robust principal component analysis: a matrix of low rank plus sparse noise."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.linalg

from rnlmf.compared.base import Denoiser, balanced, minimise_rows
from rnlmf.conventions import check_samples, like
from rnlmf.penalties import L21, NOISE_PENALTIES, Penalty, shrink_singular_values
from rnlmf.typing import Array
from rnlmf.validation import AT_LEAST_ONE, AUTO, NOT_NEGATIVE, POSITIVE, Interval, StrOptions

# weight="auto" of noise_penalty="l21" is right if this fraction of the samples is wrong.
OUTLIER_FRACTION = 0.02
# new_noise_weight="auto": the threshold of noise in a new sample, in deviations of the training data.
RELATIVE_THRESHOLD = 0.05
# The penalty parameter of the inexact method grows to at most this times its start.
LARGEST_GROWTH = 1e7

# L, E and the multipliers, which the first start does not have.
Start = tuple[Array, Array, Array | None]
# The last of these, singular values of L, objective of every iteration, and whether it converged.
Solution = tuple[Start, Array, list[float], bool]


class RobustPCA(Denoiser):
    """Robust principal component analysis (principal component pursuit, outlier pursuit).

    Splits the data into ``X = L + E`` with ``L`` of low rank, by minimising

        |L|_* + weight R(E)   subject to   X = L + E,

    with the nuclear norm of ``L`` and ``R`` the sum of absolute values [1]_ or of the norms of
    samples [2]_. A NaN in `X` is a missing entry: it costs nothing, and ``L`` fills it in.

    New samples are treated with the principal components ``V`` of ``L`` fixed, each by itself:
    :meth:`denoise` minimises ``|x - c V - e|^2 / 2 + ridge |c|^2 / 2 + new_noise_weight R(e)`` and
    returns ``x - e``, as [3]_ does.

    Parameters
    ----------
    weight : float or "auto"
        It has no unit. "auto" is ``1 / sqrt(max(n, m))`` for "l1" [1]_ and ``3 / (7 sqrt(n / 50))`` for
        "l21", the choice of [2]_ for a fiftieth of wrong samples; with missing entries ``n`` and ``m``
        count times the fraction that is there. Data of high rank need more: two or three times as much.
    noise_penalty : {"l1", "l21"}
        ``R``: wrong entries or wrong samples.
    solver : {"admm", "ialm"}
        Alternating directions with a penalty parameter that stays fixed in the end, which
        converge to the minimum; or the inexact augmented Lagrangian method [4]_, whose
        parameter grows by `rho` in every iteration.
    mu : float or "auto"
        First penalty parameter, in the inverse unit of the data. "auto" is 1/4 over their mean
        magnitude for "admm" [1]_, where it is then balanced, and for "ialm" 1.25 over the spectral
        norm.
        A number stays fixed in "admm"; a large one with few iterations is early stopping.
    rho : float
        Growth of the parameter in "ialm". Larger than 1.1 is faster and stops short of the minimum:
        with the usual 1.5 the error can be a third larger.
    n_components : int or None
        Components for new samples. None: the rank of ``L``.
    ridge : float
        Weight of the squared codes of new samples.
    new_noise_weight : float or "auto"
        The threshold above which a residual of a new sample is noise, in the unit of the data.
        "auto" is 5% of the standard deviation of the training data, for "l21" times ``sqrt(m)``.
    max_iter : int
        Most iterations.
    tol : float
        The fit stops when ``|X - L - E|``, relative to ``|X|``, and in "admm" the dual residual too,
        are smaller; a new sample when no entry changes by more than this times the standard
        deviation of the training data.
    warm_start : bool
        Start from the last solution if the data have the same shape: faster along a path of weights.

    Attributes
    ----------
    components_ : array of shape (rank, n_features)
        Right singular vectors of ``L``.
    singular_values_ : array of shape (rank,)
        Its singular values.
    rank_ : int
        Its rank.
    low_rank_, noise_ : array of shape (n_samples, n_features)
        ``L`` and ``E`` of the training data; ``E`` is exactly zero where no noise was found, and NaN
        where an entry is missing.
    weight_ : float
        The weight in use.
    objective_ : array
        Objective at each iteration; it need not fall, as ``X = L + E`` holds only in the end.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether it stopped before `max_iter`.

    References
    ----------
    .. [1] E. Candes, X. Li, Y. Ma and J. Wright, "Robust principal component analysis?", Journal of
       the ACM, 2011.
    .. [2] H. Xu, C. Caramanis and S. Sanghavi, "Robust PCA via outlier pursuit", IEEE Transactions
       on Information Theory, 2012.
    .. [3] J. Fan, C. Yang and M. Udell, "Robust Non-Linear Matrix Factorization for Dictionary
       Learning, Denoising, and Clustering", IEEE Transactions on Signal Processing, 2021.
    .. [4] Z. Lin, M. Chen and Y. Ma, "The augmented Lagrange multiplier method for exact recovery of
       corrupted low-rank matrices", arXiv 1009.5055, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import RobustPCA
    >>> rng = np.random.default_rng(0)
    >>> clean = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 30))
    >>> noisy = np.where(rng.random(clean.shape) < 0.05, 10.0, clean)
    >>> model = RobustPCA().fit(noisy)
    >>> model.rank_, bool(np.abs(model.low_rank_ - clean).max() < 1e-3)
    (2, True)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "weight": [POSITIVE, AUTO],
        "noise_penalty": [StrOptions({"l1", "l21"})],
        "solver": [StrOptions({"admm", "ialm"})],
        "mu": [POSITIVE, AUTO],
        "rho": [Interval(Real, 1, None, closed="left")],
        "n_components": [AT_LEAST_ONE, None],
        "ridge": [NOT_NEGATIVE],
        "new_noise_weight": [POSITIVE, AUTO],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "warm_start": ["boolean"],
    }

    def __init__(
        self,
        weight="auto",
        *,
        noise_penalty="l1",
        solver="admm",
        mu="auto",
        rho=1.05,
        n_components=None,
        ridge=1e-3,
        new_noise_weight="auto",
        max_iter=1000,
        tol=1e-6,
        warm_start=False,
    ):
        self.weight = weight
        self.noise_penalty = noise_penalty
        self.solver = solver
        self.mu = mu
        self.rho = rho
        self.n_components = n_components
        self.ridge = ridge
        self.new_noise_weight = new_noise_weight
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start

    def _split(self, X: Array) -> tuple[list[float], bool]:
        observed = ~np.isnan(X)
        data = np.where(observed, X, 0.0).astype(np.float64)
        # In units of the mean magnitude neither the steps nor rounding depend on the data's scale.
        scale = float(np.abs(data).sum() / max(observed.sum(), 1)) or 1.0
        data /= scale
        penalty: Penalty = NOISE_PENALTIES[self.noise_penalty]()
        self.weight_ = self._automatic_weight(observed) if self.weight == "auto" else float(self.weight)

        problem = _LowRankPlusNoise(data, observed, penalty, self.weight_)
        zero = np.zeros_like(data)
        last = self._start("_last", X.shape, X.shape, X.shape)
        start = (zero, zero, None) if last is None else (last[0] / scale, last[1] / scale, last[2])
        solve = problem.alternate if self.solver == "admm" else problem.inexact
        mu = None if self.mu == "auto" else float(self.mu) * scale
        (L, E, Y), singular_values, objective, converged = solve(
            start, mu, self.rho, self.tol, self.max_iter
        )
        self._last = (L * scale, E * scale, Y) if self.warm_start else None

        self.rank_ = len(singular_values)
        self.singular_values_ = (singular_values * scale).astype(X.dtype)
        _, V = scipy.linalg.eigh(L.T @ L)
        self.components_ = V[:, ::-1][:, : self.rank_].T.astype(X.dtype)
        self.low_rank_ = (L * scale).astype(X.dtype)
        self.noise_ = np.where(observed, E * scale, np.nan).astype(X.dtype)
        self._spread = float(np.std(data[observed])) * scale if observed.any() else 0.0
        return [value * scale for value in objective], converged

    def fit_denoise(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the training data without their noise and with missing entries filled in."""
        self.fit(X)
        data = check_samples(self, X)
        return like(X, np.where(np.isnan(data), self.low_rank_, data - self.noise_))

    def denoise(self, X: Any) -> Any:
        """Samples without their noise, with the components of the training data.

        A missing entry is predicted from the others.
        """
        data = check_samples(self, X)
        noise = self._new_noise(data)
        return like(X, np.where(np.isnan(data), -noise, data - noise).astype(data.dtype))

    def noise(self, X: Any) -> Any:
        """Noise of samples, with the components of the training data; NaN where an entry is missing."""
        data = check_samples(self, X)
        return like(X, np.where(np.isnan(data), np.nan, self._new_noise(data)).astype(data.dtype))

    def _new_noise(self, X: Array) -> Array:
        """Noise of new samples. Missing entries count as zero and noise of no cost."""
        observed = ~np.isnan(X)
        Z = np.where(observed, X, 0.0).astype(np.float64)
        V = self.components_[: self.n_components].astype(np.float64)
        penalty: Penalty = NOISE_PENALTIES[self.noise_penalty]()
        threshold = self.new_noise_weight
        if threshold == "auto":
            threshold = RELATIVE_THRESHOLD * self._spread
            if isinstance(penalty, L21):
                threshold *= X.shape[1] ** 0.5

        def step(rows: Array, E: Array) -> Array:
            # The codes are eliminated, so that this is a proximal gradient step in e alone.
            residual = Z[rows] - (Z[rows] - E) @ V.T @ V / (1.0 + self.ridge)
            kept = observed[rows]
            return np.where(kept, penalty.prox(np.where(kept, residual, 0.0), threshold), residual)

        return minimise_rows(step, np.zeros_like(Z), self.tol * self._spread, self.max_iter)

    def _automatic_weight(self, observed: Array) -> float:
        fraction = max(float(observed.mean()), 1.0 / observed.size)
        if self.noise_penalty == "l1":
            return (fraction * max(observed.shape)) ** -0.5
        return 3.0 / 7.0 * (OUTLIER_FRACTION * fraction * len(observed)) ** -0.5

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@dataclass(frozen=True)
class _LowRankPlusNoise:
    """The problem in units of the data's mean magnitude; both solvers return the same things."""

    X: Array
    observed: Array
    penalty: Penalty
    weight: float

    def noise(self, M: Array, t: float) -> Array:
        """Proximal operator of the noise; free, so all that is left, where nothing is observed."""
        if self.observed.all():
            return self.penalty.prox(M, t)
        return np.where(self.observed, self.penalty.prox(np.where(self.observed, M, 0.0), t), M)

    def value(self, singular_values: Array, E: Array) -> float:
        return float(singular_values.sum()) + self.weight * self.penalty.value(E * self.observed)

    def alternate(
        self, start: Start, mu: float | None, rho: float, tol: float, max_iter: int
    ) -> Solution:
        """Alternating directions with a balanced penalty parameter."""
        balance = mu is None
        mu = 0.25 if mu is None else mu
        size = float(np.linalg.norm(self.X)) or 1.0
        L, E, Y = start
        U = np.zeros_like(self.X) if Y is None else Y / mu
        objective: list[float] = []
        for iteration in range(1, max_iter + 1):
            L, values = shrink_singular_values(self.X - E + U, 1.0 / mu)
            before, E = E, self.noise(self.X - L + U, self.weight / mu)
            residual = self.X - L - E
            U += residual
            objective.append(self.value(values, E))
            primal = float(np.linalg.norm(residual)) / size
            dual = float(np.linalg.norm(E - before)) / size
            if max(primal, dual) <= tol:
                return (L, E, mu * U), values, objective, True
            factor = balanced(iteration, primal, dual) if balance else 1.0
            mu *= factor
            U /= factor
        return (L, E, mu * U), values, objective, False

    def inexact(
        self, start: Start, mu: float | None, rho: float, tol: float, max_iter: int
    ) -> Solution:
        """Inexact augmented Lagrangian with a growing penalty parameter."""
        size = float(np.linalg.norm(self.X)) or 1.0
        spectral = float(np.linalg.norm(self.X, 2)) or 1.0
        mu = 1.25 / spectral if mu is None else mu
        largest = LARGEST_GROWTH * mu
        L, E, Y = start
        if Y is None:
            Y = self.X / max(spectral, float(np.abs(self.X).max()) / self.weight)
        objective: list[float] = []
        for _ in range(max_iter):
            E = self.noise(self.X - L + Y / mu, self.weight / mu)
            L, values = shrink_singular_values(self.X - E + Y / mu, 1.0 / mu)
            residual = self.X - L - E
            Y = Y + mu * residual
            objective.append(self.value(values, E))
            if float(np.linalg.norm(residual)) <= tol * size:
                return (L, E, Y), values, objective, True
            mu = min(rho * mu, largest)
        return (L, E, Y), values, objective, False
