"""Tensors of other libraries in and out: PyTorch, CuPy, JAX."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from rnlmf.engine.array_api import Device, on_device

LIBRARIES = ("torch", "cupy", "jax", "jaxlib", "array_api_strict")


def device_of(X: Any) -> Device | None:
    """Where a tensor is; None for everything else."""
    if type(X).__module__.partition(".")[0] not in LIBRARIES:
        return None
    from array_api_compat import array_namespace, device

    return Device(array_namespace(X), device(X))


def takes_tensors(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method's `X` be a tensor: the work is done where it is, and results are tensors there."""

    @wraps(method)
    def wrapped(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        device = device_of(X)
        if device is None:
            return method(self, X, *args, **kwargs)
        with on_device(device):
            result = method(self, device.fetch(X), *args, **kwargs)
        return device.send(result) if isinstance(result, np.ndarray) else result

    return wrapped
