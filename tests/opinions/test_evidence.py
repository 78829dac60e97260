import numpy as np
import pytest

from rnlmf.opinions import Judge
from rnlmf.opinions.columns import Columns
from rnlmf.opinions.densities import Witness
from rnlmf.opinions.evidence import CREDIBLE, _independent, misleading
from rnlmf.opinions.panel import Panel
from rnlmf.opinions.temporal import Sequence


def phi(X, suspects=None, sequence=None):
    """Which share of the suspects is wrong; by default, of what is badly predicted."""
    columns = Columns.of(X)
    Z = columns.scaled(X)
    judged = np.ones(Z.shape, dtype=bool)
    if suspects is None:
        _, witnesses = Panel.learn(Z, ~judged, judged, columns, sequence)
        suspects = np.abs(Z - witnesses[0].prediction) > 3.0 * witnesses[0].scale
        assert suspects.sum() > 20
    panel, witnesses = Panel.learn(Z, suspects, judged, columns, sequence)

    def testify(cells, hidden):
        return panel.testify(cells, hidden, judged, sequence)

    return misleading(Z, suspects, judged, witnesses, testify, sequence)


def test_spikes_are_nearly_all_wrong(related, with_spikes):
    X, wrong = with_spikes(related)
    overall, shares = phi(X, wrong)
    assert overall == pytest.approx(1.0, abs=0.15)
    assert np.all(shares > 0.6)
    assert phi(X)[0] > 0.8


def test_spikes_in_a_sequence_are_wrong(waves, with_spikes):
    X, wrong = with_spikes(waves, size=2.0)
    assert phi(X, wrong, Sequence.of(len(X)))[0] > 0.7


@pytest.mark.parametrize("seed", range(3))
def test_what_is_rare_and_right_informs(seed):
    """Clean columns with long tails: large values are hard to predict, but believing them helps."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(2, 6))
    mixing /= np.linalg.norm(mixing, axis=0)
    X = np.exp(rng.normal(size=(300, 2)) @ mixing + 0.2 * rng.normal(size=(300, 6)))
    overall, shares = phi(X)
    assert overall < CREDIBLE
    assert np.mean(shares) < CREDIBLE


def test_no_suspects_no_evidence(related):
    overall, shares = phi(related, np.zeros(related.shape, dtype=bool))
    assert overall == 0.0
    assert not shares.any()


def test_bad_rows_mislead_those_beside_them_however_well_fellows_know_these(rng):
    """By time alone: columns that tell each other exactly are not led astray by neighbours."""
    t = np.linspace(0.0, 30.0, 400)
    moves = np.column_stack([np.sin(t), np.cos(1.3 * t)]) + 0.02 * rng.normal(size=(400, 2))
    X = moves @ rng.normal(size=(2, 8)) + 1e-3 * rng.normal(size=(400, 8))
    suspects = np.zeros(X.shape, dtype=bool)
    suspects[rng.permutation(400)[:20]] = True
    X = np.where(suspects, X.mean(axis=0) + X.std(axis=0) * rng.normal(size=X.shape), X)
    assert phi(X, suspects, Sequence.of(400))[0] > 0.8


@pytest.mark.parametrize(
    "step", [np.random.Generator.normal, lambda r, size: r.standard_t(3, size=size)]
)
def test_a_column_by_itself_has_spikes_but_no_error_where_there_are_none(rng, step):
    level = 20.0 + 0.3 * np.cumsum(step(rng, size=300))
    X = np.round(level, 2)[:, None]
    assert not Judge.learn(X, Sequence.of(300))[1].wrong.any()
    rows = [40, 150, 260]
    X[rows] += 6.0
    wrong = Judge.learn(X, Sequence.of(300))[1].wrong[:, 0]
    np.testing.assert_array_equal(np.flatnonzero(wrong), rows)


def test_stretches_of_suspects_count_once():
    suspects = np.zeros((100, 2), dtype=bool)
    suspects[10:40, 0] = suspects[60:80, 0] = suspects[[5, 50, 90], 1] = True
    believed = np.zeros(suspects.shape, dtype=bool)
    believed[[10, 20, 30, 60, 70], 0] = believed[[5, 50, 90], 1] = True
    np.testing.assert_array_equal(_independent(believed, suspects), [2, 3])


def told_by(monkeypatch, columns, real, fake):
    """What is said of suspects that do so much harm, beside the harm of made-up errors."""
    answers = [(real, columns), (fake, columns)]
    monkeypatch.setattr("rnlmf.opinions.evidence._harm", lambda *_: answers.pop(0))
    Z = np.zeros((400, columns.max() + 1))
    suspects = np.arange(400)[:, None] % 12 == 2 * np.arange(Z.shape[1])
    witness = Witness(np.zeros(Z.shape), np.ones(Z.shape))
    some = np.ones(Z.shape, dtype=bool), [witness], lambda *_: [witness], None
    return misleading(Z, suspects, *some)


def test_a_column_is_an_exception_only_if_that_is_no_chance(monkeypatch, rng):
    """Errors of the fifth are felt now and then, of the sixth always: only those mislead nobody."""
    columns = np.repeat(np.arange(6), (40, 40, 40, 40, 12, 40))
    felt = rng.uniform(8.0, 12.0, len(columns))
    fake = np.where(columns == 4, np.eye(1, len(columns), 165)[0] * 120.0, felt)
    real = np.where(columns >= 4, 0.0, felt)
    overall, shares = told_by(monkeypatch, columns, real, fake)
    assert overall > CREDIBLE
    np.testing.assert_array_equal(shares >= CREDIBLE, [True, True, True, True, True, False])


@pytest.mark.parametrize("fifth", ["errors", "chance"])
def test_a_column_by_itself_is_believed_only_if_that_is_no_chance(monkeypatch, rng, fifth):
    """Suspects of the others mislead nobody: of the fifth all do, or one of them does far more."""
    columns = np.repeat(np.arange(5), (40, 40, 40, 40, 12))
    fake = rng.uniform(8.0, 12.0, len(columns))
    real = np.where(columns == 4, 10.0 if fifth == "errors" else 0.0, 0.0)
    if fifth == "chance":
        real[-1] = 120.0
    overall, shares = told_by(monkeypatch, columns, real, fake)
    assert overall < CREDIBLE
    np.testing.assert_array_equal(shares >= CREDIBLE, [False] * 4 + [fifth == "errors"])


@pytest.mark.parametrize(
    ("plain", "harm", "believed"), [(False, 6.0, False), (True, 6.0, True), (True, 3.0, False)]
)
def test_plain_errors_need_only_not_be_spoken_against(monkeypatch, rng, plain, harm, believed):
    """Whose harm varies as much as these few, nobody knows whether it is more than half."""
    columns = np.arange(12) % 3
    real = harm + 8.0 * rng.choice([-1.0, 1.0], 6).repeat(2) * np.tile([1.0, -1.0], 6)
    answers = [(real, columns), (np.full(12, 10.0), columns)]
    monkeypatch.setattr("rnlmf.opinions.evidence._harm", lambda *_: answers.pop(0))
    Z = np.zeros((100, 3))
    witness = Witness(np.zeros(Z.shape), np.ones(Z.shape))
    suspects = np.arange(100)[:, None] % 20 == np.arange(3)
    some = np.ones(Z.shape, dtype=bool), [witness], lambda *_: [witness], None
    _, shares = misleading(Z, suspects, *some, plain=plain)
    np.testing.assert_array_equal(shares >= CREDIBLE, [believed] * 3)
