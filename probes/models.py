"""Model files that were damaged or edited: refused, or harmless.

Harmless is a file that loads and then gives finite results of the right shape. A third of the edits
keep the checksum, a third have a right one made anew, as somebody who means harm would, a third have
none, as files of older versions.
"""

from __future__ import annotations

import copy
import json
import struct
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as tensors_of
from safetensors.numpy import save as to_bytes

from probes.corpus import numbers
from probes.damage import mutants
from probes.record import FINE, REFUSED, WRONG, Record, options
from rnlmf import RNLMF, RobustPCA, load, save
from rnlmf.io import FileError
from rnlmf.io.checksum import digest

ODD = (None, True, 0, -1, 10**18, 1e308, float("nan"), float("inf"), "text", [], {}, {"tensor": "none"})


def parts(content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a file."""
    (length,) = struct.unpack("<Q", content[:8])
    outer = json.loads(content[8 : 8 + length])
    return json.loads(outer["__metadata__"]["rnlmf"]), tensors_of(content)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a header."""
    items: Any = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def edited(header: dict[str, Any], tensors: dict[str, np.ndarray], rng: np.random.Generator) -> str:
    """Change one thing in place; says what."""
    if rng.random() < 0.4:
        name = str(rng.choice(sorted(tensors)))
        tensor = tensors[name] = tensors[name].copy()
        kind = str(rng.choice(["nan", "zero", "huge", "shape", "type"]))
        if kind == "shape":
            tensors[name] = np.concatenate([tensor.ravel(), np.ones(1, tensor.dtype)])
        elif kind == "type":
            tensors[name] = np.zeros(tensor.shape, np.int16)
        elif tensor.size:
            odd = {"nan": np.nan, "zero": 0, "huge": 1e300}[kind] if tensor.dtype.kind == "f" else 1
            tensor.flat[rng.integers(tensor.size)] = odd
        return f"{kind} in {name}"
    every = list(places(header))
    place = every[rng.integers(len(every))]
    parent: Any = header
    for key in place[:-1]:
        parent = parent[key]
    if rng.random() < 0.2:
        del parent[place[-1]]
        return f"without {place}"
    odd = ODD[rng.integers(len(ODD))]
    if rng.random() < 0.15 and isinstance(parent, dict):
        parent[str(rng.choice(["denoise", "fit", "__class__", "_model", "x"]))] = odd
        return f"{odd!r} more beside {place}"
    parent[place[-1]] = odd
    return f"{odd!r} at {place}"


def tried(path: Path, X: np.ndarray) -> tuple[str, str]:
    """What became of loading and using a file."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model = load(path)
            result = np.asarray(model.denoise(X))
    except FileError:
        return REFUSED, ""
    except Exception as error:
        return WRONG, f"{type(error).__name__}: {error}"
    if result.shape != X.shape or not np.isfinite(result).all():
        return WRONG, "results are not finite"
    return FINE, ""


def probe(record: Record, count: int, seed: int) -> None:
    """Try `count` edits and as many damaged versions."""
    rng = np.random.default_rng(seed)
    X = numbers()
    fitted = {
        "judged": RNLMF(6, random_state=0, max_iter=10).fit(X),
        "dictionary alone": RNLMF(6, random_state=0, max_iter=10, opinions="dictionary").fit(X),
        "robust PCA": RobustPCA().fit(X),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        for name, model in fitted.items():
            save(model, path)
            content = path.read_bytes()
            header, tensors = parts(content)
            for trial in range(count // len(fitted)):
                new, arrays = copy.deepcopy(header), dict(tensors)
                what = edited(new, arrays, rng)
                new.pop("sha256", None)
                kind = ("old checksum", "new checksum", "no checksum")[trial % 3]
                if kind == "old checksum":
                    new["sha256"] = header["sha256"]
                elif kind == "new checksum":
                    new["sha256"] = digest(json.dumps(new), arrays)
                path.write_bytes(to_bytes(arrays, metadata={"rnlmf": json.dumps(new)}))
                result, why = tried(path, X)
                record.add(f"edited, {kind}", result, f"{name}, {what}: {why}")
            for damage, damaged in mutants(content, count // len(fitted), rng):
                path.write_bytes(damaged)
                result, why = tried(path, X)
                record.add("damaged", result, f"{name}, {damage}: {why}")


def main() -> int:
    """Try, and write what was found."""
    given = options(__doc__, count=600, seed=0)
    record = Record("model files, damaged and edited")
    probe(record, given.count, given.seed)
    return record.save("models")


if __name__ == "__main__":
    sys.exit(main())
