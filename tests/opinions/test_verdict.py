import numpy as np
import pytest

from rnlmf.opinions.column_verdict import ColumnVerdict
from rnlmf.opinions.densities import ColumnCells, Values, Witness
from rnlmf.opinions.verdict import OVERSURE, PRICE, Dealing, Verdict, least_probability

RIGHT = {
    "normal": lambda rng, n: rng.normal(size=n),
    "Student, 3": lambda rng, n: rng.standard_t(3, size=n),
    "Student, 4": lambda rng, n: rng.standard_t(4, size=n),
    "Student, 1.5": lambda rng, n: rng.standard_t(1.5, size=n),
    "Laplace": lambda rng, n: rng.laplace(size=n),
}


def calibrated(noise):
    """Noise whose scale is one as the scales of witnesses are: by a quantile of the normal."""
    return noise / np.quantile(np.abs(noise), 0.7) * 1.0364


def one_witness(Z, scale):
    judged = np.ones(Z.shape, dtype=bool)
    return judged, [Witness(np.zeros(Z.shape), np.full(Z.shape, scale))]


@pytest.mark.parametrize("noise", RIGHT.values(), ids=RIGHT.keys())
@pytest.mark.parametrize("scale", [0.01, 0.3, 1.0])
def test_clean_columns_have_no_wrong_cell(noise, scale, rng):
    Z = scale * np.column_stack([calibrated(noise(rng, 800)) for _ in range(4)])
    judged, witnesses = one_witness(Z, scale)
    probability = Verdict.learn(Z, judged, witnesses).probability(Z, judged, witnesses)
    assert not np.any(probability > 0.5)


@pytest.mark.parametrize("name", ["normal", "Student, 4"])
def test_probabilities_are_calibrated(name, rng):
    """Of the cells that are wrong with probability p, a share of about p is wrong."""
    n, scale = 20_000, 0.2
    z = scale * calibrated(RIGHT[name](rng, n))
    wrong = rng.random(n) < 0.05
    z = np.where(wrong, z + 2.0 * rng.normal(size=n), z)
    p, s = np.zeros((1, n)), np.full((1, n), scale)
    verdict, gain, _ = ColumnVerdict.learn(ColumnCells(z, p, s))
    assert gain > PRICE
    assert verdict.share == pytest.approx(0.05, rel=0.3)
    assert verdict.size == pytest.approx(2.0, rel=0.3)
    probability = verdict.probability(ColumnCells(z, p, s))
    for low, high in ((0.0, 0.1), (0.1, 0.5), (0.5, 0.9), (0.9, 1.0)):
        cells = (probability >= low) & (probability <= high)
        assert wrong[cells].mean() == pytest.approx(probability[cells].mean(), abs=0.25)
    assert probability.sum() == pytest.approx(wrong.sum(), rel=0.2)
    # Hardly worse than by a threshold that has seen the truth.
    thresholds = np.quantile(np.abs(z), np.linspace(0.9, 1.0, 50))
    best = min(np.mean((np.abs(z) > t) != wrong) for t in thresholds)
    assert np.mean((probability > 0.5) != wrong) < 1.1 * best


def test_scales_of_cells_count(rng):
    """The same distance is an error where predictions are good, and none where they are bad."""
    n = 2000
    s = np.where(np.arange(n) % 2 == 0, 0.05, 1.0)[None]
    z = s[0] * rng.normal(size=n)
    wrong = rng.random(n) < 0.03
    z = np.where(wrong, z + 3.0 * rng.choice([-1.0, 1.0], n), z)
    verdict, gain, _ = ColumnVerdict.learn(ColumnCells(z, np.zeros((1, n)), s))
    assert gain > PRICE
    asked = np.full(2, 1.5)
    found = verdict.probability(ColumnCells(asked, np.zeros((1, 2)), s[:, :2]))
    assert found[0] > 0.9
    assert found[1] < 0.5


def test_a_cell_that_one_witness_accounts_for_is_right(rng):
    n = 1000
    truth = rng.normal(size=n)
    z = truth + 0.05 * rng.normal(size=n)
    lost = np.arange(n) % 5 == 0
    good = np.where(lost, truth + 3.0 * rng.normal(size=n), truth)
    p = np.stack([np.where(lost, good, truth), truth])
    s = np.full((2, n), 0.05)
    z[1] += 5.0
    verdict, gain, _ = ColumnVerdict.learn(ColumnCells(z, p, s))
    assert gain > PRICE
    probability = verdict.probability(ColumnCells(z, p, s))
    assert np.mean(probability[lost] > 0.5) < 0.05
    silent = np.stack([s[0], np.full(n, np.inf)])
    alone = verdict.probability(ColumnCells(z, p, silent))
    assert np.mean(alone[lost] > 0.5) > 0.5


