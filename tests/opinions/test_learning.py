"""From blurred opinions to sharp ones, for rows that were learned from and for new ones."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from helpers import table_of
from rnlmf.opinions import Judge, Sequence
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.learning import STAGES, unmasked
from rnlmf.opinions.opinion import WhenAsked


def surface(n, seed):
    """Twenty columns of a curved, three-dimensional structure, well determined; 5% of it wrong."""
    shape = np.random.default_rng(123)
    linear, waves = shape.normal(size=(3, 20)), shape.normal(size=(6, 20))
    rng = np.random.default_rng(seed)
    place = rng.uniform(-1.0, 1.0, (n, 3))
    truth = place @ linear + np.column_stack([np.sin(2 * place), np.cos(2 * place)]) @ waves
    truth += 0.01 * truth.std(axis=0) * rng.normal(size=truth.shape)
    wrong = rng.random(truth.shape) < 0.05
    sizes = rng.choice([-1.0, 1.0], truth.shape) * rng.uniform(1.0, 8.0, truth.shape)
    return truth, truth + np.where(wrong, sizes * truth.std(axis=0), 0.0)


@pytest.fixture(scope="module")
def learned():
    truth, noisy = surface(1500, 0)
    judge, judgement = Judge.learn(noisy)
    return judge, np.mean(np.abs(judgement.repaired(noisy) - truth))


def test_new_rows_are_cleaned_as_well_as_those_learned_from(learned, monkeypatch):
    """One error makes a whole row look wrong to opinions that are sure: which cell is it?"""
    judge, of_old = learned
    truth, noisy = surface(600, 1)
    of_new = np.mean(np.abs(judge.judge(noisy).repaired(noisy) - truth))
    assert of_new < 2.0 * of_old
    # By the stages: values around a cell, and rows like its own, would tell some errors without them.
    monkeypatch.setattr(
        "rnlmf.opinions.judge.among_errors", lambda Z, wrong, judged: np.zeros_like(wrong)
    )
    monkeypatch.setattr(
        "rnlmf.opinions.settling._repeated", lambda Z, wrong, prediction: np.zeros_like(wrong)
    )
    of_new = np.mean(np.abs(judge.judge(noisy).repaired(noisy) - truth))
    assert of_new < 2.0 * of_old
    sharp = replace(judge, stages=())
    assert np.mean(np.abs(sharp.judge(noisy).repaired(noisy) - truth)) > 5.0 * of_new


def test_new_rows_may_come_one_by_one(learned):
    judge, _ = learned
    _, noisy = surface(40, 2)
    together = judge.judge(noisy).repaired(noisy)
    alone = np.vstack([judge.judge(row[None]).repaired(row[None]) for row in noisy])
    assert np.mean(np.isclose(alone, together, atol=1e-6)) > 0.99


def test_right_new_rows_come_back_to_the_bit(learned):
    judge, _ = learned
    truth, _ = surface(300, 3)
    np.testing.assert_array_equal(judge.judge(truth).repaired(truth), truth)


def test_few_stages_are_kept(learned):
    assert 1 <= len(learned[0].stages) <= STAGES


def test_rows_of_an_ordered_judge_may_come_without_order(rng):
    t = np.linspace(0.0, 40.0, 900)
    truth = np.column_stack([np.sin(t), np.cos(t), np.sin(2 * t) + np.cos(t), np.sin(t + 1)])
    truth += 0.02 * rng.normal(size=truth.shape)
    noisy = np.where(
        rng.random(truth.shape) < 0.04, truth + rng.choice([-4.0, 4.0], truth.shape), truth
    )
    judge, _ = Judge.learn(noisy, Sequence.of(len(noisy)))
    assert judge.ordered
    rows = rng.permutation(len(noisy))
    found = judge.judge(noisy[rows]).repaired(noisy[rows])
    assert np.std(found - truth[rows]) < 0.4 * np.std(noisy - truth)


def test_errors_that_are_many_do_not_hide_each_other():
    """Noise of the columns' own deviation in a third of the cells: no error is far off at first."""
    truth, _ = surface(900, 0)
    rng = np.random.default_rng(1)
    wrong = rng.random(truth.shape) < 0.3
    noisy = truth + np.where(wrong, truth.std(axis=0) * rng.normal(size=truth.shape), 0.0)
    judgement = Judge.learn(noisy)[1]
    left = np.linalg.norm(judgement.repaired(noisy) - truth) / np.linalg.norm(noisy - truth)
    assert left < 0.7
    assert np.mean(judgement.wrong[~wrong]) < 0.03


