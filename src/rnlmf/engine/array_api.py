"""The arithmetic of :mod:`rnlmf.engine.arithmetic` over the array API: PyTorch, CuPy, JAX.

The samples' state stays with the engine. The matrix products of a block, ``O(b d (m + d))`` work, are
done on the device; ``O(b m)`` numbers go there and come back, and what is done to them one by one is
NumPy's. The (d, d) work is the engine's own, in double precision. Nothing but functions of the array
API standard is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from rnlmf.engine.arithmetic import NumpyArithmetic, PassModel
from rnlmf.engine.samples import Samples
from rnlmf.engine.state import SampleState
from rnlmf.typing import Array


class Device:
    """A namespace of arrays, and where they are.

    Parameters
    ----------
    xp : module
        Of the array API, such as those of `array_api_compat`.
    device : object or None
        The library's own; None is its default.
    """

    def __init__(self, xp: Any, device: Any = None) -> None:
        self.xp, self.device = xp, device

    def send(self, array: Array) -> Any:
        """To the device."""
        return self.xp.asarray(np.ascontiguousarray(array), device=self.device)

    @staticmethod
    def fetch(array: Any) -> Array:
        """Back to memory."""
        if hasattr(array, "detach"):
            array = array.detach().cpu()
        elif hasattr(array, "get"):
            array = array.get()
        found: Array = np.asarray(array)
        return found


class ArrayApiArithmetic(NumpyArithmetic):
    """Products on a device, for any penalty.

    Parameters
    ----------
    samples, n_atoms, rows
        Of :class:`rnlmf.engine.arithmetic.BlockArithmetic`.
    device : Device
        Where products are computed.
    """

    def __init__(self, samples: Samples, n_atoms: int, rows: int, device: Device) -> None:
        super().__init__(samples, n_atoms, rows)
        self.device = device
        self.known: tuple[Array | None, Any] = (None, None)

    def weigh(self, state: SampleState, model: PassModel) -> None:
        b = len(state.Y)
        _, codes, _ = self.work(state, model)
        self.C[:b] = self.device.fetch(codes)

    def row_step(self, X: Array, state: SampleState, model: PassModel) -> tuple[float, float]:
        return self.step_and_products(X, state, model)[0]

    def pass_block(self, X: Array, state: SampleState, model: PassModel) -> tuple[float, float]:
        moved, (lifted, C, V) = self.step_and_products(X, state, model)
        self.weighted_samples[...] = self.device.fetch(V.T @ lifted)
        self.code_gram[...] = self.device.fetch(C.T @ C)
        return moved

    def step_and_products(
        self, X: Array, state: SampleState, model: PassModel
    ) -> tuple[tuple[float, float], tuple[Any, Any, Any]]:
        """The row step, and what the sums are made of, on the device."""
        b = len(state.Y)
        products = self.work(state, model)
        return self.move(X, self.VD[:b], self.lifted[:b], state, model), products

    def work(self, state: SampleState, model: PassModel) -> tuple[Any, Any, Any]:
        """Lifted samples, ``C`` and ``V`` on the device; ``V [D, ., 1]`` in its buffer."""
        b = len(state.Y)
        self.extrapolate(state, model.momentum, self.lifted[:b])
        atoms, encoder = self.sent(model)
        lifted = self.device.send(self.lifted[:b])
        K = self.device.xp.exp(lifted @ atoms.T)
        C = K @ encoder
        V = C * K
        self.VD[:b] = self.device.fetch(V @ atoms)
        return lifted, C, V

    def sent(self, model: PassModel) -> Any:
        """Atoms and encoder there; they go once for all blocks of a pass."""
        if self.known[0] is not model.lifted_atoms:
            there = self.device.send(model.lifted_atoms), self.device.send(model.encoder)
            self.known = model.lifted_atoms, there
        return self.known[1]


_in_use: ContextVar[Device | None] = ContextVar("device", default=None)


@contextmanager
def on_device(device: Device | None) -> Iterator[None]:
    """Within this, blocks are worked on there."""
    token = _in_use.set(device)
    try:
        yield
    finally:
        _in_use.reset(token)


def device_in_use() -> Device | None:
    """That of the innermost :func:`on_device`."""
    return _in_use.get()
