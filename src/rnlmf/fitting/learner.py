"""From noisy samples to a fitted model: choose what is not given, learn, and ask the neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from rnlmf.engine import (
    Callback,
    Fit,
    IterationInfo,
    PaperOrder,
    Problem,
    Samples,
    SinglePass,
    Solver,
    StopReason,
    Units,
    has_missing,
)
from rnlmf.engine import run as run_solver
from rnlmf.engine.batches import canonical_order, some_rows
from rnlmf.engine.source import Rows, RowSource
from rnlmf.engine.start import DataSummary, distance_rows
from rnlmf.fitting import defaults
from rnlmf.fitting.checkpoint import Checkpoint
from rnlmf.fitting.defaults import Tuning
from rnlmf.fitting.large import large_solver
from rnlmf.fitting.model import FittedModel
from rnlmf.fitting.neighbours import ROUNDS, SHARES, Neighbours, reference_rows, scored_rows
from rnlmf.fitting.settings import LearnerSettings
from rnlmf.model_selection import held_out as selection
from rnlmf.model_selection.grid_walk import SURE, GridWalk, credibly_positive
from rnlmf.model_selection.held_out import HeldOut
from rnlmf.progress import Report, silent
from rnlmf.typing import Array

# With fewer held-out entries than this nothing can be chosen by them.
FEWEST_HIDDEN = 100
# A search usually takes so many fits for every parameter, beside that at its start.
USUAL_FITS = 3
# Where several opinions are heard, more iterations and samples do not choose better parameters for the
# dictionary's, if it is heard at all; with half as many samples the kernel is often too wide.
BRIEF_ITERATIONS, BRIEF_SAMPLES = 60, 3000
# Where it is not heard, a dictionary goes on from that of another threshold for so many.
MORE_ITERATIONS = 30


@dataclass(frozen=True)
class Choice:
    """What was chosen, what was tried for it (best first), and how sure the choice is."""

    tuning: Tuning
    table: list[dict[str, float]] = field(default_factory=list)
    confidence: float | None = None


class Learner:
    """How a model is learned.

    Parameters
    ----------
    settings : LearnerSettings
        What the user wants.
    report : callable
        Is told what is being done, and which share of it is done.
    """

    def __init__(self, settings: LearnerSettings, report: Report = silent) -> None:
        self.settings = settings
        self.report = report

    def learn(
        self,
        X: Rows,
        tuning: Tuning,
        seed: int,
        callback: Callback | None = None,
        *,
        summary: DataSummary | None = None,
        single_precision: bool = False,
        checkpoint: Checkpoint | None = None,
    ) -> tuple[FittedModel, Fit]:
        """Algorithm 1.

        Parameters
        ----------
        X : (n, m) array, or a source of rows
            Noisy samples; NaN is a missing value.
        tuning : Tuning
            The values that may have been chosen by held-out entries.
        seed : int
            For the first dictionary.
        callback : callable or None
            See :func:`rnlmf.engine.run`.
        summary : DataSummary or None
            Of `X`, where it is known.
        single_precision : bool
            Whether float32 will do: it is almost twice as fast, and enough to compare parameters.
        checkpoint : Checkpoint or None
            Where the state is kept, and where to go on from.
        """
        settings, rng = self.settings, np.random.RandomState(seed)
        rows = distance_rows(len(X), rng)
        if summary is None:
            summary = DataSummary.of_rows(X, rows)
        units = summary.units(settings.kernel, tuning.kernel_scale, X.dtype)
        problem = self.problem(X, units, summary, tuning)
        n_atoms = defaults.number_of_atoms(X, settings.n_components)
        atoms = defaults.first_dictionary(X, settings.init, units, summary, n_atoms, rng)
        samples = Samples.of(X, units)
        if single_precision:
            samples = samples.in_single_precision()
        solver = self.solver(samples, problem)
        if checkpoint is None:
            result = run_solver(solver, solver.init(atoms), callback)
        else:
            first = checkpoint.state(solver, atoms)
            result = run_solver(solver, first, callback, checkpoint.keep)
        model = FittedModel(
            units,
            problem.adapted_to(result.corruption),
            result.dictionary,
            result.code_metric,
            result.corruption,
            max_iter=settings.max_iter,
            tol=settings.tol,
        )
        return model, result

    def solver(self, samples: Samples, problem: Problem) -> Solver:
        """How to iterate on samples, wherever they are."""
        settings, options = self.settings, self.settings.options()
        if not isinstance(samples.X, RowSource):
            kind = SinglePass if settings.method() == "single-pass" else PaperOrder
            return kind(samples, problem, options)
        if settings.method() == "paper":
            raise ValueError(
                "Data that are not in memory need the single pass: kernel='rbf', code_penalty='l2' and "
                "solver='auto'."
            )
        return large_solver(samples, problem, options)

    def problem(self, X: Rows, units: Units, summary: DataSummary, tuning: Tuning) -> Problem:
        """What is minimised, in the engine's units."""
        settings = self.settings
        penalty = settings.noise_penalty.in_unit(units.width)
        if isinstance(settings.noise_weight, str):
            weight = defaults.noise_weight(
                X, settings.kernel, units, summary.spread, penalty, tuning.threshold
            )
        else:
            weight = float(settings.noise_weight) * units.width**penalty.degree
        return Problem(
            kernel=settings.kernel,
            code_penalty=settings.code_penalty,
            code_weight=tuning.code_weight,
            noise_penalty=penalty,
            noise_weight=weight,
            dictionary_penalty=settings.dictionary_penalty,
            dictionary_weight=float(settings.dictionary_weight),
            adaptive=settings.adaptive,
        )

    def brief(self, most: int) -> Learner:
        """The same with at `most` so many iterations, if not fewer are wanted."""
        settings = self.settings
        return Learner(replace(settings, max_iter=min(settings.max_iter, most)), self.report)

    def going_on(self, model: FittedModel, most: int) -> Learner:
        """The same that starts from a model's atoms, with at `most` so many iterations."""
        atoms = model.units.to_data(model.atoms)
        settings = replace(self.brief(most).settings, n_components=len(atoms), init=atoms)
        return Learner(settings, self.report)

    def begin(
        self,
        X: Rows,
        seed: int,
        checkpoint: Checkpoint | None,
        *,
        brief: bool = False,
        heard: bool = True,
    ) -> tuple[Choice, int]:
        """Choice and seed of a fit: those of the one that goes on, if it does.

        The choice is `brief` if wanted, and more so of a dictionary that is not `heard`.
        """
        if checkpoint is not None and checkpoint.resumed:
            choice = Choice(checkpoint.tuning)
        elif brief:
            # Opinions hang on it: no lottery.
            more = None if heard else MORE_ITERATIONS
            choice = self.brief(BRIEF_ITERATIONS).choose(X, 0, BRIEF_SAMPLES, more)
        else:
            choice = self.choose(X, seed)
        return choice, seed if checkpoint is None else checkpoint.begin(seed, choice.tuning)

    def choose(
        self, X: Rows, seed: int, most: int = selection.FITTED_SAMPLES, more: int | None = None
    ) -> Choice:
        """The parameters that are given, and by held-out entries those that are "auto".

        At `most` so many samples are fitted to. With `more` iterations, fits go on from those of other
        thresholds.
        """
        settings, kernel = self.settings, self.settings.kernel
        axes = defaults.search_axes(
            threshold=settings.noise_weight == "auto",
            kernel_scale=settings.kernel_scale == "auto" and kernel.stationary and kernel.sigma is None,
            code_weight=settings.code_weight == "auto",
        )
        tuning = Tuning(
            kernel_scale=1.0 if settings.kernel_scale == "auto" else float(settings.kernel_scale),
            code_weight=1e-2 if settings.code_weight == "auto" else float(settings.code_weight),
        )
        rng = np.random.RandomState(seed)
        held_out = None
        if axes:
            some = some_rows(X, most, rng)
            # What is drawn by place is then drawn by sample: the order of rows has no say.
            held_out = HeldOut.draw(some[canonical_order(some)], rng)
        if held_out is None or held_out.hidden.sum() < FEWEST_HIDDEN:
            return Choice(tuning)
        progress = SearchProgress(self.report, 1 + USUAL_FITS * len(axes))
        candidates = CandidateFits(self, held_out, tuning, seed, progress, more)
        start = {name: axis.values[axis.start] for name, axis in axes.items()}
        residuals = candidates.residuals(start)
        half_miss = selection.half_miss(residuals[0], candidates.spread)

        def evaluate(point: dict[str, float]) -> dict[str, Array]:
            found = residuals if point == start else candidates.residuals(point)
            return candidates.losses(found, half_miss)

        walk = GridWalk(evaluate, axes)
        best = walk.run()
        # Where several thresholds predict alike, the largest alters the data least.
        taken = walk.largest_as_good(best, "threshold") if "threshold" in axes else best
        found = walk.point(taken)
        if "threshold" in axes and taken == best:
            found["threshold"] = walk.between(best, "threshold")
        tried = [
            {**walk.point(i), **{name: float(loss.mean()) for name, loss in walk.table[i].items()}}
            for i in walk.ranking(best)
        ]
        return Choice(replace(tuning, **found), tried, walk.confidence(best, rng))

    def reporting(self, callback: Callback | None) -> Callback:
        """A callback that also reports how far a fit is."""

        def tell(info: IterationInfo) -> object:
            self.report("fitting", info.iteration / info.max_iter)
            return None if callback is None else callback(info)

        return tell

    def reference(self, X: Rows, result: Fit) -> Neighbours | None:
        """Samples to ask for a second opinion, if one is wanted: as the fit has left them."""
        share = self.settings.neighbor_share
        if result.reason is StopReason.INTERRUPTED:
            return None
        if isinstance(share, str) and not (self.settings.adaptive or has_missing(X)):
            return None
        if share == 0.0:
            return None
        rows = reference_rows(len(X))
        some = X[rows]
        return Neighbours.among(some, np.where(np.isnan(some), np.nan, result.denoised(rows)))

    def neighbours(self, X: Rows, model: FittedModel, result: Fit, seed: int) -> Neighbours | None:
        """The same with the share that is given, or that predicts scattered entries best."""
        neighbours = self.reference(X, result)
        if neighbours is None:
            return None
        share = self.settings.neighbor_share
        if isinstance(share, str):
            share = self.share(X, model, neighbours, seed)
        neighbours = replace(neighbours, share=float(share))
        for _ in range(ROUNDS if share > 0.0 else 0):
            # They are each other's neighbours too.
            asking = replace(model, neighbours=neighbours)
            neighbours = replace(neighbours, denoised=self._without_noise(asking, neighbours.observed))
        return neighbours if share > 0.0 else None

    def share(self, X: Rows, model: FittedModel, neighbours: Neighbours, seed: int) -> float:
        """What the neighbours' part in the prediction should be."""
        rng = np.random.RandomState(seed)
        # Rows are often sorted: the first ones know nothing of the others.
        ordered = neighbours.observed[canonical_order(neighbours.observed)]
        some = some_rows(ordered, scored_rows(X.shape[1]), rng)
        held_out = HeldOut.scattered(some, rng).scored()
        if held_out.hidden.sum() < FEWEST_HIDDEN:
            return 0.0
        encoding = model.encode(held_out.samples, with_codes=False, n_threads=self.settings.n_threads)
        spread = selection.spread_of(X)
        losses = [
            held_out.by_sample(selection.distance(residuals, spread))
            for residuals in neighbours.residuals(held_out, encoding, model.units)
        ]
        gains = [losses[0] - values for values in losses]
        sure = any(credibly_positive(gain, SURE) for gain in gains)
        return SHARES[int(np.argmax([g.mean() for g in gains]))] if sure else 0.0

    def _without_noise(self, model: FittedModel, X: Array) -> Array:
        """In the engine's units, gaps left open."""
        noise = model.encode(X, with_codes=False, n_threads=self.settings.n_threads).noise
        return model.units.to_engine(X) - noise


