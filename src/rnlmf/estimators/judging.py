"""Who says which cells are wrong: the dictionary alone, several opinions, or the judge of images."""

from __future__ import annotations

from typing import Any, NamedTuple

from rnlmf.engine.source import Rows, RowSource
from rnlmf.opinions.pixels import same_unit

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
