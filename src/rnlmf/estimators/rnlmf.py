"""The factorization as a scikit-learn estimator: a thin shell over the engine."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from rnlmf.conventions import like, report_fit
from rnlmf.engine import StopReason
from rnlmf.estimators.judging import fitted_samples, learn_judge, what_is_left_alone, who_judges
from rnlmf.estimators.large import in_memory
from rnlmf.estimators.tensors import takes_tensors
from rnlmf.estimators.treatment import SampleTreatment
from rnlmf.fitting.checkpoint import Checkpoint
from rnlmf.fitting.learner import Learner
from rnlmf.fitting.settings import SOLVERS, LearnerSettings, SolverOptions
from rnlmf.kernels import KERNELS, Kernel
from rnlmf.opinions import Judgement
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.verdict import FALSE_REPAIRS
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


class RNLMF(SampleTreatment):
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
        dictionary alone, as in the paper ("dictionary"). With fewer than 30 samples: nobody.
    sequence : {"auto"} or bool
        Whether rows are in the order of time. "auto" uses their order where it helps to predict cells.
    false_repairs : float
        Share of entries that may be repaired though right, as far as several opinions can tell.
    feature_scale : {"auto", "robust"} or None
        Whether every feature is divided by its robust spread before distances are taken. "auto" does
        where several opinions are heard; distances between images need none.
    neighbor_share : float or "auto"
        Share, between 0 and 1, of the nearest denoised samples in the prediction of every entry, see
        :mod:`rnlmf.fitting.neighbours`; 0 is the paper's method. "auto" chooses it by held-out
        entries if the noise is "adaptive" or values are missing, and is 0 otherwise.
    dictionary_penalty : {"l2", "nuclear"}, FeaturePenalty or None
        ``R(D)``, in feature space.
    dictionary_weight : float
        ``lambda_D``, beside the loss of all samples: the wider the kernel, the smaller that is.
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
    noise_weight_, kernel_scale_, code_weight_, neighbor_share_ : float
        Values in use.
    n_components_ : int
        Number of atoms.
    feature_scale_ : array of shape (n_features,) or None
        What every feature is divided by; None where they are taken as they are.
    sequence_ : bool
        Whether the order of rows is used.
    bad_rows_ : array of int
        Training samples most of which is wrong: repaired by time, made usual if noise, or left.
    stuck_ : array of bool of shape (n_samples, n_features) or None
        Where a feature repeats a value that others contradict; None without several opinions.
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
    than the best, the largest is taken. It takes about seven fits, to at most 20,000 samples (3,000
    where others judge). Give numbers, or ``noise_weight="scale"`` and a ``kernel_scale``, to fit once.

    Missing values (NaN) have no say in the fit and are filled in by :meth:`denoise`. Fewer than 30
    samples do not tell which entries are wrong: with a warning all that are there are left as they are,
    unless a weight, another penalty or ``opinions="dictionary"`` decides.

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
        "false_repairs": [Interval(Real, 0, 1, closed="both")],
        "feature_scale": [StrOptions({"auto", "robust"}), None],
        "neighbor_share": [Interval(Real, 0, 1, closed="both"), AUTO],
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
        false_repairs=FALSE_REPAIRS,
        feature_scale="auto",
        neighbor_share="auto",
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
        self.false_repairs = false_repairs
        self.feature_scale = feature_scale
        self.neighbor_share = neighbor_share
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
        self,
        X: Any,
        y: Any = None,
        *,
        mask: Any = None,
        groups: Any = None,
        times: Any = None,
        checkpoint: Any = None,
        resume: bool = False,
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
        judging = who_judges(parameters, X)
        scaled = self.feature_scale == "robust" or (self.feature_scale == "auto" and judging.cells)
        self._columns = Columns.of(in_memory(X)) if scaled else None
        data = self._scaled(X)
        parameters |= {"neighbor_share": 0.0} if judging.heard else {}
        if judging.cells and self._columns is not None:
            # What is beyond any plausible range has nothing to say.
            data[self._columns.absurd(self._columns.scaled(X))] = np.nan
        learner = Learner(LearnerSettings.of(parameters), report)
        kept = None
        if checkpoint is not None:
            kept = Checkpoint(checkpoint, self.get_params(deep=False), data, resume=resume)
        choice, seed = learner.begin(data, seed, kept, brief=judging.heard, heard=not judging.pixels)
        fitted = fitted_samples(judging, data)
        tell, heard = learner.reporting(self.callback), judging.heard
        model, result = learner.learn(
            fitted, choice.tuning, seed, tell, checkpoint=kept, single_precision=heard
        )
        neighbours = learner.neighbours(fitted, model, result, seed)
        self._model = model = replace(model, neighbours=neighbours)
        self._judge, judgement = learn_judge(
            judging,
            X,
            data,
            self._columns,
            learner,
            choice.tuning,
            model,
            sequence=self._rows_in_order(X, groups, times) if judging.cells else None,
            force_order=self.sequence is True,
            false_repairs=self.false_repairs,
        )
        width, kernel = model.units.width, model.problem.kernel
        self.components_ = self._unscaled(model.atoms * width + model.units.center).astype(X.dtype)
        self.n_components_ = len(self.components_)
        self.feature_scale_ = None if self._columns is None else self._columns.spread
        self.kernel_ = type(kernel)(**{**kernel.get_params(deep=False), "sigma": width})
        self.kernel_scale_, self.code_weight_ = choice.tuning.kernel_scale, choice.tuning.code_weight
        self.neighbor_share_ = 0.0 if model.neighbours is None else model.neighbours.share
        self.noise_weight_ = model.problem.noise_weight / width**model.problem.noise_penalty.degree
        self.selection_, self.selection_confidence_ = choice.table, choice.confidence
        self.sequence_ = self._judge is not None and self._judge.ordered
        self.bad_rows_ = np.flatnonzero(() if judgement is None else judgement.bad_rows)
        self.stuck_ = None if judgement is None else judgement.stuck
        self._unjudged = judging.nobody
        self.left_alone_ = what_is_left_alone(judging, self._judge, X)
        if result.reason is StopReason.INTERRUPTED:
            # What there is can be used; what would have come next is not run.
            self.objective_, self.n_iter_ = np.array(result.objective), result.n_iter
            self.converged_ = False
            raise KeyboardInterrupt
        report_fit(self, result.objective, result.n_iter, result.converged)
        return judgement

    @takes_tensors
    @fit_context(prefer_skip_nested_validation=True)
    def fit_denoise(
        self, X: Any, y: Any = None, *, mask: Any = None, groups: Any = None, times: Any = None
    ) -> Any:
        """Fit, and return the denoised training data ``X - E``, in the container of `X`."""
        data = self._rows(X, mask, fitting=True)
        with progress(self.verbose) as report:
            judgement = self._fit(data, groups, times, report)
        return self.denoise(X, mask=mask) if judgement is None else like(X, judgement.repaired(data))

    def fit_transform(
        self, X: Any, y: Any = None, *, mask: Any = None, groups: Any = None, times: Any = None
    ) -> Any:
        """Fit, and return the codes of the training data."""
        return self.fit(X, mask=mask, groups=groups, times=times).transform(X, mask=mask)

    def _settings(self) -> LearnerSettings:
        return LearnerSettings.of(self.get_params(deep=False))

    def _judged(self, X: Array, groups: Any = None, times: Any = None) -> Judgement:
        assert self._judge is not None
        rows = self._rows_in_order(X, groups, times)
        return self._judge.judge(X, rows, force_order=self.sequence is True)
