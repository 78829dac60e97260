"""In which order rows are judged."""

import numpy as np

from rnlmf.opinions import Judge, Sequence
from rnlmf.opinions.beginning import Beginning


def test_a_sequence_whose_order_tells_nothing_is_judged_as_a_table(monkeypatch, waves, with_spikes):
    """Unless somebody asks for its order, or a sensor is stuck, if errors are plain to its fellows."""
    X, _ = with_spikes(waves)
    assert Judge.learn(X, Sequence.of(300))[0].ordered
    monkeypatch.setattr(Beginning, "told_in_order", False)
    assert Judge.learn(X, Sequence.of(300), force_order=True)[0].ordered
    judge, judgement = Judge.learn(X, Sequence.of(300))
    assert not judge.ordered
    np.testing.assert_array_equal(judgement.wrong, Judge.learn(X)[1].wrong)
    assert Judge.learn(waves, Sequence.of(300))[0].ordered


def test_of_few_rows_order_is_kept(rng):
    """Who knows a row by those beside it is too sure of it."""
    X = rng.normal(size=(120, 12)).cumsum(axis=0)
    begun = Beginning.of(X, Sequence.of(120), (), (), force_order=True)
    assert begun.given.columns.optimism is not None
    assert begun.told_in_order