class SearchProgress:
    """Reports which share of a search is done, as far as can be told: it ends when it has found."""

    def __init__(self, report: Report, usual_fits: int) -> None:
        self.report = report
        self.usual_fits = usual_fits
        self.fits, self.share = 0, 0.0

    def __call__(self, info: IterationInfo) -> None:
        self._tell(info.iteration / info.max_iter)

    def fitted(self) -> None:
        """A fit is done."""
        self.fits += 1
        self._tell(0.0)

    def _tell(self, part: float) -> None:
        share = (self.fits + part) / max(self.usual_fits, self.fits + 1)
        self.share = max(self.share, min(share, 1.0))
        self.report("choosing parameters", self.share)


class CandidateFits:
    """Values of the parameters that are to be chosen, judged by how they predict hidden entries.

    What is the same for all of them, the summary of the data above all, is computed once. With `more`
    iterations, a fit goes on from the first one that differs in nothing but the threshold.
    """

    def __init__(
        self,
        learner: Learner,
        held_out: HeldOut,
        tuning: Tuning,
        seed: int,
        progress: SearchProgress,
        more: int | None = None,
    ) -> None:
        # With the tolerance of the fit: wide kernels take longer, and a looser one favours narrow ones.
        self.learner = learner
        self.samples = held_out.samples
        self.scored = held_out.scored()
        self.tuning = tuning
        self.seed = seed
        self.progress = progress
        self.more = more
        self.first: dict[tuple[tuple[str, float], ...], FittedModel] = {}
        self.summary = DataSummary.of(self.samples, np.random.RandomState(seed))
        self.spread = self.summary.spread

    def residuals(self, point: dict[str, float]) -> list[Array]:
        """Of hidden entries, after a fit; for every share of the neighbours, if they are asked."""
        others = tuple((name, value) for name, value in point.items() if name != "threshold")
        learner = self.learner
        if self.more is not None and others in self.first:
            learner = learner.going_on(self.first[others], self.more)
        model, result = learner.learn(
            self.samples,
            replace(self.tuning, **point),
            self.seed,
            self.progress,
            summary=self.summary,
            single_precision=True,
        )
        if result.reason is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        self.progress.fitted()
        self.first.setdefault(others, model)
        n_threads = self.learner.settings.n_threads
        encoding = model.encode(self.scored.samples, with_codes=False, n_threads=n_threads)
        neighbours = self.learner.reference(self.samples, result)
        if neighbours is None:
            assert encoding.filled is not None
            return [self.scored.residuals(model.units.to_data(encoding.filled))]
        return neighbours.residuals(self.scored, encoding, model.units)

    def losses(self, residuals: list[Array], half_miss: float) -> dict[str, Array]:
        """Of every scored sample, with the share of the neighbours that makes them least."""
        losses = {
            "distance": [selection.distance(r, self.spread) for r in residuals],
            "missed": [selection.missed(r, half_miss) for r in residuals],
        }
        return {name: self.scored.by_sample(min(of, key=np.mean)) for name, of in losses.items()}
