"""Kernels: a scalar function ``f`` of a simple argument, and its derivative.

Everything the method needs of a kernel follows from these two. With ``u(y, d)`` the argument,

* RBF: ``u = -|y - d|^2 / (2 sigma^2)``, ``f(u) = exp(u)``;
* polynomial: ``u = y.d / sigma^2 + c``, ``f(u) = u^q``.

Both arguments have the gradient ``du/dd = (y - s d) / sigma^2`` with ``s = 1`` for the RBF kernel
and ``s = 0`` for the polynomial one (:attr:`Kernel.stationary`). So one set of formulas for the
gradients and for the curvature with frozen weights serves both (:mod:`rnlmf.engine.dictionary`).

The methods below take data **in units of** ``sigma``: the callers divide by it once, and no factor
``1 / sigma^2`` appears in the iteration.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import pairwise_distances_chunked

from rnlmf.typing import Array

# Of the mean distance, in MiB.
WORKING_MEMORY = 4


class Kernel(BaseEstimator, ABC):  # type: ignore[misc]
    """Base class: a subclass gives :meth:`lift`, :meth:`f`, :meth:`slope` and :meth:`slope_of_value`.

    Parameters
    ----------
    sigma : float or None
        Length scale. ``None`` means ``kernel_scale`` times the mean distance between samples.

    Attributes
    ----------
    stationary : bool
        Whether the argument is ``-|y - d|^2 / 2`` (then :meth:`lift` is that of :class:`RBF`) or an
        inner product.
    gaussian : bool
        Whether the value is ``exp(u)``: what follows from that alone (the single pass, closed steps of
        samples) is used. Not inherited, because a kernel is derived to change its values.
    """

    stationary: ClassVar[bool]
    gaussian: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "gaussian" not in vars(cls):
            cls.gaussian = False

    def __init__(self, sigma: float | None = None) -> None:
        self.sigma = sigma

    def validate(self) -> None:
        """Raise `ValueError` if a parameter is out of range."""
        if self.sigma is not None and not (np.isfinite(self.sigma) and self.sigma > 0):
            raise ValueError(f"sigma={self.sigma!r} of the kernel must be positive or None.")

    @abstractmethod
    def lift(self, Y: Array, *, atoms: bool) -> Array:
        """Coordinates in which the kernel's argument is a plain inner product.

        ``lift(Y, atoms=False) @ lift(D, atoms=True).T`` is ``u(Y, D)``.
        """

    @abstractmethod
    def f(self, u: Array, out: Array | None = None) -> Array:
        """Kernel value from its argument."""

    @abstractmethod
    def slope(self, u: Array) -> Array:
        """Derivative ``f'(u)``."""

    @abstractmethod
    def slope_of_value(self, k: Array) -> Array:
        """Derivative as a function of the kernel value, on the branch where ``u >= 0`` (or RBF)."""

    @abstractmethod
    def self_argument(self, Y: Array) -> Array:
        """``u(y, y)`` of every row."""

    def argument(self, Y: Array, D: Array) -> Array:
        """``u(y_i, d_j)`` of all pairs of rows."""
        u: Array = self.lift(Y, atoms=False) @ self.lift(D, atoms=True).T
        return u

    def __call__(self, Y: Array, D: Array) -> Array:
        """Kernel matrix ``k(y_i, d_j)``."""
        u = self.argument(Y, D)
        return self.f(u, out=u)


class RBF(Kernel):
    """Gaussian radial basis function, ``exp(-|x - y|^2 / (2 sigma^2))``.

    The paper's text prints ``1 / sigma^2`` once; its gradients, its Lemma 1 and the authors' program
    have ``1 / (2 sigma^2)``, as here.
    """

    stationary: ClassVar[bool] = True
    gaussian: ClassVar[bool] = True

    def lift(self, Y: Array, *, atoms: bool) -> Array:
        """``[y, 1, -|y|^2/2]`` for samples and ``[d, -|d|^2/2, 1]`` for atoms."""
        n, m = Y.shape
        lifted = np.empty((n, m + 2), dtype=Y.dtype)
        lifted[:, :m] = Y
        norm_column = m if atoms else m + 1
        lifted[:, norm_column] = np.einsum("ij,ij->i", Y, Y)
        lifted[:, norm_column] *= -0.5
        lifted[:, 2 * m + 1 - norm_column] = 1.0
        return lifted

    def f(self, u: Array, out: Array | None = None) -> Array:
        # Rounding lifts the argument of far and equal points above zero.
        value: Array = np.exp(np.minimum(u, 0.0, out=out), out=out)
        return value

    def slope(self, u: Array) -> Array:
        return self.f(u)

    def slope_of_value(self, k: Array) -> Array:
        return k

    def self_argument(self, Y: Array) -> Array:
        return np.zeros(len(Y), dtype=Y.dtype)


