"""What a model file must be before it is believed.

A checksum tells damage. Against a file that somebody edited there are names and types that every class
says itself, numbers that must be finite or positive, and a trial on a few rows.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
import warnings
from collections.abc import Callable
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from sklearn.base import BaseEstimator

from rnlmf.opinions.dictionary import DictionaryOpinion
from rnlmf.opinions.judge import Judge
from rnlmf.opinions.temporal import Sequence
from rnlmf.typing import Array
from rnlmf.validation import validate_parameters

# Beyond this a file would be asking for time, not for accuracy.
MOST_ITERATIONS = 100_000
# Numbers, and arrays of them, that are divided by.
POSITIVE = frozenset({"width", "sigma", "spread", "unit", "scale", "feature_scale_", "kernel_scale_"})
# A model treats rows of these.
TRIAL_VALUES = (0.0, 1.0, -1.0)
TREATMENTS = ("denoise", "transform", "predict")


def check_tensors(tensors: dict[str, Array]) -> None:
    """Refuse NaN and infinity: no fit leaves them behind."""
    for name, tensor in tensors.items():
        if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
            raise ValueError(f"{name} is not finite.")


def check_fields(kind: type, fields: dict[str, Any]) -> None:
    """Refuse names that a class does not have, types that it does not say, and impossible numbers."""
    if dataclasses.is_dataclass(kind):
        for name, hint in get_type_hints(kind).items():
            if name in fields and not _is_a(fields[name], hint):
                raise ValueError(f"{name} of {kind.__name__} is a {type(fields[name]).__name__}.")
    else:
        for name in fields:
            # A method of the class must stay one.
            if not name.isidentifier() or name.startswith("__") or callable(getattr(kind, name, None)):
                raise ValueError(f"{kind.__name__} cannot have {name!r}.")
    for name, value in fields.items():
        if isinstance(value, float) and math.isnan(value):
            raise ValueError(f"{name} of {kind.__name__} is not a number.")
        if name.endswith("max_iter") and isinstance(value, int) and value > MOST_ITERATIONS:
            raise ValueError(f"{name} is {value}, beyond {MOST_ITERATIONS}.")
        if name in POSITIVE and isinstance(value, float | int | np.ndarray) and np.any(value <= 0):
            raise ValueError(f"{name} of {kind.__name__} is not positive.")


def _is_a(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type, as far as those of stored classes go."""
    origin = get_origin(hint)
    if hint is Any or origin is Callable or origin is typing.Callable:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(_is_a(value, part) for part in get_args(hint))
    if origin is tuple:
        part, *rest = get_args(hint)
        if rest == [...]:
            return isinstance(value, tuple) and all(_is_a(item, part) for item in value)
        return isinstance(value, tuple)
    if hint is float:
        # Whole numbers are numbers, but yes and no are not.
        return isinstance(value, float | int) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if hint is None or hint is type(None):
        return value is None
    if isinstance(hint, type) and issubclass(hint, tuple):
        # A named tuple is stored as a plain one.
        parts = list(get_type_hints(hint).values())
        return isinstance(value, tuple) and len(value) == len(parts) and all(map(_is_a, value, parts))
    kind = origin or hint
    return not isinstance(kind, type) or kind.__module__ == "collections.abc" or isinstance(value, kind)


def check_part(part: Any) -> None:
    """Refuse dictionaries that cannot treat a row: a trial of the model would not ask all of them."""
    if isinstance(part, DictionaryOpinion):
        rows = _trial_rows(part.whole.atoms.shape[1])
        with np.errstate(all="ignore"):
            _check_results(part.by_all(rows, np.zeros(rows.shape, dtype=bool)))


def _trial_rows(n_features: int) -> Array:
    return np.repeat(TRIAL_VALUES, n_features).reshape(len(TRIAL_VALUES), -1)


def _check_results(found: list[Array]) -> None:
    if not all(len(result) == len(TRIAL_VALUES) and np.isfinite(result).all() for result in found):
        raise ValueError("its results are not finite.")


def check_header(header: dict[str, Any], model: Any) -> None:
    """Refuse a header, which is shown without the arrays, that says something else than the model."""
    names = [str(name) for name in getattr(model, "feature_names_in_", [])] or None
    altered = header["about"].get("altered", 0.0)
    expected = {"class": str, "rnlmf": str, "parameters": dict}
    if header["n_features"] != model.n_features_in_ or header["feature_names"] != names:
        raise ValueError("header and model disagree on the features.")
    if not all(_is_a(header[name], kind) for name, kind in expected.items()) or not _is_a(
        altered, float
    ):
        raise ValueError("its header is not that of a model.")


def check_model(model: Any) -> None:
    """Refuse a model whose parameters are impossible, or that cannot treat a row."""
    if isinstance(model, BaseEstimator) and hasattr(model, "_parameter_constraints"):
        validate_parameters(model)
    judge = getattr(model, "_judge", None)
    # Pixels have one verdict for all columns.
    for verdict in (judge.verdict, judge.alone) if isinstance(judge, Judge) else ():
        if len(verdict.columns) != model.n_features_in_:
            raise ValueError("its verdicts are not those of its columns.")
    rows = _trial_rows(model.n_features_in_)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # Names of columns are missing here, and the rows may lie far from all it has learned.
        warnings.simplefilter("ignore")
        found = [np.asarray(getattr(model, name)(rows)) for name in TREATMENTS if hasattr(model, name)]
        if isinstance(judge, Judge):
            # The order of so few rows tells nothing, and would not be used.
            found.append(judge.judge(rows, Sequence.of(len(rows)), force_order=True).prediction)
    _check_results(found)
