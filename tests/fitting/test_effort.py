"""How much a default fit does, so that it does not creep up."""

import numpy as np
import pytest

from rnlmf import RNLMF
from rnlmf.engine.shard import Shard
from rnlmf.engine.start import DataSummary
from rnlmf.fitting import learner, model
from rnlmf.fitting.neighbours import ROUNDS
from rnlmf.opinions.dictionary import MOST_ITERATIONS
from rnlmf.report import write_report


@pytest.fixture
def calls(monkeypatch):
    """How often each of the expensive parts was called."""
    counts = {}

    def count(owner, name, label):
        counts[label] = 0
        function = getattr(owner, name)

        def counted(*args, **kwargs):
            counts[label] += 1
            return function(*args, **kwargs)

        monkeypatch.setattr(owner, name, counted)

    count(learner, "run_solver", "fits")
    count(model, "encode", "encodings")
    count(Shard, "step", "passes")
    count(learner, "Learner", "learners")
    count(DataSummary, "of_rows", "summaries")
    return counts


def test_a_fit_is_one_fit_for_each_candidate_and_one_more(curved, calls):
    noisy = curved[1]
    estimator = RNLMF(20, opinions="dictionary", random_state=0).fit(noisy)
    candidates = len(estimator.selection_)
    assert calls["fits"] == candidates + 1
    # One of every candidate, one to choose the neighbours' share, and those that they ask for.
    assert calls["encodings"] <= candidates + 1 + ROUNDS
    # Of the samples with hidden entries, and of all.
    assert calls["summaries"] == 2
    assert calls["passes"] <= 150 * calls["fits"]


def test_with_numbers_given_there_is_one_fit_and_nothing_else(curved, calls):
    RNLMF(20, kernel_scale=1.0, noise_weight="scale", neighbor_share=0, random_state=0).fit(curved[1])
    assert (calls["fits"], calls["encodings"], calls["summaries"]) == (1, 0, 1)


def test_a_prediction_is_one_encoding(curved, calls):
    estimator = RNLMF(20, kernel_scale=1.0, noise_weight="scale", random_state=0).fit(curved[1])
    before = dict(calls)
    estimator.denoise(curved[1])
    assert calls["encodings"] == before["encodings"] + 1
    assert {**calls, "encodings": 0} == {**before, "encodings": 0}


def test_a_report_is_three_encodings(curved, calls, tmp_path):
    """The denoised samples, and two for the error that is left; findings are not made twice."""
    estimator = RNLMF(20, kernel_scale=1.0, noise_weight="scale", random_state=0).fit(curved[1])
    before = dict(calls)
    write_report(tmp_path / "page.html", estimator, curved[1])
    assert {**calls, "encodings": 0} == {**before, "encodings": 0}
    assert calls["encodings"] == before["encodings"] + 3


def test_the_samples_that_a_fit_has_denoised_are_those_of_an_encoding(curved):
    """So that they need not be encoded again: to the tolerance of the fit, on almost all entries."""
    settings = learner.LearnerSettings(
        20, kernel_scale=1.0, noise_weight="scale", tol=1e-5, max_iter=2000
    )
    found, fit = learner.Learner(settings).learn(curved[1], learner.Tuning(), seed=0)
    encoding = found.encode(curved[1], tol=1e-6)
    again = found.units.to_engine(curved[1]) - encoding.noise
    assert np.mean(np.abs(fit.samples.Y - again) < 1e-2) > 0.97


def _iterations(monkeypatch):
    """Most iterations of every fit from here on."""
    most = []
    run = learner.run_solver
    monkeypatch.setattr(
        learner,
        "run_solver",
        lambda solver, *a: most.append(solver.options.max_iter) or run(solver, *a),
    )
    return most


def test_where_several_opinions_are_heard_only_the_fit_itself_is_long(curved, monkeypatch):
    """Candidates and the dictionaries of folds, each learned once, end early."""
    most = _iterations(monkeypatch)
    estimator = RNLMF(20, random_state=0).fit(curved[1])
    candidates, folds = (
        len(estimator.selection_),
        len(estimator._judge.panel.fellows.further[0].without),
    )
    assert most == [learner.BRIEF_ITERATIONS] * candidates + [300] + [MOST_ITERATIONS] * folds


def test_a_search_for_one_of_several_opinions_is_of_some_samples(curved, monkeypatch):
    monkeypatch.setattr(learner, "BRIEF_SAMPLES", 180)
    fitted = []
    learn = learner.Learner.learn
    monkeypatch.setattr(
        learner.Learner,
        "learn",
        lambda self, X, *a, **k: fitted.append(len(X)) or learn(self, X, *a, **k),
    )
    settings = learner.LearnerSettings(20)
    learner.Learner(settings).begin(curved[1], 0, None, brief=True)
    assert set(fitted) == {180}


@pytest.mark.parametrize("heard", [True, False])
def test_where_a_dictionary_is_not_heard_thresholds_are_tried_from_where_others_ended(
    curved, monkeypatch, heard
):
    most = _iterations(monkeypatch)
    settings = learner.LearnerSettings(20)
    choice, _ = learner.Learner(settings).begin(curved[1], 0, None, brief=True, heard=heard)
    first = len({(row["kernel_scale"], row.get("code_weight")) for row in choice.table})
    assert len(most) == len(choice.table) > first
    long = len(most) if heard else first
    assert sorted(most, reverse=True) == [
        *[learner.BRIEF_ITERATIONS] * long,
        *[learner.MORE_ITERATIONS] * (len(most) - long),
    ]


def test_who_goes_on_starts_from_the_atoms(curved):
    one = learner.Learner(learner.LearnerSettings(20))
    model, _ = one.learn(curved[1], learner.Tuning(), 0)
    again, result = one.going_on(model, 1).learn(curved[1], learner.Tuning(), 5)
    assert result.n_iter == 1
    np.testing.assert_allclose(again.atoms, model.atoms, atol=0.1)
