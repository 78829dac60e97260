"""The factorization as a scikit-learn estimator: a thin shell over the engine."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from rnlmf.conventions import check_samples, like, masked, report_fit
from rnlmf.engine import Encoding, StopReason, has_missing
from rnlmf.engine.source import RowSource
from rnlmf.estimators.large import by_block, in_memory, rows_of
from rnlmf.estimators.tensors import takes_tensors
from rnlmf.estimators.uncertainty import remaining_error, scores_of
from rnlmf.fitting.checkpoint import Checkpoint
from rnlmf.fitting.defaults import number_of_atoms
from rnlmf.fitting.learner import Learner
from rnlmf.fitting.settings import SOLVERS, LearnerSettings, SolverOptions, threads_of
from rnlmf.kernels import KERNELS, Kernel
from rnlmf.model_selection.held_out import held_out_score
from rnlmf.opinions import Judge, Judgement, Sequence
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.dictionary import FARTHEST, DictionaryOpinion, bounded
from rnlmf.opinions.pixels import PixelJudge, same_unit
from rnlmf.penalties import (
    CODE_PENALTIES,
    DICTIONARY_PENALTIES,
    NOISE_PENALTIES,
    FeaturePenalty,
    Penalty,
)
from rnlmf.progress import Report, progress
from rnlmf.typing import Array
from rnlmf.validation import (
    AT_LEAST_ONE,
    AUTO,
    N_JOBS,
    NOT_NEGATIVE,
    POSITIVE,
    Interval,
    StrOptions,
    fit_context,
)

# Fewer rows say nothing of how cells are related. More columns are pixels of one unit, as are those
# that share both ends of a scale; of more still the dictionary alone speaks: matrices are inverted.
FEWEST_ROWS = 30
MOST_COLUMNS = 256
MOST_PIXELS = 2048


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
        Number of atoms ``d``. None: six times the number of features, at most 256 and at most a
        fifth of the number of samples.
    kernel : {"rbf", "polynomial", "linear"} or Kernel
        See :mod:`rnlmf.kernels`.
    kernel_scale : float or "auto"
        The kernel's ``sigma`` is this times the mean distance between samples (for kernels other
        than "rbf" at least their root mean square), unless the kernel brings its own. Smaller for
        stronger curvature: the paper uses 0.5, 1 and 3. "auto" chooses from 0.5, 1 and 2 by
        held-out entries (see Notes).
    code_penalty : {"l2", "l1", "nuclear"} or Penalty
        ``R(C)``, see :mod:`rnlmf.penalties`.
    code_weight : float or "auto"
        ``lambda_C``, above zero: without it the codes of similar atoms are not determined. "auto"
        chooses from powers of ten by held-out entries.
    noise_penalty : {"adaptive", "l1", "l21", "l2"} or Penalty
        ``R(E)``: wrong entries, wrong samples ("l21"), or dense Gaussian noise ("l2"). "adaptive" is
        l1 that spares samples with few errors and takes large errors away whole, see
        :mod:`rnlmf.engine.corruption`.
    noise_weight : float, "auto" or "scale"
        ``lambda_E``, in the units of the paper. "scale" sets the threshold above which a residual
        is noise to 5% of the data's standard deviation, whatever the data's scale; "auto" chooses it
        between 1.25% and 160% by held-out entries (see Notes).
    opinions : {"auto", "dictionary"}
        Who has a say on which cells are wrong and what they should be. "auto": if no weight of the
        noise is given, several opinions that did not see the cell (:mod:`rnlmf.opinions`): the
        dictionary, the other columns, similar rows and neighbours in time. Pixels, which are more than
        256 features or share black and white, are judged by the others and by similar images
        (:mod:`rnlmf.opinions.pixels`). With more than 2,048 features, and if a weight is given: the
        dictionary alone, as in the paper ("dictionary").
    sequence : {"auto"} or bool
        Whether rows are in the order of time. "auto" uses their order where it helps to predict cells.
    feature_scale : {"auto", "robust"} or None
        Whether every feature is divided by its robust spread before distances are taken. "auto" does
        where several opinions are heard; distances between images need none.
    neighbors : float or "auto"
        Share, between 0 and 1, of the nearest denoised samples in the prediction of every entry, see
        :mod:`rnlmf.fitting.neighbours`; 0 is the paper's method. "auto" chooses it by held-out
        entries if the noise is "adaptive" or values are missing, and is 0 otherwise.
    dictionary_penalty : {"l2", "nuclear"}, FeaturePenalty or None
        ``R(D)``, in feature space.
    dictionary_weight : float
        ``lambda_D``.
    init : {"random", "samples"} or array of shape (n_components, n_features)
        First dictionary: Gaussian with each feature's mean and standard deviation, random samples,
        or the one given.
    solver : {"auto", "single-pass", "paper"} or SolverOptions
        "single-pass" updates dictionary and noise in one pass over the samples (RBF kernel with
        ``code_penalty="l2"`` only); "paper" is Algorithm 1 as printed, for everything. "auto" takes
        the single pass where it can. :class:`SolverOptions` has momentum and step lengths as well.
    max_iter : int
        Most iterations of the fit, and of the treatment of new samples.
    tol : float
        The fit stops when an iteration changes objective and dictionary by less, relatively; the
        treatment of a sample when no entry changes by more than this times ``sigma``.
    n_jobs : int or None
        Threads; -1 is all cores. None: as many as BLAS would use. Results do not depend on it.
    random_state : int, RandomState or None
        For the first dictionary, and for the samples that set ``sigma`` when there are many.
    verbose : bool or int
        Tell on standard error how far a fit is: a bar in a terminal (with `rich`), lines elsewhere.
    callback : callable or None
        Called after each iteration with an object that has ``iteration``, ``max_iter``,
        ``objective`` and ``dictionary_change``; the fit stops when it returns True.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The dictionary ``D``.
    kernel_ : Kernel
        The kernel, with its ``sigma``.
    noise_weight_, kernel_scale_, code_weight_, neighbors_ : float
        Values in use.
    n_components_ : int
        Number of atoms.
    feature_scale_ : array of shape (n_features,) or None
        What every feature is divided by; None where they are taken as they are.
    sequence_ : bool
        Whether the order of rows is used.
    left_alone_ : dict
        Features with suspicious entries that are left as they are, by their number, and why.
    selection_ : list of dict
        What was tried for the parameters that are "auto", with the losses of held-out entries
        (:mod:`rnlmf.model_selection.held_out`), best first; empty where there was nothing to
        choose, or too few entries.
    selection_confidence_ : float or None
        How often the chosen values are the best when the held-out entries are redrawn.
    objective_ : array
        Objective at each iteration; the dictionary is that of the lowest.
    n_iter_ : int
        Iterations of the fit.
    converged_ : bool
        Whether it stopped before `max_iter`.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Notes
    -----
    Parameters that are "auto" are chosen without clean data: 5% of the entries are hidden and
    predicted, and a search over the values, one parameter after the other, looks for the lowest
    robust loss (:mod:`rnlmf.model_selection.held_out`); of thresholds that are not credibly worse
    than the best, the largest is taken. It takes about seven fits, to at most 20,000 samples. Give
    numbers, or ``noise_weight="scale"`` and a ``kernel_scale``, to fit once.

    Missing values (NaN) have no say in the fit and are filled in by :meth:`denoise`.

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
    >>> model = RNLMF(40, random_state=0)
    >>> clean = model.fit_denoise(noisy)
    >>> relative_rmse(curve, clean) < 0.2 * relative_rmse(curve, noisy)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "n_components": [AT_LEAST_ONE, None],
        # Views: names that are registered later count.
        "kernel": [StrOptions(KERNELS.keys()), Kernel],
        "kernel_scale": [POSITIVE, AUTO],
        "code_penalty": [StrOptions(CODE_PENALTIES.keys()), Penalty],
        "code_weight": [POSITIVE, AUTO],
        "noise_penalty": [StrOptions({"adaptive"}), StrOptions(NOISE_PENALTIES.keys()), Penalty],
        "noise_weight": [NOT_NEGATIVE, StrOptions({"auto", "scale"})],
        "opinions": [StrOptions({"auto", "dictionary"})],
        "sequence": ["boolean", AUTO],
        "feature_scale": [StrOptions({"auto", "robust"}), None],
        "neighbors": [Interval(Real, 0, 1, closed="both"), AUTO],
        "dictionary_penalty": [StrOptions(DICTIONARY_PENALTIES.keys()), FeaturePenalty, None],
        "dictionary_weight": [NOT_NEGATIVE],
        "init": [StrOptions({"random", "samples"}), "array-like"],
        "solver": [StrOptions(set(SOLVERS)), SolverOptions],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "callback": [callable, None],
    }

    # Models of files that were saved before there were opinions.
    _judge: Judge | PixelJudge | None = None
    _columns: Columns | None = None

    def __init__(
        self,
        n_components=None,
        *,
        kernel="rbf",
        kernel_scale="auto",
        code_penalty="l2",
        code_weight=1e-2,
        noise_penalty="adaptive",
        noise_weight="auto",
        opinions="auto",
        sequence="auto",
        feature_scale="auto",
        neighbors="auto",
        dictionary_penalty=None,
        dictionary_weight=0.0,
        init="random",
        solver="auto",
        max_iter=300,
        tol=3e-4,
        n_jobs=None,
        random_state=None,
        verbose=False,
        callback=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.kernel_scale = kernel_scale
        self.code_penalty = code_penalty
        self.code_weight = code_weight
        self.noise_penalty = noise_penalty
        self.noise_weight = noise_weight
        self.opinions = opinions
        self.sequence = sequence
        self.feature_scale = feature_scale
        self.neighbors = neighbors
        self.dictionary_penalty = dictionary_penalty
        self.dictionary_weight = dictionary_weight
        self.init = init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    @takes_tensors
    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X, y=None, *, mask=None, groups=None, times=None, checkpoint=None, resume=False
    ) -> Self:
        """Learn the dictionary from noisy samples (Algorithm 1), and the opinions on their cells.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or rows that are not in memory
            Noisy samples; NaN is a missing value. Files, large memory maps and Dask collections
            (:func:`rnlmf.sources.row_source`) are read by block, and the dictionary alone is heard.
        y : None
            Ignored.
        mask : array-like of bool of the shape of `X`, or None
            Entries that are known to be wrong: they are treated as missing.
        groups : array-like of shape (n_samples,) or None
            Which sequence a row belongs to, where there are several one below the other.
        times : array-like of shape (n_samples,) or None
            When rows were measured, if not at even steps.
        checkpoint : path or None
            The state of the fit is written to this file every half minute
            (:mod:`rnlmf.fitting.checkpoint`).
        resume : bool
            Go on from the `checkpoint` of a fit to the same data that was ended.

        Returns
        -------
        self
        """
        data = self._rows(X, mask, fitting=True)
        with progress(self.verbose) as report:
            self._fit(data, groups, times, report, checkpoint, resume)
        return self

    def _fit(
        self,
        X: Array,
        groups: Any,
        times: Any,
        report: Report,
        checkpoint: Any = None,
        resume: bool = False,
    ) -> Judgement | None:
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        parameters = self.get_params(deep=False)
        judging = self._hears_opinions(X)
        pixels = judging and (X.shape[1] > MOST_COLUMNS or same_unit(X))
        judging = judging and not pixels
        scaled = self.feature_scale == "robust" or (self.feature_scale == "auto" and judging)
        self._columns = Columns.of(in_memory(X)) if scaled else None
        data = self._scaled(X)
        if judging:
            parameters["neighbors"] = 0.0
            if self._columns is not None:
                # What is beyond any plausible range has nothing to say.
                data[self._columns.absurd(self._columns.scaled(X))] = np.nan
        learner = Learner(LearnerSettings.of(parameters), report)
        kept = None
        if checkpoint is not None:
            kept = Checkpoint(checkpoint, self.get_params(deep=False), data, resume=resume)
        choice, seed = learner.begin(data, seed, kept)
        model, result = learner.learn(
            data, choice.tuning, seed, learner.reporting(self.callback), checkpoint=kept
        )
        neighbours = learner.neighbours(data, model, result, seed)
        self._model = model = replace(model, neighbours=neighbours)
        self._judge, judgement = None, None
        if judging:
            report("judging cells", None)
            self._judge, judgement = Judge.learn(
                X,
                self._rows_in_order(X, groups, times),
                force_order=self.sequence is True,
                further=(DictionaryOpinion(model, threads_of(self.n_jobs)),) if scaled else (),
            )
        elif pixels:
            report("judging pixels", None)
            self._judge, judgement = PixelJudge.learn(X)

        width, kernel = model.units.width, model.problem.kernel
        self.components_ = self._unscaled(model.atoms * width + model.units.center).astype(X.dtype)
        self.n_components_ = len(self.components_)
        self.feature_scale_ = None if self._columns is None else self._columns.spread
        self.kernel_ = type(kernel)(**{**kernel.get_params(deep=False), "sigma": width})
        self.kernel_scale_ = choice.tuning.kernel_scale
        self.code_weight_ = choice.tuning.code_weight
        self.neighbors_ = 0.0 if model.neighbours is None else model.neighbours.share
        self.noise_weight_ = model.problem.noise_weight / width**model.problem.noise_penalty.degree
        self.selection_, self.selection_confidence_ = choice.table, choice.confidence
        self.sequence_ = self._judge is not None and self._judge.ordered
        self.left_alone_ = {} if self._judge is None else self._judge.left_alone
        if result.reason is StopReason.INTERRUPTED:
            # What there is can be used; what would have come next is not run.
            self.objective_, self.n_iter_ = np.array(result.objective), result.n_iter
            self.converged_ = False
            raise KeyboardInterrupt
        report_fit(self, result.objective, result.n_iter, result.converged)
        return judgement

    @takes_tensors
    @fit_context(prefer_skip_nested_validation=True)
    def fit_denoise(self, X, y=None, *, mask=None, groups=None, times=None):
        """Fit, and return the denoised training data ``X - E``, in the container of `X`."""
        data = self._rows(X, mask, fitting=True)
        with progress(self.verbose) as report:
            judgement = self._fit(data, groups, times, report)
        return self.denoise(X, mask=mask) if judgement is None else like(X, judgement.repaired(data))

    def fit_transform(self, X, y=None, *, mask=None, groups=None, times=None):
        """Fit, and return the codes of the training data."""
        return self.fit(X, mask=mask, groups=groups, times=times).transform(X, mask=mask)

    @takes_tensors
    def transform(self, X, *, mask=None, out=None):
        """Codes ``C`` of samples, of shape (n_samples, n_components) (Algorithm 2).

        Those of data that are not in memory are written to `out`, as by :meth:`denoise`.
        """
        data = self._scaled(self._rows(X, mask))
        if isinstance(data, RowSource):
            return by_block(data, self._codes, self.n_components_, out)
        return self._codes(data)

    @takes_tensors
    def denoise(self, X, *, mask=None, groups=None, times=None, out=None):
        """Samples without their noise, ``X - E`` (Algorithm 2).

        Entries in which no noise was found are returned unchanged, to the bit. Missing entries (NaN,
        or where `mask` is True) are filled with the prediction. A sample without any value gets the
        mean, or the prediction there. A data frame comes back as a data frame. If the model uses the
        order of rows (``sequence_``), so does this, where it helps. Data that are not in memory
        (:mod:`rnlmf.sources`) are treated block by block, and written to `out`.
        """
        data = self._rows(X, mask)
        if isinstance(data, RowSource):
            return by_block(data, self._denoised, data.shape[1], out)
        return like(X, self._denoised(data, groups, times))

    @takes_tensors
    def noise(self, X, *, mask=None):
        """Noise ``E`` of samples (Algorithm 2); zero where none was found, NaN where no value is."""
        data = self._check(X, mask)
        return like(X, data - self._denoised(data))

    def split(self, X, *, mask=None):
        """Codes, noise and denoised samples at once: ``C``, ``E`` and ``X - E`` (Algorithm 2)."""
        data = self._check(X, mask)
        encoding = self._encode(self._scaled(data), with_codes=True)
        codes = encoding.codes
        denoised = self._denoised(data) if self._judge is not None else self._removed(data, encoding)
        return codes, like(X, data - denoised), like(X, denoised)

    @takes_tensors
    def residuals(self, X, *, mask=None):
        """What is not predicted of samples; NaN where no value is.

        Noise is the part of it that exceeds the threshold; residuals are there also where none does.
        """
        data = self._check(X, mask)
        if self._judge is not None:
            return like(X, (data - self._judged(data).prediction).astype(data.dtype))
        scaled = self._scaled(data)
        residual = self._encode(scaled, with_codes=False, with_residual=True).residual
        residual *= self._model.units.width
        if self._columns is not None:
            residual *= self._columns.spread.astype(data.dtype)
            cut = np.abs(scaled) >= FARTHEST
            residual[cut] += (data - self._unscaled(scaled))[cut].astype(data.dtype)
        residual[np.isnan(data)] = np.nan
        return like(X, residual)

    @takes_tensors
    def corruption_scores(self, X, *, mask=None, groups=None, times=None):
        """The probability that an entry is wrong, from 0 to 1; NaN where no value is.

        With several opinions it is that of :mod:`rnlmf.opinions.verdict`. With the dictionary alone,
        and ``s`` the size of the residual to the prediction over the threshold above which it is noise,
        the score is ``s^2 / (1 + s^2)``: one half where noise begins.
        """
        data = self._check(X, mask)
        if self._judge is not None:
            return like(X, self._judged(data, groups, times).probability.astype(data.dtype))
        encoding = self._encode(self._scaled(data), with_codes=False, with_residual=True)
        return like(X, scores_of(encoding.residual, encoding.threshold[:, None], np.isnan(data)))

    def estimate_error(self, X, *, mask=None, random_state=0):
        """Relative error that is left in ``denoise(X)``, estimated without the truth.

        With several opinions: what is known of the errors of their predictions where a cell was
        repaired, and of the probability that others are wrong. With the dictionary alone: the noise
        that was found is put on the denoised samples again, each sample getting that of another, and
        removed once more; the error of that is known. Expect the right order of magnitude, within a
        factor of two: what the model cannot represent at all goes unseen.

        Returns
        -------
        float
            ``|X_denoised - X_true|_F / |X_true|_F``, estimated; NaN (unknown) where nothing was found
            to be wrong, which need not mean that nothing is.
        """
        data = self._check(X, mask)
        if self._judge is not None:
            return self._judged(data).error_left(data)
        rng = np.random.RandomState(random_state)
        return remaining_error(data, self._denoised(data), self._denoised, rng)

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
        if model.problem.code_penalty.ridge:
            K += model.problem.code_weight * C
        V = C * kernel.slope_of_value(K)
        own = np.einsum("ij,ij->i", C, K)[:, None]
        weight = V.sum(axis=1, keepdims=True) if kernel.stationary else kernel.slope_of_value(own)
        weight = np.where(np.abs(weight) > np.finfo(float).tiny, weight, 1.0)
        return self._unscaled(model.units.to_data(V @ D / weight)).astype(C.dtype)

    def score(self, X, y=None):
        """How well entries of `X` that are held out are predicted, for ``GridSearchCV`` and the like.

        Minus their mean distance (:func:`rnlmf.held_out_score`), between -1 and 0: the higher, the
        better. The objective would not do: it falls with every wider kernel.
        """
        return held_out_score(self, self._check(X))

    @property
    def _n_features_out(self):
        return len(self.components_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.allow_nan = True
        return tags

    def _rows(self, X, mask=None, *, fitting=False):
        """The same, or rows that are not in memory."""
        source = rows_of(self, X, mask, fitting=fitting)
        return self._check(X, mask, fitting=fitting) if source is None else source

    def _check(self, X, mask=None, *, fitting=False):
        """Samples as an array, with NaN where they have no value."""
        X = masked(check_samples(self, X, fitting=fitting), mask)
        if fitting:
            # What cannot be done is refused before any work.
            self._settings().method()
            number_of_atoms(X, self.n_components)
        if fitting and has_missing(X):
            empty = np.flatnonzero(np.all(np.isnan(X), axis=0))
            if len(empty):
                raise ValueError(
                    f"Feature(s) {empty.tolist()} of X have no value in any sample: leave them out."
                )
        return X

    def _settings(self) -> LearnerSettings:
        return LearnerSettings.of(self.get_params(deep=False))

    def _hears_opinions(self, X: Array) -> bool:
        wanted = self.opinions == "auto" and self.noise_weight == "auto"
        adaptive = isinstance(self.noise_penalty, str) and self.noise_penalty == "adaptive"
        if isinstance(X, RowSource):
            return False
        return wanted and adaptive and len(X) >= FEWEST_ROWS and X.shape[1] <= MOST_PIXELS

    def _rows_in_order(self, X: Array, groups: Any, times: Any) -> Sequence | None:
        if self.sequence is False:
            return None
        groups = None if groups is None else np.asarray(groups)
        times = None if times is None else np.asarray(times, dtype=float)
        for name, values in (("groups", groups), ("times", times)):
            if values is not None and values.shape != (len(X),):
                raise ValueError(
                    f"{name} has shape {values.shape}, but X has {len(X)} samples: give one for each."
                )
        return Sequence.of(len(X), groups, times)

    def _judged(self, X: Array, groups: Any = None, times: Any = None) -> Judgement:
        assert self._judge is not None
        rows = self._rows_in_order(X, groups, times)
        return self._judge.judge(X, rows, force_order=self.sequence is True)

    def _scaled(self, X: Array) -> Array:
        if self._columns is None:
            return X
        if isinstance(X, RowSource):
            return X.mapped(self._scaled)
        return bounded(self._columns.scaled(X)).astype(X.dtype)

    def _unscaled(self, X: Array) -> Array:
        return X if self._columns is None else self._columns.to_data(X)

    def _denoised(self, X: Array, groups: Any = None, times: Any = None) -> Array:
        if self._judge is not None:
            return self._judged(X, groups, times).repaired(X)
        return self._removed(X, self._encode(self._scaled(X), with_codes=False))

    def _removed(self, X: Array, encoding: Encoding) -> Array:
        """``X - E``; entries without noise to the bit."""
        if self._columns is None:
            return self._model.denoised(X, encoding)
        scaled = self._scaled(X)
        clean = self._model.denoised(scaled, encoding)
        return np.where(clean == scaled, X, self._unscaled(clean)).astype(X.dtype)

    def _codes(self, X: Array) -> Array | None:
        return self._encode(X, with_codes=True, alone=True).codes

    def _encode(self, X: Array, **options: bool) -> Encoding:
        return self._model.encode(X, n_threads=threads_of(self.n_jobs), **options)
