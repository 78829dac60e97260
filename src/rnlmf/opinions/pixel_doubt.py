"""Wrong pixels that mislead those around them: blocks, and whatever predictions alone give away.

A pixel is first asked about among those that are far from it, and similar rows: a block of errors
cannot mislead them. What they find suspicious is hidden while the relations between all pixels are
learned, which predict far better. Scales are calibrated with the suspects among the residuals: else
what is hidden makes others look wrong, and these others again. Then the whole is put to the test,
whether believing the suspects does the harm that errors would
(:mod:`~rnlmf.opinions.pixel_evidence`); and so is every row by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rnlmf.opinions.pixel_evidence import PixelEvidence, misleading, where_harmful
from rnlmf.opinions.pixel_panel import PixelPanel
from rnlmf.opinions.pixel_relations import Relations
from rnlmf.opinions.pixel_scale import Scale
from rnlmf.opinions.pixel_verdict import PixelVerdict
from rnlmf.typing import Array

# Rounds in which relations are learned without the suspects; a third hardly changes any.
ROUNDS = 2
# Believing an error costs more than hiding a right cell: pixels of a block would vouch for each other.
DOUBT = 0.2


@dataclass(frozen=True)
class ByDoubt:
    """Panels that suspect and that doubt.

    Attributes
    ----------
    believing : Relations
        Of the cells as they are.
    first, doubting : PixelPanel
        Asked about pixels from afar, learned from the cells as they are; and from all others, learned
        without suspects.
    suspicion, verdict : PixelVerdict
        What is wrong by the first panel, and by the last.
    """

    believing: Relations
    first: PixelPanel
    doubting: PixelPanel
    suspicion: PixelVerdict
    verdict: PixelVerdict

    @classmethod
    def learn(
        cls, Z: Array, missing: Array, scale: Scale, believing: Relations, afar: Relations, near: Array
    ) -> tuple[ByDoubt, PixelEvidence]:
        """And whether its suspects are errors."""
        first = PixelPanel.learn(Z, missing, missing, scale, afar)
        said = first.testify(Z, missing, missing)
        suspicion = PixelVerdict.learn(Z, missing, *said, scale, near)
        hidden = missing | (suspicion.probability(Z, missing, *said) > DOUBT)
        for _ in range(ROUNDS):
            doubting = PixelPanel.learn(Z, hidden, missing, scale, Relations.learn(Z, hidden))
            said = doubting.testify(Z, hidden, missing)
            verdict = PixelVerdict.learn(Z, missing, *said, scale, near)
            probability = verdict.probability(Z, missing, *said)
            hidden |= probability > DOUBT
        evidence = misleading(Z, probability > 0.5, missing, believing, scale)
        return cls(believing, first, doubting, suspicion, verdict), evidence

    def revised(self, Z: Array, P: Array, missing: Array, like: Array) -> Array:
        """As it was found while learning; not in rows which the suspects inform."""
        said = self.first.testify(Z, missing, missing, like=like)
        hidden = missing | (self.suspicion.probability(Z, missing, *said) > DOUBT)
        for _ in range(ROUNDS):
            said = self.doubting.testify(Z, hidden, missing, like=like)
            probability = self.verdict.probability(Z, missing, *said)
            hidden = hidden | (probability > DOUBT)
        scale = self.first.scale
        harmful = where_harmful(probability, Z, missing, self.believing, scale, like)
        more: Array = np.maximum(P, harmful)
        return more