def test_errors_do_not_mask_each_other():
    """Columns are off by their range now and then: where several are, they predict each other."""
    rng = np.random.default_rng(0)
    truth = rng.standard_t(3, size=(1000, 1)) + 0.7 * rng.standard_t(3, size=(1000, 30))
    off = np.zeros(truth.shape)
    for first, j in zip(rng.integers(0, 980, 75), rng.integers(0, 30, 75), strict=True):
        off[first : first + 20, j] = np.ptp(truth[:, j])
    judgement = Judge.learn(truth + off)[1]
    assert judgement.wrong[off != 0.0].mean() > 0.95
    assert judgement.wrong[off == 0.0].mean() < 0.02


def test_without_errors_no_other_beginning_is_believed(rng):
    """Far out are the tails of right cells."""
    X = rng.standard_t(2, size=(600, 3)) @ rng.normal(size=(3, 8)) + 0.3 * rng.standard_t(3, (600, 8))
    assert not Judge.learn(X)[1].wrong.any()


def test_another_beginning_is_asked_only_if_something_far_out_is_shown(monkeypatch, learned):
    asked = []
    monkeypatch.setattr("rnlmf.opinions.learning.settle", lambda *some, **_: asked.append(some))
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(300, 3))
    simple = SimpleNamespace(hidden=np.zeros(Z.shape, dtype=bool))
    some = simple.hidden.copy(), ~simple.hidden, Columns.of(Z)
    assert unmasked(Z, simple, *some) is simple
    Z[0, 0], simple.hidden[0, 0] = 40.0, True
    assert unmasked(Z, simple, *some) is simple
    assert not asked


@pytest.fixture
def told(rng):
    """A table with spikes, and opinions on a column of which the others know little, so far off."""
    X = table_of(800, 5, noise=1.0)
    known = X[:, 1].copy()
    X[:, 1:][rng.random((800, 4)) < 0.05] += 8.0
    columns = Columns.of(X)
    places = columns.scaled(X)[:, 0]

    def opinion(off):
        said = (known + off * rng.normal(size=800) - columns.center[1]) / columns.spread[1]

        def knows_the_second(Z, hidden):
            found = np.full(Z.shape, np.nan)
            found[:, 1] = said[np.abs(Z[:, :1] - places).argmin(axis=1)]
            return found

        return knows_the_second

    return X, opinion


@pytest.mark.parametrize(("off", "heard"), [(0.1, True), (4.0, False)])
def test_who_does_not_make_predictions_better_is_not_heard(told, off, heard):
    X, opinion = told
    judge, _ = Judge.learn(X, further=(opinion(off),))
    fellows = judge.panel.fellows
    assert bool(fellows.further) == heard
    assert not heard or np.array_equal(np.flatnonzero(fellows.weights[2]), [1])


@pytest.mark.parametrize(("off", "times"), [(0.1, 1), (4.0, 0)])
def test_opinions_are_learned_only_if_optimists_help(told, off, times):
    X, opinion = told
    learned = []

    def learn():
        learned.append(opinion(0.1))
        return learned[-1]

    judge, _ = Judge.learn(X, further=(WhenAsked(learn),), optimists=(opinion(off),))
    assert len(learned) == times
    assert judge.panel.fellows.further == tuple(learned)


def test_who_has_no_opinion_is_not_heard(told):
    X, opinion = told
    nobody = WhenAsked(lambda: None)
    judge, _ = Judge.learn(X, Sequence.of(len(X)), further=(nobody,), optimists=(opinion(0.1),))
    assert judge.panel.fellows.further == ()
