"""Who says which cells are wrong: the dictionary alone, several opinions, or the judge of images."""

from __future__ import annotations

from typing import Any, NamedTuple

from rnlmf.engine.batches import evenly_drawn
from rnlmf.engine.source import Rows, RowSource
from rnlmf.fitting.defaults import Tuning
from rnlmf.fitting.learner import Learner
from rnlmf.fitting.model import FittedModel
from rnlmf.model_selection.held_out import FITTED_SAMPLES
from rnlmf.opinions import Judge, Judgement, Sequence
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.dictionary import DictionaryOpinion
from rnlmf.opinions.pixels import PixelJudge, same_unit
from rnlmf.typing import Array

# Fewer rows say nothing of how cells are related. More columns are pixels of one unit, as are those
# that share both ends of a scale; of more still the dictionary alone speaks: matrices are inverted.
FEWEST_ROWS = 30
MOST_COLUMNS = 256
MOST_PIXELS = 2048


class Judging(NamedTuple):
    """Whether several opinions judge cells, or pixels; else the dictionary decides."""

    cells: bool
    pixels: bool


def who_judges(parameters: dict[str, Any], X: Rows) -> Judging:
    """What the parameters of the estimator, and the shape and range of the data, ask for."""
    penalty = parameters["noise_penalty"]
    wanted = (
        parameters["opinions"] == "auto"
        and parameters["noise_weight"] == "auto"
        and isinstance(penalty, str)
        and penalty == "adaptive"
    )
    if not wanted or isinstance(X, RowSource) or len(X) < FEWEST_ROWS or X.shape[1] > MOST_PIXELS:
        return Judging(cells=False, pixels=False)
    pixels = X.shape[1] > MOST_COLUMNS or same_unit(X)
    return Judging(cells=not pixels, pixels=pixels)


def fitted_samples(judging: Judging, X: Rows) -> Rows:
    """What the dictionary is learned from: where others judge, more do not make it a better one."""
    return evenly_drawn(X, FITTED_SAMPLES) if judging.cells and not isinstance(X, RowSource) else X


def learn_judge(
    judging: Judging,
    X: Array,
    scaled: Array,
    columns: Columns | None,
    learner: Learner,
    tuning: Tuning,
    model: FittedModel,
    *,
    sequence: Sequence | None,
    force_order: bool,
    false_repairs: float,
) -> tuple[Judge | PixelJudge | None, Judgement | None]:
    """The judge of the cells of `X`, and what it says of them; nobody where the dictionary decides.

    The dictionary has a say on cells where columns are `scaled`, with the tuning of the fit.
    """
    if any(judging):
        learner.report("judging cells", None)
    if judging.pixels:
        return PixelJudge.learn(X, false_repairs=false_repairs)
    if not judging.cells:
        return None, None
    opinion = None
    if columns is not None:
        opinion = DictionaryOpinion.learn(columns.scaled(X), scaled, model, learner, tuning)
    return Judge.learn(
        X,
        sequence,
        force_order=force_order,
        further=() if opinion is None else (opinion,),
        false_repairs=false_repairs,
    )
