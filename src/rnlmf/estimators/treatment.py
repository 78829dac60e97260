"""What a fitted factorization does with samples: their codes, their noise, how sure that is."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from rnlmf.conventions import CodesMixin, check_samples, like, masked
from rnlmf.engine import Encoding, has_missing
from rnlmf.engine.source import RowSource
from rnlmf.estimators.large import by_block, rows_of
from rnlmf.estimators.tensors import takes_tensors
from rnlmf.estimators.uncertainty import error_when_repeated, remaining_error, scores_of
from rnlmf.fitting.defaults import number_of_atoms
from rnlmf.fitting.model import FittedModel
from rnlmf.fitting.settings import threads_of
from rnlmf.model_selection.held_out import held_out_score
from rnlmf.opinions import Judge, Sequence
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.dictionary import FARTHEST, bounded
from rnlmf.opinions.pixels import PixelJudge
from rnlmf.typing import Array


class SampleTreatment(CodesMixin, BaseEstimator):
    """The methods of :class:`rnlmf.RNLMF` that treat samples, and leave the model as it is.

    A fit sets the model, the units of the columns if they have some of their own, and the judge if
    several opinions are heard.
    """

    _model: FittedModel
    # Models of files that were saved before there were opinions.
    _judge: Judge | PixelJudge | None = None
    # Nobody could judge the training data: what is there stays.
    _unjudged: bool = False
    _columns: Columns | None = None

    @takes_tensors
    def transform(self, X: Any, *, mask: Any = None, out: Any = None) -> Any:
        """Codes ``C`` of samples, of shape (n_samples, n_components) (Algorithm 2).

        Those of data that are not in memory are written to `out`, as by :meth:`denoise`.
        """
        data = self._scaled(self._rows(X, mask))
        if isinstance(data, RowSource):
            return by_block(data, self._codes, self.n_components_, out)
        return self._codes(data)

    @takes_tensors
    def denoise(
        self, X: Any, *, mask: Any = None, groups: Any = None, times: Any = None, out: Any = None
    ) -> Any:
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
    def noise(self, X: Any, *, mask: Any = None) -> Any:
        """Noise ``E`` of samples (Algorithm 2); zero where none was found, NaN where no value is."""
        data = self._check(X, mask)
        return like(X, data - self._denoised(data))

    def split(self, X: Any, *, mask: Any = None) -> tuple[Array, Any, Any]:
        """Codes, noise and denoised samples at once: ``C``, ``E`` and ``X - E`` (Algorithm 2)."""
        data = self._check(X, mask)
        encoding = self._encode(self._scaled(data), with_codes=True)
        assert encoding.codes is not None
        denoised = self._denoised(data) if self._judge is not None else self._removed(data, encoding)
        return encoding.codes, like(X, data - denoised), like(X, denoised)

    @takes_tensors
    def residuals(self, X: Any, *, mask: Any = None) -> Any:
        """What is not predicted of samples; NaN where no value is.

        Noise is the part of it that exceeds the threshold; residuals are there also where none does.
        """
        data = self._check(X, mask)
        if self._judge is not None:
            return like(X, (data - self._judged(data).prediction).astype(data.dtype))
        scaled = self._scaled(data)
        residual, _ = self._residual(scaled)
        residual *= self._model.units.width
        if self._columns is not None:
            residual *= self._columns.spread.astype(data.dtype)
            cut = np.abs(scaled) >= FARTHEST
            residual[cut] += (data - self._unscaled(scaled))[cut].astype(data.dtype)
        residual[np.isnan(data)] = np.nan
        return like(X, residual)

    @takes_tensors
    def corruption_scores(
        self, X: Any, *, mask: Any = None, groups: Any = None, times: Any = None
    ) -> Any:
        """The probability that an entry is wrong, from 0 to 1; NaN where no value is, or nobody knows.

        With several opinions it is that of :mod:`rnlmf.opinions.verdict`. With the dictionary alone,
        and ``s`` the size of the residual to the prediction over the threshold above which it is noise,
        the score is ``s^2 / (1 + s^2)``: one half where noise begins.
        """
        data = self._check(X, mask)
        if self._judge is not None:
            return like(X, self._judged(data, groups, times).probability.astype(data.dtype))
        if self._unjudged:
            return like(X, np.full_like(data, np.nan))
        residual, threshold = self._residual(self._scaled(data))
        return like(X, scores_of(residual, threshold[:, None], np.isnan(data)))

    def denoise_and_score(
        self, X: Any, *, mask: Any = None, groups: Any = None, times: Any = None
    ) -> tuple[Any, Any]:
        """:meth:`denoise` and :meth:`corruption_scores` at once: opinions are heard once."""
        if self._judge is None:
            return self.denoise(X, mask=mask), self.corruption_scores(X, mask=mask)
        data = self._check(X, mask)
        judged = self._judged(data, groups, times)
        return like(X, judged.repaired(data)), like(X, judged.probability.astype(data.dtype))

    def estimate_error(self, X: Any, *, mask: Any = None, random_state: int = 0) -> float:
        """Relative error that is left in ``denoise(X)``, estimated without the truth.

        With several opinions: what is known of the errors of their predictions where a cell was
        repaired, and of the probability that others are wrong; and what is left of the errors that were
        found when they are put into other rows. With the dictionary alone: the noise
        that was found is put on the denoised samples again, each sample getting that of another, and
        removed once more; the error of that is known. Expect the right order of magnitude, within a
        factor of two: what the model cannot represent at all goes unseen.

        Returns
        -------
        float
            ``|X_denoised - X_true|_F / |X_true|_F``, estimated; NaN (unknown) where nothing was found
            to be wrong, or nothing but values beyond any plausible range, which need not mean that
            nothing else is.
        """
        data = self._check(X, mask)
        if self._judge is not None:
            judged = self._judged(data)
            if not (judged.wrong.any() and isinstance(self._judge, Judge) and len(data) > 1):
                return judged.error_left(data)
            columns = self._judge.panel.columns
            codes = columns.codes(data)
            absurd = columns.absurd(columns.scaled(data)) & ~codes
            if not (np.any(judged.wrong & ~absurd) or judged.bad_rows.any() or np.isnan(data).any()):
                # Who is far beyond everything tells nothing of errors that are not.
                return float("nan")
            tried = error_when_repeated(data, judged.repaired(data), self._denoised, codes)
            return judged.error_left(data, tried, codes)
        if self._unjudged:
            return float("nan")
        rng = np.random.RandomState(random_state)
        return remaining_error(data, self._denoised(data), self._denoised, rng)

    def inverse_transform(self, X: Any) -> Array:
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

    def score(self, X: Any, y: Any = None) -> float:
        """How well entries of `X` that are held out are predicted, for ``GridSearchCV`` and the like.

        Minus their mean distance (:func:`rnlmf.held_out_score`), between -1 and 0: the higher, the
        better. The objective would not do: it falls with every wider kernel.
        """
        return held_out_score(self, self._check(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _check(self, X: Any, mask: Any = None, *, fitting: bool = False) -> Array:
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

    def _rows(self, X: Any, mask: Any = None, *, fitting: bool = False) -> Any:
        """The same, or rows that are not in memory."""
        source = rows_of(self, X, mask, fitting=fitting)
        return self._check(X, mask, fitting=fitting) if source is None else source

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
        scaled = self._scaled(X)
        clean = self._model.denoised(scaled, encoding)
        if self._columns is None and not self._unjudged:
            return clean
        kept = ~np.isnan(X) if self._unjudged else clean == scaled
        return np.where(kept, X, self._unscaled(clean)).astype(X.dtype)

    def _codes(self, X: Array) -> Array | None:
        return self._encode(X, with_codes=True, alone=True).codes

    def _residual(self, X: Array) -> tuple[Array, Array]:
        """What is left after the prediction, and above what size it is noise, in the model's units."""
        encoding = self._encode(X, with_codes=False, with_residual=True)
        assert encoding.residual is not None
        assert encoding.threshold is not None
        return encoding.residual, encoding.threshold

    def _encode(self, X: Array, **options: bool) -> Encoding:
        return self._model.encode(X, n_threads=threads_of(self.n_jobs), **options)
