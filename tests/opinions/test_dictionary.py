import numpy as np
import pytest

from rnlmf import RNLMF
from rnlmf.fitting.learner import Learner
from rnlmf.fitting.model import FittedModel
from rnlmf.fitting.settings import LearnerSettings
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.dictionary import FARTHEST, DictionaryOpinion, bounded
from rnlmf.opinions.folds import row_keys
from rnlmf.opinions.opinion import Remembered
from rnlmf.opinions.similar import column_groups


@pytest.fixture(scope="module")
def learned(curved):
    clean, noisy = curved
    columns = Columns.of(noisy)
    Z = columns.scaled(noisy)
    parameters = RNLMF(30, noise_weight="scale", kernel_scale=0.5, neighbor_share=0.0).get_params(
        deep=False
    )
    learner = Learner(LearnerSettings.of(parameters))
    tuning = learner.choose(bounded(Z), 0).tuning
    model, _ = learner.learn(bounded(Z), tuning, 0)
    return columns.scaled(clean), DictionaryOpinion.learn(Z, bounded(Z), model, learner, tuning)


def test_it_does_not_see_the_cell(learned):
    Z, opinion = learned
    hidden = np.zeros(Z.shape, dtype=bool)
    before = opinion(Z[:5], hidden[:5])
    other = Z[:5].copy()
    group = column_groups(Z.shape[1]) == 0
    other[:, group] += 1.0
    same = row_keys(other) == row_keys(Z[:5])
    assert same.any()
    after = opinion(other, hidden[:5])
    np.testing.assert_allclose(after[same][:, group], before[same][:, group], atol=1e-6)


@pytest.mark.parametrize("n_samples", [60, 600])
def test_a_sample_is_not_predicted_by_a_dictionary_that_has_seen_it(rng, n_samples):
    # Independent cells: who predicts them has seen them.
    Z = rng.normal(size=(n_samples, 6))
    parameters = RNLMF(25, noise_weight="scale", kernel_scale=0.5, neighbor_share=0.0).get_params(
        deep=False
    )
    learner = Learner(LearnerSettings.of(parameters))
    tuning = learner.choose(bounded(Z), 0).tuning
    model, _ = learner.learn(bounded(Z), tuning, 0)
    opinion = DictionaryOpinion.learn(Z, bounded(Z), model, learner, tuning)
    said = opinion(Z, np.zeros(Z.shape, dtype=bool))
    assert abs(np.corrcoef(said.ravel(), Z.ravel())[0, 1]) < 0.2
    assert DictionaryOpinion.learn(Z[:8], bounded(Z[:8]), model, learner, tuning) is None


def test_new_samples_are_predicted_by_all_old_ones(learned, rng):
    Z, opinion = learned
    hidden = np.zeros(Z.shape, dtype=bool)
    new = Z + 0.01 * rng.normal(size=Z.shape)
    new = new[~np.isin(row_keys(new), row_keys(Z))]
    hidden = hidden[: len(new)]
    expected = opinion._by(opinion.whole, new, hidden)
    np.testing.assert_array_equal(opinion(new, hidden), expected)


def test_it_knows_the_curve(learned):
    Z, opinion = learned
    said = opinion(Z, np.zeros(Z.shape, dtype=bool))
    assert np.median(np.abs(said - Z)) < 0.1


def test_what_was_asked_before_is_not_asked_again(learned):
    Z, opinion = learned
    hidden = np.random.default_rng(0).random(Z.shape) < 0.1
    asked = []
    known = Remembered(lambda Z, hidden: asked.append(len(Z)) or opinion(Z, hidden))
    first = known(Z, hidden)
    np.testing.assert_array_equal(known(Z[::-1], hidden[::-1])[::-1], first)
    hidden[3:5] ^= True
    known(Z, hidden)
    assert asked == [len(Z), 2]


def test_it_has_no_opinion_of_rows_that_were_cut(learned):
    Z, opinion = learned
    far = Z[:3].copy()
    far[1, 4] = 2.0 * FARTHEST
    hidden = np.zeros(far.shape, dtype=bool)
    assert np.isnan(opinion(far, hidden)).any(axis=1).tolist() == [False, True, False]
    hidden[1, 4] = True
    assert not np.isnan(opinion(far, hidden)).any()


def test_every_dictionary_is_asked_once_about_all_groups_of_columns(learned, monkeypatch):
    Z, opinion = learned
    asked = []
    encode = FittedModel.encode
    monkeypatch.setattr(
        FittedModel, "encode", lambda *a, **k: asked.append(len(a[1])) or encode(*a, **k)
    )
    opinion(Z, np.zeros(Z.shape, dtype=bool))
    known = np.isin(row_keys(Z), opinion.folds.known.view(np.uint64))
    assert len(asked) <= len(opinion.without) + int(not known.all())
    assert sum(asked) == len(np.unique(column_groups(Z.shape[1]))) * len(Z)
