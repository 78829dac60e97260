"""RNLMF for streams, and for data of which a few passes are all that one can afford."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from rnlmf.conventions import report_fit
from rnlmf.engine import IterationInfo, Samples, Units
from rnlmf.engine.batches import shuffled_batches, some_rows
from rnlmf.engine.start import DataSummary
from rnlmf.engine.stream import Stream, has_settled
from rnlmf.estimators.rnlmf import RNLMF
from rnlmf.estimators.tensors import takes_tensors
from rnlmf.estimators.treatment import SampleTreatment
from rnlmf.fitting import defaults
from rnlmf.fitting.learner import Learner
from rnlmf.fitting.model import FittedModel
from rnlmf.fitting.settings import LearnerSettings
from rnlmf.kernels import RBF
from rnlmf.opinions.columns import Columns
from rnlmf.penalties import NOISE_PENALTIES, Penalty
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

# A batch has so many samples for each atom at least, and so many in all (choices).
SAMPLES_PER_ATOM = 4
LEAST_BATCH = 1024
# Batches over which the objective is averaged to see whether it still falls.
WINDOW = 20
# How fast the units follow the data: the share of a batch (a choice).
FOLLOWING = 0.1


class MiniBatchRNLMF(SampleTreatment):
    """:class:`RNLMF` that learns from batches, in memory that does not depend on their number.

    Every batch makes one cheap step: its samples settle at the dictionary by a few row steps, the sums
    from which the dictionary takes its step join those of earlier batches, of which most is forgotten
    (:mod:`rnlmf.engine.stream`). A dictionary step from a batch of a thousand samples is about as good
    as one from all of them, so that large data need a fraction of the passes of :class:`RNLMF`, and a
    stream whose distribution drifts is followed.

    The noise is told by the dictionary alone, as with ``RNLMF(opinions="dictionary",
    neighbor_share=0)``.
    All methods that treat samples are those of :class:`RNLMF`.

    Parameters
    ----------
    n_components : int or None
        Number of atoms; None: as in :class:`RNLMF`, for the first batch.
    kernel : {"rbf"} or RBF
        Gaussian, with a ``sigma`` of its own if it has one.
    kernel_scale : float or "auto"
        ``sigma`` over the mean distance between samples of the first batch; "auto" chooses it there by
        held-out entries.
    code_weight : float or "auto"
        ``lambda_C``; "auto" chooses it in the first batch.
    noise_penalty : {"adaptive", "l1", "l21", "l2"} or Penalty
        ``R(E)``. What "adaptive" needs to know of the noise is kept up to date.
    noise_weight : float, "auto" or "scale"
        ``lambda_E``; "auto" chooses it in the first batch.
    feature_scale : {"robust"} or None
        Whether every feature is divided by its robust spread in the first batch.
    init : {"random", "samples"} or array of shape (n_components, n_features)
        First dictionary.
    batch_size : int or None
        Samples of a batch of :meth:`fit`. None: four for each atom, at least 1024.
    row_steps : int
        Steps of a batch's samples before they are summed.
    forgetting : float
        Share of the sums of earlier batches that a batch makes forgotten. 1: nothing but the batch
        counts; 0: nothing is forgotten, and old dictionaries hold the new one back.
    units : {"first", "followed"}
        Centre and scale of the data are those of the first batch, or follow those of later ones by a
        tenth with each batch. ``kernel_`` then changes with them.
    momentum : float
        Of the dictionary's steps, in [0, 1): over how many batches they are averaged.
    max_iter : int
        Most passes over the data in :meth:`fit`, and most steps of a sample that is treated.
    tol : float
        :meth:`fit` stops when the objective, averaged over 20 batches, falls by less, relatively, or by
        less than its error; the treatment of a sample is as in :class:`RNLMF`.
    n_jobs : int or None
        Threads; -1 is all cores. None: as many as BLAS would use. Results do not depend on it.
    random_state : int, RandomState or None
        For the first dictionary, and the order of samples in :meth:`fit`.
    callback : callable or None
        Called after each batch with an object that has ``iteration`` (batches so far), ``max_iter``,
        ``objective`` (of the batch, a mean) and ``dictionary_change``; :meth:`fit` stops when it
        returns True.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The dictionary as it is.
    kernel_, noise_weight_, kernel_scale_, code_weight_, n_components_, feature_scale_
        As in :class:`RNLMF`.
    selection_, selection_confidence_
        What was tried in the first batch, as in :class:`RNLMF`.
    n_batches_, n_samples_seen_ : int
        How many there were.
    n_iter_ : int
        Passes over the data, begun, of :meth:`fit`; batches of :meth:`partial_fit`.
    objective_ : array
        Mean objectives of the last batches, each before it was learned from.
    converged_ : bool
        Whether :meth:`fit` stopped before `max_iter`.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import MiniBatchRNLMF
    >>> from rnlmf.datasets import corrupt_entries
    >>> from rnlmf.metrics import relative_rmse
    >>> rng = np.random.default_rng(0)
    >>> def batch():
    ...     t = rng.uniform(0, 6, 500)
    ...     return np.column_stack([f(k * t) for k in range(1, 7) for f in (np.cos, np.sin)])
    >>> model = MiniBatchRNLMF(40, kernel_scale=0.5, noise_weight="scale", random_state=0)
    >>> for _ in range(80):
    ...     model = model.partial_fit(corrupt_entries(batch(), 0.1, random_state=0))
    >>> curve = batch()
    >>> noisy = corrupt_entries(curve, 0.1, random_state=1)
    >>> relative_rmse(curve, model.denoise(noisy)) < 0.3 * relative_rmse(curve, noisy)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "n_components": [AT_LEAST_ONE, None],
        "kernel": [StrOptions({"rbf"}), RBF],
        "kernel_scale": [POSITIVE, AUTO],
        "code_weight": [POSITIVE, AUTO],
        "noise_penalty": [StrOptions({"adaptive"}), StrOptions(NOISE_PENALTIES.keys()), Penalty],
        "noise_weight": [NOT_NEGATIVE, StrOptions({"auto", "scale"})],
        "feature_scale": [StrOptions({"robust"}), None],
        "init": [StrOptions({"random", "samples"}), "array-like"],
        "batch_size": [AT_LEAST_ONE, None],
        "row_steps": [AT_LEAST_ONE],
        "forgetting": [Interval(Real, 0, 1, closed="both")],
        "units": [StrOptions({"first", "followed"})],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "callback": [callable, None],
    }

    def __init__(
        self,
        n_components=None,
        *,
        kernel="rbf",
        kernel_scale="auto",
        code_weight=1e-2,
        noise_penalty="adaptive",
        noise_weight="auto",
        feature_scale=None,
        init="random",
        batch_size=None,
        row_steps=10,
        forgetting=0.9,
        units="first",
        momentum=0.9,
        max_iter=300,
        tol=1e-3,
        n_jobs=None,
        random_state=None,
        callback=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.kernel_scale = kernel_scale
        self.code_weight = code_weight
        self.noise_penalty = noise_penalty
        self.noise_weight = noise_weight
        self.feature_scale = feature_scale
        self.init = init
        self.batch_size = batch_size
        self.row_steps = row_steps
        self.forgetting = forgetting
        self.units = units
        self.momentum = momentum
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback

    @takes_tensors
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, *, mask: Any = None) -> Self:
        """Learn from one batch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Noisy samples; NaN is a missing value. The first batch sets the units, and parameters that
            are "auto": it should be a fair sample, and have several samples for each atom.
        y : None
            Ignored.
        mask : array-like of bool of the shape of `X`, or None
            Entries that are known to be wrong: they are treated as missing.

        Returns
        -------
        self
        """
        first = not hasattr(self, "_stream_state")
        data = self._check(X, mask, fitting=first)
        if first:
            self._begin(data)
        self._absorb(data)
        self._publish()
        self.n_iter_ = self.n_batches_
        return self

    @takes_tensors
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, mask: Any = None) -> Self:
        """Learn from batches of samples in random order, until the objective no longer falls.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or rows from a file
            Noisy samples; NaN is a missing value. What does not fit in memory is read as
            :mod:`rnlmf.sources` has it.
        y : None
            Ignored.
        mask : array-like of bool of the shape of `X`, or None
            Entries that are known to be wrong: they are treated as missing.

        Returns
        -------
        self
        """
        data = self._rows(X, mask, fitting=True)
        rng = check_random_state(self.random_state)
        # The first batch is what all units come from: twice as large, and from anywhere.
        size = self._batch_size(data.shape)
        first = some_rows(data, 2 * size, rng)
        self._begin(first)
        converged, passes = False, 0
        try:
            while not converged and passes < self.max_iter:
                passes += 1
                for batch in shuffled_batches(data, size, rng):
                    if self._absorb(batch) or has_settled(self._stream_state.recent, WINDOW, self.tol):
                        converged = True
                        break
        finally:
            # Also after Ctrl-C: what there is can be used.
            if self._stream_state.batches:
                self._publish()
        report_fit(self, self._stream_state.recent, passes, converged)
        return self

    def fit_denoise(self, X: Any, y: Any = None, *, mask: Any = None) -> Any:
        """Fit, and return the denoised training data ``X - E``, in the container of `X`."""
        return self.fit(X, mask=mask).denoise(X, mask=mask)

    def _batch_size(self, shape: tuple[int, int]) -> int:
        if self.batch_size is not None:
            return int(self.batch_size)
        n, m = shape
        atoms = defaults.number_of_atoms(np.broadcast_to(0.0, (n, m)), self.n_components)
        return max(LEAST_BATCH, SAMPLES_PER_ATOM * atoms)

    def fit_transform(self, X: Any, y: Any = None, *, mask: Any = None) -> Any:
        """Fit, and return the codes of the samples."""
        return self.fit(X, mask=mask).transform(X, mask=mask)

    def _settings(self) -> LearnerSettings:
        own = self.get_params(deep=False)
        usual = {**RNLMF().get_params(deep=False), "opinions": "dictionary", "neighbor_share": 0.0}
        return LearnerSettings.of({**usual, **own})

    def _learner(self) -> Learner:
        return Learner(self._settings())

    def _begin(self, X: Array) -> None:
        """Units, parameters and a first dictionary from the first samples."""
        rng = check_random_state(self.random_state)
        seed = rng.randint(np.iinfo(np.int32).max)
        self._columns = Columns.of(X) if self.feature_scale == "robust" else None
        data = self._scaled(X)
        learner = self._learner()
        choice = learner.choose(data, seed)
        self._tuning = choice.tuning
        self.selection_, self.selection_confidence_ = choice.table, choice.confidence
        rng = np.random.RandomState(seed)
        self._summary = DataSummary.of(data, rng)
        units = self._units_of(learner, data)
        atoms = defaults.number_of_atoms(data, self.n_components)
        D = defaults.first_dictionary(data, self.init, units, self._summary, atoms, rng)
        self._stream_state = self._stream(learner).start(D)
        self._stream_units = units

    def _units_of(self, learner: Learner, X: Array) -> Units:
        return self._summary.units(learner.settings.kernel, self._tuning.kernel_scale, X.dtype)

    def _stream(self, learner: Learner) -> Stream:
        options = learner.settings.options()
        return Stream(options, self.row_steps, self.forgetting)

    def _absorb(self, X: Array) -> bool:
        """Learn from a batch; whether the callback wants to stop."""
        learner, state = self._learner(), self._stream_state
        data = self._scaled(X)
        if self.units == "followed" and state.batches > 0:
            self._follow(learner, data)
        problem = learner.problem(data, self._stream_units, self._summary, self._tuning)
        before = state.dictionary
        objective = self._stream(learner).absorb(state, Samples.of(data, self._stream_units), problem)
        self._problem = problem
        if self.callback is None:
            return False
        change = float(np.linalg.norm(state.dictionary - before) / np.linalg.norm(before))
        return self.callback(IterationInfo(state.batches, self.max_iter, objective, change)) is True

    def _follow(self, learner: Learner, X: Array) -> None:
        """Let the units go a part of the way to those of the batch."""
        rng = np.random.RandomState(0)
        self._summary = self._summary.towards(DataSummary.of(X, rng), FOLLOWING)
        new = self._units_of(learner, X)
        self._stream_state.change_units(self._stream_units, new)
        self._stream_units = new

    def _publish(self) -> None:
        """The model as it is now."""
        state, units, problem = self._stream_state, self._stream_units, self._problem
        self._model = FittedModel(
            units,
            problem.adapted_to(state.corruption),
            state.dictionary,
            None,
            state.corruption,
            tol=3e-4,
        )
        atoms = state.dictionary * units.width + units.center
        self.components_ = self._unscaled(atoms).astype(units.center.dtype)
        self.n_components_ = len(self.components_)
        self.feature_scale_ = None if self._columns is None else self._columns.spread
        self.kernel_ = RBF(units.width)
        self.kernel_scale_ = self._tuning.kernel_scale
        self.code_weight_ = self._tuning.code_weight
        self.noise_weight_ = problem.noise_weight / units.width**problem.noise_penalty.degree
        self.n_batches_, self.n_samples_seen_ = state.batches, state.samples
        self.objective_, self.converged_ = np.array(state.recent), True