def test_an_absurd_value_is_wrong_and_a_nearer_one_not_more(rng):
    n = 500
    z = 0.1 * rng.normal(size=n)
    z[:15] += rng.choice([-3.0, 3.0], 15)
    p, s = np.zeros((1, n)), np.full((1, n), 0.1)
    verdict, gain, _ = ColumnVerdict.learn(ColumnCells(z, p, s))
    assert gain > PRICE
    asked = np.array([0.0, 1.0, 3.0, 10.0, 1e3, 1e6, 1e300])
    found = verdict.probability(ColumnCells(asked, np.zeros((1, 7)), np.full((1, 7), 0.1)))
    assert np.all(np.isfinite(found))
    assert np.all(np.diff(found) >= -1e-6)
    assert found[0] < 0.01
    assert found[-1] > 0.99


def test_what_cannot_be_judged_has_no_probability(rng):
    Z = rng.normal(size=(300, 2))
    Z[::30] += 20.0
    judged, witnesses = one_witness(Z, 1.0)
    judged[::60] = False
    probability = Verdict.learn(Z, judged, witnesses).probability(Z, judged, witnesses)
    assert not probability[::60].any()
    assert np.all(probability[30::60] > 0.5)
    few = np.zeros(Z.shape, dtype=bool)
    few[:10] = True
    assert not Verdict.learn(Z, few, witnesses).probability(Z, few, witnesses).any()


def test_wrong_cells_are_easier_to_believe_in_company(rng):
    """Few and moderate errors in a column count where most other columns have errors."""
    n, m = 300, 6
    Z = rng.normal(size=(n, m))
    wrong = rng.random((n, m)) < 0.05
    Z = np.where(wrong, Z + rng.choice([-1, 1], (n, m)) * rng.uniform(4, 9, (n, m)), Z)
    scale = np.full((n, m), 1.0)
    Z[:, 1:] *= 0.1
    scale[:, 1:] *= 0.1
    Z[:, 1:] = np.where(wrong[:, 1:], 40.0 * Z[:, 1:], Z[:, 1:])
    judged, alone = np.ones((n, 1), dtype=bool), [Witness(np.zeros((n, 1)), scale[:, :1])]
    assert not Verdict.learn(Z[:, :1], judged, alone).columns[0].share
    judged, all_ = np.ones((n, m), dtype=bool), [Witness(np.zeros((n, m)), scale)]
    found = Verdict.learn(Z, judged, all_).probability(Z, judged, all_) > 0.5
    assert np.mean(found[wrong]) > 0.8
    assert np.mean(found[~wrong]) < 0.01


def test_columns_in_company_have_the_errors_of_the_company(rng):
    """Errors that blur their own column's predictions do not pay there, but do elsewhere."""
    Z = 0.1 * calibrated(rng.normal(size=(1000, 5)))
    wrong = rng.random(Z.shape) < 0.05
    Z = np.where(wrong, Z + rng.choice([-4.0, 4.0], Z.shape), Z)
    judged, (witness,) = one_witness(Z, 0.1)
    scale = witness.scale.copy()
    scale[:, 4] = np.where(wrong[:, 4], 1.2, 0.1)
    blurred = Witness(witness.prediction, scale)
    alone = Verdict.learn(Z[:, 4:], judged[:, 4:], [Witness(witness.prediction[:, 4:], scale[:, 4:])])
    together = Verdict.learn(Z, judged, [blurred])
    assert alone.columns[0].share == 0.0
    assert together.columns[4].share == pytest.approx(0.05, rel=0.3)
    assert np.mean(together.probability(Z, judged, [blurred])[wrong[:, 4], 4] > 0.5) > 0.5


def test_what_is_seldom_depends_on_the_tail():
    heavy, light = (Verdict((ColumnVerdict(nu),)).seldom(1e-3)[0] for nu in (1.0, 30.0))
    assert 3.0 < light < 5.0
    assert heavy > 100.0