class Polynomial(Kernel):
    """Polynomial kernel ``(x.y / sigma^2 + offset)^degree``; ``sigma=1`` is the paper's.

    Parameters
    ----------
    degree : int
        The exponent ``q``.
    offset : float
        The constant ``c >= 0``.
    sigma : float or None
        Length scale, see :class:`Kernel`.
    """

    stationary: ClassVar[bool] = False

    def __init__(self, degree: int = 2, offset: float = 1.0, sigma: float | None = None) -> None:
        super().__init__(sigma)
        self.degree = degree
        self.offset = offset

    def validate(self) -> None:
        super().validate()
        if int(self.degree) != self.degree or self.degree < 1:
            raise ValueError(f"degree={self.degree!r} of the polynomial kernel must be 1, 2, ...")
        if not (np.isfinite(self.offset) and self.offset >= 0):
            raise ValueError(f"offset={self.offset!r} of the polynomial kernel must be >= 0.")

    def lift(self, Y: Array, *, atoms: bool) -> Array:
        """``[y, 1]`` for samples and ``[d, c]`` for atoms."""
        n, m = Y.shape
        lifted = np.empty((n, m + 1), dtype=Y.dtype)
        lifted[:, :m] = Y
        lifted[:, m] = self.offset if atoms else 1.0
        return lifted

    def f(self, u: Array, out: Array | None = None) -> Array:
        value: Array = np.power(u, int(self.degree), out=out)
        return value

    def slope(self, u: Array) -> Array:
        value: Array = int(self.degree) * np.power(u, int(self.degree) - 1)
        return value

    def slope_of_value(self, k: Array) -> Array:
        q = int(self.degree)
        value: Array = q * np.abs(k) ** ((q - 1) / q)
        return value

    def self_argument(self, Y: Array) -> Array:
        u: Array = np.einsum("ij,ij->i", Y, Y) + Y.dtype.type(self.offset)
        return u


class Linear(Polynomial):
    """Linear kernel ``x.y / sigma^2``: the polynomial kernel with ``q = 1`` and ``c = 0``."""

    def __init__(self, sigma: float | None = None) -> None:
        super().__init__(degree=1, offset=0.0, sigma=sigma)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return ["sigma"]


KERNELS: dict[str, type[Kernel]] = {"rbf": RBF, "polynomial": Polynomial, "linear": Linear}

AnyKernel = TypeVar("AnyKernel", bound=type[Kernel])


def register(name: str) -> Callable[[AnyKernel], AnyKernel]:
    """Give a kernel class a name, as a decorator: to be used by it, and to load models with it.

    Examples
    --------
    >>> from rnlmf import RNLMF, kernels
    >>> @kernels.register("cubic")
    ... class Cubic(kernels.Polynomial):
    ...     def __init__(self, sigma=None):
    ...         super().__init__(degree=3, sigma=sigma)
    ...     @classmethod
    ...     def _get_param_names(cls):
    ...         return ["sigma"]
    >>> kernels.resolve("cubic")
    Cubic()
    >>> _ = kernels.KERNELS.pop("cubic")
    """

    def named(kind: AnyKernel) -> AnyKernel:
        if KERNELS.get(name, kind).__qualname__ != kind.__qualname__:
            raise ValueError(f"There is a kernel {name!r} already: {KERNELS[name].__name__}.")
        KERNELS[name] = kind
        return kind

    return named


def resolve(kernel: str | Kernel) -> Kernel:
    """The kernel of a name, or the one given, with its parameters checked."""
    found = KERNELS[kernel]() if isinstance(kernel, str) else kernel
    found.validate()
    return found


def mean_distance(X: Array) -> float:
    """Mean of ``|x_i - x_j|`` over all pairs of rows, the zero diagonal included.

    The rows are shifted and scaled first, so that neither a common offset nor extreme magnitudes
    spoil the squares. With missing values (NaN), distances are those over the features that both rows
    have, scaled up to all; pairs without a common feature do not count.
    """
    Z = X.astype(np.float64)
    Z -= np.nanmean(Z, axis=0)
    missing = bool(np.isnan(Z).any())
    magnitude = float(np.nanmax(np.abs(Z), initial=0.0))
    if magnitude == 0.0:
        return 0.0
    Z /= magnitude
    chunks = pairwise_distances_chunked(
        Z,
        metric="nan_euclidean" if missing else "euclidean",
        reduce_func=lambda distances, _: (
            np.nansum(distances, axis=1),
            np.sum(~np.isnan(distances), axis=1),
        ),
        working_memory=WORKING_MEMORY,
    )
    totals, counts = zip(*chunks, strict=True)
    return magnitude * float(np.concatenate(totals).sum() / np.concatenate(counts).sum())


def observed_distances(X: Array, Y: Array) -> Array:
    """Squared distances of all pairs of rows over the features that both have, scaled up to all.

    Infinite where a pair has no feature in common; in the precision of `Y`. Two products, where
    scikit-learn's ``nan_euclidean_distances`` takes four and a dozen sweeps over the result.
    """
    dtype = Y.dtype
    known, known_too = (~np.isnan(Z) for Z in (X, Y))
    X, Y = (np.nan_to_num(Z.astype(dtype), nan=0.0) for Z in (X, Y))
    left = np.hstack([X**2, known, -2.0 * X], dtype=dtype)
    squares: Array = left @ np.hstack([known_too, Y**2, Y], dtype=dtype).T
    np.maximum(squares, 0.0, out=squares)
    common = known.astype(dtype) @ (known_too.T / X.shape[1]).astype(dtype)
    nothing = common == 0.0
    with np.errstate(invalid="ignore"):
        squares /= common
    if nothing.any():
        squares[nothing] = np.inf
    return squares
