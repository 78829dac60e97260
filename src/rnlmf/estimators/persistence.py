"""Save and load fitted models: safetensors with a JSON header.

A file holds arrays and a header of plain JSON: the parameters, the names of the features, the
version of this library and how the arrays fit together. Loading builds objects of the classes
listed here, and of kernels and penalties that were registered or are passed, and of no others. It never
imports what a file names, so a file from anywhere can be opened without running its code.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rnlmf.conventions import CodesMixin
from rnlmf.estimators.model_checks import (
    check_fields,
    check_header,
    check_model,
    check_part,
    check_tensors,
)
from rnlmf.estimators.model_classes import CLASSES
from rnlmf.io.atomic import whole_file
from rnlmf.io.checksum import digest
from rnlmf.io.dataset import FileError
from rnlmf.kernels import KERNELS, Kernel
from rnlmf.penalties import (
    CODE_PENALTIES,
    DICTIONARY_PENALTIES,
    NOISE_PENALTIES,
    FeaturePenalty,
    Penalty,
)
from rnlmf.typing import Array

SAVE_AGAIN = "save the model again, with rnlmf.save or rnlmf denoise --model."

# Raised when a file of the new form cannot be read by the old code.
FORMAT = 1

# What fields of estimators were called by versions before.
RENAMED = {"neighbors": "neighbor_share", "neighbors_": "neighbor_share_"}
# Parameters that only matter while fitting, and that may be live objects.
TRANSIENT = ("random_state", "callback")
# Kernels and penalties that were registered by a name.
FAMILIES: tuple[dict[str, Any], ...] = (
    KERNELS,
    CODE_PENALTIES,
    NOISE_PENALTIES,
    DICTIONARY_PENALTIES,
)


def save(model: BaseEstimator, path: str | Path, *, about: dict[str, Any] | None = None) -> None:
    """Save a fitted model.

    Where the nearest samples have a say (``neighbor_share_`` above zero) the file holds up to 10,000
    training samples; fit with ``neighbor_share=0`` if it must not.

    Parameters
    ----------
    model : estimator of this library
        Fitted. A ``callback``, and a ``random_state`` that is a generator, are not stored.
    path : path
        The file, conventionally ``.safetensors``; it appears whole or not at all.
    about : dict or None
        Anything in JSON to keep in the header, see :func:`read_header`.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from rnlmf import RNLMF, load, save
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> model = RNLMF(5, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "model.safetensors"
    ...     save(model, file)
    ...     again = load(file)
    >>> bool(np.all(again.denoise(X) == model.denoise(X)))
    True
    """
    from safetensors.numpy import save as to_bytes

    check_is_fitted(model)
    tensors: dict[str, Array] = {}
    state = _encode(model, "", tensors)
    header = {
        "format": FORMAT,
        "rnlmf": import_module("rnlmf").__version__,
        "class": type(model).__name__,
        "parameters": _parameters(model),
        "n_features": int(model.n_features_in_),
        "feature_names": [str(name) for name in getattr(model, "feature_names_in_", [])] or None,
        "about": about or {},
        "state": state,
    }
    header["sha256"] = digest(json.dumps(header), tensors)
    # One entry only: several would stand in any order, and the file would not be the same each time.
    content = to_bytes(tensors, metadata={"rnlmf": json.dumps(header)})
    with whole_file(path) as file:
        file.write_bytes(content)


def load(path: str | Path, *, classes: Iterable[type] = ()) -> Any:
    """Load a model that :func:`save` wrote, by this or an older version.

    Parameters
    ----------
    path : path
        The file.
    classes : iterable of classes
        Kernels and penalties of your own that the model may have, beside those that were registered
        (:func:`rnlmf.kernels.register`, :func:`rnlmf.penalties.register`).

    Raises
    ------
    FileError
        If the file is not a model, is cut off, needs a newer version, or has a class that is neither
        registered nor passed; a `ValueError`.
    """
    path = Path(path)
    header, tensors = _read(path, with_tensors=True)
    known = {_location(kind): kind for kind in (*_registered(), *classes)}
    try:
        names = _object_names(header.get("state"))
    except RecursionError as error:
        raise FileError(path, f"is damaged, its parts are nested too deeply: {SAVE_AGAIN}") from error
    foreign = sorted({name for name in names if ":" in name} - set(known))
    if foreign:
        raise FileError(
            path,
            f"has the class {foreign[0]} that is not part of rnlmf: import the module that defines it "
            "and register it (rnlmf.kernels.register, rnlmf.penalties.register), or pass it, "
            "load(path, classes=[...]).",
        )
    try:
        check_tensors(tensors)
        model = _decode(header["state"], tensors, known)
        check_header(header, model)
        check_model(model)
    except Exception as error:
        # Whatever a part of the wrong kind, shape or size leads to.
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FileError(path, f"is damaged ({reason}): {SAVE_AGAIN}") from error
    return model


def read_header(path: str | Path) -> dict[str, Any]:
    """The header of a model file without its arrays: class, parameters, version, feature names."""
    header, _ = _read(Path(path), with_tensors=False)
    return {key: value for key, value in header.items() if key != "state"}


def _read(path: Path, *, with_tensors: bool) -> tuple[dict[str, Any], dict[str, Array]]:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise FileError(path, "there is no such model file; check the name.")
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            names = file.keys() if with_tensors else ()
            tensors = {name: file.get_tensor(name) for name in names}
    except (SafetensorError, OSError) as error:
        raise FileError(path, f"is not a model file, or cut off: {SAVE_AGAIN}") from error
    try:
        header = json.loads(metadata["rnlmf"])
        version = int(header["format"])
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise FileError(path, "is a safetensors file, but not a model of rnlmf; pass one.") from error
    if version > FORMAT:
        raise FileError(path, f"was saved by rnlmf {header.get('rnlmf')}, which is newer: upgrade.")
    # Files of older versions have no checksum.
    stored = header.pop("sha256", None)
    if with_tensors and stored is not None and stored != digest(json.dumps(header), tensors):
        raise FileError(path, "is damaged: its content is not what was saved. Copy it again.")
    return header, tensors


def _parameters(model: BaseEstimator) -> dict[str, Any]:
    """The parameters for readers of the header; the model itself is in the state."""
    shown = {}
    for name, value in model.get_params().items():
        if not name.endswith("callback") and not isinstance(value, BaseEstimator):
            plain = value is None or isinstance(value, bool | int | float | str)
            shown[name] = value if plain else type(value).__name__
    return shown


def _location(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _registered() -> list[type]:
    return [kind for family in FAMILIES for kind in family.values()]


def _object_names(value: Any) -> set[str]:
    """Classes of all objects in the state of a file."""
    if isinstance(value, list):
        return set().union(*map(_object_names, value))
    if not isinstance(value, dict):
        return set()
    own = {value["object"]} if isinstance(value.get("object"), str) else set()
    return own.union(*map(_object_names, value.values()))


def _class_name(value: Any) -> str:
    """Its name in a file; for a kernel or penalty from elsewhere, where it can be imported from."""
    kind = type(value)
    location = _location(kind)
    for name, known in CLASSES.items():
        if known == location:
            return name
    if isinstance(value, Kernel | Penalty | FeaturePenalty):
        found = getattr(sys.modules.get(kind.__module__), kind.__qualname__, None)
        if found is kind or kind in _registered():
            return location
        raise ValueError(
            f"{kind.__name__} cannot be found again by its name: define it at the top of a module, or "
            "register it."
        )
    raise ValueError(
        f"{kind.__name__} is not one of the classes that a model file may hold: use the classes of "
        "this library and kernels and penalties of your own, or pickle."
    )


def _encode(value: Any, place: str, tensors: dict[str, Array]) -> Any:
    """Plain JSON for a value; arrays go to `tensors` under their `place`."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "OU":
            return {"strings": [str(item) for item in value]}
        tensors[place] = np.ascontiguousarray(value)
        return {"tensor": place}
    if isinstance(value, list | tuple):
        items = [_encode(item, f"{place}.{i}", tensors) for i, item in enumerate(value)]
        return {"tuple" if isinstance(value, tuple) else "list": items}
    if isinstance(value, dict):
        pairs = {str(key): _encode(item, f"{place}.{key}", tensors) for key, item in value.items()}
        return {"dict": pairs}
    if hasattr(value, "tocsr"):
        sparse = value.tocsr()
        parts = {key: getattr(sparse, key) for key in ("data", "indices", "indptr", "shape")}
        return {"sparse": _encode(parts, place, tensors)["dict"]}
    content = {
        key: None if key in TRANSIENT and not isinstance(item, int) else item
        for key, item in _content(value).items()
    }
    prefix = f"{place}." if place else ""
    fields = {key: _encode(item, prefix + key, tensors) for key, item in content.items()}
    return {"object": _class_name(value), "fields": fields}


def _content(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return vars(value)


def _decode(value: Any, tensors: dict[str, Array], known: dict[str, type]) -> Any:
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        return tensors[value["tensor"]]
    if "strings" in value:
        return np.array(value["strings"], dtype=object)
    if "list" in value:
        return [_decode(item, tensors, known) for item in value["list"]]
    if "tuple" in value:
        return tuple(_decode(item, tensors, known) for item in value["tuple"])
    if "dict" in value:
        return {key: _decode(item, tensors, known) for key, item in value["dict"].items()}
    if "sparse" in value:
        return _sparse({key: _decode(item, tensors, known) for key, item in value["sparse"].items()})
    fields = {key: _decode(item, tensors, known) for key, item in value["fields"].items()}
    return _build(value["object"], fields, known)


def _sparse(parts: dict[str, Any]) -> Any:
    from scipy.sparse import csr_array

    matrix = csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=parts["shape"])
    matrix.check_format()
    return matrix


def _of_scaled(fields: dict[str, Any]) -> Any:
    """The model of a class that was: it scaled the features and had another model for them."""
    columns = import_module("rnlmf.opinions.columns").Columns
    model, spread = fields["estimator_"], fields["scale_"]
    no_values = tuple(np.empty(0) for _ in spread)
    model.feature_scale, model.feature_scale_ = "robust", spread
    model._columns = columns(
        fields["center_"], spread, np.zeros(len(spread)), no_values, np.zeros(len(spread), dtype=bool)
    )
    kept = ("components_", "n_features_in_", "feature_names_in_")
    vars(model).update({key: fields[key] for key in kept if key in fields})
    return model


def _build(name: str, fields: dict[str, Any], known: dict[str, type]) -> Any:
    if name == "ScaledRNLMF":
        return _of_scaled(fields)
    kind: Any = known.get(name)
    if kind is None:
        if name not in CLASSES:
            raise ValueError(f"there is no class {name!r} in a model file.")
        module, _, attribute = CLASSES[name].partition(":")
        kind = getattr(import_module(module), attribute)
    check_fields(kind, fields)
    if hasattr(kind, "__dataclass_fields__"):
        # Fields that an older version did not have take their defaults.
        part = kind(**fields)
        check_part(part)
        return part
    instance = kind.__new__(kind)
    if isinstance(instance, BaseEstimator):
        fields = {RENAMED.get(key, key): value for key, value in fields.items()}
        if isinstance(instance, CodesMixin) and "components_" in fields:
            fields.setdefault("n_components_", len(fields["components_"]))
        # Parameters that an older version did not have take their defaults; then what is stored.
        kind.__init__(
            instance, **{key: fields[key] for key in kind._get_param_names() if key in fields}
        )
    vars(instance).update(fields)
    return instance