def test_errors_go_unseen_where_predictions_are_bad():
    error = ColumnVerdict(4.0, np.ones(1), 0.1, 3.0)
    verdict = Verdict((error, ColumnVerdict(), ColumnVerdict(), ColumnVerdict()))
    scale = np.array([0.1, 0.1, 1.0, 1.0])
    unseen = verdict.unseen(np.ones(4, dtype=bool), scale)
    np.testing.assert_allclose(unseen, [0.0, 0.0, 0.9, 0.9])
    assert not verdict.unseen(np.zeros(4, dtype=bool), scale).any()
    most = Verdict((error, error, error, ColumnVerdict()))
    np.testing.assert_allclose(most.unseen(np.ones(4, dtype=bool), np.full(4, 0.1)), [0, 0, 0, 0.9])


def test_a_tail_on_one_side_is_none_on_the_other(rng):
    """Incomes: what is far above is rare, what is as far below an error."""
    n = 3000
    z = 0.3 * calibrated(np.exp(rng.normal(size=n)) - 1.0)
    wrong = rng.random(n) < 0.04
    z = np.where(wrong, z + rng.choice([-3.0, 3.0], n), z)
    p, s = np.zeros((1, n)), np.full((1, n), 0.3)
    verdict, _, _ = ColumnVerdict.learn(ColumnCells(z, p, s))
    below, above = verdict.tails
    assert below > above
    found = verdict.probability(
        ColumnCells(np.array([-2.0, 2.0]), np.zeros((1, 2)), np.full((1, 2), 0.3))
    )
    assert found[0] > 0.9
    assert found[1] < found[0]


def test_who_is_farther_off_is_not_less_suspicious(rng):
    """However heavy the tail of predictions is."""
    far = np.geomspace(1.0, 1e6, 50)
    for freedom in (1.0, 2.0, 4.0, 30.0):
        verdict = ColumnVerdict(freedom, np.ones(1), 0.05, 5.0)
        found = verdict.probability(ColumnCells(far, np.zeros((1, 50)), np.full((1, 50), 0.3)))
        assert np.all(np.diff(found) >= -1e-9)


def test_one_column_is_no_company(rng):
    """Nor is a column of which a third seems to be wrong, and nothing elsewhere."""
    Z = 0.1 * calibrated(rng.normal(size=(1000, 5)))
    many = rng.random(1000) < 0.32
    Z[:, 2] = np.where(many, Z[:, 2] + rng.choice([-2.0, 2.0], 1000), Z[:, 2])
    judged, witnesses = one_witness(Z, 0.1)
    assert not any(c.share for c in Verdict.learn(Z, judged, witnesses).columns)


def at_rest(rng, n=4000):
    """A column that mostly rests and sometimes moves, well predicted; and a tenth of it, dealt out."""
    truth = np.where(np.arange(n) % 400 < 100, 3.0 * np.sin(np.arange(n) / 15.0), 0.0)
    z = truth + 0.05 * rng.normal(size=n)
    wrong = rng.random(n) < 0.1
    return truth, np.where(wrong, rng.permutation(z), z), wrong


def test_values_that_belong_elsewhere_are_told(rng):
    """A resting value amid a movement is no far error, but a common value in the wrong place."""
    truth, z, wrong = at_rest(rng)
    p, s = truth[None], np.full((1, len(z)), 0.05)
    gross = wrong & (np.abs(z - truth) > 0.5)
    dealt, gain, _ = ColumnVerdict.learn(ColumnCells(z, p, s), z)
    anywhere, less, _ = ColumnVerdict.learn(ColumnCells(z, p, s))
    assert gain > less
    assert dealt.dealt > 0.5
    assert np.mean(dealt.probability(ColumnCells(z, p, s))[gross] > 0.5) > 0.99
    assert np.mean(dealt.probability(ColumnCells(z, p, s))[~wrong] > 0.5) < 0.002
    assert anywhere.dealt == 0.0


def test_events_on_one_side_are_not_dealt(rng):
    """Rain that nobody foresaw is above what was predicted; exchanged values are above and below."""
    n = 3000
    expected = np.abs(np.sin(np.arange(n) / 20.0))
    z = expected + 0.03 * rng.normal(size=n)
    rain = rng.random(n) < 0.04
    z = np.where(rain, z + rng.exponential(0.5, size=n), z)
    verdict, _, _ = ColumnVerdict.learn(ColumnCells(z, expected[None], np.full((1, n), 0.03)), z)
    assert verdict.dealt < 0.2


