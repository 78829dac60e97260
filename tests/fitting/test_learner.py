import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from rnlmf import RNLMF
from rnlmf.datasets import salt_and_pepper
from rnlmf.engine.solver import IterationInfo
from rnlmf.fitting.learner import SearchProgress
from rnlmf.metrics import relative_rmse


def test_says_what_was_chosen_and_how_sure_it_is(curved):
    _, noisy = curved
    model = RNLMF(20, opinions="dictionary", random_state=0).fit(noisy)
    assert 3 <= len(model.selection_) <= 9
    assert model.selection_[0]["kernel_scale"] == model.kernel_scale_
    losses = [row["missed"] for row in model.selection_ if row["kernel_scale"] == model.kernel_scale_]
    assert losses == sorted(losses)
    assert 0.0 <= model.selection_confidence_ <= 1.0


def test_choices_follow_scale_and_shift(curved):
    _, noisy = curved
    model = RNLMF(20, opinions="dictionary", random_state=0)
    plain, moved = (clone(model).fit(X) for X in (noisy, 1e3 * noisy + 5.0))
    assert moved.kernel_scale_ == plain.kernel_scale_
    assert moved.noise_weight_ * 1e3 == pytest.approx(plain.noise_weight_, rel=1e-6)


def test_with_too_few_entries_there_is_one_fit(curved):
    _, noisy = curved
    model = RNLMF(3, opinions="dictionary", random_state=0).fit(noisy[:15])
    assert model.selection_ == []
    assert model.selection_confidence_ is None


def test_with_numbers_given_there_is_one_fit(curved):
    _, noisy = curved
    model = RNLMF(20, kernel_scale=0.7, noise_weight=1e-3, random_state=0).fit(noisy)
    assert (model.selection_, model.kernel_scale_) == ([], 0.7)


@pytest.fixture(scope="module")
def digits():
    clean = load_digits().data[:800] / 16.0
    return clean, salt_and_pepper(clean, random_state=0)


def test_no_parameter_is_needed_where_nothing_predicts_well(digits):
    """On handwriting a kernel that is too narrow is often exact, and otherwise far off."""
    clean, noisy = digits
    error = relative_rmse(clean, RNLMF(100, opinions="dictionary", random_state=0).fit_denoise(noisy))
    assert error < 0.65 * relative_rmse(clean, noisy)


@pytest.mark.parametrize(("factor", "bound"), [(1.0, 1.02), (3.0, 0.97)])
def test_adaptive_noise_helps_and_never_harms(factor, bound, digits):
    """With the quick weight most of what is found is misfit; with three times it, noise."""
    clean, noisy = digits
    quick = {"n_components": 100, "kernel_scale": 1.0, "random_state": 0}
    weight = factor * RNLMF(**quick, noise_weight="scale", max_iter=1).fit(noisy).noise_weight_
    errors = [
        relative_rmse(clean, RNLMF(**quick, noise_penalty=p, noise_weight=weight).fit_denoise(noisy))
        for p in ("l1", "adaptive")
    ]
    assert errors[1] < bound * errors[0]


def test_progress_of_a_search_rises_and_ends_at_one():
    told = []
    progress = SearchProgress(lambda what, share: told.append(share), usual_fits=3)
    for _ in range(2):
        progress(IterationInfo(150, 300, 1.0, 0.1))
        progress.fitted()
    assert told == pytest.approx([0.5 / 3, 1 / 3, 1.5 / 3, 2 / 3])
    # A search that takes longer than usual does not go back, and is not done.
    for _ in range(3):
        progress.fitted()
        progress(IterationInfo(150, 300, 1.0, 0.1))
    assert told == sorted(told)
    assert told[-1] == pytest.approx(5.5 / 6)
