import numpy as np
import pytest

from rnlmf.opinions.columns import Columns
from rnlmf.opinions.panel import Hearing, Panel, SimilarRows
from rnlmf.opinions.temporal import Sequence


@pytest.fixture
def learned(waves):
    columns, sequence = Columns.of(waves), Sequence.of(len(waves))
    Z = columns.scaled(waves)
    judged, hidden = np.ones(Z.shape, dtype=bool), np.zeros(Z.shape, dtype=bool)
    panel, witnesses = Panel.learn(Z, hidden, judged, columns, sequence)
    return Z, hidden, judged, sequence, panel, witnesses


def test_what_was_learned_is_said_again(learned):
    Z, hidden, judged, sequence, panel, witnesses = learned
    again = panel.testify(Z, hidden, judged, sequence)
    for old, new in zip(witnesses, again, strict=True):
        np.testing.assert_allclose(new.prediction, old.prediction, atol=1e-8)
        np.testing.assert_allclose(new.scale, old.scale, rtol=1e-6)


def test_both_families_together_are_no_worse_than_either(learned):
    Z, *_, witnesses = learned
    both, time, row = (np.median(np.abs(w.prediction - Z)) for w in witnesses)
    assert both < 1.1 * min(time, row)
    relative = np.abs(witnesses[0].prediction - Z) / witnesses[0].scale
    assert np.quantile(relative, 0.7) == pytest.approx(1.0364, rel=0.2)


def test_no_witness_has_seen_the_cell(learned):
    Z, hidden, judged, sequence, panel, witnesses = learned
    other = Z.copy()
    other[50, 2] += 1.0
    again = panel.testify(other, hidden, judged, sequence)
    for old, new in zip(witnesses[1:], again[1:], strict=True):
        assert new.prediction[50, 2] == pytest.approx(old.prediction[50, 2], abs=1e-6)
    # Whom to believe more depends on a running median that has the cell among many.
    assert again[0].prediction[50, 2] == pytest.approx(witnesses[0].prediction[50, 2], abs=0.05)


def test_without_an_order_there_is_one_witness_who_takes_rows_one_by_one(learned):
    Z, hidden, judged, _, panel, _ = learned
    (whole,) = panel.testify(Z, hidden, judged, None)
    (one,) = panel.testify(Z[9:10], hidden[9:10], judged[9:10], None)
    # Distances between rows are in single precision.
    np.testing.assert_allclose(one.prediction[0], whole.prediction[9], atol=1e-3)
    np.testing.assert_allclose(one.scale[0], whole.scale[9], rtol=1e-2)


def test_a_further_opinion_that_knows_is_believed(related, rng):
    columns = Columns.of(related)
    Z = columns.scaled(related)
    judged, hidden = np.ones(Z.shape, dtype=bool), np.zeros(Z.shape, dtype=bool)
    told = Z + 0.01 * rng.normal(size=Z.shape)
    panel, (witness,) = Panel.learn(Z, hidden, judged, columns, None, (lambda *_: told,))
    np.testing.assert_allclose(panel.fellows.weights[2], 1.0, atol=0.05)
    assert np.median(np.abs(witness.prediction - Z)) < 0.02


def test_only_rows_of_which_other_cells_are_shown_are_asked_again(learned, monkeypatch):
    Z, hidden, judged, sequence, panel, witnesses = learned
    asked = []
    predict = SimilarRows.predict
    monkeypatch.setattr(
        SimilarRows, "predict", lambda self, Z, *a: asked.append(len(Z)) or predict(self, Z, *a)
    )
    hearing = Hearing()
    panel.testify(Z, hidden, judged, sequence, hearing)
    other, more = Z.copy(), hidden.copy()
    more[[3, 9], 1] = True
    other[3, 1] = 7.0
    other[20, 2] = 1.0
    found = panel.testify(other, more, judged, sequence, hearing.copy())
    expected = panel.testify(other, more, judged, sequence)
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.prediction, two.prediction, atol=1e-6)
    # The copy has not changed what was heard first.
    np.testing.assert_array_equal(
        panel.testify(Z, hidden, judged, sequence, hearing)[0].prediction, witnesses[0].prediction
    )
    # What is hidden may change as it likes.
    other[9, 1] = 9.0
    second = hearing.copy()
    panel.testify(other, more, judged, sequence, second)
    panel.testify(Z, more, judged, sequence, second)
    assert asked == [len(Z), 3, len(Z), 3, 1]


def test_where_hardly_any_sample_is_less_is_expected_of_relations(rng):
    """Length, area and volume: the larger, the farther from a line."""
    size = rng.normal(size=2000)
    X = np.column_stack([size, size**2, size**3, size + 0.3 * size**2])
    X += 0.01 * X.std(axis=0) * rng.normal(size=X.shape)
    columns = Columns.of(X)
    Z = columns.scaled(X)
    judged, hidden = np.ones(Z.shape, dtype=bool), np.zeros(Z.shape, dtype=bool)
    _, (witness,) = Panel.learn(Z, hidden, judged, columns, None)
    relative, far = np.abs(witness.prediction - Z) / witness.scale, np.abs(size) > 2.0
    seldom_far, seldom_near = (np.quantile(relative[rows], 0.9, axis=0) for rows in (far, ~far))
    assert np.all(seldom_far < 3.5 * seldom_near)
