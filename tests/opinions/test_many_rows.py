"""Panels are learned from some of many rows; all are judged, a part at a time."""

import numpy as np
import pytest

from helpers import table_of
from rnlmf import RNLMF
from rnlmf.engine.batches import evenly_drawn
from rnlmf.estimators import judging
from rnlmf.fitting import learner
from rnlmf.opinions import Judge, Sequence, judge, learning
from rnlmf.opinions.panel import Panel


@pytest.fixture
def few_at_a_time(monkeypatch):
    """How many rows panels were learned from, with small bounds."""
    monkeypatch.setattr(learning, "LEARNED_ROWS", 400)
    monkeypatch.setattr(learning, "STRETCH_ROWS", 80)
    monkeypatch.setattr(judge, "JUDGED_ROWS", 300)
    learned, learn = [], Panel.learn.__func__
    monkeypatch.setattr(
        Panel, "learn", classmethod(lambda *a: learned.append((len(a[1]), a[5])) or learn(*a))
    )
    return learned


def test_a_table_is_learned_from_some_rows_and_judged_in_parts(few_at_a_time, with_spikes):
    truth = table_of(1000, 6)
    X, wrong = with_spikes(truth)
    judge_, judgement = Judge.learn(X, Sequence.of(len(X)))
    assert not judge_.ordered
    assert max(rows for rows, _ in few_at_a_time) <= 400
    assert judgement.wrong.shape == X.shape
    assert np.mean(judgement.wrong[wrong]) > 0.9
    assert np.mean(judgement.wrong[~wrong]) < 0.01
    again = judge_.judge(X)
    np.testing.assert_array_equal(again.wrong, judgement.wrong)
    alone = judge_.judge(X[300:600])
    np.testing.assert_array_equal(alone.prediction, again.prediction[300:600])


def test_a_sequence_is_learned_from_stretches_of_it(few_at_a_time, with_spikes):
    t = np.linspace(0.0, 60.0, 1200)
    truth = np.column_stack([np.sin(t), np.cos(t), np.sin(2 * t) + np.cos(t), np.sin(t + 1)])
    X, wrong = with_spikes(truth + 0.02 * np.random.default_rng(0).normal(size=truth.shape))
    judge_, judgement = Judge.learn(X, Sequence.of(len(X)))
    assert judge_.ordered
    assert {rows for rows, _ in few_at_a_time} == {400}
    assert all(len(sequence.starts) == 5 for _, sequence in few_at_a_time)
    assert np.mean(judgement.wrong[wrong]) > 0.9
    assert np.mean(judgement.wrong[~wrong]) < 0.01


def test_part_of_a_sequence_begins_anew_where_rows_are_left_out():
    groups = np.repeat([0, 1], [5, 5])
    part = Sequence.of(10, groups, times=10.0 * np.arange(10)).part(np.array([1, 2, 4, 5, 6, 9]))
    assert part.starts == (0, 2, 3, 5)
    np.testing.assert_array_equal(part.times, [10.0, 20.0, 40.0, 50.0, 60.0, 90.0])


def test_a_dictionary_that_is_one_opinion_is_learned_from_some_samples(monkeypatch, with_spikes):
    monkeypatch.setattr(judging, "FITTED_SAMPLES", 150)
    fitted, run = [], learner.run_solver
    monkeypatch.setattr(
        learner,
        "run_solver",
        lambda solver, *a: (
            fitted.append((len(solver.samples.X), solver.options.max_iter)) or run(solver, *a)
        ),
    )
    X, _ = with_spikes(table_of(400, 5))
    model = RNLMF(10, random_state=0)
    assert model.fit_denoise(X).shape == X.shape
    assert [rows for rows, most in fitted if most == model.max_iter] == [134]
    fitted.clear()
    RNLMF(10, opinions="dictionary", kernel_scale=1.0, noise_weight="scale").fit(X)
    assert [rows for rows, _ in fitted] == [400]


def test_rows_are_drawn_whatever_their_order(rng):
    X = rng.normal(size=(50, 3))
    some = evenly_drawn(X, 20)
    assert len(some) == 17
    np.testing.assert_array_equal(np.sort(evenly_drawn(X[::-1], 20), axis=0), np.sort(some, axis=0))
    assert evenly_drawn(X, 50) is X
