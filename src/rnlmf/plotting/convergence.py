"""The objective over the iterations."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from rnlmf.plotting.drawing import axes


class ConvergenceDisplay:
    """Objective of a fit at every iteration.

    Parameters
    ----------
    objective : array of shape (n_iter,)
        Its values.
    converged : bool or None
        Whether the fit stopped by itself; None leaves it unsaid.
    name : str or None
        Label of the curve.

    Attributes
    ----------
    ax_, figure_, line_
        Of the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from rnlmf import RNLMF
    >>> from rnlmf.plotting import ConvergenceDisplay
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> display = ConvergenceDisplay.from_estimator(RNLMF(random_state=0).fit(X))  # doctest: +SKIP
    """

    def __init__(self, objective: Any, *, converged: bool | None = None, name: str | None = None):
        self.objective = np.asarray(objective)
        self.converged = converged
        self.name = name

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str | None = None, ax: Any = None) -> Self:
        """Plot the fit of an estimator that has ``objective_``."""
        display = cls(estimator.objective_, converged=bool(estimator.converged_), name=name)
        return display.plot(ax)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw; `line` goes to Matplotlib's ``plot``."""
        self.ax_, self.figure_ = axes(ax)
        iterations = np.arange(1, len(self.objective) + 1)
        (self.line_,) = self.ax_.plot(iterations, self.objective, **{"label": self.name, **line})
        self.ax_.set(xlabel="iteration", ylabel="objective")
        if self.converged is not None:
            self.ax_.set_title("converged" if self.converged else "not converged yet")
        if self.name is not None:
            self.ax_.legend()
        return self