def test_where_predictions_do_not_vary_nothing_is_dealt(rng):
    z = 0.2 * calibrated(rng.standard_t(4, size=3000))
    z[:150] += rng.choice([-2.0, 2.0], 150)
    p, s = np.zeros((1, 3000)), np.full((1, 3000), 0.2)
    assert ColumnVerdict.learn(ColumnCells(z, p, s), z)[0].dealt == 0.0


def test_one_column_alone_deals_nothing(rng):
    """An echo: a second branch of one column looks like its own values in the wrong place."""
    truth, z, _ = at_rest(rng)
    Z = np.column_stack([z, *(0.05 * rng.normal(size=(4, len(z))))])
    predicted = np.zeros(Z.shape)
    predicted[:, 0] = truth
    witnesses = [Witness(predicted, np.full(Z.shape, 0.05))]
    judged = np.ones(Z.shape, dtype=bool)
    assert not Verdict.learn(Z, judged, witnesses, dealing=Dealing.BY_COLUMN).dealing
    together = [Witness(np.repeat(truth[:, None], 5, axis=1), witnesses[0].scale)]
    others = np.column_stack([at_rest(rng)[1] for _ in range(5)])
    assert Verdict.learn(others, judged, together, dealing=Dealing.BY_COLUMN).dealing
    assert not Verdict.learn(others, judged, together).dealing


def test_columns_are_judged_together_as_each_by_itself(rng):
    """With tails and sizes of their own on either side, values dealt out, and none that is wrong."""
    own = np.array([0.7, 0.3])
    columns = (
        ColumnVerdict(4.0, own, 0.1, 3.0, tails=(2.0, 10.0), sizes=(1.0, 3.0)),
        ColumnVerdict(),
        ColumnVerdict(1.0, own, 0.2, 5.0, dealt=0.4, values=Values.of(rng.normal(size=500), 0.1)),
    )
    Z, p = rng.normal(size=(60, 3)), rng.normal(size=(2, 60, 3))
    s = np.where(rng.random(p.shape) < 0.1, np.inf, rng.random(p.shape))
    Z[0, 0] = np.nan
    judged = ~np.isnan(Z) & (rng.random(Z.shape) < 0.9)
    found = Verdict(columns).probability(Z, judged, [Witness(*w) for w in zip(p, s, strict=True)])
    assert not found[~judged].any()
    assert not found[:, 1].any()
    for j, column in enumerate(columns):
        rows = judged[:, j]
        alone = column.probability(ColumnCells(Z[rows, j], p[:, rows, j], s[:, rows, j]))
        np.testing.assert_allclose(found[rows, j], alone, rtol=1e-12)


def test_the_surest_are_repaired_as_long_as_few_of_them_are_right(rng):
    probability = rng.uniform(0.0, 1.0, (400, 5)) ** 2
    probability[::7, 2] = np.nan
    count = np.sum(~np.isnan(probability))
    for allowed, times in ((0.001, 1.0), (0.01, 1.0), (0.01, OVERSURE), (0.03, OVERSURE)):
        least = least_probability(probability, allowed, times)
        repaired = probability[probability > least]
        assert times * np.sum(1.0 - repaired) <= allowed * count
        following = probability[(probability <= least) & (probability > 0.5)].max()
        assert times * (np.sum(1.0 - repaired) + 1.0 - following) > allowed * count
    # Whoever allows enough has all that are more likely wrong than right repaired.
    assert least_probability(probability, 0.9) == 0.5


def test_odd_cells_of_one_row_are_no_company(rng):
    """Errors in a column of their own, and a row of which everything is wrong; or rows of one error."""
    Z = rng.normal(size=(300, 6))
    Z[::20, 0] = 8.0
    judged, witnesses = np.ones(Z.shape, dtype=bool), [Witness(np.zeros(Z.shape), np.ones(Z.shape))]
    for rows, company in ((np.full(5, 40), False), (np.arange(41, 141, 20), True)):
        spoiled = Z.copy()
        spoiled[rows, np.arange(1, 6)] = 12.0
        verdict = Verdict.learn(spoiled, judged, witnesses)
        assert verdict.in_company == company
