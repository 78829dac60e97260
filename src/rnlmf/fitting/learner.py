"""From noisy samples to a fitted model: choose what is not given, learn, and ask the neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rnlmf.engine import (
    Callback,
    Encoding,
    Fit,
    Options,
    Problem,
    Samples,
    Units,
    default_threads,
    has_missing,
    paper_order,
    single_pass,
    start,
)
from rnlmf.fitting import defaults
from rnlmf.fitting.defaults import Settings
from rnlmf.fitting.model import FittedModel
from rnlmf.fitting.neighbours import ROUNDS, SHARES, Neighbours, reference_rows, scored_rows
from rnlmf.kernels import KERNELS, RBF, Kernel
from rnlmf.model_selection import held_out as selection
from rnlmf.model_selection.grid_walk import SURE, GridWalk, credibly_positive
from rnlmf.penalties import (
    CODE_PENALTIES,
    DICTIONARY_PENALTIES,
    L2,
    NOISE_PENALTIES,
    FeaturePenalty,
    MinimaxConcave,
)

Array = npt.NDArray[Any]

# With fewer held-out entries than this nothing can be chosen by them.
FEWEST_HIDDEN = 100


@dataclass(frozen=True)
class Choice:
    """Settings, what was tried for them (best first), and how sure the choice is."""

    settings: Settings
    table: list[dict[str, float]] = field(default_factory=list)
    confidence: float | None = None


class Learner:
    """How a model is learned.

    Parameters
    ----------
    given : RNLMF
        Its parameters are what the user wants; nothing else of it is used.
    """

    def __init__(self, given: Any) -> None:
        self.given = given
        kernel = KERNELS[given.kernel]() if isinstance(given.kernel, str) else given.kernel
        kernel.validate()
        self.kernel: Kernel = kernel
        self.n_threads = default_threads() if given.n_jobs is None else given.n_jobs

    def encode(self, model: FittedModel, X: Array, **options: bool) -> Encoding:
        """Algorithm 2."""
        return model.encode(
            X,
            **options,
            max_iter=self.given.max_iter,
            tol=self.given.tol,
            n_threads=self.n_threads,
        )

    def learn(
        self, X: Array, settings: Settings, seed: int, callback: Callback | None = None
    ) -> tuple[FittedModel, Fit]:
        """Algorithm 1."""
        given, rng = self.given, np.random.RandomState(seed)
        n_atoms = defaults.number_of_atoms(X, given.n_components)
        width = start.length_scale(X, self.kernel, settings.kernel_scale, rng)
        units = start.data_units(X, self.kernel, width)
        spreads = start.spread(X, units)
        problem = self._problem(X, units, spreads, settings)
        atoms = defaults.first_dictionary(X, given.init, units, spreads, n_atoms, rng)
        engine = self._engine(problem)
        momentum = given.momentum
        if momentum == "auto":
            momentum = 0.9 if engine is single_pass else 0.5
        options = Options(
            max_iter=given.max_iter,
            tol=given.tol,
            momentum=momentum,
            step_damping=given.step_damping,
            curvature_shift=given.curvature_shift,
            dictionary_step=given.dictionary_step,
            n_threads=self.n_threads,
            callback=callback,
        )
        result = engine.fit(Samples.of(X, units), atoms, problem, options)
        if result.corruption is not None:
            problem = replace(problem, noise_penalty=MinimaxConcave(result.corruption.knee))
        model = FittedModel(units, problem, result.dictionary, result.code_metric, result.corruption)
        return model, result

    def choose(self, X: Array, seed: int) -> Choice:
        """The parameters that are given, and by held-out entries those that are "auto"."""
        given, kernel = self.given, self.kernel
        axes = defaults.search_axes(
            threshold=given.noise_weight == "auto",
            kernel_scale=given.kernel_scale == "auto" and kernel.stationary and kernel.sigma is None,
            code_weight=given.code_weight == "auto",
        )
        settings = Settings(
            kernel_scale=1.0 if given.kernel_scale == "auto" else float(given.kernel_scale),
            code_weight=1e-2 if given.code_weight == "auto" else float(given.code_weight),
        )
        rng = np.random.RandomState(seed)
        if len(X) > selection.FITTED_SAMPLES:
            X = X[np.sort(rng.choice(len(X), selection.FITTED_SAMPLES, replace=False))]
        held_out = selection.HeldOut.draw(X, rng) if axes else None
        if held_out is None or held_out.hidden.sum() < FEWEST_HIDDEN:
            return Choice(settings)
        scored, spread = held_out.scored(), selection.spread_of(X)
        width: float | None = None

        def evaluate(point: dict[str, float]) -> dict[str, Array]:
            nonlocal width
            model, _ = self.learn(held_out.samples, replace(settings, **point), seed)
            encoding = self.encode(model, scored.samples, with_codes=False)
            assert encoding.filled is not None
            neighbours = self.reference(held_out.samples, model)
            if neighbours is None:
                residuals = [scored.residuals(model.units.to_data(encoding.filled))]
            else:
                residuals = neighbours.residuals(scored, encoding, model.units)
            if width is None:
                # The first point's, for all.
                width = selection.near(residuals[0], spread)
            losses = {
                "distance": [selection.distance(r, spread) for r in residuals],
                "missed": [selection.missed(r, width) for r in residuals],
            }
            return {name: scored.by_sample(min(of, key=np.mean)) for name, of in losses.items()}

        walk = GridWalk(evaluate, axes)
        best = walk.run()
        # Where several thresholds predict alike, the largest alters the data least.
        taken = walk.cautious(best, "threshold") if "threshold" in axes else best
        found = walk.point(taken)
        if "threshold" in axes and taken == best:
            found["threshold"] = walk.between(best, "threshold")
        tried = [
            {**walk.point(i), **{name: float(loss.mean()) for name, loss in walk.table[i].items()}}
            for i in walk.ranking(best)
        ]
        return Choice(replace(settings, **found), tried, walk.confidence(best, rng))

    def reference(self, X: Array, model: FittedModel) -> Neighbours | None:
        """Samples to ask for a second opinion, if one is wanted."""
        share = self.given.neighbors
        if share == "auto":
            wanted = self.given.noise_penalty == "adaptive" or has_missing(X)
        else:
            wanted = share > 0.0
        if not wanted:
            return None
        some = X[reference_rows(len(X))]
        return Neighbours(some, self._without_noise(model, some))

    def neighbours(self, X: Array, model: FittedModel, seed: int) -> Neighbours | None:
        """The same with the share that is given, or that predicts scattered entries best."""
        neighbours = self.reference(X, model)
        if neighbours is None:
            return None
        share = self.given.neighbors
        if share == "auto":
            share = self.share(X, model, neighbours, seed)
        neighbours = replace(neighbours, share=float(share))
        for _ in range(ROUNDS if share > 0.0 else 0):
            # They are each other's neighbours too.
            heard = replace(model, neighbours=neighbours)
            neighbours = replace(neighbours, denoised=self._without_noise(heard, neighbours.observed))
        return neighbours if share > 0.0 else None

    def share(self, X: Array, model: FittedModel, neighbours: Neighbours, seed: int) -> float:
        """What the neighbours' part in the prediction should be."""
        some = neighbours.observed[: scored_rows(X.shape[1])]
        held_out = selection.HeldOut.scattered(some, np.random.RandomState(seed)).scored()
        if held_out.hidden.sum() < FEWEST_HIDDEN:
            return 0.0
        encoding = self.encode(model, held_out.samples, with_codes=False)
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
        noise = self.encode(model, X, with_codes=False).noise
        return model.units.to_engine(X) - noise

    def _problem(self, X: Array, units: Units, spreads: Array, settings: Settings) -> Problem:
        given = self.given
        penalty = NOISE_PENALTIES[given.noise_penalty]()
        if isinstance(given.noise_weight, str):
            weight = defaults.noise_weight(X, self.kernel, units, spreads, penalty)
            weight *= settings.threshold / defaults.RELATIVE_THRESHOLD
        else:
            weight = float(given.noise_weight) * units.width**penalty.degree
        dictionary_penalty: FeaturePenalty | None = None
        if given.dictionary_penalty is not None:
            dictionary_penalty = DICTIONARY_PENALTIES[given.dictionary_penalty]()
        return Problem(
            kernel=self.kernel,
            code_penalty=CODE_PENALTIES[given.code_penalty](),
            code_weight=settings.code_weight,
            noise_penalty=penalty,
            noise_weight=weight,
            dictionary_penalty=dictionary_penalty,
            dictionary_weight=float(given.dictionary_weight),
        )

    def _engine(self, problem: Problem) -> Any:
        order = self.given.order
        possible = type(self.kernel) is RBF and isinstance(problem.code_penalty, L2)
        if order == "single-pass" and not possible:
            raise ValueError(
                "order='single-pass' needs kernel='rbf' and code_penalty='l2'; use order='paper'."
            )
        return paper_order if order == "paper" or not possible else single_pass
