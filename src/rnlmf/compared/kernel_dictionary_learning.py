"""Kernel dictionary learning: sparse codes and a dictionary in the feature space of a kernel."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from rnlmf.cluster.affinity import unit_rows
from rnlmf.compared.base import check_memory
from rnlmf.compared.feature_dictionaries import EquiangularDictionary, SpannedDictionary
from rnlmf.compared.feature_space import FeatureSpace
from rnlmf.compared.pursuit import matching_pursuit
from rnlmf.conventions import CodesMixin, check_samples, report_fit
from rnlmf.engine.batches import canonical_order
from rnlmf.kernels import KERNELS, Kernel
from rnlmf.typing import Array
from rnlmf.validation import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE, Interval, StrOptions, fit_context

# The cost grows with the number of atoms (a choice).
MAX_DEFAULT_ATOMS = 128
# Iterations before outliers are looked for: at first everything is far from the dictionary.
TRUSTING_ITERATIONS = 5
# Matrices of n x n that are in memory at the same time.
MATRICES = 4


class KernelDictionaryLearning(CodesMixin, BaseEstimator):
    """Dictionary learning in the feature space of a kernel.

    Represents the images of samples by sparse combinations of atoms, with at most `n_nonzero` entries
    in a row of ``C``, by minimising

        |phi(X) - C A phi(X)|^2 / 2,

    with atoms ``A phi(X)`` of length one in the span of the images [1]_. In turns, codes are found by
    kernel orthogonal matching pursuit (a sample keeps its codes if they were better) and the dictionary
    by K-SVD or the method of optimal directions, so that the objective never rises.

    With an `outlier_weight` samples far from all others are told apart, as in [2]_: ``phi(x_i)`` is
    given up, for the weight, if the dictionary explains it worse, and has no say in the dictionary. An
    atom that the others can spare is spent on an outlier, which then is none, if that costs less than
    the weight: take few atoms.

    With ``structure="equiangular"`` atoms are images of vectors ``D`` of length one with the same
    angle between any two, ``D D^T = (1 - coherence) I + coherence 1 1^T`` [3]_, and samples are
    brought to length one. ``K(D, D)`` is then constant; ``D`` moves by projected gradient steps. No n
    x n matrix is needed.

    Parameters
    ----------
    n_components : int or None
        Number of atoms. None: a quarter of the number of samples, at most 128; for "equiangular" also
        at most the number of features, which is its limit.
    n_nonzero : int
        Most atoms in the representation of a sample.
    update : {"ksvd", "mod"}
        One atom and its codes after the other, or all atoms by least squares. No effect on
        "equiangular".
    structure : {"equiangular"} or None
        See above.
    coherence : float
        Of "equiangular": cosine between atoms, from ``-1 / (n_components - 1)`` (excluded) to 1.
    outlier_weight : float or None
        Half of the squared distance, in feature space, above which a sample is an outlier; the images
        of "rbf" have length one. None: there are none.
    kernel : {"rbf", "polynomial", "linear"} or Kernel
        See :mod:`rnlmf.kernels`.
    kernel_scale : float
        The kernel's ``sigma`` is this times the mean distance between samples, of kernels other than
        "rbf" their root mean square length, unless the kernel brings its own.
    max_iter : int
        Most iterations.
    tol : float
        The fit stops when an iteration lowers the objective by less, relative to its value without
        codes.
    random_state : int, RandomState or None
        For the first dictionary, of random samples.

    Attributes
    ----------
    dual_components_ : array of shape (n_components, n_samples)
        ``A``; without a `structure` only.
    components_ : array of shape (n_components, n_features)
        ``D``; with a `structure` only.
    n_components_ : int
        Number of atoms.
    outliers_ : array of bool of shape (n_samples,)
        Training samples that were given up.
    sigma_ : float
        The kernel's length scale.
    objective_ : array
        Objective at each iteration; it never rises.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether it stopped before `max_iter`.

    References
    ----------
    .. [1] H. Van Nguyen, V. M. Patel, N. M. Nasrabadi and R. Chellappa, "Design of non-linear kernel
       dictionaries for object recognition", IEEE Transactions on Image Processing, 2013.
    .. [2] J. Fan, C. Yang and M. Udell, "Robust Non-Linear Matrix Factorization for Dictionary
       Learning, Denoising, and Clustering", IEEE Transactions on Signal Processing, 2021, Eq. (KDL_13).
    .. [3] Y. Quan, C. Bao and H. Ji, "Equiangular kernel dictionary learning with applications to
       dynamic texture analysis", CVPR, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import KernelDictionaryLearning
    >>> t = np.linspace(0, 6, 200)
    >>> curve = np.column_stack([f(k * t) for k in range(1, 4) for f in (np.cos, np.sin)])
    >>> model = KernelDictionaryLearning(20, n_nonzero=3, random_state=0).fit(curve)
    >>> model.transform(curve[:5]).shape
    (5, 20)
    >>> bool(model.distances(curve).max() < model.distances(3 * curve).min())
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "n_components": [AT_LEAST_ONE, None],
        "n_nonzero": [AT_LEAST_ONE],
        "update": [StrOptions({"ksvd", "mod"})],
        "structure": [StrOptions({"equiangular"}), None],
        "coherence": [Interval(Real, -1, 1, closed="neither")],
        "outlier_weight": [POSITIVE, None],
        "kernel": [StrOptions(KERNELS.keys()), Kernel],
        "kernel_scale": [POSITIVE],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components=None,
        *,
        n_nonzero=5,
        update="ksvd",
        structure=None,
        coherence=0.1,
        outlier_weight=None,
        kernel="rbf",
        kernel_scale=1.0,
        max_iter=50,
        tol=1e-4,
        random_state=None,
    ):
        self.n_components = n_components
        self.n_nonzero = n_nonzero
        self.update = update
        self.structure = structure
        self.coherence = coherence
        self.outlier_weight = outlier_weight
        self.kernel = kernel
        self.kernel_scale = kernel_scale
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the dictionary from samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : None
            Ignored.

        Returns
        -------
        self
            Fitted.
        """
        samples = self._prepared(check_samples(self, X, fitting=True))
        if self.structure is None:
            check_memory(len(samples), MATRICES)
        n_atoms = self._number_of_atoms(*samples.shape)
        space = FeatureSpace.of(samples, self.kernel, self.kernel_scale)
        rng = check_random_state(self.random_state)
        first = canonical_order(samples)[rng.choice(len(samples), n_atoms, replace=False)]
        dictionary: SpannedDictionary | EquiangularDictionary
        if self.structure is None:
            dictionary = SpannedDictionary(space, samples, first, self.update)
        else:
            dictionary = EquiangularDictionary(space, samples, first, float(self.coherence))
        objective, converged = self._alternate(dictionary)
        self.sigma_ = space.sigma
        self._model = (space, *dictionary.frozen())
        if isinstance(dictionary, SpannedDictionary):
            self.dual_components_ = dictionary.dual()
        else:
            self.components_ = dictionary.D * space.sigma
        self.n_components_ = n_atoms
        report_fit(self, objective, len(objective), converged)
        return self

    def transform(self, X: Any) -> Array:
        """Codes of samples, of shape (n_samples, n_components), each by itself."""
        data = check_samples(self, X)
        codes: Array = self._encode(self._prepared(data))[0].astype(data.dtype)
        return codes

    def distances(self, X: Any) -> Array:
        """``|phi(x) - c phi(dictionary)|``, of every sample: how badly the dictionary explains it."""
        return self._encode(self._prepared(check_samples(self, X)))[1]

    def _prepared(self, X: Array) -> Array:
        data = X.astype(np.float64)
        return data if self.structure is None else unit_rows(data)

    def _encode(self, X: Array) -> tuple[Array, Array]:
        """Codes and distances."""
        space, reference, projection, atoms = self._model
        targets = space.products(X, reference) @ projection
        codes = matching_pursuit(targets, atoms, self.n_nonzero).toarray()
        # What lies outside of the span counts whole.
        outside = space.squares(X) - np.einsum("ij,ij->i", targets, targets)
        inside = np.sum((targets - codes @ atoms) ** 2, axis=1)
        return codes, np.sqrt(np.maximum(outside, 0.0) + inside)

    def _alternate(self, dictionary: Any) -> tuple[list[float], bool]:
        """Codes, outliers and dictionary in turns."""
        limit = np.inf if self.outlier_weight is None else float(self.outlier_weight)
        C = np.zeros((dictionary.n_samples, dictionary.n_atoms))
        least = self.tol * float(dictionary.halves(C).sum())
        objective: list[float] = []
        converged = False
        for iteration in range(self.max_iter):
            new = matching_pursuit(dictionary.targets(), dictionary.atoms(), self.n_nonzero).toarray()
            better = dictionary.halves(new) < dictionary.halves(C)
            C = np.where(better[:, None], new, C)
            halves = dictionary.halves(C)
            patience = iteration < TRUSTING_ITERATIONS
            self.outliers_ = np.zeros(len(C), dtype=bool) if patience else halves > limit
            C[self.outliers_] = 0.0
            C = dictionary.update(C, ~self.outliers_)
            halves = np.where(self.outliers_, limit, dictionary.halves(C))
            objective.append(float(halves.sum()))
            if len(objective) > 1 and not (patience and self.outlier_weight is not None):
                converged = objective[-2] - objective[-1] <= least
            if converged:
                break
        return objective, converged

    def _number_of_atoms(self, n: int, m: int) -> int:
        most, name = (
            (n, "n_samples") if self.structure is None else (min(n, m), "n_features or n_samples")
        )
        count = self.n_components
        if count is None:
            count = max(1, min(n // 4, MAX_DEFAULT_ATOMS, most))
        if count > most:
            raise ValueError(f"n_components={count} must not exceed {name}={most}: take fewer atoms.")
        if self.structure is not None and count > 1 and self.coherence <= -1.0 / (count - 1):
            least = f"-1 / (n_components - 1) = {-1 / (count - 1):g}"
            raise ValueError(f"coherence={self.coherence} must be above {least}.")
        return int(count)
