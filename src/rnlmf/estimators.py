"""The scikit-learn estimators: thin shells over the engine."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    OneToOneFeatureMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from rnlmf import defaults
from rnlmf.conventions import like, report_fit
from rnlmf.engine import (
    Encoding,
    Options,
    Problem,
    Samples,
    Units,
    default_threads,
    encode,
    paper_order,
    single_pass,
    start,
)
from rnlmf.kernels import KERNELS, RBF, Kernel
from rnlmf.penalties import (
    CODE_PENALTIES,
    DICTIONARY_PENALTIES,
    L2,
    NOISE_PENALTIES,
    FeaturePenalty,
)

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class _Model:
    """What a fit leaves behind for new samples, in the engine's units."""

    units: Units
    problem: Problem
    atoms: Array
    code_metric: Array | None


class RNLMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Robust non-linear matrix factorization.

    Splits data ``X`` into clean data ``Y`` on a curved, low-dimensional structure and noise ``E``,
    ``X = Y + E``, with no clean copy to learn from. A dictionary ``D`` of atoms in data space
    represents the clean samples through a kernel, ``phi(Y) ~ phi(D) C``, by minimising

        |phi(X - E) - phi(D) C|^2 / 2 + lambda_D R(D) + lambda_C R(C) + lambda_E R(E),

    Eq. (RNLMF_1) of [1]_. :meth:`denoise` returns ``X - E`` and :meth:`transform` the codes ``C``,
    of the training data or of new samples; each row is treated on its own.

    Parameters
    ----------
    n_components : int or None
        Number of atoms ``d``. None: twice the number of features, at most 256 and at most half of
        the number of samples.
    kernel : {"rbf", "polynomial", "linear"} or Kernel
        See :mod:`rnlmf.kernels`.
    kernel_scale : float
        The kernel's ``sigma`` is this times the mean distance between samples (for kernels other
        than "rbf" at least their root mean square), unless the kernel brings its own. Smaller for
        stronger curvature: the paper uses 0.5, 1 and 3.
    code_penalty : {"l2", "l1", "nuclear"}
        ``R(C)``.
    code_weight : float
        ``lambda_C``, above zero: without it the codes of similar atoms are not determined.
    noise_penalty : {"l1", "l21", "l2"}
        ``R(E)``: wrong entries, wrong samples, or dense Gaussian noise.
    noise_weight : float or "auto"
        ``lambda_E``, in the units of the paper. "auto" sets the threshold above which a residual
        is noise to 5% of the data's standard deviation, whatever the data's scale.
    dictionary_penalty : {"l2", "nuclear"} or None
        ``R(D)``, in feature space.
    dictionary_weight : float
        ``lambda_D``.
    init : {"random", "samples"} or array of shape (n_components, n_features)
        First dictionary: Gaussian with each feature's mean and standard deviation, random samples,
        or the one given.
    order : {"auto", "single-pass", "paper"}
        "single-pass" updates dictionary and noise in one pass over the samples (RBF kernel with
        ``code_penalty="l2"`` only); "paper" is Algorithm 1 as printed, for everything. "auto" takes
        the single pass where it can.
    momentum : float or "auto"
        ``eta`` in [0, 1). "auto" is 0.9 in the single pass, where the samples have it too, and
        the paper's 0.5 in its order.
    step_damping : float
        ``tau_D >= 1`` of the dictionary step.
    curvature_shift : float
        ``mu >= 0`` of the dictionary step; raised by itself where the curvature is not positive.
    dictionary_step : {"auto", "newton", "spectral"}
        Relaxed Newton step, or the gradient over the curvature's spectral norm. "auto" takes the
        latter for more than 2048 atoms.
    max_iter : int
        Most iterations of the fit, and of the treatment of new samples.
    tol : float
        The fit stops when an iteration changes objective and dictionary by less, relatively; the
        treatment of a sample when no entry changes by more than this times ``sigma``.
    n_jobs : int or None
        Threads. None: as many as BLAS would use. Results do not depend on it.
    random_state : int, RandomState or None
        For the first dictionary, and for the samples that set ``sigma`` when there are many.
    callback : callable or None
        Called after each iteration with an object that has ``iteration``, ``max_iter``,
        ``objective`` and ``dictionary_change``; the fit stops when it returns True.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The dictionary ``D``.
    kernel_ : Kernel
        The kernel, with its ``sigma``.
    noise_weight_ : float
        ``lambda_E`` in use.
    objective_ : array
        Objective at each iteration; the dictionary is that of the lowest.
    n_iter_ : int
        Iterations of the fit.
    converged_ : bool
        Whether it stopped before `max_iter`.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    References
    ----------
    .. [1] J. Fan, C. Yang and M. Udell, "Robust Non-Linear Matrix Factorization for Dictionary
       Learning, Denoising, and Clustering", IEEE Transactions on Signal Processing, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import RNLMF
    >>> from rnlmf.datasets import corrupt_entries
    >>> from rnlmf.metrics import relative_rmse
    >>> t = np.linspace(0, 6, 500)
    >>> curve = np.column_stack([f(k * t) for k in range(1, 7) for f in (np.cos, np.sin)])
    >>> noisy = corrupt_entries(curve, 0.1, random_state=0)
    >>> clean = RNLMF(n_components=40, random_state=0).fit_denoise(noisy)
    >>> relative_rmse(curve, clean) < 0.2 * relative_rmse(curve, noisy)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel": [StrOptions(set(KERNELS)), Kernel],
        "kernel_scale": [Interval(Real, 0, None, closed="neither")],
        "code_penalty": [StrOptions(set(CODE_PENALTIES))],
        "code_weight": [Interval(Real, 0, None, closed="neither")],
        "noise_penalty": [StrOptions(set(NOISE_PENALTIES))],
        "noise_weight": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "dictionary_penalty": [StrOptions(set(DICTIONARY_PENALTIES)), None],
        "dictionary_weight": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"random", "samples"}), "array-like"],
        "order": [StrOptions({"auto", "single-pass", "paper"})],
        "momentum": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
        "step_damping": [Interval(Real, 1, None, closed="left")],
        "curvature_shift": [Interval(Real, 0, None, closed="left")],
        "dictionary_step": [StrOptions({"auto", "newton", "spectral"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
        "callback": [callable, None],
    }

    def __init__(
        self,
        n_components=None,
        *,
        kernel="rbf",
        kernel_scale=1.0,
        code_penalty="l2",
        code_weight=1e-2,
        noise_penalty="l1",
        noise_weight="auto",
        dictionary_penalty=None,
        dictionary_weight=0.0,
        init="random",
        order="auto",
        momentum="auto",
        step_damping=1.0,
        curvature_shift=0.0,
        dictionary_step="auto",
        max_iter=300,
        tol=3e-4,
        n_jobs=None,
        random_state=None,
        callback=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.kernel_scale = kernel_scale
        self.code_penalty = code_penalty
        self.code_weight = code_weight
        self.noise_penalty = noise_penalty
        self.noise_weight = noise_weight
        self.dictionary_penalty = dictionary_penalty
        self.dictionary_weight = dictionary_weight
        self.init = init
        self.order = order
        self.momentum = momentum
        self.step_damping = step_damping
        self.curvature_shift = curvature_shift
        self.dictionary_step = dictionary_step
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None) -> Self:
        """Learn the dictionary from noisy samples (Algorithm 1).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Noisy samples.
        y : ignored

        Returns
        -------
        self
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        rng = check_random_state(self.random_state)
        kernel = KERNELS[self.kernel]() if isinstance(self.kernel, str) else self.kernel
        kernel.validate()
        n_atoms = defaults.number_of_atoms(X, self.n_components)
        width = start.length_scale(X, kernel, self.kernel_scale, rng)
        units = start.data_units(X, kernel, width)
        spreads = start.spread(X, units)
        problem = self._problem(X, kernel, units, spreads)
        atoms = defaults.first_dictionary(X, self.init, units, spreads, n_atoms, rng)
        engine = self._engine(kernel, problem)
        momentum = self.momentum
        if momentum == "auto":
            momentum = 0.9 if engine is single_pass else 0.5
        options = Options(
            max_iter=self.max_iter,
            tol=self.tol,
            momentum=momentum,
            step_damping=self.step_damping,
            curvature_shift=self.curvature_shift,
            dictionary_step=self.dictionary_step,
            n_threads=self._n_threads(),
            callback=self.callback,
        )
        result = engine.fit(Samples(X, units), atoms, problem, options)

        self._model = _Model(units, problem, result.dictionary, result.code_metric)
        self.components_ = (result.dictionary * width + units.center).astype(X.dtype)
        self.kernel_ = type(kernel)(**{**kernel.get_params(deep=False), "sigma": width})
        self.noise_weight_ = problem.noise_weight / width**problem.noise_penalty.degree
        report_fit(self, result.objective, result.n_iter, result.converged)
        return self

    def fit_denoise(self, X, y=None):
        """Fit, and return the denoised training data ``X - E``, in the container of `X`."""
        return self.fit(X).denoise(X)

    def fit_transform(self, X, y=None):
        """Fit, and return the codes of the training data."""
        return self.fit(X).transform(X)

    def transform(self, X):
        """Codes ``C`` of samples, of shape (n_samples, n_components) (Algorithm 2)."""
        return self._encode(self._check(X), with_codes=True).codes

    def denoise(self, X):
        """Samples without their noise, ``X - E`` (Algorithm 2).

        Entries in which no noise was found are returned unchanged, to the bit. A data frame comes
        back as a data frame.
        """
        return like(X, self._denoise(self._check(X)))

    def noise(self, X):
        """Noise ``E`` of samples (Algorithm 2); exactly zero where none was found."""
        return like(X, self._noise(self._check(X)))

    def split(self, X):
        """Codes, noise and denoised samples at once: ``C``, ``E`` and ``X - E`` (Algorithm 2)."""
        data = self._check(X)
        encoding = self._encode(data, with_codes=True)
        noise = encoding.noise * data.dtype.type(self._model.units.width)
        return encoding.codes, like(X, noise), like(X, data - noise)

    def inverse_transform(self, X):
        """Predicted samples from codes.

        The codes give the kernel values, ``K = C (K_D + lambda_C I)`` for the squared penalty
        and ``K ~ C K_D`` otherwise, and with ``V = C * f'`` the prediction is ``(V D) / w``, a
        kernel-weighted mean of the atoms.
        """
        check_is_fitted(self)
        C = check_array(X, dtype=[np.float64, np.float32])
        model = self._model
        kernel, D = model.problem.kernel, model.atoms
        if C.shape[1] != len(D):
            raise ValueError(f"X has {C.shape[1]} columns, but there are {len(D)} codes per sample.")
        K_D = model.problem.atom_kernel(D)
        K = C @ K_D
        if isinstance(model.problem.code_penalty, L2):
            K += model.problem.code_weight * C
        V = C * kernel.slope_of_value(K)
        own = np.einsum("ij,ij->i", C, K)[:, None]
        weight = V.sum(axis=1, keepdims=True) if kernel.stationary else kernel.slope_of_value(own)
        weight = np.where(np.abs(weight) > np.finfo(float).tiny, weight, 1.0)
        return model.units.to_data(V @ D / weight).astype(C.dtype)

    def score(self, X, y=None):
        """Negative mean objective per sample: the higher, the better the model explains `X`."""
        return -float(self._encode(self._check(X), with_codes=False).objective.mean())

    @property
    def _n_features_out(self):
        return len(self.components_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)

    def _encode(self, X: Array, with_codes: bool) -> Encoding:
        model = self._model
        return encode(
            Samples(X, model.units),
            model.atoms,
            model.problem,
            code_metric=model.code_metric,
            max_iter=self.max_iter,
            tol=self.tol,
            n_threads=self._n_threads(),
            with_codes=with_codes,
        )

    def _noise(self, X: Array) -> Array:
        noise = self._encode(X, with_codes=False).noise
        noise *= self._model.units.width
        return noise

    def _denoise(self, X: Array) -> Array:
        noise = self._noise(X)
        return np.subtract(X, noise, out=noise)

    def _n_threads(self) -> int:
        return default_threads() if self.n_jobs is None else self.n_jobs

    def _problem(self, X: Array, kernel: Kernel, units: Units, spreads: Array) -> Problem:
        penalty = NOISE_PENALTIES[self.noise_penalty]()
        if self.noise_weight == "auto":
            weight = defaults.noise_weight(X, kernel, units, spreads, penalty)
        else:
            weight = float(self.noise_weight) * units.width**penalty.degree
        dictionary_penalty: FeaturePenalty | None = None
        if self.dictionary_penalty is not None:
            dictionary_penalty = DICTIONARY_PENALTIES[self.dictionary_penalty]()
        return Problem(
            kernel=kernel,
            code_penalty=CODE_PENALTIES[self.code_penalty](),
            code_weight=float(self.code_weight),
            noise_penalty=penalty,
            noise_weight=weight,
            dictionary_penalty=dictionary_penalty,
            dictionary_weight=float(self.dictionary_weight),
        )

    def _engine(self, kernel: Kernel, problem: Problem) -> Any:
        possible = type(kernel) is RBF and isinstance(problem.code_penalty, L2)
        if self.order == "single-pass" and not possible:
            raise ValueError(
                "order='single-pass' needs kernel='rbf' and code_penalty='l2'; use order='paper'."
            )
        return paper_order if self.order == "paper" or not possible else single_pass


class RNLMFDenoiser(OneToOneFeatureMixin, RNLMF):
    """:class:`RNLMF` for pipelines: :meth:`transform` returns the denoised samples ``X - E``.

    The parameters and attributes are those of :class:`RNLMF`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from rnlmf import RNLMFDenoiser
    >>> X, y = load_digits(return_X_y=True)
    >>> model = make_pipeline(RNLMFDenoiser(random_state=0), KNeighborsClassifier())
    >>> model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.9
    True
    """

    def transform(self, X):
        """Samples without their noise, ``X - E``."""
        return self._denoise(self._check(X))

    def inverse_transform(self, X):
        """The samples themselves: denoising has no inverse."""
        check_is_fitted(self)
        return X
