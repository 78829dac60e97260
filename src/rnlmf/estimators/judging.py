"""Who says which cells are wrong: the dictionary alone, several opinions, or the judge of images."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from rnlmf.engine.batches import evenly_drawn
from rnlmf.engine.source import Rows, RowSource
from rnlmf.fitting.defaults import Tuning
from rnlmf.fitting.learner import Learner
from rnlmf.fitting.model import FittedModel
from rnlmf.model_selection.held_out import FITTED_SAMPLES
from rnlmf.opinions import Judge, Judgement, Sequence
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.dictionary import DictionaryOpinion
from rnlmf.opinions.opinion import Opinion, WhenAsked
from rnlmf.opinions.pixels import PixelJudge, same_unit
from rnlmf.typing import Array

# Fewer rows say nothing of how cells are related. More columns are pixels of one unit, as are those
# that share both ends of a scale and make up a raster; of more still the dictionary alone speaks, for
# matrices are inverted.
FEWEST_ROWS = 30
TOO_FEW = f"fewer than {FEWEST_ROWS} rows, by which nothing can be judged"
UNJUDGED = (
    f"Nothing is altered: there are {TOO_FEW}. Pass opinions='dictionary' to alter it all the same."
)
MOST_COLUMNS = 256
MOST_PIXELS = 2048
# By so many standard errors columns a line apart are more alike than nearer ones (a choice: images
# reach 15 and more, tables and sequences at most 3), as so many rows tell. Shorter lines make no image.
SURELY = 5.0
ROWS_TO_TELL = 2000
SHORTEST_LINE = 4


class Judging(NamedTuple):
    """Whether several opinions judge cells, or pixels, or nobody can; else the dictionary decides."""

    cells: bool = False
    pixels: bool = False
    nobody: bool = False

    @property
    def heard(self) -> bool:
        """Whether there are opinions beside that of the dictionary."""
        return self.cells or self.pixels


def who_judges(parameters: dict[str, Any], X: Rows) -> Judging:
    """What the parameters of the estimator, and the shape and range of the data, ask for."""
    penalty = parameters["noise_penalty"]
    wanted = (
        parameters["opinions"] == "auto"
        and parameters["noise_weight"] == "auto"
        and isinstance(penalty, str)
        and penalty == "adaptive"
    )
    if wanted and len(X) < FEWEST_ROWS:
        return Judging(nobody=True)
    if not wanted or isinstance(X, RowSource) or X.shape[1] > MOST_PIXELS:
        return Judging()
    pixels = X.shape[1] > MOST_COLUMNS or (same_unit(X) and is_raster(X))
    return Judging(cells=not pixels, pixels=pixels)


def is_raster(X: Array) -> bool:
    r"""Whether columns are pixels of an image: alike if they stand above each other.

    Columns of a table may share both ends of a scale as well: percentages, whatever was brought to the
    range from 0 to 1, range finders around a robot. But with a line of ``w`` columns, those a line
    apart are more alike than those less far apart; elsewhere, they are less so the farther they are.
    With :math:`z = \operatorname{artanh} |r|` of the correlation :math:`r` of the ranks of two columns,
    its mean over all columns ``w`` apart is compared with that over columns from 2 to ``w - 2`` apart.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        NaN where no value is.

    Returns
    -------
    bool
        Whether it is larger for some ``w`` by many standard errors.
    """
    some = np.array(X[:: -(-len(X) // ROWS_TO_TELL)], dtype=float)
    some = some[:, ~np.isnan(some).all(axis=0)]
    some = np.where(np.isnan(some), np.nanmedian(some, axis=0), some)
    some = some[:, np.ptp(some, axis=0) > 0]
    if some.shape[1] < SHORTEST_LINE**2:
        return False
    correlation = np.corrcoef(rankdata(some, axis=0), rowvar=False)
    alike = np.arctanh(np.minimum(np.abs(correlation), 0.999))
    apart = np.array([np.diag(alike, w).mean() for w in range(len(alike) // 2 + 1)])
    lines = np.arange(SHORTEST_LINE, len(apart))
    nearer = np.cumsum(apart[2:-2]) / np.arange(1, len(apart) - 3)
    errors = alike[np.triu_indices(len(alike), 1)].std() / np.sqrt(len(alike) - lines)
    return bool(np.any(apart[lines] - nearer > SURELY * errors))


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
    if not judging.heard:
        return None, None
    learner.report("judging cells", None)
    if judging.pixels:
        return PixelJudge.learn(X, false_repairs=false_repairs)
    further: tuple[Opinion, ...] = ()
    optimists: tuple[Opinion, ...] = ()
    if columns is not None:
        some = columns.scaled(X), scaled, model, learner, tuning
        # Without a fold each: that takes a while, and often it does not help.
        further = (WhenAsked(lambda: DictionaryOpinion.learn(*some)),)
        optimists = (DictionaryOpinion.optimist(model, learner),)
    return Judge.learn(
        X,
        sequence,
        force_order=force_order,
        further=further,
        optimists=optimists,
        false_repairs=false_repairs,
    )


def what_is_left_alone(judging: Judging, judge: Judge | PixelJudge | None, X: Rows) -> dict[int, str]:
    """Columns in which nothing is altered, or not all that is suspicious, and why."""
    if judging.nobody:
        warnings.warn(UNJUDGED, stacklevel=4)
        return dict.fromkeys(range(X.shape[1]), TOO_FEW)
    return {} if judge is None else judge.left_alone
