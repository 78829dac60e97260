import numpy as np
import pytest

from helpers import make_problem, make_samples
from rnlmf.engine import Options, Samples, Units, encode, single_pass
from rnlmf.engine.stream import Stream, has_settled


def curve(n, seed):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 6, n)
    X = 0.5 * np.column_stack([np.cos(t), np.sin(t), np.cos(2 * t), np.sin(2 * t), np.cos(3 * t)])
    X[rng.random(X.shape) < 0.1] += 1.0
    return X


@pytest.fixture
def D():
    return 0.5 * np.random.default_rng(1).standard_normal((12, 5))


def learned(batches, D, problem, **options):
    stream = Stream(Options(), **{"row_steps": 10, "forgetting": 0.9, **options})
    state = stream.start(D)
    for batch in batches:
        stream.absorb(state, make_samples(batch), problem)
    return state


def objective(D, X, problem):
    """Of a dictionary, on samples that it has not seen."""
    return encode(make_samples(X), D, problem, max_iter=500).objective.mean()


def test_batches_lead_to_about_the_objective_of_a_fit_to_all(D):
    problem = make_problem()
    batches = [curve(500, seed) for seed in range(40)]
    state = learned(batches, D, problem)
    whole = single_pass.fit(make_samples(np.concatenate(batches)), D, problem, Options())
    new = curve(2000, 99)
    assert objective(state.dictionary, new, problem) < 1.05 * objective(whole.dictionary, new, problem)
    assert (state.batches, state.samples) == (40, 20_000)


def test_sums_that_nobody_forgets_hold_the_dictionary_back(D):
    problem, new = make_problem(), curve(2000, 99)
    batches = [curve(500, seed) for seed in range(40)]
    kept, forgotten = (
        objective(learned(batches, D, problem, forgetting=share).dictionary, new, problem)
        for share in (0.0, 0.9)
    )
    assert forgotten < 0.8 * kept


def test_with_a_share_of_one_only_the_batch_counts(D):
    """The sums are those of the last batch, whatever was before."""
    problem = make_problem()
    state = learned([curve(300, 0), curve(300, 1)], D, problem, forgetting=1.0)
    alone = Stream(Options(), 10, 1.0)
    fresh = alone.start(learned([curve(300, 0)], D, problem, forgetting=1.0).dictionary)
    alone.absorb(fresh, make_samples(curve(300, 1)), problem)
    np.testing.assert_allclose(state.sums.code_gram, fresh.sums.code_gram)


def test_the_noise_model_is_learned_once_there_is_a_dictionary(D):
    problem = make_problem(adaptive=True)
    batches = [curve(300, seed) for seed in range(60)]
    early, late = (learned(some, D, problem) for some in (batches[:20], batches))
    assert early.corruption is None
    whole = single_pass.fit(make_samples(np.concatenate(batches)), D, problem, Options())
    assert late.corruption.size == pytest.approx(whole.corruption.size, rel=0.15)
    assert late.corruption.rate == pytest.approx(whole.corruption.rate, rel=0.25)


def test_a_batch_from_nowhere_is_survived(D):
    problem = make_problem()
    batches = [curve(300, seed) for seed in range(30)]
    state = learned([*batches[:15], 1e6 * batches[15], *batches[16:]], D, problem)
    usual = learned(batches, D, problem)
    new = curve(2000, 99)
    assert objective(state.dictionary, new, problem) < 1.1 * objective(usual.dictionary, new, problem)


def test_other_units_say_the_same(D):
    """The stream in other units, on the same data, takes the same step."""
    problem, X = make_problem(), curve(300, 0)
    old, new = Units(np.zeros(5), 1.0), Units(np.full(5, 0.3), 1.0)
    stream = Stream(Options(), 10, 0.5)
    states = [stream.start(D), stream.start(D)]
    for state in states:
        stream.absorb(state, Samples.of(X, old), problem)
    states[1].change_units(old, new)
    for state, units in zip(states, (old, new), strict=True):
        stream.absorb(state, Samples.of(curve(300, 1), units), problem)
    np.testing.assert_allclose(states[1].dictionary + 0.3, states[0].dictionary, atol=1e-8)


def test_a_width_changes_what_is_measured_by_it(D):
    stream = Stream(Options(), 10, 0.5)
    state = stream.start(D)
    stream.absorb(state, make_samples(curve(300, 0)), make_problem())
    before = state.dictionary.copy(), state.sums.weighted_samples.copy()
    state.change_units(Units(np.zeros(5), 1.0), Units(np.zeros(5), 2.0))
    np.testing.assert_allclose(state.dictionary, before[0] / 2)
    np.testing.assert_allclose(state.sums.weighted_samples, before[1] / 2)


def test_has_settled_when_nothing_is_gained(rng):
    noise = 0.01 * rng.standard_normal(40)
    assert not has_settled(list(np.linspace(2, 1, 40) + noise), 20, 1e-3)
    assert has_settled(list(1 + noise), 20, 1e-3)
    assert not has_settled(list(1 + noise[:39]), 20, 1e-3)


@pytest.mark.parametrize(
    ("objective", "wrong"), [(1.9, False), (2.1, True), (np.nan, True), (np.inf, True)]
)
def test_a_step_led_astray_if_the_objective_is_twice_the_usual(D, objective, wrong):
    stream = Stream(Options(), 10, 0.5)
    state = stream.start(D)
    assert not stream.went_wrong(state, 1e9)
    state.recent = [0.1, 1.0, 1.0, 50.0]
    assert stream.went_wrong(state, objective) is wrong


def test_batches_are_counted_since_something_went_wrong(D):
    problem = make_problem()
    stream = Stream(Options(), 10, 0.5)
    state = stream.start(D)
    for seed in range(3):
        stream.absorb(state, make_samples(curve(100, seed)), problem)
    assert state.steady == 3
    before = state.dictionary + state.delta, state.damping
    stream.step_back(state)
    np.testing.assert_array_equal(state.dictionary, before[0])
    assert (state.steady, state.damping) == (0, 2.0 * before[1])
    assert not state.delta.any()
    assert not state.sums.code_gram.any()


def test_batches_in_which_nothing_is_noise_teach_nothing_of_noise(D):
    problem = make_problem(adaptive=True, noise_weight=1e6)
    batches = [curve(60, seed) for seed in range(60)]
    state = learned(batches, D, problem)
    assert state.noise.total == 0.0
    assert state.corruption is None
