"""Penalties: a value and a proximal operator each, and the dictionary's penalties in feature space.

The operators are those of the paper: ``Theta`` (:func:`soft_threshold`), ``Psi``
(:func:`singular_value_threshold`) and ``Upsilon`` (:func:`row_shrink`, per sample, that is per row
here). ``prox(M, t)`` is the minimiser of ``|Z - M|_F^2 / 2 + t R(Z)``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator

from rnlmf.typing import Array


def clip_rows(M: Array, t: Array | float, out: Array | None = None) -> Array:
    """Clip to ``[-t, t]``, the part of ``M`` that soft thresholding removes."""
    # np.clip with array bounds is several times slower than these two.
    out = np.maximum(M, -t, out=out)
    clipped: Array = np.minimum(out, t, out=out)
    return clipped


def soft_threshold(M: Array, t: Array | float) -> Array:
    """``Theta``: ``sign(v) max(|v| - t, 0)`` of every entry; exactly zero where ``|v| <= t``."""
    thresholded: Array = M - clip_rows(M, t)
    return thresholded


def row_norms(M: Array) -> Array:
    """Euclidean norm of every row, as a column."""
    norms: Array = np.sqrt(np.einsum("ij,ij->i", M, M))[:, None]
    return norms


def row_shrink(M: Array, t: Array | float) -> Array:
    """``Upsilon``: every row ``v`` becomes ``max(1 - t / |v|, 0) v``."""
    # The bound makes the factor zero below the threshold, and keeps 0 / 0 away.
    bounded = np.maximum(np.maximum(row_norms(M), t), np.finfo(M.dtype).tiny)
    shrunk: Array = M * (1.0 - t / bounded)
    return shrunk.astype(M.dtype, copy=False)


def change_singular_values(M: Array, change: Callable[[Array], Array]) -> tuple[Array, Array]:
    """`M` with its singular values changed, and those that are left, largest first.

    For a tall matrix only the small Gram matrix is factorized: with ``M^T M = V S^2 V^T`` the result
    is ``M V change(S) / S V^T``. Singular values below the square root of the rounding unit, relative
    to the largest, are not resolved; `change` should make them zero.
    """
    if M.shape[0] < M.shape[1]:
        transposed, values = change_singular_values(M.T, change)
        return transposed.T, values
    gram = (M.T @ M).astype(np.float64)
    squares, V = scipy.linalg.eigh(gram)
    values = np.sqrt(np.maximum(squares, 0.0))
    new = np.maximum(change(values), 0.0)
    ratio = np.divide(new, values, out=np.zeros_like(new), where=new > 0.0)
    # What few directions lose is cheaper than what many keep.
    kept, less = np.flatnonzero(ratio), np.flatnonzero(ratio != 1.0)
    some, factor, rest = (kept, ratio, 0.0) if len(kept) <= len(less) else (less, ratio - 1.0, M)
    V = V[:, some].astype(M.dtype)
    changed: Array = rest + np.linalg.multi_dot([M, V * factor[some].astype(M.dtype), V.T])
    return changed, new[kept][::-1]


def shrink_singular_values(M: Array, t: float) -> tuple[Array, Array]:
    """:func:`singular_value_threshold`, and the singular values that are left, largest first."""
    return change_singular_values(M, lambda values: values - t)


def singular_value_threshold(M: Array, t: float) -> Array:
    """``Psi``: soft thresholding of the singular values (Cai, Candes and Shen 2010)."""
    return shrink_singular_values(M, t)[0]


class Penalty(BaseEstimator, ABC):  # type: ignore[misc]
    """Base class of the penalties on codes and noise: a subclass gives `row_values` and `prox`.

    What a solver may use beyond these two is said by attributes. Those that promise a formula are not
    inherited, because a penalty is derived to change its formula.

    Attributes
    ----------
    degree : int
        ``R(s Z) = s^degree R(Z)``: how a weight changes with the unit of the data.
    by_row : bool
        Whether the penalty is a sum over rows, so that samples can be treated one by one.
    entrywise : bool
        Whether it is a sum over entries, so that a threshold is one of an entry.
    ridge : bool
        Whether it is half the squared norm: codes have the closed form of Eq. (C_sol_1). Not inherited.
    linear_codes : bool
        Whether codes of new samples are a linear function of kernel values. Not inherited.
    compiled_form : {"entries", "rows", "squares", ""}
        Which compiled step computes the proximal operator, if any: firm thresholding with a `knee`,
        shrinking of rows, or of everything. Not inherited.
    knee : float
        Size from which on an entry is not shrunk; infinite if there is none.
    """

    degree: ClassVar[int] = 1
    by_row: ClassVar[bool] = True
    entrywise: ClassVar[bool] = True
    ridge: ClassVar[bool] = False
    linear_codes: ClassVar[bool] = False
    compiled_form: ClassVar[str] = ""
    knee: float = np.inf

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for promise in ("ridge", "linear_codes", "compiled_form"):
            if promise not in vars(cls):
                setattr(cls, promise, getattr(Penalty, promise))

    def relaxation(self) -> Penalty:
        """A convex penalty to begin with, until the dictionary has found the data; itself if convex."""
        return self

    def validate(self) -> None:
        """Raise `ValueError` if a parameter is out of range."""

    def in_unit(self, unit: float) -> Penalty:
        """The same penalty for data that were divided by `unit`: parameters with a unit follow."""
        return self

    def row_values(self, Z: Array) -> Array:
        """Value of every row, of a penalty that is a sum over rows."""
        raise TypeError(f"{type(self).__name__} is not a sum over rows.")

    def value(self, Z: Array) -> float:
        """``R(Z)``."""
        return float(self.row_values(Z).sum(dtype=np.float64))

    @abstractmethod
    def prox(self, M: Array, t: Any) -> Array:
        """Proximal operator; ``t`` is a number or a column with one number per row."""

    def code_metric(self, code_gram: Array) -> Array | None:
        """What codes of new samples need of ``C^T C``, if anything; see ``Problem.encoder``."""
        return None

    def remainder(self, M: Array, t: Array, out: Array) -> Array:
        """``M - prox(M, t)``, into ``out`` (which may be ``M`` itself)."""
        remainder: Array = np.subtract(M, self.prox(M, t), out=out)
        return remainder


class L1(Penalty):
    """Sum of absolute values: sparse entries."""

    compiled_form: ClassVar[str] = "entries"

    def row_values(self, Z: Array) -> Array:
        values: Array = np.abs(Z).sum(axis=1)
        return values

    def value(self, Z: Array) -> float:
        return float(np.abs(Z).sum())

    def prox(self, M: Array, t: Any) -> Array:
        return soft_threshold(M, t)

    def remainder(self, M: Array, t: Array, out: Array) -> Array:
        return clip_rows(M, t, out=out)


class MinimaxConcave(Penalty):
    """``sum_ij rho(z_ij)``, ``rho(z) = |z| - z^2 / (2 b)`` up to the knee ``b``, and ``b / 2`` after.

    The minimax concave penalty [1]_: like l1 for small values, but a value beyond the knee costs no
    more than one at the knee, so gross errors are not shrunk. Its proximal operator is firm
    thresholding [2]_, the identity above the knee; where the threshold exceeds the knee, it is hard
    thresholding at ``sqrt(t b)``. An infinite knee is l1.

    Parameters
    ----------
    knee : float
        ``b``, in the unit of what is penalised.

    References
    ----------
    .. [1] C.-H. Zhang, "Nearly unbiased variable selection under minimax concave penalty", Annals of
       Statistics, 2010.
    .. [2] H.-Y. Gao and A. G. Bruce, "WaveShrink with firm shrinkage", Statistica Sinica, 1997.
    """

    compiled_form: ClassVar[str] = "entries"

    def __init__(self, knee: float = np.inf) -> None:
        self.knee = knee

    def validate(self) -> None:
        if not self.knee > 0.0:
            raise ValueError(f"knee={self.knee!r} of MinimaxConcave must be above zero.")

    def in_unit(self, unit: float) -> MinimaxConcave:
        return MinimaxConcave(self.knee / unit)

    def relaxation(self) -> Penalty:
        """L1: before there is a model, all is beyond the knee, and would be removed whole for ever."""
        return L1()

    def row_values(self, Z: Array) -> Array:
        bounded = np.minimum(np.abs(Z), self.knee)
        values: Array = bounded.sum(axis=1) - (bounded**2).sum(axis=1) / (2.0 * self.knee)
        return values

    def threshold_and_slope(self, t: Any) -> tuple[Array, Array]:
        """``prox(z, t) = sign(z) min(|z|, slope max(|z| - threshold, 0))``."""
        concave = np.minimum(np.asarray(t) / self.knee, 1.0)
        threshold = np.where(concave < 1.0, t, np.sqrt(np.maximum(t, 0.0) * self.knee))
        slope = 1.0 / np.maximum(1.0 - concave, np.finfo(np.float32).tiny)
        return threshold, slope

    def prox(self, M: Array, t: Any) -> Array:
        if np.isinf(self.knee):
            return soft_threshold(M, t)
        threshold, slope = self.threshold_and_slope(t)
        excess = np.maximum(np.abs(M) - threshold, 0.0)
        # A product that overflows is larger than |M|, which is then taken.
        with np.errstate(over="ignore"):
            size = np.minimum(np.abs(M), slope * excess)
        shrunk: Array = np.copysign(size, M).astype(M.dtype, copy=False)
        return shrunk


class L21(Penalty):
    """Sum of the Euclidean norms of the rows: few bad samples."""

    entrywise: ClassVar[bool] = False
    compiled_form: ClassVar[str] = "rows"

    def row_values(self, Z: Array) -> Array:
        norms: Array = row_norms(Z)[:, 0]
        return norms

    def prox(self, M: Array, t: Any) -> Array:
        return row_shrink(M, t)


class L2(Penalty):
    """Half the squared Frobenius norm: dense Gaussian noise, or ridge codes."""

    degree: ClassVar[int] = 2
    ridge: ClassVar[bool] = True
    linear_codes: ClassVar[bool] = True
    compiled_form: ClassVar[str] = "squares"

    def row_values(self, Z: Array) -> Array:
        values: Array = 0.5 * np.einsum("ij,ij->i", Z, Z)
        return values

    def prox(self, M: Array, t: Any) -> Array:
        shrunk: Array = M / (1.0 + t)
        return shrunk.astype(M.dtype, copy=False)


class Nuclear(Penalty):
    """Sum of the singular values: codes of low rank."""

    by_row: ClassVar[bool] = False
    entrywise: ClassVar[bool] = False
    linear_codes: ClassVar[bool] = True

    def code_metric(self, code_gram: Array) -> Array | None:
        """``B = (C^T C)^(1/2)``."""
        squares, vectors = np.linalg.eigh(code_gram)
        root: Array = (vectors * np.sqrt(np.maximum(squares, 0.0))) @ vectors.T
        return root

    def value(self, Z: Array) -> float:
        gram = (Z.T @ Z if Z.shape[0] >= Z.shape[1] else Z @ Z.T).astype(np.float64)
        squares = scipy.linalg.eigvalsh(gram)
        return float(np.sqrt(np.maximum(squares, 0.0)).sum())

    def prox(self, M: Array, t: Any) -> Array:
        return singular_value_threshold(M, float(t))


class FeaturePenalty(BaseEstimator, ABC):  # type: ignore[misc]
    """Penalty on the dictionary's image in feature space, a function of ``K_D = K(D, D)``.

    Its gradient with respect to ``K_D``, doubled, joins the Gram matrix of the codes: the loss has
    the term ``<C^T C, K_D> / 2``, so adding :meth:`gram` to ``C^T C`` gives gradient and curvature
    of both at once.
    """

    def validate(self) -> None:
        """Raise `ValueError` if a parameter is out of range."""

    @abstractmethod
    def value(self, K_D: Array) -> float:
        """``R(D)``."""

    @abstractmethod
    def gram(self, K_D: Array) -> Array:
        """Twice the derivative of the value with respect to ``K_D``."""


class FeatureL2(FeaturePenalty):
    """``|phi(D)|_F^2 / 2 = Tr K(D, D) / 2``; constant, without effect, for the RBF kernel."""

    def value(self, K_D: Array) -> float:
        return 0.5 * float(np.trace(K_D))

    def gram(self, K_D: Array) -> Array:
        return np.eye(len(K_D))


class FeatureNuclear(FeaturePenalty):
    """``|phi(D)|_* = Tr K(D, D)^(1/2)``: a dictionary of low rank in feature space."""

    def value(self, K_D: Array) -> float:
        return float(np.sqrt(np.maximum(scipy.linalg.eigvalsh(K_D), 0.0)).sum())

    def gram(self, K_D: Array) -> Array:
        values, vectors = scipy.linalg.eigh(K_D)
        # The derivative is infinite at rank deficiency: bounded where the value is down to rounding.
        floor = max(values[-1] * len(values) * np.finfo(float).eps, np.finfo(float).tiny)
        inverse_root: Array = (vectors / np.sqrt(np.maximum(values, floor))) @ vectors.T
        return inverse_root


CODE_PENALTIES: dict[str, type[Penalty]] = {"l2": L2, "l1": L1, "nuclear": Nuclear}
NOISE_PENALTIES: dict[str, type[Penalty]] = {"l1": L1, "l21": L21, "l2": L2}
DICTIONARY_PENALTIES: dict[str, type[FeaturePenalty]] = {"l2": FeatureL2, "nuclear": FeatureNuclear}

AnyPenalty = TypeVar("AnyPenalty", bound=type[Penalty] | type[FeaturePenalty])
Resolved = TypeVar("Resolved", Penalty, FeaturePenalty)


def register(name: str) -> Callable[[AnyPenalty], AnyPenalty]:
    """Give a penalty class a name, as a decorator: to be used by it, and to load models with it.

    The name serves wherever the penalty can: codes, noise (if it is a sum over rows), dictionary.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import penalties
    >>> @penalties.register("positive")
    ... class Positive(penalties.Penalty):
    ...     def row_values(self, Z):
    ...         return np.where(Z < 0.0, np.inf, Z).sum(axis=1)
    ...     def prox(self, M, t):
    ...         return np.maximum(M - t, 0.0)
    >>> penalties.resolve("positive", penalties.NOISE_PENALTIES)
    Positive()
    >>> for family in (penalties.NOISE_PENALTIES, penalties.CODE_PENALTIES):
    ...     _ = family.pop("positive")
    """

    def named(kind: AnyPenalty) -> AnyPenalty:
        families: list[dict[str, Any]] = [DICTIONARY_PENALTIES]
        if issubclass(kind, Penalty):
            families = [CODE_PENALTIES, NOISE_PENALTIES] if kind.by_row else [CODE_PENALTIES]
        for family in families:
            if family.get(name, kind).__qualname__ != kind.__qualname__:
                raise ValueError(f"There is a penalty {name!r} already: {family[name].__name__}.")
            family[name] = kind
        return kind

    return named


def resolve(penalty: str | Resolved, family: Mapping[str, type[Resolved]]) -> Resolved:
    """The penalty of a name in a family, or the one given, with its parameters checked."""
    found = family[penalty]() if isinstance(penalty, str) else penalty
    found.validate()
    return found
