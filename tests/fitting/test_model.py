"""What a fit leaves behind: all that new samples need."""

import numpy as np

from rnlmf import RNLMF
from rnlmf.engine.problem import Problem


def test_rows_that_come_one_by_one_need_one_factorization(rng, monkeypatch):
    X = rng.normal(size=(200, 5))
    model = RNLMF(10, opinions="dictionary", random_state=0).fit(X)
    found = []
    encoders = Problem.encoders

    def counted(self, *arguments):
        found.append(1)
        return encoders(self, *arguments)

    monkeypatch.setattr(Problem, "encoders", counted)
    by_row = np.vstack([model.denoise(row[None]) for row in X[:20]])
    assert len(found) <= 1
    np.testing.assert_allclose(by_row, model.denoise(X[:20]), rtol=1e-6, atol=1e-9)
