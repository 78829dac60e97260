"""What the error left is estimated to be."""

import numpy as np
import pytest

from rnlmf.opinions.judgement import CALIBRATION, Judgement


@pytest.fixture
def judgement():
    """Two of twenty rows are wrong in their first cell; predictions are 0, and 0.1 off."""
    shape = 20, 3
    wrong = np.zeros(shape, dtype=bool)
    wrong[:2, 0] = True
    scale, no_row = np.full(shape, 0.1), np.zeros(20, dtype=bool)
    nothing = np.zeros(shape, dtype=bool)
    probability = wrong.astype(float)
    return Judgement(
        np.zeros(shape), scale, scale, probability, wrong, no_row, no_row, nothing, np.zeros(3)
    )


X = np.ones((20, 3))
SIZE = np.sqrt(58.0)
EXPECTED = 0.1 * np.sqrt(2.0) / SIZE


def test_what_predictions_are_off_is_left(judgement):
    assert judgement.error_left(X) == pytest.approx(CALIBRATION * EXPECTED)
    tails = np.array([3.0, 1.0, 1.0])
    assert judgement.with_tails(tails).error_left(X) == pytest.approx(3.0 * CALIBRATION * EXPECTED)


def test_codes_cannot_be_mistaken(judgement):
    """Nor are they found more easily than others when they are put in once more."""
    codes = judgement.wrong
    assert judgement.error_left(X, codes=codes) == pytest.approx(EXPECTED)
    assert judgement.error_left(X, 0.5 * EXPECTED, codes) == pytest.approx(np.sqrt(0.5) * EXPECTED)
    usual = judgement.error_left(X, 0.5 * EXPECTED)
    assert usual == pytest.approx(np.sqrt(0.5 * CALIBRATION**1.5) * EXPECTED)


def test_how_far_columns_vary_is_known(judgement):
    """Rows of noise get the middle of their columns, and no tail of predictions tells how far off."""
    judgement.noise[:2] = True
    judgement.wrong[:2] = True
    found = judgement.with_tails(np.full(3, 5.0))
    assert found.error_left(X) == pytest.approx(0.1 * np.sqrt(6.0) / np.sqrt(54.0))
